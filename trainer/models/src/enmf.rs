//! ENMF: every pair of a user and an item counts, and none is drawn.
//!
//! ```text
//! y_ui = h . (p_u * q_i)        L_u = sum over train items of (1 - y_ui)^2 + c sum over all other items of y_ui^2
//! sum over all items of y_ui^2 = (h * p_u)^T Q^T Q (h * p_u)
//! ```
//! The loss is the mean of L_u over the users of a batch, of whom each has all of its train items there; Q^T Q is made once a step, so that a step
//! costs no more than its train interactions and d² for each item. In training a share of the numbers of p_u is dropped. h starts as `xavier-normal`
//! does. Chen et al., TOIS 2020.

use super::{
    BackboneKind, Epochs, Facts, Init, Sizes, Stored, XavierNormal,
    by_users::{ByItem, Numbered, UserBatches},
    kind::Iterative,
    limits::{check_share, check_tables},
    noise::dropout,
};
use crate::parameters::Parameters;
use crate::{Error, Result};
use dataset::{Dataset, Interactions};
use embeddings::{
    dot,
    product::{View, multiply},
    project, weighted_sum,
};
use evaluator::{Factors, Scorer};
use optimizers::{Adam, Optimizer, Stepper};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use streams::{Purpose, Stream};
use vectors::{Matrix, Similarity};

/// Rows of a table that one task takes.
const ROWS: usize = 256;

/// `enmf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Enmf {
    /// Length of a vector.
    pub dim: u32,
    /// c, the weight of a pair that is not in train, from above 0 to 1.
    #[serde(default = "half")]
    pub negative_weight: f64,
    /// The share of the users' numbers that is dropped in training, from 0 to below 1.
    #[serde(default = "most")]
    pub dropout: f64,
    /// Users of a step.
    #[serde(default = "users")]
    pub batch_size: u32,
    /// How parameters move.
    #[serde(default = "adam")]
    pub optimizer: Optimizer,
    /// How the tables start.
    #[serde(default)]
    pub init: Init,
}

fn half() -> f64 {
    0.5
}

fn most() -> f64 {
    0.7
}

fn users() -> u32 {
    512
}

fn adam() -> Optimizer {
    Optimizer::Adam(Adam::new(0.001))
}

impl BackboneKind for Enmf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Chen et al. 2020",
            cost: "3 d multiplications for each train interaction of its users, and 2 n d² for all items",
            unknown_user: "by the vector that it began with, which only `weight_decay` moves",
            values: "`dim` 64, `negative_weight` 0.5, `dropout` 0.7 (RecBole)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        if !(self.negative_weight > 0.0 && self.negative_weight <= 1.0) {
            return Err(format!("negative_weight is {}, expected a number from above 0 to 1", self.negative_weight));
        }
        if self.batch_size == 0 {
            return Err("batch_size is 0, expected at least 1".to_owned());
        }
        check_share("dropout", self.dropout)?;
        self.optimizer.check_without_loss()?;
        check_tables(self.dim, &self.init)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }
}

impl Iterative for Enmf {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Box<dyn Epochs + 'd>> {
        Ok(Box::new(EnmfTraining::new(self, dataset, seed)))
    }

    /// Tables and moments; of a batch its users' vectors, derivatives and pairs, with where each item's begin; what ranks or is stored.
    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        let Sizes { users, items, train, .. } = sizes;
        let (dim, batch) = (u64::from(self.dim), u64::from(self.batch_size).min(users));
        let tables = 3 * (users + items) * dim * 4;
        let pairs = (train * batch).div_ceil(users.max(1));
        tables + batch * dim * 4 * 5 + pairs * 16 + items * 8 + self.stored().fitted(sizes, ranking).max(tables)
    }
}

struct EnmfTraining<'d> {
    settings: Enmf,
    train: &'d Interactions,
    seed: u64,
    batches: UserBatches,
    /// p, q and h.
    parameters: Parameters,
}

