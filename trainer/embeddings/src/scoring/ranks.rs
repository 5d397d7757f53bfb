//! Where chosen items stand among all items, for losses that weigh by ranks.
//!
//! The scores of some users with the whole catalogue are one matrix product, in which the chosen items are looked up: an item is compared
//! with others by sums of the same order, and never with itself as another product rounds it. Ranks are counts, the same for any number of
//! threads.

use super::{
    sampled::Vectors,
    similarity::{Prepared, finish_scores},
    touched::Touched,
};
use crate::product::{View, multiply};
use multiversion::multiversion;
use rayon::prelude::*;
use vectors::Ties;

/// Scores of one parallel product, about, and the most users of one.
const BLOCK: usize = 1 << 20;
const USERS: usize = 32;

/// Up to so many items of a user are counted one by one; to sort all scores costs about as much.
const COUNTED: usize = 100;

/// Scores of a count, which stay in the first-level cache, and of a comparison.
const CHUNK: usize = 4096;
const LANES: usize = 32;

/// Buffers of ranking, reused from step to step.
#[derive(Default)]
pub struct Ranks {
    touched: Touched,
    queries: Prepared,
    items: Prepared,
}

impl Ranks {
    /// Bytes that the ranks of `width` items for each of `batch` users need: vectors, a block of scores for each thread, and the ranks.
    pub fn bytes(items: u64, dim: u64, batch: u64, width: u64) -> u64 {
        let blocks = (BLOCK as u64).max(items) * rayon::current_num_threads() as u64;
        4 * ((items + batch) * dim + blocks + 2 * batch * width)
    }

    /// For rows of `users [B]` with `items [B, W]`, how each item ranks among all items for the row's user, `[B, W]`: 1 and as many as
    /// score above it, and where ties are pessimistic also the others that score the same. Train items are candidates like all others.
    pub fn find(&mut self, vectors: Vectors, users: &[u32], items: &[u32], ties: Ties) -> Vec<f32> {
        let (dim, width) = (vectors.items.dim, items.len() / users.len());
        self.touched.find(users);
        self.queries.chosen_rows(vectors.users, &self.touched.rows, vectors.similarity);
        self.items.all_rows(vectors.items, vectors.similarity);
        let block = (BLOCK / vectors.items.rows).clamp(1, USERS);
        let blocks = self.queries.vectors(&[]).par_chunks(block * dim).enumerate();
        let found: Vec<Vec<f32>> = blocks
            .map_init(Vec::new, |scores, (at, queries)| {
                self.score(vectors, at * block, queries, scores);
                let rows = scores.chunks_exact_mut(vectors.items.rows).enumerate();
                rows.flat_map(|(k, scores)| self.of_user(at * block + k, scores, items, width, ties)).collect()
            })
            .collect();
        let places = (0..self.touched.rows.len()).flat_map(|k| self.touched.places(k));
        let mut ranks = vec![0.0; items.len()];
        for (&row, found) in places.zip(found.iter().flat_map(|found| found.chunks_exact(width))) {
            ranks[row as usize * width..][..width].copy_from_slice(found);
        }
        ranks
    }

    /// Scores of the distinct users from `first` on with all items.
    fn score(&self, vectors: Vectors, first: usize, queries: &[f32], scores: &mut Vec<f32>) {
        let (dim, count) = (vectors.items.dim, vectors.items.rows);
        let items = View { values: self.items.vectors(&vectors.items.values), row: 1, column: dim };
        let users = queries.len() / dim;
        scores.resize(users * count, 0.0);
        multiply([users, dim, count], scores, false, View { values: queries, row: dim, column: 1 }, items);
        for (at, scores) in scores.chunks_exact_mut(count).enumerate() {
            finish_scores(vectors.similarity, &self.queries, first + at, &self.items, 0..count, scores);
        }
    }

    /// Ranks of all items that the k-th distinct user's rows ask for, from its scores, whose order is lost.
    fn of_user(&self, k: usize, scores: &mut [f32], items: &[u32], width: usize, ties: Ties) -> Vec<f32> {
        let asked = self.touched.places(k).iter().flat_map(|&row| &items[row as usize * width..][..width]);
        let asked: Vec<f32> = asked.map(|&item| scores[item as usize]).collect();
        if asked.len() > COUNTED {
            scores.sort_unstable_by(f32::total_cmp);
            let below = |score: f32| match ties {
                Ties::Optimistic => scores.partition_point(|&other| other <= score) - 1,
                Ties::Pessimistic => scores.partition_point(|&other| other < score),
            };
            asked.iter().map(|&score| (scores.len() - below(score)) as f32).collect()
        } else {
            let mut before = vec![0; asked.len()];
            for scores in scores.chunks(CHUNK) {
                for (before, &score) in before.iter_mut().zip(&asked) {
                    *before += match ties {
                        Ties::Optimistic => above(scores, score),
                        Ties::Pessimistic => at_least(scores, score),
                    };
                }
            }
            let own = u32::from(ties == Ties::Optimistic); // pessimistic counts have the item itself
            before.into_iter().map(|before| (own + before) as f32).collect()
        }
    }
}

