//! AOBPR's pool: items that stand high in a factor that matters to the user.
//!
//! ```text
//! p(f | u) ~ |p_uf| sigma_f          sigma_f: the standard deviation of factor f over the items
//! p(r) ~ exp(-r / lambda)            r = 1, ..., n
//! item = the r-th by q_jf, from the top where p_uf > 0, else from the bottom
//! ```
//! The rank by one factor stands for the rank by the score, which would cost a look at all items. Items of the user are drawn again. The
//! lists are sorted every `n ln n` draws, which makes sorting cost less than drawing; here this is a number of whole steps from the start
//! of each epoch, and `p_u` too is the one of that time. The setting is `lambda / n`. For cosines the factors are those of the unit
//! vectors, for the distance the norms are two more. Rendle and Freudenthaler, WSDM 2014, doi:10.1145/2556195.2556248.

use crate::{
    Draws, Error, Facts, Pool, Row, SamplerKind,
    cumulative::Cumulative,
    non_positives::NonPositives,
    order::{key, place},
    pool::{PoolKind, PoolSizes},
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use embeddings::Vectors;
use embeddings::inner_product;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use streams::Stream;
use vectors::Matrix;

/// `aobpr` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aobpr {
    /// Negatives for each positive.
    pub negatives: u32,
    /// The scale of the ranks as a share of the items, above 0: the lower, the harder; 0.01 to 0.2 are usual.
    pub scale: f64,
}

impl SamplerKind for Aobpr {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Rendle and Freudenthaler, WSDM 2014",
            values: "–",
            state: "the items by each factor, and both tables as they were; sorted every n ln n draws",
            cost: "O(d) a row; sorting O(d n log n)",
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::Aobpr(AobprPool { scale: self.scale }), count: Some(self.negatives) }
    }
}

/// `aobpr` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AobprPool {
    /// The scale of the ranks as a share of the items, above 0: the lower, the harder; 0.01 to 0.2 are usual.
    pub scale: f64,
}

impl PoolKind for AobprPool {
    fn check(&self) -> Result<(), String> {
        match self.scale {
            scale if (1e-6..=1e6).contains(&scale) => Ok(()),
            scale => Err(format!("scale is {scale}: expected a number from 1e-6 to 1e6")),
        }
    }

    fn looks_at_model(&self) -> bool {
        true
    }

    fn memory(&self, _draws: u64, PoolSizes { users, items, dim, .. }: PoolSizes) -> u64 {
        Lists::memory(users, items, dim + inner_product::MORE as u64)
    }

    fn prepare(&self, _draws: u32, _train: &Interactions, _items: usize, _cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(Lists::new(self.scale)))
    }
}

/// Draws that are tried before the user's own distribution is made.
const TRIALS: usize = 64;

/// The items by each factor, as they stood at the last refresh.
#[derive(Debug)]
struct Lists {
    scale: f64,
    users: Matrix,
    items: Matrix,
    /// `[factors, n]`: items from the highest value down.
    order: Vec<u32>,
    /// `[factors]`
    deviations: Vec<f64>,
}

/// What a user's draws need.
struct AobprQuery {
    /// `[factors]`
    signs: Vec<bool>,
    /// `[factors]`
    probabilities: Vec<f64>,
    cumulative: Cumulative,
}

impl Lists {
    fn new(scale: f64) -> Self {
        let empty = || Matrix { rows: 0, dim: 0, values: Vec::new() };
        Self { scale, users: empty(), items: empty(), order: Vec::new(), deviations: Vec::new() }
    }

    /// Bytes of the lists, of factors of both tables.
    fn memory(users: u64, items: u64, factors: u64) -> u64 {
        (users + 2 * items) * factors * 4
    }

    /// Steps between two refreshes, when a step draws so many.
    fn steps(items: usize, draws: usize) -> u32 {
        let all = (items as f64 * (items as f64).ln()).ceil();
        (all / draws.max(1) as f64).clamp(1.0, f64::from(u32::MAX)) as u32
    }

