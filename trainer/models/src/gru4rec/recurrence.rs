//! The steps of a recurrent layer as one operation of candle, forward and back through time.

use crate::operations::{Loop, Real, is_ours, sigmoid, vectorized};
use candle_core::{CpuStorage, CustomOp2, Device, Layout, Result, Shape, Tensor, bail};
use embeddings::product::{View, multiply};

/// `h [windows * length, H]` from the inputs' part of the gates `[windows * length, 3 H]`, reset, update and new, window after window, and the weights of
/// the state `U [3 H, H]`.
pub(super) struct Recurrence {
    /// Windows, and steps of each.
    pub(super) shape: [usize; 2],
}

/// The gates of a step: r, z, n, and `U_n h`.
struct Gates<T> {
    reset: T,
    update: T,
    new: T,
    of_state: T,
}

/// The parts of a row `[3 H]`: those of reset, update and new.
#[inline(always)]
fn parts<T>(row: &[T], hidden: usize) -> [&[T]; 3] {
    [&row[..hidden], &row[hidden..][..hidden], &row[2 * hidden..][..hidden]]
}

/// The parts of a row `[3 H]`, to be written.
#[inline(always)]
fn parts_mut<T>(row: &mut [T], hidden: usize) -> [&mut [T]; 3] {
    let (reset, others) = row.split_at_mut(hidden);
    let (update, new) = others.split_at_mut(hidden);
    [reset, update, &mut new[..hidden]]
}

impl<T: Real> Gates<T> {
    /// The gates of number `at` of a state, from the inputs' part and the state's.
    #[inline(always)]
    fn new(inputs: [&[T]; 3], state: [&[T]; 3], at: usize) -> Self {
        let (reset, update) = ((inputs[0][at] + state[0][at]).sigmoid(), (inputs[1][at] + state[1][at]).sigmoid());
        let of_state = state[2][at];
        Self { reset, update, new: (inputs[2][at] + reset * of_state).tanh(), of_state }
    }
}

/// A step: rows of the gates `[3 H]` by the inputs and by the state, the states before it, and those after it, which are written.
struct Step<'a, T> {
    inputs: &'a [T],
    of_state: &'a [T],
    before: &'a [T],
    after: &'a mut [T],
}

impl<T: Real> Loop for Step<'_, T> {
    #[inline(always)]
    fn run(self) {
        let hidden = self.after.len();
        let (inputs, of_state, before) = (parts(self.inputs, hidden), parts(self.of_state, hidden), &self.before[..hidden]);
        for (at, after) in self.after.iter_mut().enumerate() {
            let Gates { update, new, .. } = Gates::new(inputs, of_state, at);
            *after = (T::one() - update) * new + update * before[at];
        }
    }
}

/// A step back, from the same rows and the derivatives by the states after it.
struct StepBack<'a, T> {
    inputs: &'a [T],
    of_state: &'a [T],
    before: &'a [T],
    derivatives: &'a [T],
    /// What later steps add to these; becomes what the update gate gives to those by the states before it.
    carried: &'a mut [T],
    /// The derivatives by `inputs`, which are written.
    by_inputs: &'a mut [T],
    /// The derivatives by `of_state`, which are written.
    by_state: &'a mut [T],
}

impl<T: Real> Loop for StepBack<'_, T> {
    #[inline(always)]
    fn run(self) {
        let (carried, hidden) = (self.carried, self.before.len());
        let (carried, before, derivatives) = (&mut carried[..hidden], self.before, &self.derivatives[..hidden]);
        let (inputs, of_state) = (parts(self.inputs, hidden), parts(self.of_state, hidden));
        let (by_inputs, by_state) = (parts_mut(self.by_inputs, hidden), parts_mut(self.by_state, hidden));
        for at in 0..hidden {
            let Gates { reset, update, new, of_state } = Gates::new(inputs, of_state, at);
            let derivative = derivatives[at] + carried[at];
            let by_new = derivative * (T::one() - update) * (T::one() - new * new);
            let by_update = derivative * (before[at] - new) * update * (T::one() - update);
            let by_reset = by_new * of_state * reset * (T::one() - reset);
            carried[at] = derivative * update;
            (by_inputs[0][at], by_inputs[1][at], by_inputs[2][at]) = (by_reset, by_update, by_new);
            (by_state[0][at], by_state[1][at], by_state[2][at]) = (by_reset, by_update, by_new * reset);
        }
    }
}

