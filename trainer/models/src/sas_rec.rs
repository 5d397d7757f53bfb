//! SASRec: the next item from a history, by layers of causal self-attention.
//!
//! ```text
//! X = LN(E_i + P_t)        X <- LN(X + attention(X))        X <- LN(X + W_2 g(W_1 X + b_1) + b_2)        s(t, i) = similarity(X_t, E_i)
//! attention(X) = concat over heads of softmax(Q K^T / sqrt(d / heads)) V, times W_O, + b_O        Q, K, V = X W + b
//! ```
//! Position t attends to itself and to what stands before it, so that one pass has the states of all prefixes. The last two steps are those of a layer. `norm: post`
//! is the form above, as in RecBole; `norm: pre` normalises what goes into attention and network, X + attention(LN(X)), and the last X, as its paper does. In training a share of
//! numbers is dropped: of the first X, of the attention's weights, and of what is added. Items have one table, as inputs and as what is ranked. Matrices and positions start
//! as the table does, biases at 0. A row of a batch is one item to predict, so that losses of lists are refused. Kang and McAuley, ICDM 2018.

use super::{
    BackboneKind, Facts, Init, Normal, Stored, TargetsOf,
    limits::{check_layer, check_layers, check_share, check_tables},
    operations::{causal_softmax, gelu, layer_norm, linear},
    sequence::{self, Dropout, Model, SequenceSizes, fifty},
    sequence_kind::SequenceKind,
};
use crate::parameters::Parameters;
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// Weights of a layer, and places where a layer drops numbers.
const OF_LAYER: usize = 16;
const DROPS: u32 = 3;

/// `sas-rec` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SasRec {
    /// Length of a vector.
    pub dim: u32,
    /// Layers of attention.
    #[serde(default = "two")]
    pub layers: u32,
    /// Heads of a layer, a divisor of `dim`.
    #[serde(default = "two")]
    pub heads: u32,
    /// Numbers between the two maps of a layer's network.
    #[serde(default = "wide")]
    pub hidden: u32,
    /// g, between these maps.
    #[serde(default)]
    pub activation: Activation,
    /// Where layers are normalised.
    #[serde(default)]
    pub norm: Norm,
    /// The share of numbers that is dropped in training, from 0 to below 1.
    #[serde(default = "half")]
    pub dropout: f64,
    /// Items that a prediction sees, at most: the last ones of train before validation, of train and validation before test.
    #[serde(default = "fifty")]
    pub max_length: u32,
    /// Which items of a train history are predicted in training, each from those before it.
    #[serde(default)]
    pub targets: TargetsOf,
    /// How the table starts.
    #[serde(default = "small")]
    pub init: Init,
}

/// `activation` of [`SasRec`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `x` times the normal distribution function of x.
    #[default]
    Gelu,
    /// `max(x, 0)`
    Relu,
}

/// `norm` of [`SasRec`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// After each sum.
    #[default]
    Post,
    /// Before attention and network, and at the end.
    Pre,
}

fn two() -> u32 {
    2
}

fn wide() -> u32 {
    256
}

fn half() -> f64 {
    0.5
}

fn small() -> Init {
    Init::Normal(Normal { std: 0.02 })
}

impl BackboneKind for SasRec {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Kang and McAuley 2018",
            cost: "of each train interaction 12 d² + 2 T d multiplications a layer (`hidden` 4 d, histories of T), three times",
            unknown_user: "by zeros: all items alike",
            values: "`dim` 64, `max_length` 200 (Di Teodoro et al.)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        check_share("dropout", self.dropout)?;
        sequence::check(self.dim, self.max_length)?;
        if self.heads == 0 || !self.dim.is_multiple_of(self.heads) {
            return Err(format!("heads is {} where dim is {}, expected a number that divides it", self.heads, self.dim));
        }
        check_layer("hidden", self.hidden)?;
        check_tables(self.dim, &self.init)
    }

    /// 1: its exponentials and normal distribution have no branches, and round otherwise.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        Stored::Histories { dim: self.dim as usize }
    }
}

impl SequenceKind for SasRec {
    fn sequence_sizes(&self) -> SequenceSizes {
        let Self { dim, max_length, heads, targets, .. } = *self;
        SequenceSizes { dim, max_length, heads, targets }
    }

