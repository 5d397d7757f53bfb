//! How chosen items stand among a user's train items, for losses that rank rows among them.

use super::{
    kernels::dots,
    sampled::{Batch, Vectors},
    similarity::{Prepared, finish_scores},
};
use dataset::Interactions;
use rayon::prelude::*;

/// Rows of a parallel task.
const ROWS: usize = 16;

/// Buffers that are reused from step to step.
#[derive(Default)]
pub struct Others {
    queries: Prepared,
    items: Prepared,
}

impl Others {
    /// Bytes of the vectors, and of the counts and a copy of them, in batches of so many rows of `width` items.
    pub fn bytes(items: u64, dim: u64, batch: u64, width: u64) -> u64 {
        4 * ((items + batch) * dim + 2 * batch * (width + 1))
    }

    /// For rows of `ids [B, W]`, the row's positive first: how many of the user's other train items score above each, `[B, W]`, and how many
    /// there are, `[B]`.
    pub fn find(&mut self, vectors: Vectors, batch: Batch, ids: &[u32], train: &Interactions) -> [Vec<f32>; 2] {
        let width = ids.len() / batch.users.len();
        self.queries.chosen_rows(vectors.users, batch.queries, vectors.similarity);
        self.items.all_rows(vectors.items, vectors.similarity);
        let [mut above, mut counts] = [vec![0.0; ids.len()], vec![0.0; batch.users.len()]];
        let parts = above.par_chunks_mut(ROWS * width).zip(counts.par_chunks_mut(ROWS)).enumerate();
        parts.for_each_init(Default::default, |(own, scores): &mut (Vec<u32>, [Vec<f32>; 2]), (part, (above, counts))| {
            for (row, (above, count)) in (part * ROWS..).zip(above.chunks_exact_mut(width).zip(counts)) {
                let ids = &ids[row * width..][..width];
                own.clear();
                own.extend(train.row(batch.users[row] as usize).iter().filter(|&&item| item != ids[0]));
                let [of_own, of_row] = &mut *scores;
                self.score(vectors, row, own, of_own);
                self.score(vectors, row, ids, of_row);
                of_own.sort_unstable_by(f32::total_cmp);
                *count = own.len() as f32;
                for (above, &score) in above.iter_mut().zip(&*of_row) {
                    *above = (own.len() - of_own.partition_point(|&other| other <= score)) as f32;
                }
            }
        });
        [above, counts]
    }

    fn score(&self, vectors: Vectors, row: usize, ids: &[u32], scores: &mut Vec<f32>) {
        let dim = vectors.items.dim;
        scores.resize(ids.len(), 0.0);
        dots(&self.queries.vectors(&[])[row * dim..][..dim], self.items.vectors(&vectors.items.values), ids, scores);
        finish_scores(vectors.similarity, &self.queries, row, &self.items, ids.iter().map(|&id| id as usize), scores);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vectors::{Matrix, Similarity};

    /// Scores of items 0 to 5 for user 0 are 3, 1, 2, 2, -1, 0, by dot products; the other user's are their negatives.
    #[test]
    fn counts_leave_out_the_row_s_positive() {
        let users = Matrix { rows: 2, dim: 1, values: vec![1.0, -1.0] };
        let items = Matrix { rows: 6, dim: 1, values: vec![3.0, 1.0, 2.0, 2.0, -1.0, 0.0] };
        let train = Interactions::from_pairs(2, [(0, 0), (0, 2), (0, 5), (1, 4)].into_iter());
        let vectors = Vectors { users: &users, items: &items, similarity: Similarity::Dot };
        let batch = Batch::new(&[0, 1, 0], &[2, 4, 0]);
        let ids = [2, 1, 3, 4, 4, 0, 1, 2, 0, 3, 1, 4];
        let [above, counts] = Others::default().find(vectors, batch, &ids, &train);
        assert_eq!(above, [1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!(counts, [2.0, 0.0, 2.0]);
    }

    /// By every similarity, against scores by hand.
    #[test]
    fn counts_are_those_of_the_scores() {
        let wave = |rows: usize, pitch: f32| Matrix { rows, dim: 3, values: (0..3 * rows).map(|at| (at as f32 * pitch).sin()).collect() };
        let (users, items) = (wave(40, 0.7), wave(50, 1.1));
        let train = Interactions::from_pairs(40, (0..40u32).flat_map(|user| (0..1 + user % 7).map(move |at| (user, (user + 5 * at) % 50))));
        let rows: Vec<u32> = (0..40).collect();
        let ids: Vec<u32> = rows.iter().flat_map(|&user| [user, (user + 1) % 50, (user + 23) % 50]).collect();
        for similarity in [Similarity::Dot, Similarity::Cosine, Similarity::NegativeSquaredDistance] {
            let score = |user: u32, item: u32| -> f64 {
                let pairs = || users.row(user as usize).iter().zip(items.row(item as usize)).map(|(&p, &q)| (f64::from(p), f64::from(q)));
                let dot: f64 = pairs().map(|(p, q)| p * q).sum();
                let (p, q): (f64, f64) = (pairs().map(|(p, _)| p * p).sum(), pairs().map(|(_, q)| q * q).sum());
                match similarity {
                    Similarity::Dot => dot,
                    Similarity::Cosine => dot / (p * q).sqrt(),
                    Similarity::NegativeSquaredDistance => 2.0 * dot - p - q,
                }
            };
            let vectors = Vectors { users: &users, items: &items, similarity };
            let [above, counts] = Others::default().find(vectors, Batch::new(&rows, &rows), &ids, &train);
            for (place, &item) in ids.iter().enumerate() {
                let user = rows[place / 3];
                let others = || train.row(user as usize).iter().filter(|&&other| other != user);
                let expected = others().filter(|&&other| other != item && score(user, other) > score(user, item)).count();
                assert_eq!((above[place], counts[place / 3]), (expected as f32, others().count() as f32), "{similarity:?}: row {user}");
            }
        }
    }
}
