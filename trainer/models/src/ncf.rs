//! Neural collaborative filtering with one table: a layer of tanh on a pair of vectors, and on their product.
//!
//! ```text
//! s(u, i) = f . tanh(p_u * q_i + W [p_u, q_i] + b)                      `form: mlp` leaves out p_u * q_i
//! ```
//! `*` is the product number by number; W is `[dim, 2 dim]`, b and f are `[dim]`. This is what the code of paper 003 calls NCF and MLP; its GMF is
//! [`neu-mf`](super::NeuMf)'s, and there tables start from N(0, 0.1). W is made of a part for users and one for items, so that its products are made once for each user and
//! item, and a pair costs one tanh for each number. Weight decay falls on all parameters. He et al., WWW 2017; Shi et al., WWW 2023 (its code).

use super::{
    BackboneKind, Facts, Forward, Init, Normal, Sizes, Stored, XavierNormal,
    encoder::{Encoder, Identity, TrainStep},
    kind::Learned,
    limits::check_tables,
    mf::IdentityFormula,
    operations::{linear, linear_without_bias, products_of_pairs, sums_of_pairs, tanh},
    pairs::{PairNetwork, Pairs},
};
use crate::parameters::Parameters;
use candle_core::{Result, Tensor};
use dataset::Dataset;
use evaluator::{Scorer, TanhLayer};
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// `ncf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ncf {
    /// Length of a vector, and of the layer.
    pub dim: u32,
    /// What goes through the layer.
    #[serde(default)]
    pub form: NcfForm,
    /// How the tables start; W and f start as `xavier-normal` does, b as zeros.
    #[serde(default = "tenth")]
    pub init: Init,
}

/// `form` of [`Ncf`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NcfForm {
    /// The product of the vectors, and both vectors.
    #[default]
    Ncf,
    /// Both vectors.
    Mlp,
}

fn tenth() -> Init {
    Init::Normal(Normal { std: 0.1 })
}

/// W's part for users and that for items, b and f, in their order.
const WEIGHTS: [&str; 4] = ["layer.users", "layer.items", "layer.bias", "output"];

impl Ncf {
    /// Numbers of a vector that are multiplied.
    fn products(&self) -> usize {
        if self.form == NcfForm::Mlp { 0 } else { self.dim as usize }
    }

    /// Shapes of the weights.
    fn shapes(&self) -> [[usize; 2]; 4] {
        let dim = self.dim as usize;
        [[dim, dim], [dim, dim], [1, dim], [1, dim]]
    }
}

impl BackboneKind for Ncf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "He et al. 2017; Shi et al. 2023 (its code)",
            cost: "of each score d tanh, and 2 d^2 (m + n) for the layer's parts",
            unknown_user: "by the vector that it began with, which only `weight_decay` moves",
            values: "`dim` 32",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_tables(self.dim, &self.init)
    }

    /// 1: tanh is rounded in another way, and the bias is added to the items' part.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        let dim = self.dim as usize;
        Stored::Network { dim: self.products() + dim, weights: dim }
    }
}

impl Learned for Ncf {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables = self.init.tables(dataset.users(), dataset.items(), self.dim as usize, seed);
        let weights = WEIGHTS.into_iter().zip(self.shapes()).zip(2..).map(|((name, shape), which)| {
            let [rows, dim] = shape;
            let values = match name {
                "layer.bias" => Matrix { rows, dim, values: vec![0.0; dim] },
                "output" => Init::XavierNormal(XavierNormal {}).matrix(shape, seed, which),
                // `xavier-normal` of the whole of W.
                _ => Init::Normal(Normal { std: (2.0 / (rows + 2 * dim) as f64).sqrt() }).matrix(shape, seed, which),
            };
            (name.to_owned(), values)
        });
        Parameters::new(tables, weights.collect())
    }

    fn encoder(&self, _dataset: &Dataset, _seed: u64) -> Box<dyn Encoder> {
        Box::new(Identity)
    }

    fn formula(&self, _dataset: &Dataset, _seed: u64) -> Box<dyn Forward> {
        Box::new(IdentityFormula)
    }

    fn memory(&self, _sizes: Sizes) -> u64 {
        0
    }

    fn network(&self, _seed: u64) -> Option<Box<dyn PairNetwork>> {
        Some(Box::new(self.clone()))
    }
}

