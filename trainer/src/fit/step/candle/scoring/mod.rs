//! The scores of a batch's rows as functions of tensors.
//!
//! Each gives positives `[b, P]` and negatives `[b, N]` of some rows, and what else the loss or the optimizer looks at there. Rows meet the items of the batch in one product
//! of matrices, `[b, items]`, of which each takes its own: no `[b, N, D]` is formed, and the way back is products too.

mod layers;
mod pairs;
mod relations;
mod vectors;

pub(super) use layers::Layers;
pub(super) use pairs::NetworkPairs;
pub(super) use relations::BatchRelations;
pub(super) use vectors::{Items, Scores};

use candle_core::{D, Device, Result, Tensor};
use evaluator::Similarity;
use std::{collections::HashMap, ops::Range};

/// Norms below this count as about this, so that a zero vector has scores of zero.
const LEAST_NORM: f64 = 1e-12;

/// All similarities of rows `[a, dim]` with others `[b, dim]`: `[a, b]`.
fn similarities(similarity: Similarity, one: &Tensor, other: &Tensor) -> Result<Tensor> {
    let squares = |rows: &Tensor| rows.sqr()?.sum_keepdim(D::Minus1);
    match similarity {
        Similarity::Dot => one.matmul(&other.t()?),
        Similarity::Cosine => {
            let unit = |rows: &Tensor| rows.broadcast_div(&(squares(rows)? + LEAST_NORM * LEAST_NORM)?.sqrt()?);
            unit(one)?.matmul(&unit(other)?.t()?)
        }
        Similarity::NegativeSquaredDistance => {
            let products = (one.matmul(&other.t()?)? * 2.0)?;
            products.broadcast_sub(&squares(one)?)?.broadcast_sub(&squares(other)?.t()?)
        }
    }
}

/// The items that a batch's products have for columns: those of its rows where they are few among all, else all.
struct Columns {
    /// The columns' items; `None` for all items.
    chosen: Option<Vec<u32>>,
    /// Columns.
    count: usize,
    /// The columns of the rows' items, in their order.
    places: Vec<u32>,
}

/// Items are chosen where so many times as many are not.
const FEW: usize = 4;

impl Columns {
    /// The columns for ids among so many items.
    fn new(ids: &[u32], items: usize) -> Self {
        let mut distinct = ids.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() * FEW > items {
            return Self { chosen: None, count: items, places: ids.to_vec() };
        }
        let columns: HashMap<u32, u32> = distinct.iter().copied().zip(0..).collect();
        let places = ids.iter().map(|id| columns[id]).collect();
        Self { count: distinct.len(), chosen: Some(distinct), places }
    }

    /// The vectors of the columns, of those of all items.
    fn of(&self, items: &Tensor) -> Result<Tensor> {
        match &self.chosen {
            Some(chosen) => items.index_select(&Tensor::from_slice(chosen, chosen.len(), items.device())?, 0),
            None => Ok(items.clone()),
        }
    }

    /// The columns of some rows' items, so many of each row: `[rows, width]`.
    fn places(&self, rows: &Range<usize>, width: usize, device: &Device) -> Result<Tensor> {
        Tensor::from_slice(&self.places[rows.start * width..rows.end * width], (rows.len(), width), device)
    }
}

/// Some of a list of ids as a tensor.
fn ids_of(ids: &[u32], rows: &Range<usize>, device: &Device) -> Result<Tensor> {
    Tensor::from_slice(&ids[rows.clone()], rows.len(), device)
}
