//! The quadratic kernel's pool: items by the square of their score.
//!
//! ```text
//! q_j ~ alpha s_uj^2 + 1
//! sum_j in node (alpha s_uj^2 + 1) = alpha p^T (sum_j q_j q_j^T) p + count
//! ```
//! A draw goes down a binary tree whose nodes hold the sums of their items, and takes each side by what it weighs. Leaves hold some items
//! each, whose scores are looked at, so that the tree is not larger than a few tables. The square also raises items of very low scores. The
//! tree and the users are those of the start of the epoch. The release makes the tree once an epoch too, draws a pool for each user from it
//! at once, and returns the kernel for a probability; here `q` is exact. Items of the user are drawn again. Blanc and Rendle, ICML 2018,
//! arXiv:1712.00527, whose alpha is 100.

use crate::{
    Draws, Error, Facts, Pool, Row, SamplerKind,
    cumulative::Cumulative,
    pool::{PoolKind, PoolSizes},
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use embeddings::inner_product;
use embeddings::{Vectors, dot, dots};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use streams::Stream;
use vectors::Matrix;

/// `kernel` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Negatives for each positive.
    pub negatives: u32,
    /// alpha, at least 0: how much a score of 1 adds to the weight of 1 that each item has.
    #[serde(default = "hundred")]
    pub curvature: f64,
}

impl SamplerKind for Kernel {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Blanc and Rendle, ICML 2018",
            values: "`curvature` 100",
            state: "a tree of sums of d (d + 1) / 2 products, and both tables as they were; made each epoch",
            cost: "O(d^2 log n) a draw; the tree O(n d^2)",
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::Kernel(KernelPool { curvature: self.curvature }), count: Some(self.negatives) }
    }
}

/// `kernel` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelPool {
    /// alpha, at least 0: how much a score of 1 adds to the weight of 1 that each item has.
    #[serde(default = "hundred")]
    pub curvature: f64,
}

fn hundred() -> f64 {
    100.0
}

impl PoolKind for KernelPool {
    fn check(&self) -> Result<(), String> {
        match self.curvature {
            curvature if (0.0..=1e12).contains(&curvature) => Ok(()),
            curvature => Err(format!("curvature is {curvature}: expected a number from 0 to 1e12")),
        }
    }

    fn looks_at_model(&self) -> bool {
        true
    }

    fn memory(&self, _draws: u64, PoolSizes { users, items, dim, .. }: PoolSizes) -> u64 {
        Tree::memory(users, items, dim + inner_product::MORE as u64)
    }

    fn prepare(&self, _draws: u32, _train: &Interactions, _items: usize, _cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(Tree::new(self.curvature)))
    }
}

/// Items of a leaf.
const LEAF: usize = 32;

/// Draws that are tried before the user's own distribution is made.
const TRIALS: usize = 64;

/// The items as they stood at the last refresh.
#[derive(Debug)]
struct Tree {
    curvature: f64,
    users: Matrix,
    items: Matrix,
    /// A power of two; the nodes are a heap, 1 the root, those from `leaves` on the leaves.
    leaves: usize,
    /// `[2 leaves, pairs]`: the sums of the products of all pairs of factors, those of two different ones twice.
    sums: Vec<f32>,
    /// `[2 leaves]`: items below.
    counts: Vec<f64>,
}

/// What a user's draws need.
struct KernelQuery<'a> {
    /// `[factors]`
    values: &'a [f32],
    /// `[pairs]`
    products: Vec<f32>,
}

impl Tree {
    fn new(curvature: f64) -> Self {
        let empty = || Matrix { rows: 0, dim: 0, values: Vec::new() };
        Self { curvature, users: empty(), items: empty(), leaves: 1, sums: Vec::new(), counts: Vec::new() }
    }

    /// Bytes of the tree, and of the factors of both tables.
    fn memory(users: u64, items: u64, factors: u64) -> u64 {
        let nodes = 2 * items.div_ceil(LEAF as u64).next_power_of_two();
        (users + items) * factors * 4 + nodes * (factors * (factors + 1) / 2 * 4 + 8)
    }

