//! Validation out of train: the one rule of the kinds that draw at random.
//!
//! A user with `n` train interactions, `n` at least 2, gives max(floor(validation * n), 1) of them; a user with one keeps it. They are the
//! first in the order of [`order`](crate::order). With 0.1 it is the rule of Yang et al., KDD 2025.

use super::ratio::Ratio;

/// How many of a user's train interactions go to validation.
pub(crate) fn count(share: Ratio, train: usize) -> usize {
    if share.is_zero() || train < 2 { 0 } else { share.of(train).max(1) }
}
