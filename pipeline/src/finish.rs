//! What becomes of numbered interactions: they are held out, counted, thinned by a share of train, and false positives are added.
//!
//! Each rule looks at one user at a time, beside the moments that part all users' interactions. So it makes no difference whether all users come
//! at once, or some after the other.

use crate::{
    Error, Preparation, Result,
    edges::Edges,
    noise::Missing,
    split::{Borders, Times, UserIds},
    steps::Steps,
    tally::Tally,
};
use dataset::{Dataset, Split};
use rayon::prelude::*;

const PARTS: [Split; 4] = [Split::Train, Split::FoldIn, Split::Validation, Split::Test];

/// The step of histories to fold in.
const FOLD_IN: &str = "fold-in, of users whom no training sees";

/// The last steps of a preparation, and what they have counted.
pub(crate) struct Finish<'a> {
    preparation: &'a Preparation,
    borders: Borders,
    /// The time of the last interaction of train.
    last: f64,
    parts: [Tally; 4],
    unknown: Tally,
    early: Option<Tally>,
    tied: Tally,
    kept: Tally,
    cut: Option<Tally>,
    noise: Tally,
    missing: Missing,
}

impl<'a> Finish<'a> {
    /// Finds the moments that part all users' interactions, where the split has such, and the users whom it holds out.
    ///
    /// # Errors
    /// As for [`Split::borders`](crate::Split).
    pub(crate) fn new(preparation: &'a Preparation, times: Option<&mut dyn Times>, ids: &mut dyn UserIds) -> Result<Self> {
        let borders = preparation.split.borders(times, ids)?;
        let last = f64::NEG_INFINITY;
        let (parts, unknown, early) = (<[Tally; 4]>::default(), Tally::default(), None);
        Ok(Self {
            preparation,
            borders,
            last,
            parts,
            unknown,
            early,
            tied: Tally::default(),
            kept: Tally::default(),
            cut: None,
            noise: Tally::default(),
            missing: Missing::default(),
        })
    }

    /// Holds out, and looks for the last interaction of train, of which counts tell; before [`count`](Self::count) of any user.
    pub(crate) fn hold_out(&mut self, edges: &mut Edges) -> Result<()> {
        self.preparation.split.hold_out(edges, &self.borders)?;
        if let Some(times) = &edges.times {
            let train = times.par_iter().zip(&edges.parts).filter(|(_, part)| **part == Split::Train);
            self.last = self.last.max(train.map(|(&time, _)| time).reduce(|| f64::NEG_INFINITY, f64::max));
        }
        Ok(())
    }

    /// Counts the parts, and what of test a model could not know or should not.
    pub(crate) fn count(&mut self, edges: &Edges) {
        for (tally, part) in self.parts.iter_mut().zip(PARTS) {
            tally.add(edges.tally(|_, place| edges.parts[place] == part));
        }
        let of_user = |user: usize| &edges.parts[edges.offsets[user]..edges.offsets[user + 1]];
        let is_known = |user| of_user(user).iter().any(|part| matches!(part, Split::Train | Split::FoldIn));
        let known: Vec<bool> = (0..edges.user_ids.len()).into_par_iter().map(is_known).collect();
        self.unknown.add(edges.tally(|user, place| !known[user] && edges.parts[place] == Split::Test));
        if let Some(times) = &edges.times {
            let earlier = |_, place: usize| edges.parts[place] == Split::Test && times[place] < self.last;
            self.early.get_or_insert_default().add(edges.tally(earlier));
            if self.preparation.split.needs_timestamps() {
                let tied = tied(edges, times);
                self.tied.add(edges.tally(|_, place| tied[place]));
            }
        }
    }

    /// Cuts histories to fold in, thins train and adds noise.
    pub(crate) fn change(&mut self, dataset: &mut Dataset) -> Result<()> {
        if let (Some(cut), Some(histories)) = (self.preparation.split.cut()?, &mut dataset.fold_in) {
            let order = dataset.order.as_mut().map(|order| &mut order.fold_in);
            self.cut.get_or_insert_default().add(cut.keep(histories, order, &dataset.user_ids, &dataset.item_ids));
        }
        if let Some(share) = self.preparation.active_train_share() {
            self.kept.add(share.keep(dataset)?);
        }
        if let Some(noise) = self.preparation.active_noise() {
            let (added, missing) = noise.add(dataset)?;
            self.noise.add(added);
            self.missing.add(missing);
        }
        Ok(())
    }

    /// Reports the parts.
    ///
    /// # Errors
    /// [`Error::Setting`] when train or test is empty, or a validation that is asked for.
    pub(crate) fn report_parts(&self, steps: &mut Steps<'_>) -> Result<()> {
        for (tally, part) in self.parts.iter().zip(PARTS) {
            if part == Split::FoldIn && !self.preparation.split.holds_users_out() {
                continue;
            }
            if tally.interactions == 0 && (part != Split::Validation || self.preparation.split.has_validation()) {
                let reason = format!("{} is empty (expected users with more interactions, or a larger share)", part.name());
                return Err(Error::setting("split", reason));
            }
            steps.add(tally.counts(if part == Split::FoldIn { FOLD_IN } else { part.name() }));
        }
        if self.unknown.interactions > 0 {
            steps.add(self.unknown.counts("test, of users without train"));
        }
        if let Some(early) = &self.early {
            steps.add(early.counts("test, before the latest train interaction of all users"));
        }
        if self.tied.interactions > 0 {
            steps.add(self.tied.counts("test, at the time of others of its user, where a hash decides"));
        }
        Ok(())
    }

    /// Reports what histories to fold in lost, and what train lost and won.
    pub(crate) fn report_changes(&self, steps: &mut Steps<'_>) {
        if let Some(cut) = &self.cut {
            steps.add(cut.counts("fold-in that is kept"));
        }
        if let Some(share) = self.preparation.active_train_share() {
            steps.add(self.kept.counts(share.step()));
        }
        if let Some(noise) = self.preparation.active_noise() {
            steps.add(self.noise.counts(noise.step()));
            self.missing.counts().into_iter().for_each(|counts| steps.add(counts));
        }
    }
}

/// Which interactions are test while others of the same user, at the same time, are not: what a split by time cannot tell apart.
fn tied(edges: &Edges, times: &[f64]) -> Vec<bool> {
    let of_user = |user: usize| {
        let places = edges.offsets[user]..edges.offsets[user + 1];
        let is_test = |place: usize| edges.parts[place] == Split::Test;
        let mut others: Vec<f64> = places.clone().filter(|&place| !is_test(place)).map(|place| times[place]).collect();
        others.sort_unstable_by(f64::total_cmp);
        places.map(move |place| is_test(place) && others.binary_search_by(|other| other.total_cmp(&times[place])).is_ok())
    };
    (0..edges.user_ids.len()).into_par_iter().flat_map_iter(of_user).collect()
}