impl Recurrence {
    /// All states, `[windows * length, H]`.
    fn states<T: Real>(&self, inputs: &[T], weights: &[T], hidden: usize) -> Vec<T> {
        let [windows, length] = self.shape;
        let mut states = vec![T::zero(); windows * length * hidden];
        let mut of_state = vec![T::zero(); windows * 3 * hidden];
        // As columns, which products of few rows read as they lie.
        let mut columns = vec![T::zero(); weights.len()];
        for (gate, row) in weights.chunks_exact(hidden).enumerate() {
            row.iter().enumerate().for_each(|(at, &weight)| columns[at * 3 * hidden + gate] = weight);
        }
        let weights = View { values: &columns[..], row: 3 * hidden, column: 1 };
        let zeros = vec![T::zero(); hidden];
        for step in 0..length {
            if step > 0 {
                let before = View { values: &states[(step - 1) * hidden..], row: length * hidden, column: 1 };
                multiply([windows, hidden, 3 * hidden], &mut of_state, false, before, weights);
            }
            for (window, of_state) in of_state.chunks_exact(3 * hidden).enumerate() {
                let place = window * length + step;
                let (earlier, own) = states.split_at_mut(place * hidden);
                let before = if step > 0 { &earlier[(place - 1) * hidden..] } else { &zeros };
                vectorized(Step { inputs: &inputs[place * 3 * hidden..], of_state, before, after: &mut own[..hidden] });
            }
        }
        states
    }

    /// The derivatives by the inputs' part of the gates and by the weights, from those by the states.
    fn backward<T: Real>(&self, inputs: &[T], weights: &[T], states: &[T], derivatives: &[T]) -> [Vec<T>; 2] {
        let [windows, length] = self.shape;
        let (rows, hidden) = (windows * length, states.len() / (windows * length));
        let gates = 3 * hidden;
        // The states before each step: a row on, but for the first of a window.
        let mut before = vec![T::zero(); states.len()];
        for (before, states) in before.chunks_exact_mut(length * hidden).zip(states.chunks_exact(length * hidden)) {
            before[hidden..].copy_from_slice(&states[..(length - 1) * hidden]);
        }
        let mut of_state = vec![T::zero(); rows * gates];
        let (all, transposed) = (View { values: &before[..], row: hidden, column: 1 }, View { values: weights, row: 1, column: hidden });
        multiply([rows, hidden, gates], &mut of_state, false, all, transposed);
        // From here on in the place of what each is the derivative by.
        let mut of_inputs = vec![T::zero(); rows * gates];
        let (mut carried, mut of_step) = (vec![T::zero(); windows * hidden], vec![T::zero(); windows * gates]);
        for step in (0..length).rev() {
            for window in 0..windows {
                let place = window * length + step;
                let (row, state) = (place * gates..(place + 1) * gates, place * hidden..(place + 1) * hidden);
                let by_state = &mut of_step[window * gates..][..gates];
                vectorized(StepBack {
                    inputs: &inputs[row.clone()],
                    of_state: &of_state[row.clone()],
                    before: &before[state.clone()],
                    derivatives: &derivatives[state],
                    carried: &mut carried[window * hidden..],
                    by_inputs: &mut of_inputs[row.clone()],
                    by_state,
                });
                of_state[row].copy_from_slice(by_state);
            }
            let of_step = View { values: &of_step[..], row: gates, column: 1 };
            multiply([windows, gates, hidden], &mut carried, true, of_step, View { values: weights, row: hidden, column: 1 });
        }
        let mut of_weights = vec![T::zero(); gates * hidden];
        multiply([gates, rows, hidden], &mut of_weights, false, View { values: &of_state[..], row: 1, column: gates }, all);
        [of_inputs, of_weights]
    }

    fn derivatives<T: Real>(&self, tensors: [&Tensor; 4]) -> Result<[Option<Tensor>; 2]> {
        let [inputs, weights, states, derivatives] = tensors.map(|tensor| tensor.flatten_all()?.to_vec1::<T>());
        let [of_inputs, of_weights] = self.backward(&inputs?, &weights?, &states?, &derivatives?);
        Ok([
            Some(Tensor::from_vec(of_inputs, tensors[0].shape(), &Device::Cpu)?),
            Some(Tensor::from_vec(of_weights, tensors[1].shape(), &Device::Cpu)?),
        ])
    }
}

