//! Models that are one forward pass in candle's operations. Their gradient is candle's, from the gradient of the vectors on.
//!
//! Every model that learns has such a pass ([`Learned::formula`](super::Learned::formula)), which takes its parameters on any device. Those that are written by hand for
//! the CPU are held against it.

use super::encoder::{Backward, Encoder, TrainStep};
use crate::Result;
use crate::parameters::Parameters;
use candle_core::{CpuStorage, CustomOp1, DType, Device, Layout, Shape, Tensor, Var, bail};
use embeddings::{RowGradients, Tables};
use optimizers::Parameter;
use vectors::Matrix;

/// A forward pass in candle's operations, on the device of the parameters.
pub trait Forward: Send + Sync {
    /// The vectors of all users and items from the tables of users and items and the weights, in their order; without a `step` as they are
    /// ranked. A step of a model of sequences has a vector for each row of the batch, in place of one for each user.
    ///
    /// # Errors
    /// Those of tensor operations.
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> candle_core::Result<Encoded>;

    /// The vectors of users and items in each layer, the mean of which are the vectors: for models with
    /// [`mean_of_layers`](super::BackboneKind::mean_of_layers).
    ///
    /// # Errors
    /// Those of tensor operations.
    fn layers(&self, tables: &[Tensor]) -> candle_core::Result<Vec<[Tensor; 2]>> {
        Ok(vec![[tables[0].clone(), tables[1].clone()]])
    }

    /// Rows of the tables of users and of items that a step's gradient reaches beside those whose vectors are scored; `None` where it reaches
    /// all rows.
    fn reached(&self, _step: &TrainStep) -> [Option<Vec<u32>>; 2] {
        [None, None]
    }
}

impl<F: Forward> Forward for &F {
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> candle_core::Result<Encoded> {
        (*self).forward(parameters, step)
    }
}

impl Forward for Box<dyn Forward> {
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> candle_core::Result<Encoded> {
        (**self).forward(parameters, step)
    }

    fn layers(&self, tables: &[Tensor]) -> candle_core::Result<Vec<[Tensor; 2]>> {
        (**self).layers(tables)
    }

    fn reached(&self, step: &TrainStep) -> [Option<Vec<u32>>; 2] {
        (**self).reached(step)
    }
}

/// What a forward pass makes.
pub struct Encoded {
    /// `[users, dim]`, or `[B, dim]` of a step of a model of sequences.
    pub users: Tensor,
    /// `[items, dim]`
    pub items: Tensor,
    /// A loss of the model's own: of the batch of a step, a mean over its rows, `[]`.
    pub auxiliary: Option<Tensor>,
}

/// What a forward pass leaves for the way back.
struct ForwardPass {
    variables: Vec<Var>,
    encoded: Encoded,
    /// As [`Forward::reached`] gives them.
    reached: [Option<Vec<u32>>; 2],
}

/// A forward pass as an encoder.
pub(crate) struct Autograd<F> {
    model: F,
    vectors: Tables,
    /// That of the last step.
    pass: Option<ForwardPass>,
    /// Gradients of users, items and weights.
    gradients: Vec<RowGradients>,
}

impl<F: Forward> Autograd<F> {
    /// Makes an encoder with vectors of so many users and items, of `dim` numbers each.
    pub(crate) fn new(model: F, [users, items, dim]: [usize; 3]) -> Self {
        Self { model, vectors: Tables::zeros(users, items, dim), pass: None, gradients: Vec::new() }
    }

    fn take(&mut self, encoded: &Encoded) -> Result<()> {
        self.vectors.users.values = encoded.users.flatten_all()?.to_vec1()?;
        self.vectors.items.values = encoded.items.flatten_all()?.to_vec1()?;
        Ok(())
    }
}

/// A zero whose derivative by a tensor is the given one: where the way back of vectors begins.
pub(super) struct Seeded(pub(super) Tensor);

