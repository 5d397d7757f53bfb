//! GRU4Rec: the next item from a history, by a recurrent network with gates.
//!
//! ```text
//! r = sigmoid(W_r x + U_r h)      z = sigmoid(W_z x + U_z h)      n = tanh(W_n x + r * (U_n h))      h <- (1 - z) * n + z * h
//! s(t, i) = similarity(W_D h_t + b, E_i)
//! ```
//! x is an item's vector, or the state h of the layer below; h is 0 before the first item. In training a share of the items' numbers is dropped. Items have one
//! table, as inputs and as what is ranked, as in RecBole. W and U of a layer's three gates start each as one
//! matrix of `xavier-uniform`, W_D uniformly up to 1 / sqrt(hidden), b at 0. A row of a batch is one
//! item to predict, so that losses of lists are refused. Hidasi
//! et al., ICLR 2016; Tan et al., DLRS 2016.

mod recurrence;

use super::{
    BackboneKind, Facts, Init, Stored, TargetsOf,
    limits::{check_layer, check_layers, check_share, check_tables},
    operations::linear,
    sequence::{self, Dropout, Model, SequenceSizes, fifty},
    sequence_kind::SequenceKind,
};
use crate::parameters::Parameters;
use candle_core::{Result, Tensor};
use dataset::Dataset;
use recurrence::recurrence;
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// `gru4rec` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gru4Rec {
    /// Length of a vector.
    pub dim: u32,
    /// Numbers of a state.
    #[serde(default = "twice")]
    pub hidden: u32,
    /// Recurrent layers.
    #[serde(default = "one")]
    pub layers: u32,
    /// The share of the items' numbers that is dropped in training, from 0 to below 1.
    #[serde(default = "some")]
    pub dropout: f64,
    /// Items that a prediction sees, at most: the last ones of train before validation, of train and validation before test.
    #[serde(default = "fifty")]
    pub max_length: u32,
    /// Which items of a train history are predicted in training, each from those before it.
    #[serde(default)]
    pub targets: TargetsOf,
    /// How the table starts.
    #[serde(default)]
    pub init: Init,
}

fn twice() -> u32 {
    128
}

fn one() -> u32 {
    1
}

fn some() -> f64 {
    0.3
}

impl BackboneKind for Gru4Rec {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Hidasi et al. 2016; Tan et al. 2016",
            cost: "of each train interaction 3 h (d + h) multiplications a layer and h d at the end, three times",
            unknown_user: "by zeros: all items alike",
            values: "`dim` 64, `max_length` 200 (Di Teodoro et al.)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layers(self.layers)?;
        if self.layers == 0 {
            return Err("layers is 0, expected at least 1".to_owned());
        }
        check_share("dropout", self.dropout)?;
        sequence::check(self.dim, self.max_length)?;
        check_layer("hidden", self.hidden)?;
        check_tables(self.dim, &self.init)
    }

    /// 1: its gates have no branches, and round otherwise.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        Stored::Histories { dim: self.dim as usize }
    }
}

impl SequenceKind for Gru4Rec {
    fn sequence_sizes(&self) -> SequenceSizes {
        let Self { dim, max_length, targets, .. } = *self;
        SequenceSizes { dim, max_length, heads: 0, targets }
    }

    fn weights(&self) -> Vec<(String, [usize; 2])> {
        let [dim, hidden] = [self.dim, self.hidden].map(|count| count as usize);
        let layers = (1..=self.layers).flat_map(|layer| {
            let inputs = if layer == 1 { dim } else { hidden };
            [(format!("layer{layer}.input"), [3 * hidden, inputs]), (format!("layer{layer}.state"), [3 * hidden, hidden])]
        });
        layers.chain([("dense".to_owned(), [dim, hidden]), ("dense.bias".to_owned(), [1, dim])]).collect()
    }