/// The states by the operation; on other devices than a CPU by candle's own.
///
/// # Errors
/// When the shapes do not fit.
pub(super) fn recurrence(inputs: &Tensor, weights: &Tensor, shape: [usize; 2]) -> Result<Tensor> {
    if is_ours(inputs) { inputs.apply_op2(weights, Recurrence { shape }) } else { elsewhere(inputs, weights, shape) }
}

/// Step by step in candle's operations.
fn elsewhere(inputs: &Tensor, weights: &Tensor, [windows, length]: [usize; 2]) -> Result<Tensor> {
    let hidden = weights.dim(1)?;
    let (inputs, weights) = (inputs.reshape((windows, length, 3 * hidden))?, weights.t()?);
    let mut state = Tensor::zeros((windows, hidden), inputs.dtype(), inputs.device())?;
    let mut states = Vec::with_capacity(length);
    for step in 0..length {
        let (input, of_state) = (inputs.narrow(1, step, 1)?.squeeze(1)?, state.matmul(&weights)?);
        let part = |of: &Tensor, gate: usize| of.narrow(1, gate * hidden, hidden);
        let gate = |gate: usize| sigmoid(&(part(&input, gate)? + part(&of_state, gate)?)?);
        let (reset, update) = (gate(0)?, gate(1)?);
        let new = (part(&input, 2)? + (reset * part(&of_state, 2)?)?)?.tanh()?;
        state = ((update.neg()? + 1.0)? * new)?.add(&(update * &state)?)?;
        states.push(state.unsqueeze(1)?);
    }
    Tensor::cat(&states, 1)?.reshape((windows * length, hidden))
}

impl CustomOp2 for Recurrence {
    fn name(&self) -> &'static str {
        "gated-recurrence"
    }

    fn cpu_fwd(&self, inputs: &CpuStorage, of_inputs: &Layout, weights: &CpuStorage, of_weights: &Layout) -> Result<(CpuStorage, Shape)> {
        let hidden = of_weights.dims()[1];
        let shape = Shape::from((self.shape[0] * self.shape[1], hidden));
        let (Some((from, to)), Some((first, last))) = (of_inputs.contiguous_offsets(), of_weights.contiguous_offsets()) else {
            bail!("the numbers of gates lie as one piece")
        };
        let states = match (inputs, weights) {
            (CpuStorage::F32(inputs), CpuStorage::F32(weights)) => {
                CpuStorage::F32(self.states(&inputs[from..to], &weights[first..last], hidden))
            }
            (CpuStorage::F64(inputs), CpuStorage::F64(weights)) => {
                CpuStorage::F64(self.states(&inputs[from..to], &weights[first..last], hidden))
            }
            _ => bail!("gates are f32 or f64, and of one type"),
        };
        Ok((states, shape))
    }

    fn bwd(&self, inputs: &Tensor, weights: &Tensor, states: &Tensor, derivatives: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let tensors = [inputs, weights, states, derivatives];
        let [of_inputs, of_weights] = match inputs.dtype() {
            candle_core::DType::F64 => self.derivatives::<f64>(tensors)?,
            _ => self.derivatives::<f32>(tensors)?,
        };
        Ok((of_inputs, of_weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_same, assert_single_precision, matrix};

    #[test]
    fn other_devices_have_the_same_values_and_derivatives() {
        let given = [matrix([6, 12], |number| (0.4 * number).sin()), matrix([12, 4], |number| (0.7 * number).cos())];
        for shape in [[2, 3], [6, 1], [1, 6]] {
            assert_same(|x| elsewhere(&x[0], &x[1], shape), |x| recurrence(&x[0], &x[1], shape), &given);
        }
    }

    #[test]
    fn single_precision_is_double_precision_rounded() {
        let given = [matrix([6, 120], |number| (0.4 * number).sin()), matrix([120, 40], |number| 0.3 * (0.7 * number).cos())];
        assert_single_precision(|x| recurrence(&x[0], &x[1], [2, 3]), &given);
    }
}
