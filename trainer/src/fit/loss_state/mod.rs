//! What a loss keeps of its own: its numbers, and the model that it is trained against.

pub(crate) mod adversary;
pub(crate) mod derivatives;
pub(crate) mod quantiles;
pub(crate) mod statistics;

use crate::fit::{
    distributed::batch_shard::BatchShard,
    loss_state::{adversary::AdversaryModel, derivatives::Derivatives, statistics::Statistics},
};
use crate::{Learning, Result, collective::Collective};
use embeddings::{Batch, RowGradients};
use evaluator::Matrix;
use losses::{InitialValue, Learned, Loss, Per, StateSpec, Update, primitives::MASKED_BELOW};
use optimizers::{Optimizer, Parameter, Stepper};
use streams::{Purpose, Stream};

/// The columns of a loss, in its order, and its adversary.
pub(crate) struct LossState {
    columns: Vec<Column>,
    pub(crate) adversary_model: Option<AdversaryModel>,
}

/// One column, and what moves it where it is learned.
struct Column {
    spec: StateSpec,
    /// `[users, 1]`, `[items, 1]` or `[k, 1]`
    numbers: Parameter,
    learned: Option<ColumnOptimizer>,
    gradients: RowGradients,
    /// Rows of a batch that gave each number something to remember.
    counts: Vec<u32>,
}

struct ColumnOptimizer {
    how: Learned,
    stepper: Stepper,
}

impl LossState {
    /// Makes the columns and the adversary as they are at first.
    pub(crate) fn new(learning: &Learning, users: usize, items: usize) -> Self {
        let make = |(at, spec): (usize, StateSpec)| Column::new(spec, [users, items], at as u32, learning.seed, &learning.optimizer);
        let adversary_model = learning.loss.adversary().map(|adversary| AdversaryModel::new(adversary, learning, [users, items]));
        Self { columns: learning.loss.columns().into_iter().enumerate().map(make).collect(), adversary_model }
    }

    /// The numbers that belong to a batch: `[B]`, `[B, P]` or `[k]` each.
    pub(crate) fn of(&self, batch: Batch) -> Vec<Vec<f32>> {
        let numbers = |column: &Column| match column.rows(batch) {
            Some(rows) => rows.iter().map(|&row| column.numbers.values.values[row as usize]).collect(),
            None => column.numbers.values.values.clone(),
        };
        self.columns.iter().map(numbers).collect()
    }

    /// Moves all of it by the derivatives of the mean loss of a batch and by what its rows are to be remembered by, those of this rank's rows.
    pub(crate) fn step(&mut self, collective: &Collective, loss: &Loss, batch: BatchShard, derivatives: Derivatives) -> Result<()> {
        let Derivatives { columns, remembered, adversary, .. } = derivatives;
        for (column, derivatives) in self.columns.iter_mut().zip(columns).filter(|(column, _)| column.learned.is_some()) {
            column.learn(batch.whole, &column.of_all(collective, batch.whole, derivatives)?);
        }
        self.clip(loss);
        for (column, values) in self.columns.iter_mut().filter(|column| column.spec.update.remembers()).zip(remembered) {
            let values = column.joined(collective, batch.whole, values)?;
            column.remember(batch.whole, &values);
        }
        self.adversary_model.iter_mut().try_for_each(|adversary_model| adversary_model.ascend(collective, batch, &adversary))
    }

    /// Brings what moved back to where the loss lets it be.
    fn clip(&mut self, loss: &Loss) {
        loss.clip(&mut self.numbers());
    }

    /// Whether the loss sets some of its numbers between epochs.
    pub(crate) fn is_set(&self) -> bool {
        self.columns.iter().any(|column| column.spec.update == Update::Set)
    }

    /// Has the loss set its numbers after so many epochs.
    pub(crate) fn set(&mut self, loss: &Loss, model: &Statistics, epochs: u32) {
        loss.set_columns(&mut self.numbers(), model, epochs);
    }

    /// The numbers of all columns.
    fn numbers(&mut self) -> Vec<&mut [f32]> {
        self.columns.iter_mut().map(|column| &mut column.numbers.values.values[..]).collect()
    }

    /// The first place that is not finite.
    pub(crate) fn not_finite(&self) -> Option<String> {
        let broken = |column: &&Column| column.numbers.values.values.iter().any(|value| !value.is_finite());
        let column = self.columns.iter().find(broken).map(|column| format!("the loss's own `{}`", column.spec.name));
        column.or_else(|| self.adversary_model.as_ref().and_then(AdversaryModel::not_finite))
    }

