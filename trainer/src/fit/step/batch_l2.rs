//! L2 on the vectors of a batch's rows, before any propagation.
//!
//! ```text
//! in the loss:             weight / (2 B) sum over the B rows of |e_u|^2 + |e_i|^2 + sum_j |e_j|^2
//! in the gradient of e:    weight / B n e          n: how often the vector stands among the users, positives and negatives
//! ```
//! So LightGCN's release has it, with one negative, and MixGCF's, whose negatives are mixed vectors of layer 0. A list that is filled up has
//! fewer positives, and an in-batch negative that is the row's own positive is none. He et al., SIGIR 2020; Huang et al., KDD 2021.

use crate::Result;
use crate::fit::{distributed::batch_shard::BatchShard, step::full_tables::FullTableStep, train_state::TrainState};
use embeddings::BUCKET;

impl TrainState<'_> {
    /// The weight of a vector that stands once in a batch of so many rows, where there is one.
    pub(crate) fn batch_l2(&self, rows: usize) -> Option<f32> {
        self.learning.optimizer.batch_l2().map(|weight| weight as f32 / rows as f32)
    }

    /// Finds the weight that each row of the tables has in a step, of all ranks' rows of the batch.
    pub(crate) fn find_decays(&self, batch: BatchShard, full: &mut FullTableStep) -> Result<()> {
        let Some(weight) = self.batch_l2(batch.whole.users.len()) else { return Ok(()) };
        let FullTableStep { decays: [users, items], sampled, .. } = full;
        for (decays, table) in [&mut *users, &mut *items].into_iter().zip(self.parameters.tables()) {
            decays.clear();
            decays.resize(table.rows, 0.0);
        }
        batch.whole.users.iter().for_each(|&user| users[user as usize] += 1.0);
        if !batch.is_empty() {
            sampled.count(items);
        }
        self.collective.sum("the items of the batch", items)?;
        users.iter_mut().chain(items).for_each(|decay| *decay *= weight);
        Ok(())
    }
}

/// Adds the gradient of a vector that stands so many times in the batch.
pub(crate) fn add(weight: Option<f32>, times: f32, vector: &[f32], gradient: &mut [f32]) {
    if let Some(weight) = weight {
        gradient.iter_mut().zip(vector).for_each(|(gradient, value)| *gradient += weight * times * value);
    }
}

/// Adds those of the items of a bucket, by how often each item of the catalogue stands in the batch.
pub(crate) fn add_bucket(weight: f32, counts: &[f32], bucket: usize, items: &[f32], gradients: &mut [f32], touched: &mut [bool]) {
    let dim = items.len() / touched.len();
    let rows = gradients.chunks_exact_mut(dim).zip(items.chunks_exact(dim)).zip(touched).zip(&counts[bucket * BUCKET..]);
    for (((gradient, item), touched), &count) in rows.filter(|(_, count)| **count > 0.0) {
        if !std::mem::replace(touched, true) {
            gradient.fill(0.0);
        }
        add(Some(weight), count, item, gradient);
    }
}
