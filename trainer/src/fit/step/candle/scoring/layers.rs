//! Scores with negatives that are mixed of the vectors of all layers, for the sampler `mix-gcf`.
//!
//! ```text
//! s(u, i) = mean over layers of e_u . e_i(l)        s(u, j) = mean over layers of e_u . (a_l e_i(l) + (1 - a_l) e_j*(l)(l))
//! ```
//! e_u is the mean of the user's layers, j*(l) the candidate of a pool with the highest score in layer l, and a_l a uniform number.

use super::Columns;
use crate::{
    Result,
    fit::step::candle::blocks::{self, Scoring},
};
use candle_core::{D, Tensor};
use models::select_rows;
use std::ops::Range;
use streams::Stream;

/// Scores from the vectors of users and items in each layer, users before items: positives, negatives, and half the squared norms of layer 0.
pub(crate) struct Layers<'a> {
    users: &'a [u32],
    columns: Columns,
    /// `[B, 1 + K M]`, the positive first.
    width: usize,
    negatives: usize,
    layers: usize,
    /// `[B, K]` of each layer, places among the row's candidates.
    chosen: Vec<Vec<u32>>,
    /// `[B, K]` of each layer: how much of the positive is mixed to them.
    shares: Vec<Vec<f32>>,
}

/// Products with the candidates, `[B, 1 + K M]` of each layer.
struct Candidates<'a, 'b>(&'b Layers<'a>);

impl Scoring for Candidates<'_, '_> {
    fn rows(&self) -> usize {
        self.0.users.len()
    }

    fn size_of_row(&self) -> usize {
        self.0.layers * self.0.columns.count
    }

    fn score(&self, from: &[Tensor], rows: Range<usize>) -> Result<Vec<Tensor>> {
        self.0.products(from, &rows)
    }
}

impl<'a> Layers<'a> {
    /// Chooses what is mixed: of the ids `[B, 1 + K M]` of rows, with the random numbers of each row.
    pub(crate) fn new(
        from: &[Tensor],
        users: &'a [u32],
        ids: &[u32],
        negatives: usize,
        items: usize,
        stream: impl Fn(usize) -> Stream,
    ) -> Result<Self> {
        let (layers, width) = (from.len() / 2, ids.len() / users.len());
        let columns = Columns::new(ids, items);
        let mut found = Self { users, columns, width, negatives, layers, chosen: Vec::new(), shares: Vec::new() };
        let products = blocks::values(&Candidates(&found), from)?;
        let pool = (width - 1) / negatives;
        let highest = |scores: &[f32]| (1..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best });
        let of_layer = |products: &Vec<f32>| -> Vec<u32> {
            let pools = products.chunks_exact(width).flat_map(|row| row[1..].chunks_exact(pool).enumerate());
            pools.map(|(number, scores)| (1 + number * pool + highest(scores)) as u32).collect()
        };
        found.chosen = products.iter().map(of_layer).collect();
        found.shares = vec![Vec::with_capacity(users.len() * negatives); layers];
        for row in 0..users.len() {
            let mut stream = stream(row);
            (0..negatives).for_each(|_| found.shares.iter_mut().for_each(|shares| shares.push(stream.fraction() as f32)));
        }
        Ok(found)
    }

    /// The vectors of users and items in a layer.
    fn layer(from: &[Tensor], layer: usize) -> (&Tensor, &Tensor) {
        (&from[2 * layer], &from[2 * layer + 1])
    }

    /// Products with the rows' items, `[b, 1 + K M]` of each layer.
    fn products(&self, from: &[Tensor], rows: &Range<usize>) -> Result<Vec<Tensor>> {
        let device = from[0].device();
        let of_layer = |layer| select_rows(Self::layer(from, layer).0, &self.users[rows.clone()]);
        let users = (0..self.layers).map(of_layer).collect::<candle_core::Result<Vec<_>>>()?;
        let queries = mean(&users)?;
        let places = self.columns.places(rows, self.width, device)?;
        let of_layer = |layer| Ok(queries.matmul(&self.columns.of(Self::layer(from, layer).1)?.t()?)?.gather(&places, 1)?);
        (0..self.layers).map(of_layer).collect()
    }

    /// Half the squared norms of the users, positives and negatives of layer 0, `[b, 1]`.
    fn half_norms(&self, from: &[Tensor], rows: &Range<usize>, chosen: &Tensor, shares: &Tensor) -> Result<Tensor> {
        let ((users, items), device) = (Self::layer(from, 0), from[0].device());
        let places = self.columns.places(rows, self.width, device)?;
        let vectors = |places: &Tensor| {
            let (rows, count) = places.dims2()?;
            self.columns.of(items)?.index_select(&places.contiguous()?.flatten_all()?, 0)?.reshape((rows, count, items.dim(1)?))
        };
        let (own, others) = (vectors(&places.narrow(1, 0, 1)?)?, vectors(&places.gather(chosen, 1)?)?);
        let shares = shares.unsqueeze(2)?; // [b, K, 1]
        let mixed = (own.broadcast_mul(&shares)? + others.broadcast_mul(&(shares.neg()? + 1.0)?)?)?;
        let users = select_rows(users, &self.users[rows.clone()])?;
        let squares = |vectors: &Tensor| vectors.sqr()?.flatten_from(1)?.sum_keepdim(D::Minus1);
        Ok((((squares(&users)? + squares(&own)?)? + squares(&mixed)?)? * 0.5)?)
    }
}

fn mean(tensors: &[Tensor]) -> Result<Tensor> {
    let (first, others) = tensors.split_first().expect("the parameters are a layer");
    let sum = others.iter().try_fold(first.clone(), |sum, tensor| sum + tensor)?;
    Ok((sum / tensors.len() as f64)?)
}

impl Scoring for Layers<'_> {
    fn rows(&self) -> usize {
        self.users.len()
    }

    fn size_of_row(&self) -> usize {
        self.layers * self.columns.count
    }

    fn score(&self, from: &[Tensor], rows: Range<usize>) -> Result<Vec<Tensor>> {
        let (shape, device) = ((rows.len(), self.negatives), from[0].device());
        let part = rows.start * self.negatives..rows.end * self.negatives;
        let (mut positives, mut negatives, mut first) = (Vec::new(), Vec::new(), None);
        for ((products, chosen), shares) in self.products(from, &rows)?.iter().zip(&self.chosen).zip(&self.shares) {
            let chosen = Tensor::from_slice(&chosen[part.clone()], shape, device)?;
            let shares = Tensor::from_slice(&shares[part.clone()], shape, device)?;
            let own = products.narrow(1, 0, 1)?;
            let others = (products.gather(&chosen, 1)? * (shares.neg()? + 1.0)?)?;
            negatives.push((shares.broadcast_mul(&own)? + others)?);
            positives.push(own);
            first.get_or_insert((chosen, shares));
        }
        let (chosen, shares) = first.expect("the parameters are a layer");
        Ok(vec![mean(&positives)?, mean(&negatives)?, self.half_norms(from, &rows, &chosen, &shares)?])
    }
}