    /// Goes on after so many steps.
    pub(crate) fn restart(&mut self, optimizer: &Optimizer, steps: u64) {
        for moving in self.columns.iter_mut().filter_map(|column| column.learned.as_mut()) {
            moving.stepper = Stepper::of_moving_rows(&optimizer.scale_learning_rate(moving.how.rate), steps);
        }
        self.adversary_model.iter_mut().for_each(|adversary_model| adversary_model.restart(optimizer, steps));
    }

    /// Steps made.
    pub(crate) fn steps(&self) -> u64 {
        let of_columns = self.columns.iter().find_map(|column| column.learned.as_ref()).map(|moving| moving.stepper.steps);
        of_columns.or(self.adversary_model.as_ref().map(AdversaryModel::steps)).unwrap_or(0)
    }

    /// Everything that the next epoch needs, by name.
    pub(crate) fn state(&mut self) -> impl Iterator<Item = (String, &mut [f32])> {
        let columns = self.columns.iter_mut().flat_map(|column| column.numbers.state(false));
        columns.chain(self.adversary_model.iter_mut().flat_map(AdversaryModel::state))
    }
}

impl Column {
    fn new(spec: StateSpec, [users, items]: [usize; 2], at: u32, seed: u64, optimizer: &Optimizer) -> Self {
        let rows = match spec.per {
            Per::Users => users,
            Per::Items => items,
            Per::Whole(length) => length,
        };
        let values = match spec.initial {
            InitialValue::Same(start) => vec![start; rows],
            InitialValue::Uniform(bound) => {
                let mut stream = Stream::new(seed, Purpose::LossState, 0, at, 0);
                (0..rows).map(|_| (2.0 * stream.fraction() as f32 - 1.0) * bound).collect()
            }
        };
        let numbers = Matrix { rows, dim: 1, values };
        let (numbers, learned) = match spec.update {
            Update::Learned(how) => {
                let stepper = Stepper::of_moving_rows(&optimizer.scale_learning_rate(how.rate), 0);
                (Parameter::new(spec.name, numbers), Some(ColumnOptimizer { how, stepper }))
            }
            _ => (Parameter::fixed(spec.name, numbers), None),
        };
        Self { gradients: RowGradients::new(rows, 1), counts: vec![0; rows], spec, numbers, learned }
    }

