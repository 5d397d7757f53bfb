//! The parameters of a model on a device, with their moments, and the optimizer's steps.

use crate::Result;
use candle_core::{D, Device, Tensor, Var};
use models::parameters::Parameters;
use optimizers::{Parameter, Step, Stepper};

/// All parameters, in their order.
pub(super) struct OnDevice(Vec<DeviceParameter>);

/// A matrix that moves.
struct DeviceParameter {
    /// `[rows, dim]`
    values: Tensor,
    first: Tensor,
    second: Tensor,
}

/// The gradient of a matrix, and which of its rows move.
pub(super) struct Gradient {
    /// `[rows, dim]`; `None` stands for zeros.
    pub(super) values: Option<Tensor>,
    /// `[rows, 1]`, 0 for rows that stay as they are; `None` where all move.
    pub(super) touched: Option<Tensor>,
}

impl OnDevice {
    /// Takes the numbers from the host.
    pub(super) fn load(parameters: &Parameters, device: &Device) -> Result<Self> {
        let moving = |Parameter { values: matrix, first, second, .. }: &Parameter| {
            // A table without rows, as of users whom sequences stand for, is in no operation.
            let device = if matrix.rows == 0 { &Device::Cpu } else { device };
            let tensor = |values: &[f32]| Tensor::from_slice(values, (matrix.rows, matrix.dim), device);
            Ok(DeviceParameter { values: tensor(&matrix.values)?, first: tensor(first)?, second: tensor(second)? })
        };
        parameters.iter().map(moving).collect::<Result<_>>().map(Self)
    }

    /// Copies the numbers to the host.
    pub(super) fn store(&self, parameters: &mut Parameters) -> Result<()> {
        for (DeviceParameter { values, first, second }, to_host) in self.0.iter().zip(parameters.iter_mut()) {
            let Parameter { values: matrix, first: to_first, second: to_second, .. } = to_host;
            for (from, to) in [(values, &mut matrix.values), (first, to_first), (second, to_second)] {
                *to = from.flatten_all()?.to_vec1()?;
            }
        }
        Ok(())
    }

    /// All matrices as variables of a step.
    pub(super) fn variables(&self) -> Result<Vec<Var>> {
        self.0.iter().map(|moving| Ok(Var::from_tensor(&moving.values)?)).collect()
    }

    /// The next step of all matrices.
    pub(super) fn step(&mut self, gradients: &[Gradient], stepper: &Stepper) -> Result<()> {
        let with_rows = |(moving, _): &(&mut DeviceParameter, &Gradient)| moving.values.elem_count() > 0;
        self.0.iter_mut().zip(gradients).filter(with_rows).try_for_each(|(moving, gradient)| moving.step(gradient, stepper.next_step()))
    }

    /// Shortens the rows of the two tables that are longer than `norm` to that length.
    pub(super) fn limit_norms(&mut self, norm: f32) -> Result<()> {
        for DeviceParameter { values, .. } in self.0.iter_mut().take(2).filter(|moving| moving.values.elem_count() > 0) {
            let lengths = values.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?; // [rows, 1]
            let scale = (lengths.maximum(f64::from(norm))?.recip()? * f64::from(norm))?;
            *values = values.broadcast_mul(&scale)?;
        }
        Ok(())
    }
}