impl<'d> EnmfTraining<'d> {
    fn new(settings: &Enmf, dataset: &'d Dataset, seed: u64) -> Self {
        let tables = settings.init.tables(dataset.users(), dataset.items(), settings.dim as usize, seed);
        let output = Init::XavierNormal(XavierNormal {}).matrix([1, settings.dim as usize], seed, 2);
        let mut parameters = Parameters::new(tables, vec![("output".to_owned(), output)]);
        parameters.users.leave_behind(true);
        let batches = UserBatches::new(&dataset.train, settings.batch_size, seed);
        Self { settings: settings.clone(), train: &dataset.train, seed, batches, parameters }
    }

    /// The sum of L_u over a batch, by p_u `rows [users, dim]` as they are now; `factors` are those of dropout.
    fn step(&mut self, users: &[u32], rows: &[f32], factors: &[f32], stepper: &mut Stepper) -> f64 {
        let Self { settings, train, parameters, .. } = self;
        let Parameters { users: of_users, items: of_items, weights } = parameters;
        let (items, dim) = (&of_items.values, of_items.values.dim);
        let (unknown, scale) = (settings.negative_weight as f32, 2.0 / users.len() as f32);
        let output = &weights[0].values.values;
        let scaled: Vec<f32> = rows
            .chunks_exact(dim)
            .zip(factors.chunks_exact(dim))
            .flat_map(|(row, factors)| row.iter().zip(factors).zip(output).map(|((value, factor), output)| value * factor * output))
            .collect();
        let gram = gram(&items.values, dim);
        // Halves of the derivatives of L_u by h * p_u, and L_u.
        let mut derivatives = vec![0.0; scaled.len()];
        derivatives.par_chunks_mut(ROWS * dim).zip(scaled.par_chunks(ROWS * dim)).for_each(|(derivatives, users)| {
            let users = View { values: users, row: dim, column: 1 };
            multiply([derivatives.len() / dim, dim, dim], derivatives, false, users, View { values: &gram, row: dim, column: 1 });
        });
        let of_user = |((derivative, user), &id): ((&mut [f32], &[f32]), &u32)| {
            let mut loss = f64::from(unknown) * f64::from(dot(user, derivative));
            derivative.iter_mut().for_each(|value| *value *= unknown);
            let ids = train.row(id as usize).to_vec();
            let mut by_scores = vec![0.0; ids.len()];
            let by_score = |at: usize, score: f32| {
                loss += f64::from((1.0 - unknown) * score * score - 2.0 * score + 1.0);
                by_scores[at] = (1.0 - unknown) * score - 1.0;
                by_scores[at]
            };
            project(&items.values, &ids, user, by_score, derivative);
            (loss, Numbered { ids, numbers: by_scores })
        };
        let users_of_batch = derivatives.par_chunks_mut(dim).zip(scaled.par_chunks(dim)).zip(users);
        let (losses, rows_of_pairs): (Vec<f64>, Vec<Numbered>) = users_of_batch.map(of_user).unzip();
        let squares = gram_of_users(&scaled, dim, unknown);
        let pairs = ByItem::new(&rows_of_pairs, items.rows);
        stepper.move_blocks(of_items, ROWS, |block, values, gradients, touched| {
            touched.fill(true);
            let count = touched.len();
            multiply(
                [count, dim, dim],
                gradients,
                false,
                View { values, row: dim, column: 1 },
                View { values: &squares, row: dim, column: 1 },
            );
            for (item, gradient) in (block * ROWS..).zip(gradients.chunks_exact_mut(dim)) {
                let (places, by_scores) = pairs.of(item);
                weighted_sum(&scaled, places, by_scores, gradient);
                gradient.iter_mut().for_each(|value| *value *= scale);
            }
        });
        let mut of_output = vec![0.0; dim];
        for ((derivative, row), factors) in derivatives.chunks_exact(dim).zip(rows.chunks_exact(dim)).zip(factors.chunks_exact(dim)) {
            let terms = derivative.iter().zip(row).zip(factors).map(|((derivative, value), factor)| scale * derivative * value * factor);
            of_output.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
        stepper.move_rows(users, rows, of_users, |place, gradient| {
            let (derivative, factors) = (&derivatives[place * dim..][..dim], &factors[place * dim..][..dim]);
            let terms =
                derivative.iter().zip(factors).zip(output).map(|((derivative, factor), output)| scale * derivative * factor * output);
            gradient.iter_mut().zip(terms).for_each(|(gradient, term)| *gradient = term);
        });
        stepper.move_by(&mut weights[0], of_output);
        stepper.finish_step();
        losses.iter().sum()
    }

    /// Factors of the users' numbers in a step: 0 for those that are dropped.
    fn factors(&self, users: &[u32], epoch: u32, step: u32) -> Vec<f32> {
        let dim = self.settings.dim as usize;
        let mut factors = vec![1.0; users.len() * dim];
        if self.settings.dropout > 0.0 {
            let drop = dropout(self.settings.dropout as f32);
            factors.par_chunks_exact_mut(dim).zip(users).for_each(|(factors, &user)| {
                drop(&mut Stream::new(self.seed, Purpose::Dropout, epoch, step, user), factors);
            });
        }
        factors
    }
}

impl Epochs for EnmfTraining<'_> {
    fn epoch(&mut self, epoch: u32) -> Result<f64> {
        let mut stepper = Stepper::new(&self.settings.optimizer, u64::from(epoch - 1) * self.batches.steps());
        let mut total = 0.0;
        for (users, step) in self.batches.of_epoch(epoch).iter().zip(1..) {
            let mut rows = vec![0.0; users.len() * self.settings.dim as usize];
            stepper.current(users, &self.parameters.users, &mut rows);
            let factors = self.factors(users, epoch, step);
            let loss = self.step(users, &rows, &factors, &mut stepper);
            if !loss.is_finite() {
                return Err(Error::NotFinite { epoch, step, tensor: format!("the loss (value {loss})") });
            }
            total += loss;
        }
        stepper.catch_up(self.parameters.iter_mut());
        match self.parameters.not_finite() {
            Some(tensor) => Err(Error::NotFinite { epoch, step: self.batches.steps() as u32, tensor }),
            None => Ok(total / self.batches.len().max(1) as f64),
        }
    }

