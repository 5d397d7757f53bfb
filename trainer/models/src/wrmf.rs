//! Matrix factorisation with weights: all pairs are learned, train interactions with more confidence.
//!
//! ```text
//! L = sum over all pairs of c_ui (y_ui - s_ui)² + lambda (sum of |p_u|² + sum of |q_i|²)        c_ui = 1 + alpha y_ui
//! ```
//! y_ui is 1 for train interactions and 0 for other pairs. It is [`ials`](super::ials) with `convention: recstudio`, which paper RG compares with: its
//! solvers, its loss and its epochs. Hu, Koren and Volinsky, ICDM 2008.

use super::{
    BackboneKind, Epochs, Facts, FoldIn, Init, Sizes, Stored,
    als::{self, Solver},
    ials::{Convention, Ials, Recstudio},
    kind::Iterative,
};
use crate::Result;
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `wrmf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wrmf {
    /// Length of a vector.
    pub dim: u32,
    /// lambda, the weight of the squared norms, at least 0.
    pub regularization: f64,
    /// What a train interaction weighs more than another pair, above 0.
    pub alpha: f64,
    /// How the equations of a row are solved.
    #[serde(default)]
    pub solver: Solver,
    /// How the vectors start.
    #[serde(default = "als::small")]
    pub init: Init,
}

impl Wrmf {
    fn ials(&self) -> Ials {
        let Self { dim, regularization, alpha, solver, init } = *self;
        Ials {
            dim,
            regularization,
            convention: Convention::Recstudio(Recstudio { alpha, reg_scaling: 0.0 }),
            item_bias: false,
            solver,
            init,
        }
    }
}

impl BackboneKind for Wrmf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Hu et al. 2008",
            values: "`regularization` 0, 0.1, 0.01, 0.001, `alpha` 0.5, 1, 2, 4, 8: tuned over (RG)",
            unknown_user: "all items have the score 0",
            ..self.ials().facts()
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        self.ials().check()
    }

    fn stored(&self) -> Stored {
        self.ials().stored()
    }

    fn how_to_fold_in(&self) -> FoldIn {
        self.ials().how_to_fold_in()
    }
}

impl Iterative for Wrmf {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Box<dyn Epochs + 'd>> {
        Ok(Box::new(self.ials().training("wrmf", dataset, seed)?))
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        self.ials().memory(sizes, ranking)
    }
}

#[cfg(test)]
mod tests {
    use super::super::als::testing::*;
    use super::*;

    fn wrmf(alpha: f64) -> Wrmf {
        Wrmf { dim: 2, regularization: 0.1, alpha, solver: Solver::default(), init: als::small() }
    }

    /// As `ials` with `convention: implicit` and the confidence 3, by NumPy.
    #[test]
    fn a_sweep_is_that_of_numpy() {
        let users = [2.462686567, 0.671641791, 1.708860759, 2.877312561, 2.234042553, -0.957446809, 2.127659574, 1.70212766];
        let items = [
            0.316163446,
            0.064070978,
            0.231801838,
            0.190463237,
            -0.011927191,
            0.30290172,
            0.326912562,
            0.042226204,
            0.269969859,
            -0.268807936,
            0.14343235,
            0.157949842,
        ];
        let training = |dataset| wrmf(2.0).ials().training("wrmf", dataset, 1).unwrap();
        assert_sweep(training, &users, &items, [1.739276982191, 1.044285120850]);
    }

    #[test]
    fn impossible_values_are_named() {
        assert_eq!(wrmf(0.0).check().unwrap_err(), "alpha is 0, expected a number above 0");
        assert_eq!(wrmf(f64::INFINITY).check().unwrap_err(), "alpha is inf, expected a number above 0");
        assert_eq!(wrmf(0.5).check(), Ok(()));
    }

    #[test]
    fn a_dataset_without_train_interactions_is_refused() {
        let dataset = testing::dataset_of([2, 2], &[]);
        let message = wrmf(1.0).start(&dataset, 1).err().unwrap().to_string();
        assert_eq!(message, "wrmf: the dataset has no train interactions to learn from");
    }
}