impl CustomOp1 for Seeded {
    fn name(&self) -> &'static str {
        "seeded-gradient"
    }

    fn cpu_fwd(&self, _storage: &CpuStorage, _layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        let zero = match self.0.dtype() {
            DType::F32 => CpuStorage::F32(vec![0.0]),
            DType::F64 => CpuStorage::F64(vec![0.0]),
            other => bail!("gradients are f32 or f64, not {other:?}"),
        };
        Ok((zero, Shape::from(())))
    }

    fn bwd(&self, _vectors: &Tensor, _zero: &Tensor, _derivative: &Tensor) -> candle_core::Result<Option<Tensor>> {
        Ok(Some(self.0.clone()))
    }
}

fn tensor(Parameter { values: Matrix { rows, dim, values }, .. }: &Parameter) -> candle_core::Result<Tensor> {
    Tensor::from_slice(values, (*rows, *dim), &Device::Cpu)
}

impl<F: Forward> Encoder for Autograd<F> {
    fn encode(&mut self, parameters: &Parameters) -> Result<()> {
        let parameters: Vec<Tensor> = parameters.iter().map(tensor).collect::<candle_core::Result<_>>()?;
        let encoded = self.model.forward(&parameters, None)?;
        self.take(&encoded)
    }

    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()> {
        self.pass = None; // before its successor takes as much
        let variable =
            |Parameter { values: Matrix { rows, dim, values }, .. }: &Parameter| Var::from_slice(values, (*rows, *dim), &Device::Cpu);
        let variables: Vec<Var> = parameters.iter().map(variable).collect::<candle_core::Result<_>>()?;
        let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        let encoded = self.model.forward(&tensors, Some(step))?;
        self.take(&encoded)?;
        self.pass = Some(ForwardPass { variables, encoded, reached: self.model.reached(step) });
        Ok(())
    }

    fn vectors<'a>(&'a self, _parameters: &'a Parameters) -> [&'a Matrix; 2] {
        self.vectors.both()
    }

    fn backward<'a>(&'a mut self, vectors: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        let ForwardPass { variables, encoded, reached } = self.pass.take().expect("a step has been encoded");
        let Encoded { users, items, auxiliary } = encoded;
        let mut total = match &auxiliary {
            Some(auxiliary) => auxiliary.clone(),
            None => Tensor::zeros((), users.dtype(), users.device())?,
        };
        // Before they are filled up, which marks all rows.
        let mut touched = [0, 1].map(|side| {
            let mut touched = reached[side].as_ref().map(|_| vectors[side].touched().to_vec())?;
            reached[side].iter().flatten().for_each(|&row| touched[row as usize] = true);
            Some(touched)
        });
        for (vectors, gradients) in [users, items].iter().zip(vectors) {
            let gradients = Tensor::from_slice(gradients.fill(), vectors.shape(), vectors.device())?;
            total = (total + vectors.apply_op1(Seeded(gradients))?)?;
        }
        let mut gradients = total.backward()?;
        let of_variable = |(at, variable): (usize, &Var)| {
            let (rows, dim) = variable.dims2()?;
            let values = match gradients.remove(variable) {
                Some(gradient) => gradient.flatten_all()?.to_vec1()?,
                None => vec![0.0; rows * dim],
            };
            let touched = touched.get_mut(at).and_then(Option::take).unwrap_or_else(|| vec![true; rows]);
            Ok(RowGradients::marked(Matrix { rows, dim, values }, touched))
        };
        self.gradients = variables.iter().enumerate().map(of_variable).collect::<candle_core::Result<_>>()?;
        let (tables, weights) = self.gradients.split_at(2);
        let auxiliary = auxiliary.map_or(Ok(0.0), |auxiliary| auxiliary.to_scalar::<f32>())?;
        Ok(Backward { tables: [&tables[0], &tables[1]], weights, auxiliary: f64::from(auxiliary) })
    }
}
