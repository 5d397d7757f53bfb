//! Scores from user and item vectors, all similarities folded into one product.
//!
//! ```text
//! dot                          p . q
//! cosine                       (p / |p|) . (q / |q|)
//! negative squared distance    (2p, -1) . (q, |q|^2), to which -|p|^2 is added where the score itself is asked for
//! ```

use super::{
    product::product,
    scores::{Scratch, TILE},
};
use crate::{Matrix, Similarity};
use rayon::prelude::*;
use std::ops::Range;

/// Vectors shorter than this are padded with zeros; see [`product`].
const SHORTEST: usize = 4;

/// User and item vectors, ready for products.
pub(super) struct Factors<'a> {
    users: &'a Matrix,
    items: &'a Matrix,
    similarity: Similarity,
    /// The length of a folded and padded vector.
    dim: usize,
    /// All tiles, `[tiles, dim, TILE]`, where memory allows; otherwise each block of users makes them again.
    tiles: Option<Vec<f32>>,
}

impl<'a> Factors<'a> {
    pub(super) fn new(users: &'a Matrix, items: &'a Matrix, similarity: Similarity, memory: usize) -> Self {
        let folded = items.dim + usize::from(similarity == Similarity::NegativeSquaredDistance);
        let mut factors = Self { users, items, similarity, dim: folded.max(SHORTEST), tiles: None };
        let length = items.rows.div_ceil(TILE) * TILE * factors.dim;
        if length * size_of::<f32>() <= memory / 2 {
            let mut tiles = vec![0.0; length];
            tiles.par_chunks_mut(factors.dim * TILE).enumerate().for_each(|(tile, out)| {
                let first = tile * TILE;
                factors.pack(first..(first + TILE).min(items.rows), TILE, out);
            });
            factors.tiles = Some(tiles);
        }
        factors
    }

    pub(super) fn items(&self) -> usize {
        self.items.rows
    }

    /// Bytes of working space for each user of a block, and for each block.
    pub(super) fn working_space(&self) -> (usize, usize) {
        let tile = if self.tiles.is_some() { 0 } else { self.dim * TILE };
        ((self.dim + TILE) * size_of::<f32>(), tile * size_of::<f32>())
    }

    /// Puts the users' vectors into the scratch, and zeros up to a multiple of eight users.
    pub(super) fn load(&self, users: &[u32], scratch: &mut Scratch) {
        scratch.vectors.clear();
        scratch.vectors.resize(users.len().next_multiple_of(8) * self.dim, 0.0);
        for (&user, out) in users.iter().zip(scratch.vectors.chunks_exact_mut(self.dim)) {
            self.user_vector(user as usize, out);
        }
        scratch.scores.resize(users.len().next_multiple_of(8) * TILE, 0.0);
    }

    /// Scores of the loaded users for a range of items within one tile.
    pub(super) fn score(&self, range: Range<usize>, scratch: &mut Scratch) {
        let Scratch { vectors, scores, packed, .. } = scratch;
        let tile = match &self.tiles {
            Some(tiles) => &tiles[range.start * self.dim..][..self.dim * TILE],
            None => {
                packed.resize(self.dim * TILE, 0.0);
                self.pack(range.clone(), TILE, packed);
                packed
            }
        };
        product(vectors, self.dim, tile, TILE, range.len().next_multiple_of(16), scores);
    }

    /// Scores of the loaded user at `position` for some items, in the bits of [`score`](Self::score).
    pub(super) fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        let group = (position / 8) * 8 * self.dim..(position / 8 + 1) * 8 * self.dim;
        let Scratch { vectors, scores, packed, .. } = scratch;
        for items in items.chunks(TILE) {
            let width = items.len().next_multiple_of(16);
            packed.resize(packed.len().max(self.dim * width), 0.0);
            self.pack(items.iter().map(|&item| item as usize), width, packed);
            product(&vectors[group.clone()], self.dim, packed, width, width, scores);
            out.extend_from_slice(&scores[(position % 8) * width..][..items.len()]);
        }
    }

    /// What is added to a user's scores where they are reported.
    pub(super) fn offset(&self, user: usize) -> f32 {
        match self.similarity {
            Similarity::Dot | Similarity::Cosine => 0.0,
            Similarity::NegativeSquaredDistance => -(squared_norm(self.users.row(user)) as f32),
        }
    }

    /// Item vectors as columns: `[dim, width]`, zeros behind the last item.
    fn pack(&self, items: impl IntoIterator<Item = usize>, width: usize, out: &mut [f32]) {
        let mut vector = vec![0.0; self.dim];
        let mut filled = 0;
        for (column, item) in items.into_iter().enumerate() {
            self.item_vector(item, &mut vector);
            for (d, value) in vector.iter().enumerate() {
                out[d * width + column] = *value;
            }
            filled = column + 1;
        }
        for row in out.chunks_exact_mut(width).take(self.dim) {
            row[filled..].fill(0.0);
        }
    }

    fn user_vector(&self, user: usize, out: &mut [f32]) {
        let row = self.users.row(user);
        fold(row, self.similarity, out);
        if self.similarity == Similarity::NegativeSquaredDistance {
            out[..row.len()].iter_mut().for_each(|value| *value *= 2.0);
            out[row.len()] = -1.0;
        }
    }

    fn item_vector(&self, item: usize, out: &mut [f32]) {
        let row = self.items.row(item);
        fold(row, self.similarity, out);
        if self.similarity == Similarity::NegativeSquaredDistance {
            out[row.len()] = squared_norm(row) as f32;
        }
    }
}

/// Copies a vector, divided by its norm for the cosine.
fn fold(row: &[f32], similarity: Similarity, out: &mut [f32]) {
    out[..row.len()].copy_from_slice(row);
    if similarity == Similarity::Cosine {
        let norm = squared_norm(row).sqrt();
        if norm > 0.0 {
            out[..row.len()].iter_mut().for_each(|value| *value = (f64::from(*value) / norm) as f32);
        }
    }
}

fn squared_norm(row: &[f32]) -> f64 {
    row.iter().map(|&value| f64::from(value) * f64::from(value)).sum()
}
