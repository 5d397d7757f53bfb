//! What parts the interactions of all users: moments, and who is held out as a whole.

use super::{DrawnUsers, Last, ratio::Ratio};
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

    /// How many are before a moment.
    ///
    /// # Errors
    /// When they cannot be read.
    fn before(&mut self, moment: f64) -> Result<usize>;
}

/// Times that are in memory; they are sorted when they are first asked for.
pub(crate) struct SortedTimes<'a> {
    times: &'a [f64],
    sorted: Option<Vec<f64>>,
}

impl<'a> SortedTimes<'a> {
    /// Takes the times of interactions in any order.
    pub(crate) fn new(times: &'a [f64]) -> Self {
        Self { times, sorted: None }
    }

    fn sorted(&mut self) -> &[f64] {
        self.sorted.get_or_insert_with(|| {
            let mut sorted = self.times.to_vec();
            sorted.par_sort_unstable_by(f64::total_cmp);
            sorted
        })
    }
}

impl Times for SortedTimes<'_> {
    fn count(&mut self) -> Result<usize> {
        Ok(self.times.len())
    }

    fn at(&mut self, place: usize) -> Result<(f64, usize)> {
        let sorted = self.sorted();
        let time = sorted[place];
        Ok((time, sorted.partition_point(|&other| other <= time)))
    }

    fn before(&mut self, moment: f64) -> Result<usize> {
        Ok(self.sorted().partition_point(|&time| time < moment))
    }
}

/// The last moments of train and of validation, after which what comes is in the part after; and the users who are held out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Borders {
    /// After it is validation, or test; `None` where nothing is before.
    train: Option<f64>,
    /// After it is test; `None` where nothing is before.
    validation: Option<f64>,
    /// The users whom no training sees.
    pub(super) users: DrawnUsers,
}

impl Borders {
    /// Finds the borders of test, and, of what is left, of validation. What happens at one time stays together.
    ///
    /// # Errors
    /// [`Error::Setting`] when all of a share has the time of what is before it, validation is to begin after test, or no interaction is before
    /// a moment, or from it on.
    pub(crate) fn new(times: &mut dyn Times, test: &Last, validation: &Last) -> Result<Self> {
        let all = times.count()?;
        let (before_test, left) = Self::before(times, all, test, "split.test")?;
        let (train, _) = Self::before(times, left, validation, "split.validation")?;
        if let (Some(end), Some(border)) = (before_test, train)
            && border > end
        {
            return Err(Error::setting("split.validation", "it begins after test does (expected an earlier moment, or a share)"));
        }
        Ok(Self { train, validation: before_test, users: DrawnUsers::default() })
    }

    /// The last moment before what is held out of the first `among` interactions, and how many are at most that.
    fn before(times: &mut dyn Times, among: usize, held_out: &Last, key: &'static str) -> Result<(Option<f64>, usize)> {
        match (held_out.moment(key)?, held_out) {
            (Some(moment), _) => {
                let (all, before) = (times.count()?, times.before(moment)?);
                if all > 0 && before == 0 {
                    return Err(held_out.too_early(key, times.at(0)?.0));
                }
                if all > 0 && before == all {
                    return Err(held_out.too_late(key, times.at(all - 1)?.0));
                }
                Ok((Some(moment.next_down()), before))
            }
            (None, &Last::Share(share)) => border(times, among, Ratio::new(key, share)?, key),
            (None, Last::From(_)) => unreachable!("a text is a moment or an error"),
        }
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
fn border(times: &mut dyn Times, among: usize, share: Ratio, key: &'static str) -> Result<(Option<f64>, usize)> {
    let count = share.of(among);
    let Some(place) = (among - count).checked_sub(1) else { return Ok((None, 0)) };
    let (last, left) = times.at(place)?;
    if count > 0 && left >= among {
        let reason = format!(
            "the last {count} of {among} interactions have the time of those before them, so no moment parts them (expected a larger share, or a moment)"
        );
        return Err(Error::setting(key, reason));
    }
    Ok((Some(last), left))
}
