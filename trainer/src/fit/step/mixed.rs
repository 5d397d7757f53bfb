//! Steps with the sampler `mix-gcf`: negatives are made of vectors, layer by layer, before they are scored.

use crate::fit::{
    step::{
        batches::Batches,
        callback::StepCallback,
        loss_step::{Extra, LossStep},
    },
    step_id::StepId,
    train_state::TrainState,
};
use crate::{Result, collective::Collective};
use embeddings::{RowGradients, ScoreGradients, Scored, Tables, dot, dots};
use evaluator::Matrix;
use rayon::prelude::*;
use streams::Stream;

/// The users and positives of a batch, and what was drawn for them.
#[derive(Default)]
pub(crate) struct Mixed {
    users: Vec<u32>,
    positives: Vec<u32>,
    /// `[B, K, M]`
    drawn: Vec<u32>,
    /// `[B, K, layers]`: the chosen item, and how much of the positive is mixed to it.
    parts: Vec<(u32, f32)>,
}

impl TrainState<'_> {
    /// Trains every pair once.
    pub(crate) fn mixed_epoch(
        &mut self,
        epoch: u32,
        batches: &mut Batches,
        mixed: &mut Mixed,
        callback: &mut dyn StepCallback,
    ) -> Result<()> {
        self.steps(epoch, batches, callback, |state, at, batches| state.mixed_step(at, batches, mixed))
    }

    /// One step of the optimizer; returns the sum of the rows' losses.
    fn mixed_step(&mut self, at: StepId, batches: &Batches, mixed: &mut Mixed) -> Result<f64> {
        let layers = self.encoder.layers(self.parameters.tables());
        let [drawn, negatives] = [self.learning.candidates(), self.learning.negatives()].map(|count| count.expect("items are drawn"));
        let (first, rows) = mixed.draw(at, batches, &self.collective, drawn);
        let mut score_gradients = ScoreGradients { losses: Vec::new(), positives: Vec::new(), negatives: Vec::new() };
        if !mixed.users.is_empty() {
            let scored = mixed.score(&layers, negatives, |row| batches.choices(at.row(first + row)));
            let loss_step = LossStep::new(&self.learning.loss, batches, at, &mixed.users, self.quantiles()).some(first, rows);
            score_gradients = loss_step.rows(scored, Extra::default())?.scores;
        }
        let total = score_gradients.losses.iter().map(|&loss| f64::from(loss)).sum();
        let total = self.collective.total("the losses", total)?;
        self.check_loss(at, total)?;
        let mut gradients = mixed.gradients(&layers, &score_gradients.positives, &score_gradients.negatives);
        if let Some(weight) = self.batch_l2(rows) {
            mixed.add_l2(weight, &layers[0], layers.len(), &mut gradients[0]);
        }
        for layer in &mut gradients {
            self.collective.sum("the gradient of a layer's users", &mut layer.users.values)?;
            self.collective.sum("the gradient of a layer's items", &mut layer.items.values)?;
        }
        let gradients = self.encoder.layers_backward(gradients);
        let Self { stepper, parameters, .. } = self;
        stepper.move_all(&mut parameters.users, &RowGradients::whole(gradients.users));
        stepper.move_all(&mut parameters.items, &RowGradients::whole(gradients.items));
        stepper.finish_step();
        Ok(total)
    }
}

impl Mixed {
    /// Draws for this rank's rows of a step's; says the place of the first, and how many there are of all ranks.
    fn draw(&mut self, at: StepId, batches: &Batches, collective: &Collective, count: usize) -> (usize, usize) {
        batches.fill(at, &mut self.users, &mut self.positives);
        let (all, part) = (self.users.len(), collective.part(self.users.len()));
        for ids in [&mut self.users, &mut self.positives] {
            ids.truncate(part.end);
            ids.drain(..part.start);
        }
        self.drawn.resize(self.users.len() * count, 0);
        let rows = self.drawn.par_chunks_exact_mut(count).zip(&self.users).enumerate();
        rows.for_each(|(row, (ids, &user))| batches.draw(at.row(part.start + row), user, ids));
        (part.start, all)
    }

    /// Chooses the parts of all negatives, as many for each row, and scores.
    fn score(&mut self, layers: &[Tables], negatives: usize, stream: impl Fn(usize) -> Stream + Sync) -> Scored {
        let Self { users, positives, drawn, parts } = self;
        let (rows, count) = (users.len(), drawn.len() / users.len());
        parts.resize(rows * negatives * layers.len(), (0, 0.0));
        let mut scored = Scored { ids: Vec::new(), positives: vec![0.0; rows], negatives: vec![0.0; rows * negatives] };
        let of_rows = scored.positives.par_iter_mut().zip(scored.negatives.par_chunks_exact_mut(negatives));
        let of_rows = of_rows.zip(drawn.par_chunks_exact(count)).zip(parts.par_chunks_exact_mut(negatives * layers.len())).enumerate();
        of_rows.for_each(|(row, (((positive, negatives), drawn), parts))| {
            let (query, mut rng) = (mean_row(layers, users[row] as usize), stream(row));
            let own: Vec<f32> = layers.iter().map(|layer| dot(&query, layer.items.row(positives[row] as usize))).collect();
            *positive = mean(own.iter().copied());
            let pools = drawn.chunks_exact(drawn.len() / negatives.len());
            for ((negative, pool), parts) in negatives.iter_mut().zip(pools).zip(parts.chunks_exact_mut(layers.len())) {
                let scores = parts.iter_mut().zip(layers).zip(&own).map(|((part, layer), own)| {
                    let (item, score) = highest(&query, &layer.items.values, pool);
                    *part = (item, rng.fraction() as f32);
                    part.1 * own + (1.0 - part.1) * score
                });
                *negative = mean(scores);
            }
        });
        scored
    }

