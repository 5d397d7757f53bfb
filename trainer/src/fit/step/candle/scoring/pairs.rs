//! Scores of pairs by a network.

use crate::{Result, fit::step::candle::blocks::Scoring};
use candle_core::Tensor;
use embeddings::Touched;
use models::{
    encoder::TrainStep,
    pairs::{PairNetwork, Pairs},
    select_rows,
};
use std::ops::Range;

/// Scores from the tables of users and items and the weights.
pub(crate) struct NetworkPairs<'a> {
    pub(crate) network: &'a dyn PairNetwork,
    pub(crate) step: TrainStep<'a>,
    /// `[B]`
    pub(crate) users: &'a [u32],
    /// `[B, P + N]`
    pub(crate) ids: &'a [u32],
    /// Positives of a row.
    pub(crate) list: usize,
    /// The place of the first row in the whole batch.
    pub(crate) first: usize,
}

impl NetworkPairs<'_> {
    fn width(&self) -> usize {
        self.ids.len() / self.users.len()
    }
}

impl Scoring for NetworkPairs<'_> {
    fn rows(&self) -> usize {
        self.users.len()
    }

    fn size_of_row(&self) -> usize {
        self.width() * self.network.floats_of_pair() as usize
    }

    fn score(&self, from: &[Tensor], rows: Range<usize>) -> Result<Vec<Tensor>> {
        let (width, device) = (self.width(), from[0].device());
        let users: Vec<u32> = self.users[rows.clone()].iter().flat_map(|&user| std::iter::repeat_n(user, width)).collect();
        let side = |table: &Tensor, ids: &[u32]| -> Result<(Tensor, Tensor)> {
            let mut touched = Touched::default();
            touched.find(ids);
            let distinct = select_rows(table, &touched.rows)?;
            Ok((distinct, Tensor::from_slice(&touched.locals, touched.locals.len(), device)?))
        };
        let (users, of_users) = side(&from[0], &users)?;
        let (items, of_items) = side(&from[1], &self.ids[rows.start * width..rows.end * width])?;
        let pairs = Pairs { users, items, places: [of_users, of_items], first: (self.first + rows.start) * width };
        let scores = self.network.score(&pairs, &from[2..], &self.step)?.reshape((rows.len(), width))?;
        Ok(vec![scores.narrow(1, 0, self.list)?, scores.narrow(1, self.list, width - self.list)?])
    }
}
