//! Neural matrix factorisation: a network scores pairs, beside the products of their vectors.
//!
//! ```text
//! s(u, i) = w . [p_u * q_i, h_L] + b        h_1 = relu(W_1 [p'_u, q'_i] + b_1),   h_k = relu(W_k h_(k-1) + b_k)
//! ```
//! `*` is the product number by number; p and q are the first half of a row of the tables, p' and q' the second. `form: gmf` has the products alone (and
//! no b, which moves all scores alike), `form: mlp` the network alone. In training a share of each hidden layer's numbers is dropped. W_1 is made of a
//! part for users and one for items, so that its products are made once for each user and item. Weight decay falls on all parameters. He et al., WWW 2017.

use super::{
    BackboneKind, Facts, Forward, Init, Normal, Sizes, Stored, XavierNormal,
    encoder::{Encoder, Identity, TrainStep},
    kind::Learned,
    limits::{MOST_HIDDEN, check_hidden, check_share, check_tables},
    mf::IdentityFormula,
    noise::{Keyed, dropout},
    operations::{hidden, linear_of_columns, linear_without_bias, products_of_pairs, sums_of_pairs},
    pairs::{PairNetwork, Pairs},
};
use crate::parameters::Parameters;
use candle_core::{Result, Tensor};
use dataset::Dataset;
use embeddings::Tables;
use evaluator::{Factors, Layer, Network, Scorer};
use serde::{Deserialize, Serialize};
use streams::Purpose;
use vectors::{Matrix, Similarity};

/// `neu-mf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeuMf {
    /// Length of a vector of the products, and of one of the network.
    pub dim: u32,
    /// What makes a score.
    #[serde(default)]
    pub form: Form,
    /// Numbers of each hidden layer; not of `gmf`. A list in a list in a sweep file, as a list alone is tuned over.
    #[serde(default = "halves")]
    pub hidden: Vec<u32>,
    /// The share of each hidden layer's numbers that is dropped in training, from 0 to below 1.
    #[serde(default = "tenth")]
    pub dropout: f64,
    /// How the tables start; weights start as `xavier-normal` does, biases as zeros.
    #[serde(default = "small")]
    pub init: Init,
}

/// `form` of [`NeuMf`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Products and the network.
    #[default]
    NeuMf,
    /// Products alone.
    Gmf,
    /// The network alone.
    Mlp,
}

fn halves() -> Vec<u32> {
    vec![128, 64]
}

fn tenth() -> f64 {
    0.1
}

fn small() -> Init {
    Init::Normal(Normal { std: 0.01 })
}

impl NeuMf {
    /// Numbers of a row that are multiplied.
    fn product(&self) -> usize {
        if self.form == Form::Mlp { 0 } else { self.dim as usize }
    }

    /// Numbers of the hidden layers.
    fn layers(&self) -> Vec<usize> {
        if self.form == Form::Gmf { Vec::new() } else { self.hidden.iter().map(|&width| width as usize).collect() }
    }

    /// Names and shapes of the weights, in their order: of each hidden layer, the first of which has two parts, and of the output.
    fn weights(&self) -> Vec<(String, [usize; 2])> {
        let (dim, layers) = (self.dim as usize, self.layers());
        let mut weights = Vec::new();
        for (at, &width) in layers.iter().enumerate() {
            match at {
                0 => weights.extend([("layer1.users".to_owned(), [width, dim]), ("layer1.items".to_owned(), [width, dim])]),
                _ => weights.push((format!("layer{}", at + 1), [width, layers[at - 1]])),
            }
            weights.push((format!("layer{}.bias", at + 1), [1, width]));
        }
        weights.push(("output".to_owned(), [1, self.product() + layers.last().copied().unwrap_or_default()]));
        if self.form != Form::Gmf {
            weights.push(("output.bias".to_owned(), [1, 1]));
        }
        weights
    }
}