    /// Which numbers belong to the rows of a batch; `None` when all do.
    fn rows<'a>(&self, batch: Batch<'a>) -> Option<&'a [u32]> {
        match self.spec.per {
            Per::Users => Some(batch.users),
            Per::Items => Some(batch.positives),
            Per::Whole(_) => None,
        }
    }

    /// The derivatives of the whole batch from those of each rank's rows.
    fn of_all(&self, collective: &Collective, batch: Batch, mut derivatives: Vec<f32>) -> Result<Vec<f32>> {
        match self.spec.per {
            Per::Users | Per::Items => self.joined(collective, batch, derivatives),
            Per::Whole(_) => collective.sum(self.spec.name, &mut derivatives).map(|()| derivatives),
        }
    }

    /// What each rank has for its rows, one after the other.
    fn joined(&self, collective: &Collective, batch: Batch, values: Vec<f32>) -> Result<Vec<f32>> {
        let Some(rows) = self.rows(batch).filter(|_| collective.ranks() > 1) else { return Ok(values) };
        let all = collective.join(self.spec.name, values, rows.len())?;
        if all.len() != rows.len() {
            return Err(collective.error(self.spec.name, format!("the ranks bring {} numbers for {} rows", all.len(), rows.len())));
        }
        Ok(all)
    }

    fn learn(&mut self, batch: Batch, derivatives: &[f32]) {
        let rows = self.rows(batch);
        let Self { numbers, learned: Some(ColumnOptimizer { how, stepper }), gradients, .. } = self else { return };
        let sign = if how.ascends { -1.0 } else { 1.0 };
        gradients.clear();
        for (at, derivative) in derivatives.iter().enumerate().filter(|(_, derivative)| **derivative != 0.0) {
            gradients.add(rows.map_or(at, |rows| rows[at] as usize), &[sign * derivative]);
        }
        stepper.move_all(numbers, gradients);
        stepper.finish_step();
        numbers.values.values.iter_mut().for_each(|value| *value = value.clamp(how.bounds.0, how.bounds.1));
    }

    fn remember(&mut self, batch: Batch, values: &[f32]) {
        let Some(rows) = self.rows(batch) else { return };
        let sums = self.spec.update == Update::Summed;
        // What stands for no number, as of a row without negatives, leaves that of the others alone.
        for (&row, value) in rows.iter().zip(values).filter(|(_, value)| sums || f64::from(**value) >= MASKED_BELOW) {
            let (number, count) = (&mut self.numbers.values.values[row as usize], &mut self.counts[row as usize]);
            *number = if sums || *count > 0 { *number + value } else { *value };
            *count += 1;
        }
        for &row in rows {
            let count = std::mem::take(&mut self.counts[row as usize]);
            if count > 1 && !sums {
                self.numbers.values.values[row as usize] /= count as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(motion: Update) -> Column {
        let spec = StateSpec { name: "test", per: Per::Users, initial: InitialValue::Same(5.0), update: motion };
        Column::new(spec, [4, 2], 0, 1, &serde_json::from_str(r#"{"adam": {"learning_rate": 0.1}}"#).unwrap())
    }

    #[test]
    fn a_user_with_several_rows_remembers_their_mean() {
        let mut column = column(Update::Remembered);
        column.remember(Batch::new(&[2, 0, 2], &[0, 0, 1]), &[1.0, 7.0, 2.0]);
        assert_eq!(column.numbers.values.values, [7.0, 5.0, 1.5, 5.0]);
        column.remember(Batch::new(&[2], &[0]), &[9.0]);
        assert_eq!(column.numbers.values.values, [7.0, 5.0, 9.0, 5.0]);
    }

    #[test]
    fn rows_without_a_number_leave_the_others_alone() {
        let mut column = column(Update::Remembered);
        column.remember(Batch::new(&[2, 0, 2, 2], &[0, 0, 1, 1]), &[1.0, -1e30, -1e30, 2.0]);
        assert_eq!(column.numbers.values.values, [5.0, 5.0, 1.5, 5.0]);
    }

    /// Under an optimizer that moves rows with a gradient alone.
    #[test]
    fn a_row_without_a_derivative_moves_nothing() {
        let spec =
            StateSpec { name: "test", per: Per::Users, initial: InitialValue::Same(5.0), update: Update::Learned(Learned::default()) };
        let lazy = serde_json::from_str(r#"{"lazy-adam": {"learning_rate": 0.1}}"#).unwrap();
        let mut column = Column::new(spec, [4, 2], 0, 1, &lazy);
        column.learn(Batch::new(&[1, 3], &[0, 0]), &[3.0, -1.0]);
        let before = column.numbers.values.values.clone();
        column.learn(Batch::new(&[1, 3], &[0, 0]), &[0.0, -1.0]);
        let moved: Vec<bool> = column.numbers.values.values.iter().zip(&before).map(|(after, before)| after != before).collect();
        assert_eq!(moved, [false, false, false, true]);
    }

    #[test]
    fn sums_grow() {
        let mut column = column(Update::Summed);
        column.remember(Batch::new(&[2, 0, 2], &[0, 0, 1]), &[1.0, 7.0, 2.0]);
        assert_eq!(column.numbers.values.values, [12.0, 5.0, 8.0, 5.0]);
    }

    /// Adam's first step is the learning rate against the sign of the gradient; here the sum of a user's rows.
    #[test]
    fn learned_numbers_go_down_or_up_the_gradient_within_bounds() {
        let step = |how: Learned| {
            let mut column = column(Update::Learned(how));
            column.learn(Batch::new(&[1, 3, 1], &[0, 0, 1]), &[3.0, -1.0, -2.0]);
            column.numbers.values.values
        };
        let near =
            |found: Vec<f32>, expected: [f32; 4]| assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        near(step(Learned::default()), [5.0, 4.9, 5.0, 5.1]);
        near(step(Learned { ascends: true, ..Learned::default() }), [5.0, 5.1, 5.0, 4.9]);
        near(step(Learned { rate: 2.0, ..Learned::default() }), [5.0, 4.8, 5.0, 5.2]);
        near(step(Learned { bounds: (0.0, 5.05), ..Learned::default() }), [5.0, 4.9, 5.0, 5.05]);
    }
}
