//! Folds: each user's interactions are dealt out, and each part is test once.
//!
//! In the order of [`order`](crate::order) the interaction at place `p` of a user is in the fold `(p + shift) mod folds`, counted from 0. The shift is the hash of
//! the user's own id by SipHash-2-4 with the key (seed, 4), modulo `folds`, so that short histories are in all folds alike. A user's folds differ by one
//! interaction at most, and a user with fewer interactions than folds is not in the test of some. A user with a single interaction keeps it in train in all folds.
//! Validation comes out of the rest by the rule of [`validation`](super::validation).
//!
//! A sweep has a dataset for each fold, whose test parts have no interaction in common, and averages over them.

use super::{Borders, Ratio, SplitKind, shuffled::Shuffled, validation};
use crate::{Error, Result, edges::Edges};
use dataset::Split;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

/// What sets the shifts apart from the order of interactions.
const PURPOSE: u64 = 4;

/// Folds of one dataset.
const MOST_FOLDS: u64 = 1_000;

/// `cross-validation` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossValidation {
    /// The number of folds.
    #[serde(default = "five")]
    pub folds: u64,
    /// The fold that is test, from 1; all of them, one after the other, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<u64>,
    /// The share of each user's train that is validation.
    #[serde(default)]
    pub validation: f64,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
}

fn five() -> u64 {
    5
}

impl SplitKind for CrossValidation {
    fn has_validation(&self) -> bool {
        self.validation > 0.0
    }

    fn repetition(&self) -> Option<u64> {
        self.fold
    }

    fn repeats_by(&self) -> &'static str {
        "fold"
    }

    fn folds(&self) -> Vec<super::Split> {
        let of_fold = |fold| super::Split::CrossValidation(Self { fold: Some(fold), ..self.clone() });
        if self.fold.is_some() { Vec::new() } else { (1..=self.folds.min(MOST_FOLDS)).map(of_fold).collect() }
    }

    fn check(&self) -> Result<()> {
        if !(2..=MOST_FOLDS).contains(&self.folds) {
            let reason = format!("{} folds part nothing (expected a number from 2 to {MOST_FOLDS})", self.folds);
            return Err(Error::setting("split.folds", reason));
        }
        if let Some(fold) = self.fold.filter(|fold| !(1..=self.folds).contains(fold)) {
            return Err(Error::setting("split.fold", format!("there is no fold {fold} of {} (expected a number from 1)", self.folds)));
        }
        Ratio::new("split.validation", self.validation).map(|_| ())
    }

    fn hold_out(&self, edges: &mut Edges, _: &Borders) -> Result<()> {
        let validation = Ratio::new("split.validation", self.validation)?;
        let fold = self.fold.unwrap_or(1) - 1;
        edges.each_user(|mut row, item_ids| {
            let mut history = Shuffled::new(&row, item_ids, self.seed);
            if history.len() < 2 {
                return;
            }
            let shift = SipHasher24::new_with_keys(self.seed, PURPOSE).hash(row.user_id.as_bytes()) % self.folds;
            history.put_each(|place| (place as u64 + shift) % self.folds == fold, &mut row, Split::Test);
            history.put(validation::count(validation, history.len()), &mut row, Split::Validation);
        });
        Ok(())
    }
}