    fn weights(&self) -> Vec<(String, [usize; 2])> {
        let [dim, hidden, length] = [self.dim, self.hidden, self.max_length].map(|count| count as usize);
        let row = [1, dim];
        let layer = [
            ("query", [dim, dim]),
            ("query.bias", row),
            ("key", [dim, dim]),
            ("key.bias", row),
            ("value", [dim, dim]),
            ("value.bias", row),
            ("output", [dim, dim]),
            ("output.bias", row),
            ("norm1.gain", row),
            ("norm1.bias", row),
            ("inner", [hidden, dim]),
            ("inner.bias", [1, hidden]),
            ("outer", [dim, hidden]),
            ("outer.bias", row),
            ("norm2.gain", row),
            ("norm2.bias", row),
        ];
        let first = [("positions", [length, dim]), ("norm.gain", row), ("norm.bias", row)].map(|(name, shape)| (name.to_owned(), shape));
        let layers = (1..=self.layers).flat_map(|at| layer.map(|(name, shape)| (format!("layer{at}.{name}"), shape)));
        first.into_iter().chain(layers).collect()
    }

    fn start(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables = self.init.tables(0, dataset.items(), self.dim as usize, seed);
        let weights = self.weights().into_iter().zip(2..).map(|((name, [rows, dim]), which)| {
            let constant = |value: f32| Matrix { rows, dim, values: vec![value; rows * dim] };
            let values = match &name {
                name if name.ends_with(".gain") => constant(1.0),
                name if name.ends_with(".bias") => constant(0.0),
                _ => self.init.matrix([rows, dim], seed, which),
            };
            (name, values)
        });
        Parameters::new(tables, weights.collect())
    }

    /// Of each layer its vectors, normalised, mapped and dropped, the network's numbers, and the attention of each head, with what its operations leave.
    fn of_token(&self) -> u64 {
        let [dim, hidden, heads, length, layers] = [self.dim, self.hidden, self.heads, self.max_length, self.layers].map(u64::from);
        4 * dim + layers * (24 * dim + 4 * hidden + 6 * heads * length)
    }

    fn formula_of_token(&self) -> u64 {
        let [dim, hidden, heads, length, layers] = [self.dim, self.hidden, self.heads, self.max_length, self.layers].map(u64::from);
        4 * dim + layers * (30 * dim + 6 * hidden + 8 * heads * length)
    }
}

fn map(x: &Tensor, weights: &[Tensor]) -> Result<Tensor> {
    linear(x, &weights[0], &weights[1])
}

impl SasRec {
    fn drop(&self, x: Tensor, noise: Option<Dropout>, place: u32) -> Result<Tensor> {
        noise.map_or(Ok(x.clone()), |noise| noise.drop(x, self.dropout, place))
    }

    fn attention(
        &self,
        x: &Tensor,
        [windows, length]: [usize; 2],
        weights: &[Tensor],
        noise: Option<Dropout>,
        place: u32,
    ) -> Result<Tensor> {
        let (heads, dim) = (self.heads as usize, self.dim as usize);
        let of_heads = |weights: &[Tensor]| map(x, weights)?.reshape((windows, length, heads, dim / heads))?.transpose(1, 2)?.contiguous();
        let [query, key, value] = [of_heads(&weights[0..2])?, of_heads(&weights[2..4])?, of_heads(&weights[4..6])?];
        let scores = (query.matmul(&key.transpose(2, 3)?)? * (heads as f64 / dim as f64).sqrt())?;
        let shares = causal_softmax(&scores.reshape((windows * heads * length, length))?)?;
        let shares = self.drop(shares, noise, place)?.reshape((windows, heads, length, length))?;
        let mixed = shares.matmul(&value)?.transpose(1, 2)?.contiguous()?.reshape((windows * length, dim))?;
        self.drop(map(&mixed, &weights[6..8])?, noise, place + 1)
    }

    fn network(&self, x: &Tensor, weights: &[Tensor], noise: Option<Dropout>, place: u32) -> Result<Tensor> {
        let inner = map(x, &weights[0..2])?;
        let inner = match self.activation {
            Activation::Gelu => gelu(&inner)?,
            Activation::Relu => inner.relu()?,
        };
        self.drop(map(&inner, &weights[2..4])?, noise, place)
    }
}