    /// Sorts all lists.
    fn sort(&mut self) {
        let (items, count) = (&self.items, self.items.rows);
        self.order.resize(items.dim * count, 0);
        self.deviations.resize(items.dim, 0.0);
        let lists = self.order.par_chunks_exact_mut(count).zip(&mut self.deviations).enumerate();
        lists.for_each_init(Vec::new, |keys, (factor, (list, deviation))| {
            let column = items.values[factor..].iter().step_by(items.dim);
            *deviation = standard_deviation(column.clone().map(|&value| f64::from(value)));
            keys.clear();
            keys.extend(column.zip(0..).map(|(&value, item)| key(value, item)));
            keys.sort_unstable_by(|one, other| other.cmp(one));
            list.iter_mut().zip(keys).for_each(|(entry, key)| *entry = place(*key));
        });
    }

    /// The logarithm of the weight of a user's possible negatives together.
    fn log_mass(&self, query: &AobprQuery, non_positives: NonPositives) -> f64 {
        let (lambda, log_all) = (self.lambda(), ((-1.0 / self.scale).exp_m1() / (-1.0 / self.lambda()).exp_m1()).ln());
        let own: f64 = non_positives.positives().iter().map(|&item| (self.log_weight(query, item) - log_all).exp()).sum();
        if own < 0.5 {
            return (1.0 - own).ln() + log_all;
        }
        let (weights, nearest) = self.weights(query, non_positives); // no cancellation
        Cumulative::of_non_positives(weights, non_positives).total().ln() - (nearest - 1.0) / lambda
    }

    fn lambda(&self) -> f64 {
        self.scale * self.items.rows as f64
    }

    fn query(&self, user: usize) -> AobprQuery {
        let query = self.users.row(user);
        let probabilities = factor_probabilities(query, &self.deviations);
        AobprQuery {
            signs: query.iter().map(|&value| value > 0.0).collect(),
            cumulative: Cumulative::new(probabilities.clone()),
            probabilities,
        }
    }

    fn try_one(&self, rng: &mut Stream, query: &AobprQuery) -> u32 {
        let factor = query.cumulative.draw(rng);
        self.item(query, factor, draw_rank(rng, self.scale, self.items.rows))
    }

    /// The item of a rank, counted from 1, by a factor.
    fn item(&self, query: &AobprQuery, factor: usize, rank: usize) -> u32 {
        let list = &self.order[factor * self.items.rows..][..self.items.rows];
        if query.signs[factor] { list[rank - 1] } else { list[list.len() - rank] }
    }

    /// `log sum_f p(f) exp(-(r_f - 1) / lambda)` for the ranks of an item.
    fn log_weight(&self, query: &AobprQuery, item: u32) -> f64 {
        let exponent = |(factor, probability): (usize, &f64)| {
            let list = &self.order[factor * self.items.rows..][..self.items.rows];
            let key = |item: u32| key(self.items.row(item as usize)[factor], item);
            let above = list.partition_point(|&other| key(other) > key(item));
            let below = if query.signs[factor] { above } else { list.len() - 1 - above };
            probability.ln() - below as f64 / self.lambda()
        };
        let exponents = || query.probabilities.iter().enumerate().map(exponent);
        let max = exponents().fold(f64::NEG_INFINITY, f64::max);
        max + exponents().map(|exponent| (exponent - max).exp()).sum::<f64>().ln()
    }

    /// `sum_f p(f) exp((r - r_f) / lambda)` for the ranks of all possible negatives of a user, and the nearest of their ranks, r.
    fn weights(&self, query: &AobprQuery, non_positives: NonPositives) -> (Vec<f64>, f64) {
        let (count, lambda) = (self.items.rows, self.lambda());
        let used = || query.probabilities.iter().enumerate().filter(|(_, probability)| **probability > 0.0);
        let first = |factor: usize| (1..=count).find(|&rank| non_positives.contains(self.item(query, factor, rank))).unwrap_or(count);
        let nearest = used().map(|(factor, _)| first(factor)).min().unwrap_or(1);
        let mut weights = vec![0.0; count];
        for (factor, probability) in used() {
            for rank in nearest..=count {
                weights[self.item(query, factor, rank) as usize] += probability * ((nearest as f64 - rank as f64) / lambda).exp();
            }
        }
        (weights, nearest as f64)
    }
}

