//! What graph convolutions with learned weights share: a stack of layers, dropout, and how layers are pooled.
//!
//! ```text
//! H(0) = E        H(k+1) = dropout(LeakyReLU(convolution(H(k))))        P = pool(E, H(1) / |H(1)|, ..., H(L) / |H(L)|)
//! ```
//! The slope of LeakyReLU is 0.2. A layer is fed with the rows before it as they are; at length one they are pooled alone.

use super::{
    Init, Sizes, Stored, UserTable, XavierNormal,
    autograd::Encoded,
    encoder::TrainStep,
    limits::{check_layers, check_share, check_tables, check_width},
    noise::{Keyed, dropout},
    operations::{apart, leaky_relu, mean, sum, times_constants, together, unit_rows},
};
use crate::parameters::Parameters;
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};
use streams::Purpose;
use vectors::Matrix;

/// `pool` of graph convolutions: what vectors are made of layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// The sum of the layers.
    #[default]
    Sum,
    /// Their mean.
    Mean,
    /// All of them, side by side: a vector has as many times the numbers of a row.
    Concat,
    /// The last one.
    Last,
}

/// The values of a stack of layers.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    pub(super) dim: u32,
    pub(super) layers: u32,
    /// The share of each layer's numbers that is dropped in training.
    pub(super) dropout: f64,
    pub(super) pool: Pool,
    /// Whether the tables are pooled too.
    pub(super) layer_zero: bool,
    pub(super) user_table: UserTable,
    pub(super) init: Init,
}

/// The name and the shape of a layer's weights.
pub(super) type Shape = (String, [usize; 2]);

impl Stack {
    /// Whether the values make sense.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let Self { dim, layers, dropout, .. } = *self;
        check_layers(layers)?;
        check_share("dropout", dropout)?;
        check_tables(dim, &self.init)?;
        if layers == 0 && !self.layer_zero {
            return Err("layers is 0 where layer_zero is false, expected at least 1 layer: there is nothing to pool".to_owned());
        }
        if self.pool == Pool::Last && !self.layer_zero {
            return Err("layer_zero is false where pool is last, which takes the last layer alone: leave it out".to_owned());
        }
        self.user_table.check(layers)?;
        check_width(dim, layers, u64::from(dim) * self.blocks())
    }

    /// How many rows stand side by side in a vector.
    fn blocks(&self) -> u64 {
        match self.pool {
            Pool::Concat => u64::from(self.layers) + u64::from(self.layer_zero),
            Pool::Sum | Pool::Mean | Pool::Last => 1,
        }
    }

    /// Numbers of a vector.
    pub(super) fn width(&self) -> usize {
        self.dim as usize * self.blocks() as usize
    }

    pub(super) fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.width() }
    }

    /// Tables, and the weights of each layer in their order: biases are zeros, all else starts as `xavier-normal` does.
    pub(super) fn start(&self, dataset: &Dataset, seed: u64, of_layer: &[Shape]) -> Parameters {
        let tables = self.user_table.of(self.init.tables(dataset.users(), dataset.items(), self.dim as usize, seed));
        let shapes = (1..=self.layers).flat_map(|layer| of_layer.iter().map(move |(name, shape)| (format!("layer{layer}.{name}"), *shape)));
        let weights = shapes.zip(2..).map(|((name, [rows, dim]), which)| {
            let matrix = match name.ends_with("bias") {
                true => Matrix { rows, dim, values: vec![0.0; rows * dim] },
                false => Init::XavierNormal(XavierNormal {}).matrix([rows, dim], seed, which),
            };
            (name, matrix)
        });
        Parameters::new(tables, weights.collect())
    }

    /// Bytes of tables and vectors, and of `tensors` matrices of each layer with their gradients.
    pub(super) fn memory(&self, Sizes { users, items, .. }: Sizes, tensors: u64) -> u64 {
        (4 + 5 * self.blocks() + 2 * (5 + tensors) * u64::from(self.layers)) * (users + items) * u64::from(self.dim) * 4
    }

    /// The vectors, by `convolve(layer, H, weights of the layer)`.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub(super) fn forward(
        &self,
        parameters: &[Tensor],
        step: Option<(u64, &TrainStep)>,
        convolve: impl Fn(u32, &Tensor, &[Tensor]) -> Result<Tensor>,
    ) -> Result<Encoded> {
        let (tables, weights) = parameters.split_at(2);
        let mut nodes = together(&[self.user_table.rows(&tables[0]), tables[1].clone()])?;
        let mut pooled = if self.layer_zero { vec![nodes.clone()] } else { Vec::new() };
        let of_layer = weights.len() / self.layers.max(1) as usize;
        for (layer, weights) in (0..self.layers).zip(weights.chunks_exact(of_layer.max(1))) {
            nodes = dropped(leaky_relu(&convolve(layer, &nodes, weights)?, 0.2)?, self.dropout, layer, step)?;
            pooled.push(unit_rows(&nodes)?);
        }
        let vectors = match self.pool {
            Pool::Sum => sum(&pooled)?,
            Pool::Mean => mean(&pooled)?,
            Pool::Concat => Tensor::cat(&pooled, 1)?,
            Pool::Last => pooled.pop().expect("`check` refuses a pool of nothing"),
        };
        let (users, items) = apart(&vectors, tables)?;
        Ok(Encoded { users, items, auxiliary: None })
    }
}

/// The rows of a layer without a share of their numbers, the others as much larger; all of them where there is no seed with a step.
///
/// # Errors
/// Those of tensor operations.
pub(super) fn dropped(nodes: Tensor, share: f64, layer: u32, step: Option<(u64, &TrainStep)>) -> Result<Tensor> {
    let Some((seed, step)) = step.filter(|_| share > 0.0) else {
        return Ok(nodes);
    };
    let keyed = Keyed { seed, purpose: Purpose::Dropout, place: layer, first: 0 };
    let factors = keyed.rows(step, &nodes, dropout(share as f32))?;
    times_constants(&nodes, factors)
}

/// `layer_zero` and `dropout` where nothing is said.
pub(super) fn yes() -> bool {
    true
}

pub(super) fn tenth() -> f64 {
    0.1
}
