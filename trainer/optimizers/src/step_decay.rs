//! Step decay of the learning rate.
//!
//! ```text
//! in epoch e, from 1:   learning_rate factor^floor((e - 1) / every)
//! ```
//! PyTorch's `StepLR`, stepped after each epoch. The release of paper HNS (theories of hard negative sampling) has `{every: 5, factor: 0.95}`, of which
//! the paper does not tell.

use serde::{Deserialize, Serialize};

/// `learning_rate_decay` of an optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepDecay {
    /// Epochs with one rate.
    pub every: u32,
    /// What the rate is multiplied by after them, above 0 and at most 1.
    pub factor: f64,
}

impl StepDecay {
    /// What the learning rate is multiplied by in an epoch, counted from 1.
    pub(super) fn in_epoch(self, epoch: u32) -> f64 {
        self.factor.powf(f64::from((epoch - 1) / self.every))
    }

    /// Whether an epoch, counted from 1, has another rate than the one before.
    pub(super) fn changes_in(self, epoch: u32) -> bool {
        epoch > 1 && (epoch - 1).is_multiple_of(self.every)
    }

    /// Whether the values can be used.
    pub(super) fn check(self) -> Result<(), String> {
        let Self { every, factor } = self;
        match (every, factor > 0.0 && factor <= 1.0) {
            (0, _) => Err("every is 0, expected at least 1 epoch".to_owned()),
            (_, false) => Err(format!("factor is {factor}, expected a number above 0 and at most 1")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PyTorch 2, `StepLR(optimizer, step_size=5, gamma=0.95)` from 0.001.
    #[test]
    fn the_rates_of_paper_hns() {
        let decay = StepDecay { every: 5, factor: 0.95 };
        let rates = [(1, 0.001), (5, 0.001), (6, 0.00095), (10, 0.00095), (11, 0.0009025), (200, 0.000135275954)];
        for (epoch, expected) in rates {
            let rate = 0.001 * decay.in_epoch(epoch);
            assert!((rate - expected).abs() < 1e-9, "{epoch}: {rate}");
        }
        assert_eq!((1..=16).filter(|&epoch| decay.changes_in(epoch)).collect::<Vec<_>>(), [6, 11, 16]);
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |every, factor| StepDecay { every, factor }.check().unwrap_err();
        assert!(message(0, 0.5).starts_with("every is 0,"));
        assert!(message(1, 0.0).starts_with("factor is 0,"));
        assert!(message(1, 1.5).starts_with("factor is 1.5,"));
    }
}
