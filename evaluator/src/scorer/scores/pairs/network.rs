//! Scores by the layers of a [`Network`].

use super::{super::bound, COLUMNS, PairScores, add_scaled};
use crate::scorer::{Layer, Network};
use vectors::Matrix;

impl PairScores for Network {
    fn users(&self) -> &Matrix {
        &self.users
    }

    fn items(&self) -> &Matrix {
        &self.items
    }

    /// Two layers.
    fn working(&self) -> usize {
        2 * self.widest()
    }

    fn largest_sum(&self) -> f64 {
        let [user, item] = [&self.users, &self.items].map(|side| bound::largest(&side.values));
        let through = |hidden: f64, Layer { weights, bias }: &Layer| {
            weights.dim as f64 * hidden * bound::largest(&weights.values) + bound::largest(&bias.values)
        };
        self.product as f64 * user * item + self.layers.iter().fold(user + item, through)
    }

    #[inline(always)]
    fn score<'c>(&self, user: &[f32], column: &impl Fn(usize) -> &'c [f32], scores: &mut [f32], working: &mut [f32]) {
        let (mut hidden, mut next) = working.split_at_mut(working.len() / 2);
        let count = scores.len();
        scores.fill(0.0);
        for (number, &factor) in user[..self.product].iter().enumerate() {
            add_scaled(scores, factor, column(number));
        }
        for (at, &own) in user[self.product..].iter().enumerate() {
            let out = &mut hidden[at * COLUMNS..][..count];
            out.iter_mut().zip(column(self.product + at)).for_each(|(out, value)| *out = (own + value).max(0.0));
        }
        for (at, Layer { weights, bias }) in self.layers.iter().enumerate() {
            let is_last = at + 1 == self.layers.len();
            for (row, &bias) in bias.values.iter().enumerate() {
                let out = if is_last { &mut *scores } else { &mut next[row * COLUMNS..][..count] };
                out.iter_mut().for_each(|out| *out = if is_last { *out + bias } else { bias });
                for (number, &weight) in weights.row(row).iter().enumerate() {
                    add_scaled(out, weight, &hidden[number * COLUMNS..][..count]);
                }
                if !is_last {
                    out.iter_mut().for_each(|out| *out = out.max(0.0));
                }
            }
            std::mem::swap(&mut hidden, &mut next);
        }
    }
}
