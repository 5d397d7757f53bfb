//! Two towers: a small network on the vector of a user, and another on that of an item.
//!
//! ```text
//! tower(x) = x + f_L(... f_1(x))        f_l(x) = ReLU(W_l x + b_l)        s(u, i) = similarity(tower_users(p_u), tower_items(q_i))
//! ```
//! The last layer has as many numbers as a vector. The code of paper 001 calls it NCF, though no network looks at a pair, so that any similarity and
//! loss can stand on it. Matrices start as `xavier-normal` does, biases at 0. He et al., WWW 2017; Yang et al. 2025 (its code).

use super::{
    BackboneKind, Encoded, Facts, Forward, Init, Sizes, Stored, TensorSize, XavierNormal,
    autograd::Seeded,
    encoder::{Backward, Encoder, Marks, TrainStep, Wanted},
    kind::Learned,
    limits::{MOST_HIDDEN, check_hidden, check_tables},
    operations::{hidden, linear_without_bias},
};
use crate::Result;
use crate::parameters::Parameters;
use candle_core::{Device, Tensor, Var};
use dataset::Dataset;
use embeddings::{RowGradients, Tables};
use optimizers::Parameter;
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// The towers, by the names of their weights.
const SIDES: [&str; 2] = ["users", "items"];

/// `two-tower` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoTower {
    /// Length of a vector.
    pub dim: u32,
    /// Numbers of the layers before the last one; `[[32, 16, 8]]` in a sweep file, as a list alone is tuned over.
    #[serde(default = "narrower")]
    pub hidden: Vec<u32>,
    /// How the tables start.
    #[serde(default)]
    pub init: Init,
}

fn narrower() -> Vec<u32> {
    vec![32, 16, 8]
}

impl TwoTower {
    /// Names and shapes of the weights of both towers, in their order.
    fn weights(&self) -> Vec<(String, [usize; 2])> {
        let widths: Vec<usize> = [self.dim].iter().chain(&self.hidden).chain(&[self.dim]).map(|&width| width as usize).collect();
        let of_layer = |side: &str, (layer, pair): (usize, &[usize])| {
            let name = format!("{side}.layer{}", layer + 1);
            [(name.clone(), [pair[1], pair[0]]), (format!("{name}.bias"), [1, pair[1]])]
        };
        SIDES.iter().flat_map(|side| widths.windows(2).enumerate().flat_map(move |pair| of_layer(side, pair))).collect()
    }

    /// Weights of one tower.
    fn of_tower(&self) -> usize {
        2 * (self.hidden.len() + 1)
    }
}

impl BackboneKind for TwoTower {
    fn facts(&self) -> Facts {
        Facts {
            paper: "He et al. 2017; Yang et al. 2025",
            cost: "of each user and item of the batch the multiplications of its tower, three times",
            unknown_user: "by what the tower makes of the vector that it began with, which only `weight_decay` moves",
            values: "`dim` 64, `hidden` [32, 16, 8] (SL@K)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.hidden.len() > MOST_HIDDEN {
            return Err(format!("hidden has {} layers, expected at most {MOST_HIDDEN}", self.hidden.len()));
        }
        check_hidden(&self.hidden)?;
        check_tables(self.dim, &self.init)
    }

    /// 1: rows that no score is of have no gradient, and `lazy-adam` leaves them.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }
}