impl DeviceParameter {
    /// The step of `optimizers`.
    fn step(&mut self, Gradient { values: gradient, touched }: &Gradient, step: Step) -> Result<()> {
        let Self { values, first, second } = &*self;
        // All constants by name: one that `optimizers` gets later does not compile until it is heeded here.
        let Step { weight_decay, shrinkage, first_decay, first_gain, second_decay, second_gain, second_scale, rate, epsilon } = step;
        let decay = (values * f64::from(weight_decay))?;
        let gradient = gradient.as_ref().map_or(Ok(decay.clone()), |gradient| decay + gradient)?;
        let next_first = ((first * f64::from(first_decay))? + (&gradient * f64::from(first_gain))?)?;
        let next_second = ((second * f64::from(second_decay))? + (gradient.sqr()? * f64::from(second_gain))?)?;
        let root = ((next_second.sqrt()? * f64::from(second_scale))? + f64::from(epsilon))?;
        let next = ((values * f64::from(shrinkage))? - ((&next_first * f64::from(rate))? / root)?)?;
        let moved = |next: Tensor, before: &Tensor| match touched {
            Some(touched) => touched.broadcast_as(next.shape())?.contiguous()?.where_cond(&next, before),
            None => Ok(next),
        };
        *self = Self { values: moved(next, values)?, first: moved(next_first, first)?, second: moved(next_second, second)? };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use embeddings::{RowGradients, Tables};
    use optimizers::Optimizer;
    use vectors::Matrix;

    const ROWS: usize = 7;
    const DIM: usize = 3;

    fn wave(length: usize, pitch: f32) -> Vec<f32> {
        (0..length).map(|at| (0.3 + at as f32 * pitch).sin()).collect()
    }

    fn parameters() -> Parameters {
        let table = |pitch: f32| Matrix { rows: ROWS, dim: DIM, values: wave(ROWS * DIM, pitch) };
        let weights = vec![("w".to_owned(), Matrix { rows: 2, dim: DIM, values: wave(2 * DIM, 0.9) })];
        Parameters::new(Tables { users: table(0.7), items: table(1.3) }, weights)
    }

    /// Three steps, of which each has a gradient for some rows of users, all of items, and none of the weights.
    #[test]
    fn steps_are_those_of_the_optimizer() {
        for optimizer in [
            r#"{"adam": {"learning_rate": 0.1, "weight_decay": 0.01}}"#,
            r#"{"lazy-adam": {"learning_rate": 0.1, "beta1": 0.5}}"#,
            r#"{"adam-w": {"learning_rate": 0.1, "weight_decay": 0.1}}"#,
            r#"{"sgd": {"learning_rate": 0.1, "momentum": 0.9}}"#,
            r#"{"adagrad": {"learning_rate": 0.1}}"#,
        ] {
            let optimizer: Optimizer = serde_json::from_str(optimizer).unwrap();
            let (mut expected, mut found, mut stepper) = (parameters(), parameters(), Stepper::new(&optimizer, 0));
            let mut on_device = OnDevice::load(&found, &Device::Cpu).unwrap();
            for step in 0..3 {
                let values = [wave(ROWS * DIM, 0.4 + step as f32), wave(ROWS * DIM, 0.8 + step as f32)];
                let mut rows = [RowGradients::new(ROWS, DIM), RowGradients::new(ROWS, DIM)];
                let marks: Vec<u8> = (0..ROWS).map(|row| u8::from(row % 3 != step)).collect();
                for (side, rows) in rows.iter_mut().enumerate() {
                    let touched = values[side].chunks_exact(DIM).enumerate().filter(|(row, _)| side == 1 || marks[*row] > 0);
                    touched.for_each(|(row, gradient)| rows.add(row, gradient));
                }
                stepper.move_all(&mut expected.users, &rows[0]);
                stepper.move_all(&mut expected.items, &rows[1]);
                stepper.move_by(&mut expected.weights[0], vec![0.0; 2 * DIM]);
                let gradient = |rows: &mut RowGradients| Tensor::from_slice(rows.fill(), (ROWS, DIM), &Device::Cpu).ok();
                let touched = (!stepper.moves_all_rows()).then(|| Tensor::from_slice(&marks, (ROWS, 1), &Device::Cpu).unwrap());
                let [users, items] = &mut rows;
                let gradients = [
                    Gradient { values: gradient(users), touched },
                    Gradient { values: gradient(items), touched: None },
                    Gradient { values: None, touched: None },
                ];
                on_device.step(&gradients, &stepper).unwrap();
                stepper.finish_step();
            }
            on_device.store(&mut found).unwrap();
            for ((name, found), (_, expected)) in found.state(false).iter().zip(expected.state(false)) {
                let close = found.iter().zip(&*expected).all(|(found, expected)| (found - expected).abs() < 1e-6);
                assert!(found.len() == expected.len() && close, "{name}: {found:?} {expected:?}");
            }
        }
    }

    #[test]
    fn long_rows_are_shortened() {
        let (mut expected, mut found) = (parameters(), parameters());
        expected.users.limit_norms(0.8);
        expected.items.limit_norms(0.8);
        let mut on_device = OnDevice::load(&found, &Device::Cpu).unwrap();
        on_device.limit_norms(0.8).unwrap();
        on_device.store(&mut found).unwrap();
        for (found, expected) in found.tables().into_iter().zip(expected.tables()) {
            assert!(found.values.iter().zip(&expected.values).all(|(found, expected)| (found - expected).abs() < 1e-6));
        }
        assert_ne!(parameters().users.values, expected.users.values, "some are longer");
    }
}
