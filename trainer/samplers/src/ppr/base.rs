//! What all users' distributions share: the distribution of the items that are not stored for a user.

use super::super::{Stream, non_positives::NonPositives, popularity::PopularityProposal, uniform};
use super::Form;

/// A distribution over all items, restricted to a user's negatives.
#[derive(Clone, Debug)]
pub(super) enum Base {
    /// Every item weighs 1.
    Uniform,
    /// Train counts to a power.
    Popularity(PopularityProposal),
}

impl Base {
    /// Makes the distribution of the items' train counts.
    pub(super) fn new(form: Form, counts: &[u32]) -> Self {
        match form {
            Form::Proportional(settings) => Self::Popularity(PopularityProposal::new(counts, settings.exponent, false)),
            Form::Temperature(_) => Self::Uniform,
        }
    }

    pub(super) fn weight(&self, item: u32) -> f64 {
        match self {
            Base::Uniform => 1.0,
            Base::Popularity(proposal) => proposal.weight(item),
        }
    }

    /// The weight of all negatives.
    pub(super) fn mass(&self, non_positives: NonPositives) -> f64 {
        match self {
            Base::Uniform => f64::from(non_positives.len()),
            Base::Popularity(proposal) => proposal.mass(non_positives),
        }
    }

    /// Draws ids that are negatives, about as many as `draws`.
    pub(super) fn fill<'i>(&self, non_positives: NonPositives, rng: &mut Stream, draws: usize, ids: impl Iterator<Item = &'i mut u32>) {
        match self {
            Base::Uniform => uniform::fill(non_positives, rng, draws, ids),
            Base::Popularity(proposal) => proposal.draw(non_positives, rng, draws, ids),
        }
    }

    /// Most bytes it holds for so many items.
    pub(super) fn most_bytes(items: usize) -> usize {
        PopularityProposal::bytes(items)
    }
}