    fn start(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables = self.init.tables(0, dataset.items(), self.dim as usize, seed);
        let weights = self.weights().into_iter().zip(2..).map(|((name, shape), which)| {
            let [rows, dim] = shape;
            let mut values = match name.ends_with(".bias") {
                true => Matrix { rows, dim, values: vec![0.0; dim] },
                false => Init::xavier_uniform().matrix(shape, seed, which),
            };
            if name == "dense" {
                let bounds = ((rows + dim) as f64 / (6 * dim) as f64).sqrt();
                values.values.iter_mut().for_each(|value| *value *= bounds as f32);
            }
            (name, values)
        });
        Parameters::new(tables, weights.collect())
    }

    /// The items' vectors, dropped, and the prediction; of each layer the gates and the states, with their gradients.
    fn of_token(&self) -> u64 {
        let [dim, hidden, layers] = [self.dim, self.hidden, self.layers].map(u64::from);
        8 * dim + layers * 12 * hidden
    }

    fn formula_of_token(&self) -> u64 {
        let [dim, hidden, layers] = [self.dim, self.hidden, self.layers].map(u64::from);
        16 * dim + layers * 40 * hidden
    }
}

impl Model for Gru4Rec {
    fn states(&self, items: Tensor, shape: [usize; 2], weights: &[Tensor], noise: Option<Dropout>) -> Result<Tensor> {
        let (layers, dense) = weights.split_at(2 * self.layers as usize);
        let mut x = match noise {
            Some(noise) => noise.drop(items, self.dropout, 0)?,
            None => items,
        };
        for weights in layers.chunks_exact(2) {
            x = recurrence(&x.matmul(&weights[0].t()?)?, &weights[1], shape)?;
        }
        linear(&x, &dense[0], &dense[1])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        sequence::testing::{assert_causal, derivatives, parameters, states},
        testing::assert_derivatives,
    };
    use super::*;

    fn model(layers: u32) -> Gru4Rec {
        serde_json::from_str(&format!(r#"{{"dim": 4, "hidden": 6, "layers": {layers}, "max_length": 5}}"#)).unwrap()
    }

    fn shapes(model: &Gru4Rec) -> Vec<(bool, [usize; 2])> {
        model.weights().into_iter().map(|(_, shape)| (false, shape)).collect()
    }

    /// Of NumPy: of the histories 3 0 4 2 and 1 2 0 4 3 the states after the first's second and last item, and after the last's.
    #[test]
    fn states_are_those_of_numpy() {
        for (layers, expected) in [
            (
                1,
                [
                    [-0.244173512680, -0.305750531738, 0.096081752202, 0.339570438453],
                    [-0.173726460507, -0.208704309237, 0.036107039527, 0.236052294261],
                    [-0.133568941919, -0.202516909587, -0.003382791560, 0.225603513722],
                ],
            ),
            (
                2,
                [
                    [-0.233154981158, 0.096303424793, 0.283571844383, 0.062282169269],
                    [-0.267426147905, 0.105990739219, 0.318888377378, 0.056405891623],
                    [-0.275885985421, 0.128672473541, 0.329795819923, 0.034901188601],
                ],
            ),
        ] {
            let model = model(layers);
            let found = states(&model, &parameters(&shapes(&model)));
            for (place, expected) in [1, 3, 9].into_iter().zip(expected) {
                let close = found[place].iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9);
                assert!(close, "{layers}, {place}: {:?} {expected:?}", found[place]);
            }
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for layers in [1, 2] {
            let model = model(layers);
            assert_derivatives(|given| derivatives(&model, given), &parameters(&shapes(&model)));
        }
    }

    #[test]
    fn a_state_sees_its_prefix_alone() {
        assert_causal(&model(2), &parameters(&shapes(&model(2))));
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Gru4Rec>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 64, "layers": 0}"#), "layers is 0, expected at least 1");
        assert_eq!(check(r#"{"dim": 64, "hidden": 0}"#), "hidden is 0, expected 1 to 16384");
        assert_eq!(check(r#"{"dim": 0}"#), "dim is 0, expected 1 to 65536");
    }
}