/// How many scores are above one.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn above(scores: &[f32], score: f32) -> u32 {
    let (vectors, rest) = scores.as_chunks::<LANES>();
    let mut counts = [0; LANES];
    for vector in vectors {
        for (count, other) in counts.iter_mut().zip(vector) {
            *count += u32::from(*other > score);
        }
    }
    counts.iter().sum::<u32>() + rest.iter().filter(|&&other| other > score).count() as u32
}

/// How many scores are at least as high as one.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn at_least(scores: &[f32], score: f32) -> u32 {
    let (vectors, rest) = scores.as_chunks::<LANES>();
    let mut counts = [0; LANES];
    for vector in vectors {
        for (count, other) in counts.iter_mut().zip(vector) {
            *count += u32::from(*other >= score);
        }
    }
    counts.iter().sum::<u32>() + rest.iter().filter(|&&other| other >= score).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vectors::{Matrix, Similarity};

    /// Small whole numbers, whose products are exact and often equal.
    fn tables() -> impl Strategy<Value = (Matrix, Matrix, Vec<u32>, Vec<u32>)> {
        (1usize..8, 1usize..120, 1usize..5, 1usize..60, prop_oneof![1usize..6, Just(COUNTED + 1)]).prop_flat_map(
            |(users, items, dim, batch, width)| {
                let values = |rows| prop::collection::vec((-3i8..4).prop_map(f32::from), rows * dim);
                let matrix = move |rows| values(rows).prop_map(move |values| Matrix { rows, dim, values });
                let ids = |below, length| prop::collection::vec(0..below as u32, length);
                (matrix(users), matrix(items), ids(users, batch), ids(items, batch * width))
            },
        )
    }

    fn score(similarity: Similarity, user: &[f32], item: &[f32]) -> f64 {
        let sum = |f: fn(f64, f64) -> f64| user.iter().zip(item).map(|(&a, &b)| f(a.into(), b.into())).sum::<f64>();
        let norm = |row: &[f32]| row.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt().max(1e-12);
        match similarity {
            Similarity::Dot => sum(|a, b| a * b),
            Similarity::Cosine => sum(|a, b| a * b) / norm(user) / norm(item),
            Similarity::NegativeSquaredDistance => -sum(|a, b| (a - b) * (a - b)),
        }
    }

    /// For each place, the ranks that it would have if others within `tolerance` of its score were below, and above it.
    fn brute(vectors: Vectors, users: &[u32], items: &[u32], tolerance: f64) -> Vec<(f32, f32)> {
        let width = items.len() / users.len();
        let rank = |(place, &item): (usize, &u32)| {
            let user = vectors.users.row(users[place / width] as usize);
            let of = |item: u32| score(vectors.similarity, user, vectors.items.row(item as usize));
            let others = || (0..vectors.items.rows as u32).filter(move |&other| other != item);
            let best = others().filter(|&other| of(other) > of(item) + tolerance).count();
            let worst = others().filter(|&other| of(other) >= of(item) - tolerance).count();
            (1.0 + best as f32, 1.0 + worst as f32)
        };
        items.iter().enumerate().map(rank).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn ranks_are_counts_of_higher_scores((users, items, rows, asked) in tables()) {
            for similarity in [Similarity::Dot, Similarity::NegativeSquaredDistance] {
                let vectors = Vectors { users: &users, items: &items, similarity };
                let (optimistic, pessimistic): (Vec<f32>, Vec<f32>) = brute(vectors, &rows, &asked, 0.0).into_iter().unzip();
                let mut ranks = Ranks::default();
                prop_assert_eq!(ranks.find(vectors, &rows, &asked, Ties::Optimistic), optimistic);
                prop_assert_eq!(ranks.find(vectors, &rows, &asked, Ties::Pessimistic), pessimistic);
            }
        }

        #[test]
        fn ranks_by_cosines_are_right_but_for_rounding((users, items, rows, asked) in tables()) {
            let vectors = Vectors { users: &users, items: &items, similarity: Similarity::Cosine };
            let found = Ranks::default().find(vectors, &rows, &asked, Ties::Optimistic);
            for (rank, (best, worst)) in found.into_iter().zip(brute(vectors, &rows, &asked, 1e-5)) {
                prop_assert!(best <= rank && rank <= worst, "{best} {rank} {worst}");
            }
        }

        #[test]
        fn bits_do_not_depend_on_the_number_of_threads((users, items, rows, asked) in tables()) {
            let vectors = Vectors { users: &users, items: &items, similarity: Similarity::Cosine };
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| Ranks::default().find(vectors, &rows, &asked, Ties::Optimistic))
            };
            prop_assert_eq!(run(1), run(3));
        }
    }
}