impl Learned for TwoTower {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let (users, items, dim) = (dataset.users(), dataset.items(), self.dim as usize);
        let weights = self.weights().into_iter().zip(2..).map(|((name, shape), which)| {
            let [rows, dim] = shape;
            let values = match name.ends_with("bias") {
                true => Matrix { rows, dim, values: vec![0.0; dim] },
                false => Init::XavierNormal(XavierNormal {}).matrix(shape, seed, which),
            };
            (name, values)
        });
        Parameters::new(self.init.tables(users, items, dim, seed), weights.collect())
    }

    fn encoder(&self, dataset: &Dataset, _seed: u64) -> Box<dyn Encoder> {
        Box::new(Towers::new([dataset.users(), dataset.items(), self.dim as usize], self.of_tower()))
    }

    fn formula(&self, _dataset: &Dataset, _seed: u64) -> Box<dyn Forward> {
        Box::new(TwoTowerFormula { weights: self.of_tower() })
    }

    /// Vectors and gradients of all rows, and of each that is looked at the layers, forward and back.
    fn memory(&self, Sizes { users, items, .. }: Sizes) -> u64 {
        let widths: u64 = self.hidden.iter().map(|&width| u64::from(width)).sum();
        (users + items) * (2 * u64::from(self.dim) + 4 * (2 * u64::from(self.dim) + widths)) * 4
    }

    /// The layers of all rows, forward and back.
    fn formula_memory(&self, Sizes { users, items, .. }: Sizes) -> u64 {
        let widths: u64 = self.hidden.iter().map(|&width| u64::from(width)).sum();
        (users + items) * (2 * u64::from(self.dim) + 7 * (2 * u64::from(self.dim) + widths)) * 4
    }

    fn largest_tensor(&self, Sizes { users, items, .. }: Sizes) -> TensorSize {
        let widest = self.hidden.iter().fold(self.dim, |widest, &width| widest.max(width));
        TensorSize { numbers: users.max(items).saturating_mul(widest.into()), what: "the widest layer of all users or items" }
    }
}

/// Row by row, so that a step makes the vectors that it looks at alone.
struct Towers {
    /// Weights of one tower.
    weights: usize,
    vectors: Tables,
    wanted: Marks,
    /// The passes of the last step, of users and of items.
    pass: Option<[TowerPass; 2]>,
    gradients: [RowGradients; 2],
    of_weights: Vec<RowGradients>,
}

/// What a step leaves of a tower for the way back.
struct TowerPass {
    /// The rows that were looked at, ascending.
    rows: Vec<usize>,
    /// Variables of the table's rows, and of the weights.
    variables: Vec<Var>,
    vectors: Tensor,
}

/// `tower(x)` for rows `[R, dim]` and the weights of its layers.
fn tower(rows: &Tensor, weights: &[Tensor]) -> candle_core::Result<Tensor> {
    let layer = |x: Tensor, layer: &[Tensor]| hidden(&linear_without_bias(&x, &layer[0])?, &layer[1], None);
    rows + weights.chunks_exact(2).try_fold(rows.clone(), layer)?
}

/// Both towers as one forward pass over all rows.
struct TwoTowerFormula {
    /// Weights of one tower.
    weights: usize,
}

impl Forward for TwoTowerFormula {
    fn forward(&self, parameters: &[Tensor], _step: Option<&TrainStep>) -> candle_core::Result<Encoded> {
        let (tables, weights) = parameters.split_at(2);
        let (of_users, of_items) = weights.split_at(self.weights);
        Ok(Encoded { users: tower(&tables[0], of_users)?, items: tower(&tables[1], of_items)?, auxiliary: None })
    }

    fn reached(&self, _step: &TrainStep) -> [Option<Vec<u32>>; 2] {
        [Some(Vec::new()), Some(Vec::new())]
    }
}

impl Towers {
    fn new([users, items, dim]: [usize; 3], weights: usize) -> Self {
        Self {
            weights,
            vectors: Tables::zeros(users, items, dim),
            wanted: Marks::new(users, items),
            pass: None,
            gradients: [users, items].map(|rows| RowGradients::new(rows, dim)),
            of_weights: Vec::new(),
        }
    }

