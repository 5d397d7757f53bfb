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
use models::select_rows;
use std::ops::Range;

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
pub(crate) const FEW: usize = 4;

impl Columns {
    /// The columns for ids among so many items.
    fn new(ids: &[u32], items: usize) -> Self {
        let mut columns: Vec<Option<u32>> = vec![None; items];
        ids.iter().for_each(|&id| columns[id as usize] = Some(0));
        let chosen: Vec<u32> = (0..).zip(&columns).filter_map(|(item, column)| column.map(|_| item)).collect();
        if chosen.len() * FEW > items {
            return Self { chosen: None, count: items, places: ids.to_vec() };
        }
        chosen.iter().zip(0..).for_each(|(&item, column)| columns[item as usize] = Some(column));
        let places = ids.iter().filter_map(|&id| columns[id as usize]).collect();
        Self { count: chosen.len(), chosen: Some(chosen), places }
    }

    /// The vectors of the columns, of those of all items.
    fn of(&self, items: &Tensor) -> Result<Tensor> {
        match &self.chosen {
            Some(chosen) => select_rows(items, chosen),
            None => Ok(items.clone()),
        }
    }

    /// The columns of some rows' items, so many of each row: `[rows, width]`.
    fn places(&self, rows: &Range<usize>, width: usize, device: &Device) -> Result<Tensor> {
        Tensor::from_slice(&self.places[rows.start * width..rows.end * width], (rows.len(), width), device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_items_are_columns_of_their_own() {
        let few = Columns::new(&[30, 7, 30, 2], 40);
        assert_eq!((few.chosen, few.count, few.places), (Some(vec![2, 7, 30]), 3, vec![2, 1, 2, 0]));
        let many = Columns::new(&[3, 0, 3], 4);
        assert_eq!((many.chosen, many.count, many.places), (None, 4, vec![3, 0, 3]));
    }

    /// Of (3, 4) and (0, 2) with (6, 8) and a vector of zeros, by hand.
    #[test]
    fn similarities_are_those_by_hand() {
        let tensor = |rows: [[f32; 2]; 2]| Tensor::new(&rows, &Device::Cpu).unwrap();
        let (one, other) = (tensor([[3.0, 4.0], [0.0, 2.0]]), tensor([[6.0, 8.0], [0.0, 0.0]]));
        for (similarity, expected) in [
            (Similarity::Dot, [50.0, 0.0, 16.0, 0.0]),
            (Similarity::Cosine, [1.0, 0.0, 0.8, 0.0]),
            (Similarity::NegativeSquaredDistance, [-25.0, -25.0, -72.0, -4.0]),
        ] {
            let found: Vec<f32> = similarities(similarity, &one, &other).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5), "{found:?}");
        }
    }
}