    /// Gradients by the vectors of all layers, of derivatives by the scores.
    fn gradients(&self, layers: &[Tables], positives: &[f32], negatives: &[f32]) -> Vec<Tables> {
        let (share, kept) = (1.0 / layers.len() as f32, negatives.len() / positives.len().max(1));
        let queries: Vec<Vec<f32>> = self.users.par_iter().map(|&user| mean_row(layers, user as usize)).collect();
        // Each layer by itself, its rows one after the other: the user's part of the layer's items, and theirs.
        let by_items = layers.par_iter().enumerate().map(|(at, layer)| {
            let mut gradients = Tables::zeros(layer.users.rows, layer.items.rows, layer.items.dim);
            for (row, query) in queries.iter().enumerate() {
                let (user, positive) = (self.users[row] as usize, self.positives[row]);
                let mut add = |item: u32, weight: f32| {
                    add_scaled(row_mut(&mut gradients.users, user), weight * share, layer.items.row(item as usize));
                    add_scaled(row_mut(&mut gradients.items, item as usize), weight * share, query);
                };
                add(positive, positives[row]);
                for (k, &weight) in negatives[row * kept..][..kept].iter().enumerate() {
                    let (item, mix) = self.parts[(row * kept + k) * layers.len() + at];
                    add(positive, weight * mix);
                    add(item, weight * (1.0 - mix));
                }
            }
            gradients
        });
        share_users(by_items.collect())
    }

    /// Adds the gradient of half the squared norms in layer 0, of so many layers, with a weight: of users, positives and mixed negatives.
    fn add_l2(&self, weight: f32, layer: &Tables, layers: usize, gradients: &mut Tables) {
        let parts = self.parts.len() / self.users.len().max(1);
        for (row, (&user, &positive)) in self.users.iter().zip(&self.positives).enumerate() {
            let (user, own) = (user as usize, layer.items.row(positive as usize));
            add_scaled(row_mut(&mut gradients.users, user), weight, layer.users.row(user));
            add_scaled(row_mut(&mut gradients.items, positive as usize), weight, own);
            for &(item, share) in self.parts[row * parts..][..parts].iter().step_by(layers) {
                let other = layer.items.row(item as usize);
                let mixed: Vec<f32> = own.iter().zip(other).map(|(own, other)| share * own + (1.0 - share) * other).collect();
                add_scaled(row_mut(&mut gradients.items, positive as usize), weight * share, &mixed);
                add_scaled(row_mut(&mut gradients.items, item as usize), weight * (1.0 - share), &mixed);
            }
        }
    }
}

/// Each layer's users have an equal share in the vector that all layers' items are multiplied with.
fn share_users(mut gradients: Vec<Tables>) -> Vec<Tables> {
    let share = 1.0 / gradients.len() as f32;
    let mut sum = vec![0.0; gradients[0].users.values.len()];
    for layer in &gradients {
        add_scaled(&mut sum, share, &layer.users.values);
    }
    for layer in &mut gradients {
        layer.users.values.copy_from_slice(&sum);
    }
    gradients
}

/// A user's vector: the mean of its layers.
fn mean_row(layers: &[Tables], user: usize) -> Vec<f32> {
    let mut sum = vec![0.0; layers[0].users.dim];
    layers.iter().for_each(|layer| add_scaled(&mut sum, 1.0 / layers.len() as f32, layer.users.row(user)));
    sum
}

fn mean(values: impl ExactSizeIterator<Item = f32>) -> f32 {
    let count = values.len() as f32;
    values.sum::<f32>() / count
}

/// The first item of a pool with the highest score, and the score.
fn highest(query: &[f32], items: &[f32], pool: &[u32]) -> (u32, f32) {
    let mut scores = vec![0.0; pool.len()];
    dots(query, items, pool, &mut scores);
    let best = |best: (u32, f32), (&item, &score): (&u32, &f32)| if score > best.1 { (item, score) } else { best };
    pool.iter().zip(&scores).fold((pool[0], scores[0]), best)
}

fn row_mut(table: &mut Matrix, row: usize) -> &mut [f32] {
    &mut table.values[row * table.dim..][..table.dim]
}

