//! Scores from user and item vectors, all similarities folded into one product.
//!
//! ```text
//! dot                          p . q
//! cosine                       (p / |p|) . (q / |q|)
//! negative squared distance    (2p, -1) . (q, |q|^2), to which -|p|^2 is added where the score itself is asked for
//! ```

use super::{
    Scores, Scratch, TILE,
    aligned::Aligned,
    bound,
    order::Order,
    product::{PANEL, product},
};
use crate::{Matrix, Similarity};
use dataset::Interactions;
use rayon::prelude::*;
use std::ops::Range;

/// User and item vectors, ready for products.
pub(in crate::scorer) struct Vectors<'a> {
    users: &'a Matrix,
    items: &'a Matrix,
    similarity: Similarity,
    /// The length of a folded vector.
    dim: usize,
    /// The items' order, where it is not that of their ids.
    order: Option<Order>,
    /// All items in this order, `[panels, dim, PANEL]`, where memory allows; otherwise each block of users packs them again.
    panels: Option<Aligned>,
    /// Whether a score can be NaN or infinite.
    to_check: bool,
}

impl<'a> Vectors<'a> {
    pub(in crate::scorer) fn new(
        users: &'a Matrix,
        items: &'a Matrix,
        similarity: Similarity,
        history: Option<&Interactions>,
        memory: usize,
    ) -> Self {
        let dim = folded(items.dim, similarity);
        let to_check = bound::to_check(largest_sum(users, items, similarity));
        let mut vectors = Self { users, items, similarity, dim, order: None, panels: None, to_check };
        vectors.order = history.filter(|_| !to_check).map(|history| vectors.order(history));
        if packed_bytes(items.rows, dim) <= memory / 2 {
            let mut panels = Aligned::zeros(items.rows.next_multiple_of(PANEL) * dim);
            panels.par_chunks_exact_mut(dim * PANEL).enumerate().for_each(|(panel, out)| {
                let first = panel * PANEL;
                vectors.pack((first..(first + PANEL).min(items.rows)).map(|place| vectors.row_at(place)), out);
            });
            vectors.panels = Some(panels);
        }
        vectors
    }

    /// By the length of the vectors where scores grow with it, and otherwise by the number of users in the history, descending.
    fn order(&self, history: &Interactions) -> Order {
        let length = |vector: &mut Vec<f32>, item: usize| {
            self.item_vector(item, vector);
            squared_norm(vector).sqrt()
        };
        let lengths: Vec<f64> = (0..self.items.rows).into_par_iter().map_init(|| vec![0.0; self.dim], length).collect();
        match self.similarity {
            Similarity::Dot => Order::descending(&lengths, &lengths),
            Similarity::Cosine | Similarity::NegativeSquaredDistance => {
                let mut popularity = vec![0.0; self.items.rows];
                history.items().iter().for_each(|&item| popularity[item as usize] += 1.0);
                Order::descending(&popularity, &lengths)
            }
        }
    }

