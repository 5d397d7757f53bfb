//! `search`: which of a method's configurations are trained, and how far. `docs/search.md` says what each kind does and costs.

use serde::{Deserialize, Serialize};

/// How tuned values are searched, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// Every combination.
    Grid(Grid),
    /// Some combinations, drawn.
    Random(Random),
    /// All or some combinations, of which the best fraction goes on at each rung.
    SuccessiveHalving(SuccessiveHalving),
}

/// `grid` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// How many of `seeds`, from the first, values are picked by; the picked configuration alone is trained with the others. All of them when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning_seeds: Option<u32>,
}

/// `random` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// Configurations of each method.
    pub trials: u32,
    /// The seed of the draws.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// How many of `seeds`, from the first, values are picked by; the picked configuration alone is trained with the others. All of them when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning_seeds: Option<u32>,
}

/// `successive-halving` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuccessiveHalving {
    /// Configurations of each method at the start, drawn as `random` does; all of the grid when left out.
    #[serde(default)]
    pub trials: Option<u32>,
    /// The seed of the draws.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Epochs of the first rung; each rung after it has `factor` times as many, and the last has all of `training`.
    pub epochs: u32,
    /// One configuration in so many goes on from a rung to the next.
    #[serde(default = "three")]
    pub factor: u32,
    /// Whether a configuration goes on as soon as it is among the best of those that were there before it, not of all; on one machine only.
    #[serde(default)]
    pub asynchronous: bool,
    /// How many of `seeds`, from the first, values are picked by; the picked configuration alone is trained with the others. All of them when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning_seeds: Option<u32>,
}

impl Search {
    /// How many configurations of each method are drawn, and by which seed; `None` where all are taken.
    pub fn draws(&self) -> Option<(u32, u64)> {
        match self {
            Self::Grid(_) => None,
            Self::Random(random) => Some((random.trials, random.seed)),
            Self::SuccessiveHalving(halving) => halving.trials.map(|trials| (trials, halving.seed)),
        }
    }

    /// The settings of successive halving, where it is asked for.
    pub fn halving(&self) -> Option<&SuccessiveHalving> {
        match self {
            Self::SuccessiveHalving(halving) => Some(halving),
            Self::Grid(_) | Self::Random(_) => None,
        }
    }

    /// How many seeds, from the first, values are picked by; `None` where all are.
    pub fn tuning_seeds(&self) -> Option<u32> {
        match self {
            Self::Grid(grid) => grid.tuning_seeds,
            Self::Random(random) => random.tuning_seeds,
            Self::SuccessiveHalving(halving) => halving.tuning_seeds,
        }
    }

    /// Whether it is what stands when `search` is left out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the values can be used; what they mean for the training is the plan's matter.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        let at_least = |key: &str, value: u32, least: u32| match value >= least {
            true => Ok(()),
            false => Err(format!("{key} is {value}, expected at least {least}")),
        };
        self.draws().map_or(Ok(()), |(trials, _)| at_least("trials", trials, 1))?;
        self.tuning_seeds().map_or(Ok(()), |seeds| at_least("tuning_seeds", seeds, 1))?;
        let Some(halving) = self.halving() else { return Ok(()) };
        at_least("epochs", halving.epochs, 1)?;
        at_least("factor", halving.factor, 2)
    }
}

impl Default for Search {
    fn default() -> Self {
        Self::Grid(Grid { tuning_seeds: None })
    }
}

fn first_seed() -> u64 {
    1
}

fn three() -> u32 {
    3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::node::Node;

    fn read(text: &str) -> crate::file::Result<Search> {
        Node::parse(text, "s").unwrap().read()
    }

    #[test]
    fn each_kind_has_its_keys_and_defaults() {
        assert_eq!(read("{kind: grid}").unwrap().draws(), None);
        assert_eq!(read("{kind: random, trials: 8}").unwrap().draws(), Some((8, 1)));
        assert_eq!(read("{kind: random, trials: 8, seed: 5}").unwrap().draws(), Some((8, 5)));
        let halving = read("{kind: successive-halving, epochs: 4}").unwrap();
        let expected = SuccessiveHalving { trials: None, seed: 1, epochs: 4, factor: 3, asynchronous: false, tuning_seeds: None };
        assert_eq!((halving.draws(), halving.halving()), (None, Some(&expected)));
        assert!(read("{kind: successive-halving}").unwrap_err().to_string().contains("the key `epochs` is missing"));
        assert!(read("{kind: random}").unwrap_err().to_string().contains("the key `trials` is missing"));
        assert!(read("{kind: halving, epochs: 4}").unwrap_err().to_string().contains("unknown kind `halving`"));
        let tuning = |text: &str| read(text).unwrap().tuning_seeds();
        assert_eq!(["{kind: grid, tuning_seeds: 2}", "{kind: random, trials: 8, tuning_seeds: 2}"].map(tuning), [Some(2); 2]);
        assert_eq!(["{kind: successive-halving, epochs: 4, tuning_seeds: 2}", "{kind: grid}"].map(tuning), [Some(2), None]);
        assert!(read("{kind: grid, trials: 4}").unwrap_err().to_string().contains("unknown key `trials`"));
    }

    #[test]
    fn values_that_cannot_be_are_named() {
        let message = |text: &str| read(text).unwrap().check().unwrap_err();
        assert_eq!(message("{kind: random, trials: 0}"), "trials is 0, expected at least 1");
        assert_eq!(message("{kind: grid, tuning_seeds: 0}"), "tuning_seeds is 0, expected at least 1");
        assert_eq!(message("{kind: successive-halving, epochs: 0}"), "epochs is 0, expected at least 1");
        assert_eq!(message("{kind: successive-halving, epochs: 1, factor: 1}"), "factor is 1, expected at least 2");
        assert_eq!(message("{kind: successive-halving, epochs: 1, trials: 0}"), "trials is 0, expected at least 1");
    }
}