/// `sum += weight * values`
fn add_scaled(sum: &mut [f32], weight: f32, values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use streams::Purpose;

    fn stream(row: usize) -> Stream {
        Stream::new(5, Purpose::Choices, 1, 1, row as u32)
    }

    fn tables(users: Vec<f32>, items: Vec<f32>, dim: usize) -> Tables {
        let table = |values: Vec<f32>| Matrix { rows: values.len() / dim, dim, values };
        Tables { users: table(users), items: table(items) }
    }

    /// The user (1, 0), the positive (0.5, 0.2), the candidates (0.1, 0.4) and (0.6, -0.3): the second is chosen, and mixed.
    #[test]
    fn the_worked_example() {
        let layer = tables(vec![1.0, 0.0], vec![0.5, 0.2, 0.1, 0.4, 0.6, -0.3], 2);
        let mut mixed = Mixed { users: vec![0], positives: vec![0], drawn: vec![1, 2], parts: Vec::new() };
        let scored = mixed.score(&[layer], 1, stream);
        let (item, share) = mixed.parts[0];
        assert_eq!((item, scored.positives[0]), (2, 0.5));
        assert!((0.0..1.0).contains(&share) && (scored.negatives[0] - (share * 0.5 + (1.0 - share) * 0.6)).abs() < 1e-6);
        let mix = |share: f32, candidate: [f32; 2]| {
            [0.5, 0.2].iter().zip(candidate).map(|(i, c)| share * i + (1.0 - share) * c).collect::<Vec<f32>>()
        };
        for (candidate, expected) in [([0.1, 0.4], [0.26, 0.32]), ([0.6, -0.3], [0.56, -0.10])] {
            assert!(mix(0.4, candidate).iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
        }
    }

    fn random(length: usize, salt: u32) -> Vec<f32> {
        let mut stream = Stream::new(salt.into(), Purpose::Parameters, 0, 0, 0);
        (0..length).map(|_| 2.0 * stream.fraction() as f32 - 1.0).collect()
    }

    /// Scores are products of two vectors, so that central differences are exact but for rounding.
    #[test]
    fn gradients_are_those_of_the_scores() {
        let mut layers: Vec<Tables> = (0..3).map(|layer| tables(random(6, layer), random(15, 10 + layer), 3)).collect();
        let weights = [random(4, 20), random(8, 21)];
        let mixed = || Mixed {
            users: vec![0, 1, 1, 0],
            positives: vec![0, 1, 4, 0],
            drawn: vec![2, 3, 1, 4, 0, 2, 3, 3, 2, 0, 1, 0, 4, 3, 2, 1],
            parts: Vec::new(),
        };
        let total = |layers: &[Tables]| {
            let scored = mixed().score(layers, 2, stream);
            let sum = |scores: &[f32], weights: &[f32]| scores.iter().zip(weights).map(|(s, w)| f64::from(s * w)).sum::<f64>();
            sum(&scored.positives, &weights[0]) + sum(&scored.negatives, &weights[1])
        };
        let mut made = mixed();
        made.score(&layers, 2, stream);
        let gradients = made.gradients(&layers, &weights[0], &weights[1]);
        for layer in 0..3 {
            for (side, at) in (0..2).flat_map(|side| (0..6 + 9 * side).map(move |at| (side, at))) {
                let mut moved = |step: f32| {
                    let table = &mut layers[layer];
                    let values = if side == 0 { &mut table.users.values } else { &mut table.items.values };
                    values[at] += step;
                    total(&layers)
                };
                let difference = (moved(1e-3) - moved(-2e-3)) / 2e-3;
                moved(1e-3);
                let table = &gradients[layer];
                let found = f64::from(if side == 0 { &table.users.values } else { &table.items.values }[at]);
                assert!((found - difference).abs() < 1e-3, "layer {layer}, side {side}, {at}: {found}, {difference}");
            }
        }
    }

    /// The user (1, 0), the positive (0.5, 0.2) and the candidate (0.6, -0.3), of which 0.4 of the positive makes (0.56, -0.10), with weight 0.5:
    /// by hand. The norm of the negative is in both gradients, by its shares.
    #[test]
    fn the_l2_of_the_worked_example() {
        let layer = tables(vec![1.0, 0.0], vec![0.5, 0.2, 0.1, 0.4, 0.6, -0.3], 2);
        let mixed = Mixed { users: vec![0], positives: vec![0], drawn: Vec::new(), parts: vec![(2, 0.4), (1, 0.9)] };
        let mut gradients = Tables::zeros(1, 3, 2);
        mixed.add_l2(0.5, &layer, 2, &mut gradients);
        let near = |found: &[f32], expected: &[f32]| found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6);
        assert!(near(&gradients.users.values, &[0.5, 0.0]), "{:?}", gradients.users.values);
        let expected = [0.25 + 0.2 * 0.56, 0.1 - 0.2 * 0.1, 0.0, 0.0, 0.3 * 0.56, -0.3 * 0.1];
        assert!(near(&gradients.items.values, &expected), "{:?}", gradients.items.values);
    }
}