    /// Makes the tree.
    fn grow(&mut self) {
        let Matrix { rows, dim, values } = &self.items;
        let (leaves, pairs) = (rows.div_ceil(LEAF).next_power_of_two(), dim * (dim + 1) / 2);
        self.leaves = leaves;
        self.counts = vec![0.0; 2 * leaves];
        self.sums.clear();
        self.sums.resize(2 * leaves * pairs, 0.0);
        let of_leaves = self.sums[leaves * pairs..].par_chunks_exact_mut(pairs).zip(&mut self.counts[leaves..]);
        of_leaves.zip(values.par_chunks(LEAF * dim)).for_each(|((sums, count), items)| {
            *count = (items.len() / dim) as f64;
            items.chunks_exact(*dim).for_each(|item| add_products(item, 2.0, sums));
        });
        for node in (1..leaves).rev() {
            self.counts[node] = self.counts[2 * node] + self.counts[2 * node + 1];
            let (above, below) = self.sums.split_at_mut(2 * node * pairs);
            let (left, right) = below[..2 * pairs].split_at(pairs);
            let sums = &mut above[node * pairs..][..pairs];
            sums.iter_mut().zip(left).zip(right).for_each(|((sum, left), right)| *sum = left + right);
        }
    }

    fn query(&self, user: usize) -> KernelQuery<'_> {
        let values = self.users.row(user);
        let mut products = vec![0.0; values.len() * (values.len() + 1) / 2];
        add_products(values, 1.0, &mut products);
        KernelQuery { values, products }
    }

    /// The kernel.
    fn weight(&self, score: f32) -> f64 {
        self.curvature * f64::from(score).powi(2) + 1.0
    }

    /// The sums of the kernel over the items of nodes.
    fn weights_below<const N: usize>(&self, query: &KernelQuery, nodes: &[u32; N]) -> [f64; N] {
        let mut squares = [0.0; N];
        dots(&query.products, &self.sums, nodes, &mut squares);
        std::array::from_fn(|at| self.curvature * f64::from(squares[at].max(0.0)) + self.counts[nodes[at] as usize])
    }

    fn try_one(&self, rng: &mut Stream, query: &KernelQuery) -> u32 {
        let mut node = 1;
        while (node as usize) < self.leaves {
            let [left, right] = self.weights_below(query, &[2 * node, 2 * node + 1]);
            node = 2 * node + u32::from(rng.fraction() * (left + right) >= left);
        }
        let first = (node as usize - self.leaves) * LEAF;
        first as u32 + Cumulative::new(self.weights_of(query, first..(first + LEAF).min(self.items.rows))).draw(rng) as u32
    }

    fn weights(&self, query: &KernelQuery) -> Vec<f64> {
        self.weights_of(query, 0..self.items.rows)
    }

    fn weights_of(&self, query: &KernelQuery, items: std::ops::Range<usize>) -> Vec<f64> {
        items.map(|item| self.weight(dot(query.values, self.items.row(item)))).collect()
    }
}

impl Proposal for Tree {
    fn fill(&self, of: UserItems<'_>, _row: Row<'_>, rng: &mut Stream, ids: &mut [u32]) {
        let non_positives = of.non_positives();
        let query = self.query(of.user as usize);
        let mut exact = None;
        for id in ids {
            let tried = (0..TRIALS).map(|_| self.try_one(rng, &query)).find(|&item| non_positives.contains(item));
            *id = tried.unwrap_or_else(|| {
                exact.get_or_insert_with(|| Cumulative::of_non_positives(self.weights(&query), non_positives)).draw(rng) as u32
            });
        }
    }

    fn log_probabilities(&self, of: UserItems<'_>, ids: &[u32], out: &mut [f32]) {
        let non_positives = of.non_positives();
        let query = self.query(of.user as usize);
        let weight = |&item: &u32| self.weight(dot(query.values, self.items.row(item as usize)));
        let (total, own) = (self.weights_below(&query, &[1])[0], non_positives.positives().iter().map(weight).sum::<f64>());
        let mass = if own < total / 2.0 {
            total - own
        } else {
            Cumulative::of_non_positives(self.weights(&query), non_positives).total() // no cancellation
        };
        out.iter_mut().zip(ids).for_each(|(out, id)| *out = (weight(id).ln() - mass.ln()) as f32);
    }