impl PairNetwork for Ncf {
    fn score(
        &self,
        Pairs { users, items, places: [of_users, of_items], .. }: &Pairs,
        weights: &[Tensor],
        _step: &TrainStep,
    ) -> Result<Tensor> {
        let [to_users, to_items, bias, output] = weights else { unreachable!("as many weights as there are names") };
        let places = [of_users, of_items];
        let (of_users, of_items) = (linear_without_bias(users, to_users)?, linear(items, to_items, bias)?);
        let mut sums = sums_of_pairs(&of_users, &of_items, places)?;
        if self.form == NcfForm::Ncf {
            sums = (sums + products_of_pairs(users, items, places, 0..self.products())?)?;
        }
        linear_without_bias(&tanh(&sums)?, output)?.squeeze(1)
    }

    fn scorer(&self, parameters: &Parameters) -> Scorer {
        let [to_users, to_items, bias, output] = WEIGHTS.map(|name| parameters.weights_of(name));
        let side = |table: &Matrix, weights: &Matrix, bias: Option<&Matrix>| {
            let mut values = Vec::with_capacity(table.rows * (self.products() + table.dim));
            for row in table.values.chunks_exact(table.dim) {
                values.extend(&row[..self.products()]);
                let sum = |at: usize| weights.row(at).iter().zip(row).map(|(weight, value)| weight * value).sum::<f32>();
                values.extend((0..table.dim).map(|at| sum(at) + bias.map_or(0.0, |bias| bias.values[at])));
            }
            Matrix { rows: table.rows, dim: self.products() + table.dim, values }
        };
        let [users, items] = parameters.tables();
        let (users, items) = (side(users, to_users, Some(bias)), side(items, to_items, None));
        Scorer::TanhLayer(TanhLayer { users, items, weights: output.clone() })
    }