    fn sides<'a>(&self, parameters: &'a Parameters) -> [(&'a Matrix, &'a [Parameter]); 2] {
        let (of_users, of_items) = parameters.weights.split_at(self.weights);
        [(&parameters.users.values, of_users), (&parameters.items.values, of_items)]
    }

    /// Makes the vectors of the wanted rows.
    fn pass(&mut self, parameters: &Parameters, wanted: Wanted) -> Result<[TowerPass; 2]> {
        self.wanted.set(wanted);
        let sides = self.sides(parameters).into_iter().zip(self.wanted.get());
        let passes: Vec<TowerPass> =
            sides.map(|((table, weights), marks)| TowerPass::new(table, weights, marks)).collect::<candle_core::Result<_>>()?;
        for (pass, target) in passes.iter().zip([&mut self.vectors.users, &mut self.vectors.items]) {
            let (dim, vectors) = (target.dim, pass.vectors.flatten_all()?.to_vec1::<f32>()?);
            for (&row, vector) in pass.rows.iter().zip(vectors.chunks_exact(dim)) {
                target.values[row * dim..][..dim].copy_from_slice(vector);
            }
        }
        Ok(passes.try_into().unwrap_or_else(|_| unreachable!("there are two towers")))
    }
}

impl TowerPass {
    /// Makes the vectors of the marked rows; of all without marks.
    fn new(table: &Matrix, weights: &[Parameter], marks: Option<&[bool]>) -> candle_core::Result<Self> {
        let rows: Vec<usize> = (0..table.rows).filter(|&row| marks.is_none_or(|marks| marks[row])).collect();
        let values: Vec<f32> = rows.iter().flat_map(|&row| table.row(row)).copied().collect();
        let of_rows = Var::from_vec(values, (rows.len(), table.dim), &Device::Cpu);
        let of_weights =
            weights.iter().map(|Parameter { values, .. }| Var::from_slice(&values.values, (values.rows, values.dim), &Device::Cpu));
        let variables: Vec<Var> = std::iter::once(of_rows).chain(of_weights).collect::<candle_core::Result<_>>()?;
        let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        let vectors = if rows.is_empty() { tensors[0].clone() } else { tower(&tensors[0], &tensors[1..])? };
        Ok(Self { rows, variables, vectors })
    }

    /// Gradients of the rows into `of_table`, from those of the vectors; those of the weights.
    fn backward(self, of_vectors: &RowGradients, of_table: &mut RowGradients) -> candle_core::Result<Vec<RowGradients>> {
        let dim = of_table.dim();
        of_table.clear();
        let zeros = vec![0.0; dim];
        let of_row = |&row: &usize| if of_vectors.touched()[row] { &of_vectors.values()[row * dim..][..dim] } else { &zeros };
        let seeds: Vec<f32> = self.rows.iter().flat_map(of_row).copied().collect();
        let seeds = Tensor::from_vec(seeds, self.vectors.shape(), &Device::Cpu)?;
        let gradients = self.vectors.apply_op1(Seeded(seeds))?.backward()?;
        let of_variable = |variable: &Var| match gradients.get(variable) {
            Some(gradient) => gradient.flatten_all()?.to_vec1::<f32>(),
            None => Ok(vec![0.0; variable.elem_count()]),
        };
        let of_rows = of_variable(&self.variables[0])?;
        let rows = self.rows.iter().zip(of_rows.chunks_exact(dim)).filter(|(row, _)| of_vectors.touched()[**row]);
        rows.for_each(|(&row, gradient)| of_table.add(row, gradient));
        let whole = |variable: &Var| {
            let (rows, dim) = variable.dims2()?;
            Ok(RowGradients::whole(Matrix { rows, dim, values: of_variable(variable)? }))
        };
        self.variables[1..].iter().map(whole).collect()
    }
}

impl Encoder for Towers {
    fn encode(&mut self, parameters: &Parameters) -> Result<()> {
        self.pass(parameters, Wanted::default()).map(drop)
    }

    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()> {
        self.pass = None; // before its successor takes as much
        self.pass = Some(self.pass(parameters, step.wanted)?);
        Ok(())
    }