    fn state(&mut self) -> Vec<(String, &mut [f32])> {
        self.parameters.state(false)
    }

    /// The vectors h * p and q.
    fn scorer(&self) -> Result<Scorer> {
        let ([users, items], output) = (self.parameters.tables(), &self.parameters.weights[0].values.values);
        let values =
            users.values.chunks_exact(users.dim).flat_map(|row| row.iter().zip(output).map(|(value, output)| value * output)).collect();
        Ok(Factors { users: Matrix { values, ..*users }, items: items.clone(), similarity: Similarity::Dot }.into())
    }
}

/// Q^T Q `[dim, dim]`: of blocks of rows, added in their order.
fn gram(values: &[f32], dim: usize) -> Vec<f32> {
    let of_block = |rows: &[f32]| {
        let mut part = vec![0.0; dim * dim];
        let by_rows = View { values: rows, row: dim, column: 1 };
        multiply([dim, rows.len() / dim, dim], &mut part, false, View { values: rows, row: 1, column: dim }, by_rows);
        part
    };
    let parts: Vec<Vec<f32>> = values.par_chunks(16 * ROWS * dim).map(of_block).collect();
    parts
        .into_iter()
        .reduce(|mut sum, part| {
            sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
            sum
        })
        .unwrap_or_else(|| vec![0.0; dim * dim])
}

/// P^T P `[dim, dim]` of the scaled users of a batch, times the weight of all pairs.
fn gram_of_users(scaled: &[f32], dim: usize, weight: f32) -> Vec<f32> {
    let mut squares = gram(scaled, dim);
    squares.iter_mut().for_each(|value| *value *= weight);
    squares
}

#[cfg(test)]
mod tests {
    use super::super::testing::dataset;
    use super::*;