    fn is_due(&self, step: u32, _items: usize, _draws: usize) -> bool {
        step == 1
    }

    fn refresh(&mut self, vectors: Vectors<'_>, _train: &Interactions, _seed: u64, _epoch: u32) {
        self.users = inner_product::users(vectors.users, vectors.similarity);
        self.items = inner_product::items(vectors.items, vectors.similarity);
        self.grow();
    }

    fn is_sized(&self) -> bool {
        false
    }

    fn state(&mut self, within: bool) -> Vec<(String, &mut [f32])> {
        match within {
            true => vec![("pools.users".to_owned(), &mut self.users.values), ("pools.items".to_owned(), &mut self.items.values)],
            false => Vec::new(),
        }
    }

    fn restored(&mut self) {
        self.grow();
    }
}

/// Adds the products of all pairs of values, those of two different ones times `twice`.
fn add_products(values: &[f32], twice: f32, sums: &mut [f32]) {
    let mut rest = sums;
    for (at, &value) in values.iter().enumerate() {
        let (sums, after) = rest.split_at_mut(values.len() - at);
        sums[0] += value * value;
        sums[1..].iter_mut().zip(&values[at + 1..]).for_each(|(sum, other)| *sum += twice * value * other);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_distribution, vectors};
    use super::*;
    use crate::Pool;
    use vectors::Similarity;

    fn pool(curvature: f64) -> Pool {
        Pool::Kernel(KernelPool { curvature })
    }

    #[test]
    fn the_worked_distributions() {
        let users = Matrix { rows: 1, dim: 1, values: vec![1.0] };
        let items = Matrix { rows: 4, dim: 1, values: vec![0.9, -0.3, 1.5, 0.1] };
        let distributions = [(1.0, [0.2527933, 0.15223464, 0.45391061, 0.14106145]), (100.0, [0.25625, 0.03125, 0.70625, 0.00625])];
        for (curvature, distribution) in distributions {
            assert_distribution(
                &pool(curvature),
                Vectors { users: &users, items: &items, similarity: Similarity::Dot },
                &[],
                &distribution,
            );
        }
    }

    /// Several leaves, the last not full, and every similarity.
    #[test]
    fn draws_have_the_exact_distribution() {
        let (users, items) = vectors(150, 5);
        let score = |item: usize, similarity: Similarity| {
            let pairs = || users.row(0).iter().zip(items.row(item)).map(|(&p, &q)| (f64::from(p), f64::from(q)));
            let dot: f64 = pairs().map(|(p, q)| p * q).sum();
            let (p, q): (f64, f64) = (pairs().map(|(p, _)| p * p).sum(), pairs().map(|(_, q)| q * q).sum());
            match similarity {
                Similarity::Dot => dot,
                Similarity::Cosine => dot / (p * q).sqrt(),
                Similarity::NegativeSquaredDistance => 2.0 * dot - p - q,
            }
        };
        let most: Vec<u32> = (0..150).filter(|item| item % 25 != 3).collect(); // tries find few of the rest
        for (similarity, own, curvature) in [
            (Similarity::Dot, &[1, 40, 41][..], 100.0),
            (Similarity::Dot, &most, 5.0),
            (Similarity::Cosine, &[], 3.0),
            (Similarity::NegativeSquaredDistance, &[149], 1.0),
        ] {
            let weight = |item: usize| if own.contains(&(item as u32)) { 0.0 } else { curvature * score(item, similarity).powi(2) + 1.0 };
            let total: f64 = (0..150).map(weight).sum();
            let distribution: Vec<f64> = (0..150).map(|item| weight(item) / total).collect();
            assert_distribution(&pool(curvature), Vectors { users: &users, items: &items, similarity }, own, &distribution);
        }
    }
}