    fn vectors<'a>(&'a self, _parameters: &'a Parameters) -> [&'a Matrix; 2] {
        self.vectors.both()
    }

    fn backward<'a>(&'a mut self, vectors: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        let passes = self.pass.take().expect("a step has been encoded");
        self.of_weights.clear();
        for ((pass, of_vectors), of_table) in passes.into_iter().zip(vectors).zip(&mut self.gradients) {
            self.of_weights.extend(pass.backward(of_vectors, of_table)?);
        }
        let [users, items] = &self.gradients;
        Ok(Backward { tables: [users, items], weights: &self.of_weights, auxiliary: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        autograd::Autograd,
        testing::{STEP, assert_gradients, assert_rows, dataset, tables, weights},
    };
    use super::*;

    const SETTINGS: &str = r#"{"dim": 2, "hidden": [3]}"#;
    const FORMULA: TwoTowerFormula = TwoTowerFormula { weights: 4 };

    fn parameters() -> Vec<Tensor> {
        let settings: TwoTower = serde_json::from_str(SETTINGS).unwrap();
        let names = settings.weights();
        let shapes: Vec<(&str, [usize; 2])> = names.iter().map(|(name, shape)| (name.as_str(), *shape)).collect();
        tables().into_iter().chain(weights(&shapes)).collect()
    }

    /// Of NumPy.
    #[test]
    fn vectors_are_those_of_numpy() {
        let expected: [(usize, &[f64]); 4] = [
            (2, &[-0.611857890943, 0.358454613954]),
            (3, &[-0.883454655720, 0.700290000415]),
            (5, &[2.352224492804, 0.662969230082]),
            (6, &[0.124872661624, -0.625070648893]),
        ];
        assert_rows(&FORMULA.forward(&parameters(), None).unwrap(), &expected);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&FORMULA, &parameters());
    }

    /// A step that looks at some rows has their vectors and the gradients that all rows at once would have.
    #[test]
    fn a_step_makes_the_rows_that_are_wanted() {
        let settings: TwoTower = serde_json::from_str(r#"{"dim": 2, "hidden": [3, 2]}"#).unwrap();
        let (parameters, mut encoder) = (settings.parameters(&dataset(), 3), settings.encoder(&dataset(), 3));
        let mut expected = Autograd::new(TwoTowerFormula { weights: 6 }, [5, 5, 2]);
        let wanted = Wanted { users: Some(&[3, 1]), items: Some(&[0, 4, 2]) };
        encoder.encode_step(&parameters, &TrainStep { wanted, ..STEP }).unwrap();
        expected.encode_step(&parameters, &STEP).unwrap();
        for (found, expected, rows) in [
            (encoder.vectors(&parameters)[0], expected.vectors(&parameters)[0], &[1, 3][..]),
            (encoder.vectors(&parameters)[1], expected.vectors(&parameters)[1], &[0, 2, 4]),
        ] {
            assert!(rows.iter().all(|&row| found.row(row) == expected.row(row)));
        }
        let gradients = || {
            let mut gradients = [RowGradients::new(5, 2), RowGradients::new(5, 2)];
            for (side, row, gradient) in [(0, 1, [0.5, -1.0]), (0, 3, [0.25, 2.0]), (1, 0, [-1.5, 0.5]), (1, 4, [1.0, 1.0])] {
                gradients[side].add(row, &gradient);
            }
            gradients
        };
        let found = |encoder: &mut dyn Encoder| {
            let [mut users, mut items] = gradients();
            let Backward { tables, weights, .. } = encoder.backward([&mut users, &mut items]).unwrap();
            let whole = |gradients: &RowGradients| {
                let rows = gradients.values().chunks_exact(gradients.dim()).zip(gradients.touched());
                rows.flat_map(|(row, &touched)| row.iter().map(move |value| if touched { *value } else { 0.0 })).collect::<Vec<f32>>()
            };
            tables.into_iter().chain(weights).flat_map(whole).collect::<Vec<f32>>()
        };
        let (found, expected) = (found(&mut *encoder), found(&mut expected));
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-5), "{found:?} {expected:?}");
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<TwoTower>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "hidden": [0]}"#), "hidden has a layer of 0, expected 1 to 16384");
        assert_eq!(check(r#"{"dim": 0}"#), "dim is 0, expected 1 to 65536");
    }
}