    /// Numbers of a pair: both parts, their sum with the bias, the products with both factors and their sum, and tanh of it; as much once more on the way back.
    fn floats_of_pair(&self) -> u64 {
        2 * (5 * self.dim as u64 + 4 * self.products() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        encoder::Wanted,
        pairs::ScoredPairs,
        testing::{STEP, assert_derivatives, dataset, matrix},
    };
    use super::*;
    use candle_core::Device;
    use dataset::Interactions;
    use evaluator::rank;

    const FORMS: [NcfForm; 2] = [NcfForm::Ncf, NcfForm::Mlp];

    fn settings(form: NcfForm) -> Ncf {
        Ncf { dim: 2, form, init: tenth() }
    }

    /// Tables and weights: `sin(1 + s + 0.7 n)` for number n of matrix s.
    fn parameters(settings: &Ncf) -> Vec<Tensor> {
        let shapes = [[5, 2], [5, 2]].into_iter().chain(settings.shapes());
        shapes.zip(0..).map(|(shape, salt)| matrix(shape, |number| (1.0 + f64::from(salt) + 0.7 * number).sin())).collect()
    }

    fn score(settings: &Ncf, parameters: &[Tensor]) -> Tensor {
        let places = [[0u32, 0, 2, 4, 4], [1, 3, 3, 0, 4]].map(|places| Tensor::new(&places, &Device::Cpu).unwrap());
        let pairs = Pairs { users: parameters[0].clone(), items: parameters[1].clone(), places, first: 0 };
        settings.score(&pairs, &parameters[2..], &STEP).unwrap()
    }

    /// Of NumPy, with W as one matrix on both vectors one after the other.
    #[test]
    fn scores_are_those_of_numpy() {
        for (form, expected) in FORMS.into_iter().zip(EXPECTED) {
            let settings = settings(form);
            let found: Vec<f64> = score(&settings, &parameters(&settings)).to_vec1().unwrap();
            assert!(
                found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12),
                "{form:?}: {found:?}"
            );
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for form in FORMS {
            let settings = settings(form);
            let weights = matrix([5, 1], |number| (0.3 + number).cos()).squeeze(1).unwrap();
            let total = |parameters: &[Tensor]| (score(&settings, parameters) * &weights).unwrap().sum_all().unwrap();
            assert_derivatives(total, &parameters(&settings));
        }
    }

    /// Without W and b, and where tanh is nearly the identity, it is the weighted product of `neu-mf`'s `gmf`.
    #[test]
    fn of_small_vectors_without_a_layer_it_is_the_weighted_product() {
        let settings = settings(NcfForm::Ncf);
        let mut parameters = parameters(&settings);
        for table in &mut parameters[..2] {
            *table = (&*table * 1e-3).unwrap();
        }
        for weights in &mut parameters[2..5] {
            *weights = weights.zeros_like().unwrap();
        }
        let found: Vec<f64> = score(&settings, &parameters).to_vec1().unwrap();
        let [users, items, .., output] = &parameters[..] else { panic!("tables and weights") };
        let rows = |table: &Tensor| table.to_vec2::<f64>().unwrap();
        let (users, items, output) = (rows(users), rows(items), rows(output));
        for (found, (user, item)) in found.iter().zip([(0, 1), (0, 3), (2, 3), (4, 0), (4, 4)]) {
            let expected: f64 = (0..2).map(|k: usize| output[0][k] * users[user][k] * items[item][k]).sum();
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }

    /// What is stored scores as what was trained.
    #[test]
    fn the_scorer_scores_as_the_network_does() {
        for form in FORMS {
            let settings = Ncf { init: Init::XavierNormal(XavierNormal {}), ..settings(form) };
            let mut parameters = settings.parameters(&dataset(), 3);
            for weights in parameters.weights.iter_mut().filter(|weights| weights.name == "layer.bias") {
                weights.values.values.iter_mut().zip(1..).for_each(|(value, number)| *value = 0.1 * number as f32);
            }
            let step = TrainStep { wanted: Wanted::default(), ..STEP };
            let (users, items): (Vec<u32>, Vec<u32>) = (0..5).flat_map(|user| (0..5).map(move |item| (user, item))).unzip();
            let trained = ScoredPairs::new(&settings, &parameters, [&users, &items], 0, &step).unwrap().scores().unwrap();
            let history = Interactions::empty(5);
            let all = |_: u32, ids: &mut Vec<u32>| ids.extend(0..5);
            let stored =
                rank::reduce_lists(&settings.scorer(&parameters), &history, &[0, 1, 2, 3, 4], all, |_, scores| scores.to_vec(), 1 << 20);
            for (trained, stored) in trained.iter().zip(stored.unwrap().concat()) {
                assert!((trained - stored).abs() < 1e-6, "{form:?}: {trained} {stored}");
            }
        }
    }

    /// W is [64, 128]: the variance of either part is 2 / (64 + 128), of 4,096 numbers with a standard error of 0.0002.
    #[test]
    fn both_parts_of_the_layer_start_as_one_matrix() {
        let parameters = Ncf { dim: 64, ..settings(NcfForm::Ncf) }.parameters(&dataset(), 1);
        for part in ["layer.users", "layer.items"] {
            let values = &parameters.weights_of(part).values;
            let variance = values.iter().map(|value| value * value).sum::<f32>() / values.len() as f32;
            assert!((variance - 0.010_417).abs() < 0.001, "{part}: {variance}");
        }
    }

    const EXPECTED: [[f64; 5]; 2] = [
        [-0.25765298900018385, -0.1121624267948656, 0.34079959145633354, -0.11908240781602478, -0.10554510992531943],
        [-0.2929371516843317, -0.1302333269940045, 0.506753292879175, -0.1229028275231311, -0.12187789114682376],
    ];
}