    fn settings(dropout: f64, batch_size: u32) -> Enmf {
        let text = format!(
            r#"{{"dim": 3, "negative_weight": 0.3, "dropout": {dropout}, "batch_size": {batch_size}, "init": {{"normal": {{"std": 0.5}}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    /// The mean of L_u over users, pair by pair in f64.
    fn dense(train: &Interactions, users: &[u32], [p, q, h]: [&[f64]; 3], factors: &[f32]) -> f64 {
        let dim = h.len();
        let of_user = |(place, &user): (usize, &u32)| {
            let of_item = |item: usize| {
                let score: f64 = (0..dim)
                    .map(|at| h[at] * p[user as usize * dim + at] * f64::from(factors[place * dim + at]) * q[item * dim + at])
                    .sum();
                if train.contains(user as usize, item as u32) { (1.0 - score).powi(2) } else { 0.3 * score * score }
            };
            (0..q.len() / dim).map(of_item).sum::<f64>()
        };
        users.iter().enumerate().map(of_user).sum::<f64>() / users.len() as f64
    }

    fn doubles(values: &[f32]) -> Vec<f64> {
        values.iter().copied().map(f64::from).collect()
    }

    /// The loss of a step, and the gradients: Adam's first moment after one step is a tenth of them.
    #[test]
    fn a_step_follows_the_sum_over_all_pairs() {
        let dataset = dataset();
        let mut training = EnmfTraining::new(&settings(0.3, 5), &dataset, 7);
        let users = [0, 1, 2, 4];
        let factors = training.factors(&users, 1, 1);
        assert!(factors.contains(&0.0));
        let p = training.parameters.users.values.clone();
        let start: Vec<Vec<f64>> = training.parameters.iter().map(|parameter| doubles(&parameter.values.values)).collect();
        let rows: Vec<f32> = users.iter().flat_map(|&user| p.row(user as usize)).copied().collect();
        let total = training.step(&users, &rows, &factors, &mut Stepper::new(&adam(), 0));
        let value = |parameters: &[Vec<f64>]| dense(&dataset.train, &users, [0, 1, 2].map(|which| &parameters[which][..]), &factors);
        assert!((total / 4.0 - value(&start)).abs() < 1e-5, "{total} {}", value(&start));
        for (which, parameter) in training.parameters.iter().enumerate() {
            for (at, found) in parameter.first.iter().enumerate() {
                let moved = |by: f64| {
                    let mut parameters = start.clone();
                    parameters[which][at] += by;
                    value(&parameters)
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((f64::from(found * 10.0) - difference).abs() < 1e-4, "parameter {which}, {at}: {} {difference}", found * 10.0);
            }
        }
    }

    fn trained(threads: usize, from: Option<(Vec<Vec<f32>>, u32)>, to: u32) -> (Vec<Vec<f32>>, f64) {
        let (dataset, pool) = (dataset(), rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
        let mut training = settings(0.3, 2).start(&dataset, 3).unwrap();
        let first = from.as_ref().map_or(1, |(_, epoch)| epoch + 1);
        if let Some((state, _)) = from {
            training.state().into_iter().zip(state).for_each(|((_, target), values)| target.copy_from_slice(&values));
        }
        let loss = pool.install(|| (first..=to).map(|epoch| training.epoch(epoch).unwrap()).last().unwrap());
        (training.state().into_iter().map(|(_, values)| values.to_vec()).collect(), loss)
    }

    #[test]
    fn any_number_of_threads_and_any_stop_give_the_same_bits() {
        let whole = trained(1, None, 5);
        assert_eq!(trained(3, None, 5), whole);
        let (half, _) = trained(1, None, 2);
        assert_eq!(trained(1, Some((half, 2)), 5), whole);
    }

    #[test]
    fn the_loss_falls() {
        let (first, last) = (trained(1, None, 1).1, trained(1, None, 300).1);
        assert!(last < 0.9 * first, "{first} {last}");
    }

    /// The score of a stored model is h . (p * q).
    #[test]
    fn what_is_ranked_are_the_scores() {
        let dataset = dataset();
        let training = EnmfTraining::new(&settings(0.0, 5), &dataset, 7);
        let Scorer::Factors(Factors { users, items, .. }) = training.scorer().unwrap() else { panic!("vectors are ranked") };
        let ([p, q], h) = (training.parameters.tables(), &training.parameters.weights[0].values.values);
        let expected: f32 = (0..3).map(|at| h[at] * p.row(2)[at] * q.row(4)[at]).sum();
        assert!((dot(users.row(2), items.row(4)) - expected).abs() < 1e-6);
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Enmf>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "negative_weight": 0}"#), "negative_weight is 0, expected a number from above 0 to 1");
        assert_eq!(check(r#"{"dim": 4, "batch_size": 0}"#), "batch_size is 0, expected at least 1");
        assert_eq!(check(r#"{"dim": 4, "dropout": 1}"#), "dropout is 1, expected a number from 0 to below 1");
    }
}