impl BackboneKind for NeuMf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "He et al. 2017",
            cost: "of each score the network's multiplications, three times, and d (m + n) for its first layer",
            unknown_user: "by the vector that it began with, which only `weight_decay` moves",
            values: "-",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.form != Form::Gmf && !(1..=MOST_HIDDEN).contains(&self.hidden.len()) {
            return Err(format!("hidden has {} layers, expected 1 to {MOST_HIDDEN}; `form: gmf` has none", self.hidden.len()));
        }
        check_hidden(&self.hidden)?;
        check_share("dropout", self.dropout)?;
        let unused = [("hidden", !self.hidden.is_empty() && self.hidden != halves()), ("dropout", self.dropout != tenth())];
        if let (Form::Gmf, Some((key, _))) = (self.form, unused.iter().find(|(_, is_given)| *is_given)) {
            return Err(format!("{key} is given and form is gmf, which has no hidden layers: leave it out"));
        }
        check_tables(self.dim, &self.init)
    }

    fn stored(&self) -> Stored {
        let (layers, product) = (self.layers(), self.product());
        match layers.first() {
            Some(first) => {
                let weights = layers.iter().zip(layers.iter().skip(1).chain([&1])).map(|(from, to)| (from + 1) * to).sum();
                Stored::Network { dim: product + first, weights }
            }
            None => Stored::Vectors { dim: product },
        }
    }
}

/// `xavier-normal` of a matrix; of W_1's two parts that of the whole.
fn start_of(name: &str, [rows, dim]: [usize; 2]) -> Init {
    match name {
        "layer1.users" | "layer1.items" => Init::Normal(Normal { std: (2.0 / (rows + 2 * dim) as f64).sqrt() }),
        _ => Init::XavierNormal(XavierNormal {}),
    }
}