impl Proposal for Lists {
    fn fill(&self, of: UserItems<'_>, _row: Row<'_>, rng: &mut Stream, ids: &mut [u32]) {
        let non_positives = of.non_positives();
        let query = self.query(of.user as usize);
        let mut exact = None;
        for id in ids {
            let tried = (0..TRIALS).map(|_| self.try_one(rng, &query)).find(|&item| non_positives.contains(item));
            *id = tried.unwrap_or_else(|| {
                exact.get_or_insert_with(|| Cumulative::of_non_positives(self.weights(&query, non_positives).0, non_positives)).draw(rng)
                    as u32
            });
        }
    }

    fn log_probabilities(&self, of: UserItems<'_>, ids: &[u32], out: &mut [f32]) {
        let non_positives = of.non_positives();
        let query = self.query(of.user as usize);
        let log_mass = self.log_mass(&query, non_positives);
        out.iter_mut().zip(ids).for_each(|(out, &id)| *out = (self.log_weight(&query, id) - log_mass) as f32);
    }

    fn is_due(&self, step: u32, items: usize, draws: usize) -> bool {
        (step - 1).is_multiple_of(Lists::steps(items, draws))
    }

    fn refresh(&mut self, vectors: Vectors<'_>, _train: &Interactions, _seed: u64, _epoch: u32) {
        self.users = inner_product::users(vectors.users, vectors.similarity);
        self.items = inner_product::items(vectors.items, vectors.similarity);
        self.sort();
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
        self.sort();
    }
}

fn standard_deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// `p(f | u)`; uniform where no factor matters.
fn factor_probabilities(query: &[f32], deviations: &[f64]) -> Vec<f64> {
    let weights: Vec<f64> = query.iter().zip(deviations).map(|(&value, deviation)| f64::from(value.abs()) * deviation).collect();
    let total: f64 = weights.iter().sum();
    if total > 0.0 { weights.iter().map(|weight| weight / total).collect() } else { vec![1.0 / weights.len() as f64; weights.len()] }
}