impl Model for SasRec {
    fn states(&self, items: Tensor, shape: [usize; 2], weights: &[Tensor], noise: Option<Dropout>) -> Result<Tensor> {
        let ([windows, length], dim) = (shape, self.dim as usize);
        let (first, layers) = weights.split_at(3);
        let normal = |x: &Tensor, weights: &[Tensor]| layer_norm(x, &weights[0], &weights[1]);
        let positions = first[0].narrow(0, 0, length)?;
        let mut x = items.reshape((windows, length, dim))?.broadcast_add(&positions)?.reshape((windows * length, dim))?;
        if self.norm == Norm::Post {
            x = normal(&x, &first[1..])?;
        }
        x = self.drop(x, noise, 0)?;
        for (layer, weights) in (0..).zip(layers.chunks_exact(OF_LAYER)) {
            let place = 1 + DROPS * layer;
            let (of_attention, rest) = weights.split_at(8);
            let ([norm1, norm2], of_network) = ([&rest[..2], &rest[6..]], &rest[2..6]);
            x = match self.norm {
                Norm::Post => {
                    let x = normal(&(&x + self.attention(&x, shape, of_attention, noise, place)?)?, norm1)?;
                    normal(&(&x + self.network(&x, of_network, noise, place + 2)?)?, norm2)?
                }
                Norm::Pre => {
                    let x = (&x + self.attention(&normal(&x, norm1)?, shape, of_attention, noise, place)?)?;
                    (&x + self.network(&normal(&x, norm2)?, of_network, noise, place + 2)?)?
                }
            };
        }
        if self.norm == Norm::Pre { normal(&x, &first[1..]) } else { Ok(x) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        sequence::testing::{assert_causal, derivatives, parameters, states},
        testing::assert_derivatives,
    };
    use super::*;

    fn model(text: &str) -> SasRec {
        serde_json::from_str(text).unwrap()
    }

    fn shapes(model: &SasRec) -> Vec<(bool, [usize; 2])> {
        model.weights().into_iter().map(|(name, shape)| (name.ends_with(".gain"), shape)).collect()
    }

    /// Of NumPy: of the histories 3 0 4 2 and 1 2 0 4 3 the states after the first's second and last item, and after the last's.
    #[test]
    fn states_are_those_of_numpy() {
        for (norm, activation, expected) in [
            (
                "post",
                "gelu",
                [
                    [2.040171743535, 0.040583925168, -0.970789757605, -0.856655453328],
                    [-1.571735851948, 0.706733942661, 0.357136748229, 0.370803151179],
                    [0.407676081897, -0.947270634221, -1.013684202703, 0.881375934210],
                ],
            ),
            (
                "post",
                "relu",
                [
                    [2.034418198355, 0.068078380275, -0.957228665286, -0.877769666998],
                    [-1.590702840958, 0.808601091347, 0.385487345096, 0.305965570528],
                    [0.313076031685, -0.942231136340, -0.958248637879, 0.906482329961],
                ],
            ),
            (
                "pre",
                "gelu",
                [
                    [1.723327965201, 0.048448927758, -0.911627977684, -0.592757351630],
                    [0.189503013873, -0.006268059894, -1.308916393730, 1.340593381162],
                    [1.611785189243, -0.184199132642, -1.203448105733, 0.199757807340],
                ],
            ),
            (
                "pre",
                "relu",
                [
                    [1.713091896648, 0.063518859169, -0.903810023308, -0.613530866954],
                    [-1.864494897130, 0.580306392955, -0.267876540517, 0.892806428010],
                    [1.598611568552, -0.059559138061, -1.189092700586, 0.038609314552],
                ],
            ),
        ] {
            let text = format!(r#"{{"dim": 4, "hidden": 6, "max_length": 5, "norm": "{norm}", "activation": "{activation}"}}"#);
            let model = model(&text);
            let found = states(&model, &parameters(&shapes(&model)));
            for (place, expected) in [1, 3, 9].into_iter().zip(expected) {
                let close = found[place].iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9);
                assert!(close, "{norm}, {activation}, {place}: {:?} {expected:?}", found[place]);
            }
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for form in [r#""norm": "post", "dropout": 0.4"#, r#""norm": "pre", "activation": "relu", "dropout": 0"#] {
            let model = model(&format!(r#"{{"dim": 4, "heads": 2, "layers": 1, "hidden": 3, "max_length": 5, {form}}}"#));
            assert_derivatives(|given| derivatives(&model, given), &parameters(&shapes(&model)));
        }
    }

    #[test]
    fn a_state_sees_its_prefix_alone() {
        for norm in ["post", "pre"] {
            let model = model(&format!(r#"{{"dim": 4, "heads": 4, "hidden": 6, "max_length": 5, "norm": "{norm}"}}"#));
            assert_causal(&model, &parameters(&shapes(&model)));
        }
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| model(text).check().unwrap_err();
        assert_eq!(check(r#"{"dim": 64, "heads": 3}"#), "heads is 3 where dim is 64, expected a number that divides it");
        assert_eq!(check(r#"{"dim": 64, "heads": 0}"#), "heads is 0 where dim is 64, expected a number that divides it");
        assert_eq!(check(r#"{"dim": 64, "max_length": 0}"#), "max_length is 0, expected 1 to 65536");
        assert_eq!(check(r#"{"dim": 64, "hidden": 0}"#), "hidden is 0, expected 1 to 16384");
        assert_eq!(check(r#"{"dim": 64, "dropout": 1}"#), "dropout is 1, expected a number from 0 to below 1");
    }
}