impl Learned for NeuMf {
    fn dim(&self) -> u32 {
        if self.form == Form::NeuMf { 2 * self.dim } else { self.dim }
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables: Tables = self.init.tables(dataset.users(), dataset.items(), Learned::dim(self) as usize, seed);
        let weights = self.weights().into_iter().zip(2..).map(|((name, shape), which)| {
            let [rows, dim] = shape;
            let values = match name.ends_with("bias") {
                true => Matrix { rows, dim, values: vec![0.0; dim] },
                false => start_of(&name, shape).matrix(shape, seed, which),
            };
            (name, values)
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

    fn network(&self, seed: u64) -> Option<Box<dyn PairNetwork>> {
        Some(Box::new(NeuMfLayers { settings: self.clone(), seed }))
    }
}

struct NeuMfLayers {
    settings: NeuMf,
    seed: u64,
}

impl NeuMfLayers {
    /// `relu(sums + bias)` of a hidden layer of pairs, some numbers of which are dropped.
    fn hidden(&self, sums: &Tensor, bias: &Tensor, layer: usize, first: usize, step: &TrainStep) -> Result<Tensor> {
        let keyed = Keyed { seed: self.seed, purpose: Purpose::Dropout, place: layer as u32, first };
        let share = self.settings.dropout as f32;
        hidden(sums, bias, (share > 0.0).then(|| keyed.rows(step, sums, dropout(share))).transpose()?)
    }
}

impl PairNetwork for NeuMfLayers {
    fn score(&self, pairs: &Pairs, weights: &[Tensor], step: &TrainStep) -> Result<Tensor> {
        let Pairs { users, items, places: [of_users, of_items], first } = pairs;
        let (product, layers, places) = (self.settings.product(), self.settings.layers(), [of_users, of_items]);
        let mut parts = Vec::new();
        if product > 0 {
            parts.push(products_of_pairs(users, items, places, 0..product)?);
        }
        let mut weights = weights.iter();
        let mut next = || weights.next().expect("as many weights as there are names");
        let mut hidden: Option<Tensor> = None;
        for layer in 0..layers.len() {
            let sums = match hidden {
                Some(hidden) => linear_without_bias(&hidden, next())?,
                None => {
                    let columns = product..product + self.settings.dim as usize;
                    let of_users = linear_of_columns(users, columns.clone(), next())?;
                    sums_of_pairs(&of_users, &linear_of_columns(items, columns, next())?, places)?
                }
            };
            hidden = Some(self.hidden(&sums, next(), layer, *first, step)?);
        }
        parts.extend(hidden);
        let scores = linear_without_bias(&Tensor::cat(&parts, 1)?, next())?.squeeze(1)?;
        if layers.is_empty() { Ok(scores) } else { scores.broadcast_add(&next().squeeze(0)?) }
    }

    /// The products' weights are those of the users' vectors, and the first layer's part is made of either side's rows.
    fn scorer(&self, parameters: &Parameters) -> Scorer {
        let (product, dim, layers) = (self.settings.product(), self.settings.dim as usize, self.settings.layers());
        let matrix = |name: &str| parameters.weights_of(name);
        let output = matrix("output");
        let side = |table: &Matrix, scale: Option<&[f32]>, first_layer: Option<(&Matrix, Option<&Matrix>)>| {
            let width = layers.first().copied().unwrap_or_default();
            let mut values = Vec::with_capacity(table.rows * (product + width));
            for row in table.values.chunks_exact(table.dim) {
                values.extend(row[..product].iter().enumerate().map(|(at, value)| value * scale.map_or(1.0, |scale| scale[at])));
                if let Some((weights, bias)) = first_layer {
                    let own = &row[product..product + dim];
                    let sum = |at: usize| weights.row(at).iter().zip(own).map(|(weight, value)| weight * value).sum::<f32>();
                    values.extend((0..width).map(|at| sum(at) + bias.map_or(0.0, |bias| bias.values[at])));
                }
            }
            Matrix { rows: table.rows, dim: product + width, values }
        };
        let [users, items] = parameters.tables();
        if layers.is_empty() {
            let (users, items) = (side(users, Some(&output.values), None), side(items, None, None));
            return Scorer::Factors(Factors { users, items, similarity: Similarity::Dot });
        }
        let users = side(users, Some(&output.values), Some((matrix("layer1.users"), Some(matrix("layer1.bias")))));
        let items = side(items, None, Some((matrix("layer1.items"), None)));
        let hidden = (2..=layers.len())
            .map(|at| Layer { weights: matrix(&format!("layer{at}")).clone(), bias: matrix(&format!("layer{at}.bias")).clone() });
        let weights = Matrix { rows: 1, dim: output.dim - product, values: output.values[product..].to_vec() };
        let last = Layer { weights, bias: matrix("output.bias").clone() };
        Scorer::Network(Network { users, items, product, layers: hidden.chain([last]).collect() })
    }

    /// Numbers of a pair: for the products and each hidden layer both factors or sums, what is dropped and what is left; as much once more on the way
    /// back.
    fn floats_of_pair(&self) -> u64 {
        2 * (6 * self.settings.product() + 8 * self.settings.layers().iter().sum::<usize>()) as u64
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
    use candle_core::{Device, Var};
    use dataset::Interactions;
    use evaluator::rank;

    fn settings(form: Form, hidden: &[u32]) -> NeuMf {
        NeuMf { dim: 2, form, hidden: hidden.to_vec(), dropout: 0.0, init: small() }
    }

    /// Tables and weights: `sin(1 + s + 0.7 n)` for number n of matrix s.
    fn parameters(settings: &NeuMf) -> Vec<Tensor> {
        let width = Learned::dim(settings) as usize;
        let shapes = [[5, width], [5, width]].into_iter().chain(settings.weights().into_iter().map(|(_, shape)| shape));
        shapes.zip(0..).map(|(shape, salt)| matrix(shape, |number| (1.0 + f64::from(salt) + 0.7 * number).sin())).collect()
    }

    fn pairs(parameters: &[Tensor]) -> Pairs {
        let places = [[0u32, 0, 2, 4, 4], [1, 3, 3, 0, 4]].map(|places| Tensor::new(&places, &Device::Cpu).unwrap());
        Pairs { users: parameters[0].clone(), items: parameters[1].clone(), places, first: 0 }
    }

    fn score(settings: &NeuMf, parameters: &[Tensor]) -> Tensor {
        NeuMfLayers { settings: settings.clone(), seed: 1 }.score(&pairs(parameters), &parameters[2..], &STEP).unwrap()
    }

    const FORMS: [(Form, &[u32]); 4] = [(Form::NeuMf, &[3, 2]), (Form::NeuMf, &[2]), (Form::Gmf, &[]), (Form::Mlp, &[4, 3, 2])];

    /// W_1 is [32, 2 * 64]: the variance of either part is 2 / (32 + 128), of 2,048 numbers with a standard error of 0.0004.
    #[test]
    fn both_parts_of_the_first_layer_start_as_one_matrix() {
        let settings: NeuMf = serde_json::from_str(r#"{"dim": 64, "hidden": [32]}"#).unwrap();
        let parameters = Learned::parameters(&settings, &super::super::testing::dataset(), 1);
        for part in ["layer1.users", "layer1.items"] {
            let values = &parameters.weights_of(part).values;
            let variance = values.iter().map(|value| value * value).sum::<f32>() / values.len() as f32;
            assert!((variance - 0.0125).abs() < 0.0016, "{part}: {variance}");
        }
    }

    /// Of NumPy: the network on both vectors one after the other.
    #[test]
    fn scores_are_those_of_numpy() {
        for ((form, hidden), expected) in FORMS.into_iter().zip(EXPECTED) {
            let settings = settings(form, hidden);
            let found: Vec<f64> = score(&settings, &parameters(&settings)).to_vec1().unwrap();
            assert!(
                found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9),
                "{form:?} {hidden:?}: {found:?}"
            );
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for (form, hidden) in FORMS {
            let settings = settings(form, hidden);
            let parameters = parameters(&settings);
            let weights = matrix([5, 1], |number| (0.3 + number).cos()).squeeze(1).unwrap();
            let total = |parameters: &[Tensor]| (score(&settings, parameters) * &weights).unwrap().sum_all().unwrap();
            assert_derivatives(total, &parameters);
        }
    }

    /// 1,100 pairs are five blocks: their scores and gradients are those of all pairs at once.
    #[test]
    fn blocks_of_pairs_add_up() {
        let settings = NeuMf { dropout: 0.3, ..settings(Form::NeuMf, &[3, 2]) };
        let parameters = Learned::parameters(&settings, &dataset(), 3);
        let network = Learned::network(&settings, 3).unwrap();
        let [users, items] = [7, 3].map(|factor| (0..1100u32).map(|at| (at * factor + at / 50) % 5).collect::<Vec<u32>>());
        let step = TrainStep { wanted: Wanted::default(), ..STEP };
        let derivatives: Vec<f32> = (0..1100).map(|at| (at as f32).cos()).collect();
        let blocks = ScoredPairs::new(&*network, &parameters, [&users, &items], 10, &step).unwrap();
        let scores = blocks.scores().unwrap();
        let found = blocks.backward(&derivatives).unwrap();

        let (dim, matrices) = (parameters.users.values.dim, parameters.iter().map(|parameter| &parameter.values));
        let variables: Vec<Var> =
            matrices.map(|matrix| Var::from_slice(&matrix.values, (matrix.rows, matrix.dim), &Device::Cpu).unwrap()).collect();
        let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        let places = [&users, &items].map(|ids| Tensor::from_slice(ids, ids.len(), &Device::Cpu).unwrap());
        let pairs = Pairs { users: tensors[0].clone(), items: tensors[1].clone(), places, first: 10 };
        let expected = network.score(&pairs, &tensors[2..], &step).unwrap();
        let close = |found: &[f32], expected: &[f32]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-4), "{found:?} {expected:?}");
        };
        close(&scores, &expected.to_vec1::<f32>().unwrap());
        let gradients =
            (expected * Tensor::from_slice(&derivatives, 1100, &Device::Cpu).unwrap()).unwrap().sum_all().unwrap().backward().unwrap();
        let gradient = |at: usize| gradients.get(&variables[at]).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for side in 0..2 {
            let mut sum = vec![0.0; 5 * dim];
            for (row, gradient) in found.rows(side) {
                sum[row * dim..].iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value);
            }
            close(&sum, &gradient(side));
        }
        found.weights().zip(2..).for_each(|(weights, at)| close(&weights, &gradient(at)));
    }

    /// What is stored scores as what was trained, but for a bias that moves all scores alike.
    #[test]
    fn the_scorer_scores_as_the_network_does() {
        for (form, hidden) in FORMS {
            let settings = NeuMf { init: Init::XavierNormal(XavierNormal {}), ..settings(form, hidden) };
            let mut parameters = Learned::parameters(&settings, &dataset(), 3);
            for weights in parameters.weights.iter_mut().filter(|weights| weights.name.ends_with("bias")) {
                weights.values.values.iter_mut().zip(1..).for_each(|(value, number)| *value = 0.1 * number as f32);
            }
            let network = settings.network(3).unwrap();
            let step = TrainStep { wanted: Wanted::default(), ..STEP };
            let (users, items): (Vec<u32>, Vec<u32>) = (0..5).flat_map(|user| (0..5).map(move |item| (user, item))).unzip();
            let trained = ScoredPairs::new(&*network, &parameters, [&users, &items], 0, &step).unwrap().scores().unwrap();
            let history = Interactions::empty(5);
            let stored = rank::reduce_lists(
                &network.scorer(&parameters),
                &history,
                &[0, 1, 2, 3, 4],
                |_, ids| ids.extend(0..5),
                |_, scores| scores.to_vec(),
                1 << 20,
            );
            for (trained, stored) in trained.iter().zip(stored.unwrap().concat()) {
                assert!((trained - stored).abs() < 1e-6, "{form:?} {hidden:?}: {trained} {stored}");
            }
        }
    }

    #[test]
    fn dropped_numbers_follow_from_the_place_of_the_pair() {
        let dropping = NeuMf { dropout: 0.5, ..settings(Form::NeuMf, &[64, 64]) };
        let parameters = parameters(&dropping);
        let layers = NeuMfLayers { settings: dropping, seed: 1 };
        let scores = |pairs: &Pairs| layers.score(pairs, &parameters[2..], &STEP).unwrap().to_vec1::<f64>().unwrap();
        let all = pairs(&parameters);
        let tail = Pairs {
            places: all.places.clone().map(|places| places.narrow(0, 3, 2).unwrap()),
            first: 3,
            users: all.users.clone(),
            items: all.items.clone(),
        };
        let close = |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-9);
        assert!(close(&scores(&all)[3..], &scores(&tail)));
        assert!(!close(&scores(&all)[3..], &scores(&Pairs { first: 0, ..tail })));
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<NeuMf>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "hidden": []}"#), "hidden has 0 layers, expected 1 to 64; `form: gmf` has none");
        assert_eq!(check(r#"{"dim": 4, "hidden": [8, 0]}"#), "hidden has a layer of 0, expected 1 to 16384");
        assert_eq!(check(r#"{"dim": 4, "dropout": -0.1}"#), "dropout is -0.1, expected a number from 0 to below 1");
        assert_eq!(serde_json::from_str::<NeuMf>(r#"{"dim": 4, "hidden": [], "form": "gmf"}"#).unwrap().check(), Ok(()));
    }

    const EXPECTED: [[f64; 5]; 4] = [
        [-1.460769611720617, -1.532320237571516, -1.005178995212847, -0.4187633908646016, -0.1365822628322489],
        [0.6079477574691048, 0.45233676878820006, 0.3866248079303528, 0.8046637250068142, 0.8451168978616709],
        [0.3995939470679155, -0.31379047084114065, 0.3067661482733263, -0.15259697290223337, -0.3639571453830412],
        [-2.5173232517292243, -3.1933876297904984, -2.277373279005697, -3.6278824600846944, -4.016550318177568],
    ];
}