/// A rank from 1, by the inverse of the distribution function.
fn draw_rank(rng: &mut Stream, scale: f64, items: usize) -> usize {
    let lambda = scale * items as f64;
    let rank = -lambda * (rng.fraction() * (-1.0 / scale).exp_m1()).ln_1p();
    (rank.ceil() as usize).clamp(1, items)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_distribution, sampler, vectors};
    use super::*;
    use crate::{Pool, Prepared, Row};
    use dataset::Interactions;
    use streams::Purpose;
    use testing::assert_drawn_from;
    use vectors::Similarity;

    #[test]
    fn ranks_have_the_worked_distribution() {
        let distribution =
            [0.29395525, 0.21062814, 0.15092166, 0.10814009, 0.07748576, 0.05552097, 0.03978252, 0.02850542, 0.02042503, 0.01463517];
        let mut found = [0.0; 10];
        let mut stream = Stream::new(7, Purpose::Negatives, 1, 0, 0);
        for _ in 0..100_000 {
            found[draw_rank(&mut stream, 0.3, 10) - 1] += 1.0;
        }
        assert_drawn_from(&found, &distribution, 1.0);
    }

    #[test]
    fn factors_have_the_worked_distribution() {
        let found = factor_probabilities(&[0.5, -1.2, 0.3], &[0.8, 0.2, 1.0]);
        for (found, expected) in found.iter().zip([0.42553191, 0.25531915, 0.31914894]) {
            assert!((found - expected).abs() < 1e-8, "{found}");
        }
        assert_eq!(factor_probabilities(&[0.0, 0.0], &[1.0, 2.0]), [0.5, 0.5]);
    }

    /// By sorting each factor anew.
    fn distribution(users: &Matrix, items: &Matrix, own: &[u32], scale: f64) -> Vec<f64> {
        let lambda = scale * items.rows as f64;
        let column = |factor: usize| (0..items.rows).map(move |item| f64::from(items.row(item)[factor]));
        let deviations: Vec<f64> = (0..items.dim)
            .map(|factor| {
                let mean = column(factor).sum::<f64>() / items.rows as f64;
                (column(factor).map(|value| value * value).sum::<f64>() / items.rows as f64 - mean * mean).sqrt()
            })
            .collect();
        let mut distribution = vec![0.0; items.rows];
        for (factor, deviation) in deviations.iter().enumerate() {
            let value = f64::from(users.row(0)[factor]);
            let mut list: Vec<usize> = (0..items.rows).collect();
            list.sort_by(|&a, &b| (value * f64::from(items.row(b)[factor])).total_cmp(&(value * f64::from(items.row(a)[factor]))));
            for (at, &item) in list.iter().enumerate() {
                distribution[item] += value.abs() * deviation * (-(at as f64) / lambda).exp();
            }
        }
        own.iter().for_each(|&item| distribution[item as usize] = 0.0);
        let total: f64 = distribution.iter().sum();
        distribution.iter().map(|weight| weight / total).collect()
    }

    #[test]
    fn draws_have_the_exact_distribution() {
        let pool = |scale| Pool::Aobpr(AobprPool { scale });
        let (users, items) = vectors(30, 4);
        for (own, scale) in [(&[][..], 0.1), (&[2, 3, 17], 0.3)] {
            assert_distribution(
                &pool(scale),
                Vectors { users: &users, items: &items, similarity: Similarity::Dot },
                own,
                &distribution(&users, &items, own, scale),
            );
        }
        // The user has all but the three least probable: nearly no try finds one.
        let all = distribution(&users, &items, &[], 0.05);
        let mut own: Vec<u32> = (0..30).collect();
        own.sort_by(|&a, &b| all[b as usize].total_cmp(&all[a as usize]));
        own.truncate(27);
        assert!(own.iter().map(|&item| all[item as usize]).sum::<f64>() > 0.995);
        assert_distribution(
            &pool(0.05),
            Vectors { users: &users, items: &items, similarity: Similarity::Dot },
            &own,
            &distribution(&users, &items, &own, 0.05),
        );
    }

    /// Their share of all draws is less than any float: the nearest of them is drawn, and certain.
    #[test]
    fn draws_end_for_users_of_nearly_all_items() {
        let (users, items) = vectors(3_000, 4);
        let train = Interactions::from_pairs(1, (0..3_000).filter(|item| item % 1_000 != 7).map(|item| (0, item)));
        let mut prepared = Prepared::new(&sampler(&Pool::Aobpr(AobprPool { scale: 1e-5 }), 1), &train, 3_000).unwrap();
        prepared.refresh(Vectors { users: &users, items: &items, similarity: Similarity::Dot }, 7, 1);
        let (mut ids, mut log_probabilities) = ([0], [f32::NAN]);
        prepared.draw(&mut Stream::new(7, Purpose::Negatives, 1, 1, 0), Row::alone(0), &mut ids, Some(&mut log_probabilities));
        assert!(ids[0] % 1_000 == 7 && log_probabilities[0].abs() < 1e-4, "{ids:?}, {log_probabilities:?}");
    }

    #[test]
    fn lists_are_sorted_every_n_log_n_draws() {
        assert_eq!([Lists::steps(1000, 1024), Lists::steps(1000, 6908), Lists::steps(1000, 6909), Lists::steps(10, 1)], [6, 1, 1, 24]);
    }
}