    /// The row of the item at a place of the tiles.
    fn row_at(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order.items[place] as usize)
    }

    /// Item vectors as the first columns of a panel, `[dim, PANEL]`; the other columns stay as they are.
    fn pack(&self, items: impl IntoIterator<Item = usize>, panel: &mut [f32]) {
        let mut vector = vec![0.0; self.dim];
        for (column, item) in items.into_iter().enumerate() {
            self.item_vector(item, &mut vector);
            for (row, value) in panel.chunks_exact_mut(PANEL).zip(&vector) {
                row[column] = *value;
            }
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

impl Scores for Vectors<'_> {
    fn items(&self) -> usize {
        self.items.rows
    }

    fn item(&self, place: usize) -> u32 {
        self.row_at(place) as u32
    }

    fn place(&self, item: u32) -> u32 {
        self.order.as_ref().map_or(item, |order| order.places[item as usize])
    }

    fn working_space(&self) -> (usize, usize) {
        let packed = if self.panels.is_some() { PANEL } else { TILE };
        ((self.dim + TILE) * size_of::<f32>(), self.dim * packed * size_of::<f32>())
    }

    fn load(&self, users: &[u32], scratch: &mut Scratch) {
        scratch.vectors.grow(users.len() * self.dim);
        scratch.lengths.clear();
        for (&user, out) in users.iter().zip(scratch.vectors.chunks_exact_mut(self.dim)) {
            self.user_vector(user as usize, out);
            scratch.lengths.push(squared_norm(out).sqrt());
        }
    }

    fn keep(&self, from: usize, to: usize, scratch: &mut Scratch) {
        scratch.vectors.copy_within(from * self.dim..(from + 1) * self.dim, to * self.dim);
        scratch.lengths[to] = scratch.lengths[from];
    }

    /// A product is at most that of the lengths, and rounding adds to it at most half of 2^-23 of that for each dimension, or what is too small
    /// for a normal number.
    fn highest(&self, position: usize, place: usize, scratch: &Scratch) -> f64 {
        let Some(order) = &self.order else { return f64::INFINITY };
        let product = scratch.lengths[position] * order.longest_from(place);
        product * (1.0 + self.dim as f64 * f64::from(f32::EPSILON)) + f64::from(f32::MIN_POSITIVE)
    }

    fn score_tile(&self, users: usize, tile: Range<usize>, scratch: &mut Scratch) {
        let Scratch { vectors, scores, packed, .. } = scratch;
        let panels = match &self.panels {
            Some(panels) => &panels[tile.start * self.dim..][..tile.len().next_multiple_of(PANEL) * self.dim],
            None => {
                packed.grow(self.dim * TILE);
                for (first, out) in tile.clone().step_by(PANEL).zip(packed.chunks_exact_mut(self.dim * PANEL)) {
                    self.pack((first..(first + PANEL).min(tile.end)).map(|place| self.row_at(place)), out);
                }
                &packed[..tile.len().next_multiple_of(PANEL) * self.dim]
            }
        };
        product(&vectors[..users * self.dim], self.dim, panels, scores, TILE);
    }

    fn score_some(&self, position: usize, items: &[u32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        let Scratch { vectors, packed, .. } = scratch;
        let vector = &vectors[position * self.dim..][..self.dim];
        packed.grow(self.dim * PANEL);
        for items in items.chunks(PANEL) {
            let mut scores = [0.0; PANEL];
            self.pack(items.iter().map(|&item| item as usize), packed);
            product(vector, self.dim, &packed[..self.dim * PANEL], &mut scores, PANEL);
            out.extend_from_slice(&scores[..items.len()]);
        }
    }

    fn offset(&self, user: usize) -> f32 {
        match self.similarity {
            Similarity::Dot | Similarity::Cosine => 0.0,
            Similarity::NegativeSquaredDistance => -(squared_norm(self.users.row(user)) as f32),
        }
    }

    fn to_check(&self) -> bool {
        self.to_check
    }
}

/// No sum on the way to a score is further from zero; NaN or infinite where a value is.
fn largest_sum(users: &Matrix, items: &Matrix, similarity: Similarity) -> f64 {
    let (user, item) = (bound::largest(&users.values), bound::largest(&items.values));
    let term = match similarity {
        Similarity::Dot => user * item,
        Similarity::Cosine if user.is_finite() && item.is_finite() => 1.0,
        Similarity::Cosine => f64::INFINITY,
        Similarity::NegativeSquaredDistance => (2.0 * user + item) * item,
    };
    items.dim as f64 * term
}

/// The length of a folded vector.
fn folded(dim: usize, similarity: Similarity) -> usize {
    dim + usize::from(similarity == Similarity::NegativeSquaredDistance)
}

/// Bytes of all items as panels.
fn packed_bytes(items: usize, dim: usize) -> usize {
    items.next_multiple_of(PANEL) * dim * size_of::<f32>()
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
