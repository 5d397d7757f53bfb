//! The moments that part the interactions of all users.

use super::ratio::Ratio;
use crate::{Error, Result};
use dataset::Split;
use rayon::slice::ParallelSliceMut;

/// The times of all interactions, in ascending order.
pub(crate) trait Times {
    /// How many there are.
    ///
    /// # Errors
    /// When they cannot be read.
    fn count(&mut self) -> Result<usize>;

    /// The time at a place below the count, and how many are at most that.
    ///
    /// # Errors
    /// When they cannot be read.
    fn at(&mut self, place: usize) -> Result<(f64, usize)>;
}

/// Times that are in memory; they are sorted when they are first asked for.
pub(crate) struct SortedTimes<'a> {
    times: &'a [f64],
    sorted: Option<Vec<f64>>,
}

impl<'a> SortedTimes<'a> {
    /// Of interactions in any order.
    pub(crate) fn new(times: &'a [f64]) -> Self {
        Self { times, sorted: None }
    }
}

impl Times for SortedTimes<'_> {
    fn count(&mut self) -> Result<usize> {
        Ok(self.times.len())
    }

    fn at(&mut self, place: usize) -> Result<(f64, usize)> {
        let sorted = self.sorted.get_or_insert_with(|| {
            let mut sorted = self.times.to_vec();
            sorted.par_sort_unstable_by(f64::total_cmp);
            sorted
        });
        let time = sorted[place];
        Ok((time, sorted.partition_point(|&other| other <= time)))
    }
}

/// The last moments of train and of validation. What comes later is in the part after.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Borders {
    /// After it is validation, or test; `None` where nothing is before.
    train: Option<f64>,
    /// After it is test; `None` where nothing is before.
    validation: Option<f64>,
}

impl Borders {
    /// That at most these shares are test, and, of what is left, validation. What happens at one time stays together.
    ///
    /// # Errors
    /// [`Error::Setting`] when all of a share has the time of what is before it.
    pub(crate) fn new(times: &mut dyn Times, shares: [Ratio; 2]) -> Result<Self> {
        let all = times.count()?;
        let [test, validation] = shares;
        let (before_test, left) = border(times, all, test)?;
        let (train, _) = border(times, left, validation)?;
        Ok(Self { train, validation: before_test })
    }

    /// The part of an interaction at this time.
    pub(crate) fn part(&self, time: f64) -> Split {
        let is_after = |border: Option<f64>| border.is_none_or(|last| time > last);
        match (is_after(self.validation), is_after(self.train)) {
            (true, _) => Split::Test,
            (false, true) => Split::Validation,
            (false, false) => Split::Train,
        }
    }
}

/// The last moment before the last share of the first `among` interactions, and how many are at most that.
fn border(times: &mut dyn Times, among: usize, share: Ratio) -> Result<(Option<f64>, usize)> {
    let count = share.of(among);
    let Some(place) = (among - count).checked_sub(1) else { return Ok((None, 0)) };
    let (last, left) = times.at(place)?;
    if count > 0 && left >= among {
        let reason = format!("the last {count} of {among} interactions have the time of those before them, so no moment parts them");
        return Err(Error::setting("split", reason));
    }
    Ok((Some(last), left))
}
