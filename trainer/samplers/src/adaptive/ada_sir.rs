//! AdaSIR's pool: for each user some items that its model resampled, renewed by halves.
//!
//! ```text
//! at the start of each epoch, for each user:
//!   R items from q;  w = softmax over them of (s - log q);  S of them by w, with replacement
//!   the pool: these S at first; later S of the old and the new 2 S, uniformly and with replacement
//! draw: uniformly from the user's pool, with replacement
//! loss = sum_j v_j l(s_ui, s_uj),   v = softmax over the drawn of (s_uj - s_ui) / t + log w_j
//! ```
//! The pool follows the softmax of the scores, the nearer the more are proposed, at the price of uniform draws. The weights `v` are those
//! of the run that the release calls AdaSIR (`stored`); without the stored weights they are `scores`; `none` leaves the loss as it is.
//! The release takes the user's train items too, and tells an empty pool by the sum of its ids. Its weights of positives by an estimated
//! rank are not built. AdaSIR(P) proposes by popularity with the `logarithm`. Chen et al., WWW 2022,
//! doi:10.1145/3485447.3512075, whose K, R and S are 5, 200 and 50.

use crate::{
    Draws, Error, Facts, Pool, Row, SamplerKind, Softmax,
    cumulative::Cumulative,
    pool::{PoolKind, PoolSizes},
    proposal::{Proposal, UserItems},
    rule::Rule,
};
use dataset::{Interactions, Location};
use embeddings::inner_product;
use embeddings::{Vectors, dots};
use losses::check_above_zero;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use streams::{Purpose, Stream};

/// `ada-sir` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaSir {
    /// K: negatives for each positive.
    pub negatives: u32,
    /// S: items of a user's pool.
    #[serde(default = "fifty")]
    pub pool_size: u32,
    /// R: items that are proposed for it at the start of each epoch.
    #[serde(default = "two_hundred")]
    pub proposals: u32,
    /// What the drawn are weighed by.
    #[serde(default)]
    pub weights: Weights,
    /// Temperature of the weights, above 0.
    #[serde(default = "crate::popularity::one")]
    pub temperature: f64,
    /// Where proposals come from: uniform or popularity.
    #[serde(default)]
    pub pool: Pool,
}

/// What the drawn are weighed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// The softmax of their scores and of the weights that they were resampled by.
    #[default]
    Stored,
    /// The softmax of their scores.
    Scores,
    /// Nothing.
    None,
}

/// `ada-sir` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaSirPool {
    /// S: items of a user's pool.
    #[serde(default = "fifty")]
    pub pool_size: u32,
    /// R: items that are proposed for it at the start of each epoch.
    #[serde(default = "two_hundred")]
    pub proposals: u32,
    /// Where proposals come from: uniform or popularity.
    #[serde(default)]
    pub pool: Box<Pool>,
}

fn fifty() -> u32 {
    50
}

fn two_hundred() -> u32 {
    200
}

/// More items of all pools, or proposals for one, are taken for a slip.
const MOST: u32 = 1 << 16;

impl AdaSir {
    pub(crate) fn pool(&self) -> AdaSirPool {
        AdaSirPool { pool_size: self.pool_size, proposals: self.proposals, pool: Box::new(self.pool.clone()) }
    }
}

impl SamplerKind for AdaSir {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Chen et al., WWW 2022",
            values: "`negatives` 5, `proposals` 200, `pool_size` 50",
            state: "`pool_size` items of each user with weights; half renewed each epoch",
            cost: "O(1) a draw; renewing O(m `proposals` d)",
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::AdaSir(self.pool()), count: Some(self.negatives) }
    }

    fn check_values(&self) -> Result<(), String> {
        match (self.weights, self.temperature) {
            (Weights::None, temperature) if temperature != crate::popularity::one() => {
                Err(format!("temperature is {temperature} where weights is none: leave it out"))
            }
            (_, temperature) => check_above_zero("temperature", temperature),
        }
    }

    fn takes_pool_weights(&self) -> bool {
        true
    }

    fn rule(&self, _items: usize) -> Option<Box<dyn Rule>> {
        let softmax = |corrected| Softmax {
            candidates: Some(self.negatives),
            temperature: self.temperature,
            negatives: None,
            corrected,
            pool: Pool::default(),
        };
        match self.weights {
            Weights::Stored => Some(Box::new(softmax(true).rule())),
            Weights::Scores => Some(Box::new(softmax(false).rule())),
            Weights::None => None,
        }
    }
}

impl PoolKind for AdaSirPool {
    fn check(&self) -> Result<(), String> {
        for (key, value) in [("pool_size", self.pool_size), ("proposals", self.proposals)] {
            if !(1..=MOST).contains(&value) {
                return Err(format!("{key} is {value}: expected 1 to {MOST}"));
            }
        }
        match &*self.pool {
            Pool::Uniform(settings) if settings.replacement => Ok(()),
            Pool::Popularity(_) => self.pool.check("proposals", Some(self.proposals)),
            _ => Err("pool: expected `uniform`, with replacement, or `popularity`".to_owned()),
        }
    }

    fn looks_at_model(&self) -> bool {
        true
    }

    fn lacks_probabilities(&self) -> Option<&'static str> {
        Some("keeps what its items were resampled by, and not the probabilities of draws")
    }

    fn drawable(&self, train: &Interactions, items: usize) -> usize {
        self.pool.kind().drawable(train, items)
    }

    /// The pools, once more as a training that goes on reads them, and the factors of both tables while they are renewed.
    fn memory(&self, _draws: u64, PoolSizes { users, items, dim, .. }: PoolSizes) -> u64 {
        2 * users * u64::from(self.pool_size) * 8 + (users + items) * (dim + inner_product::MORE as u64) * 4
    }

    fn prepare(&self, draws: u32, train: &Interactions, items: usize, cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(Pools::new(self, self.pool.kind().prepare(draws, train, items, cache)?, train.users())))
    }
}

/// The pools of all users.
#[derive(Debug)]
struct Pools {
    pool_size: usize,
    proposals: usize,
    proposal: Box<dyn Proposal>,
    /// `[users, S]`
    ids: Vec<u32>,
    /// `[users, S]`: the logarithms of the weights that they were resampled by.
    log_weights: Vec<f32>,
}

impl Pools {
    fn new(settings: &AdaSirPool, proposal: Box<dyn Proposal>, users: usize) -> Self {
        let (pool_size, proposals) = (settings.pool_size as usize, settings.proposals as usize);
        Self { pool_size, proposals, proposal, ids: vec![0; users * pool_size], log_weights: vec![0.0; users * pool_size] }
    }

    /// Where the user's slots stand.
    fn slots(&self, user: u32) -> Range<usize> {
        let user = user as usize;
        user * self.pool_size..(user + 1) * self.pool_size
    }

    fn draw_slot(&self, rng: &mut Stream) -> usize {
        rng.below(self.pool_size as u32) as usize
    }
}

impl Proposal for Pools {
    fn fill(&self, of: UserItems<'_>, _row: Row<'_>, rng: &mut Stream, ids: &mut [u32]) {
        let pool = &self.ids[self.slots(of.user)];
        ids.fill_with(|| pool[self.draw_slot(rng)]);
    }

    /// What stands for the log-probabilities of items whose slots are not known: minus the logarithm of the mean weight of an item's slots; 0 where
    /// it has none.
    fn log_probabilities(&self, of: UserItems<'_>, ids: &[u32], out: &mut [f32]) {
        let (pool, log_weights) = (&self.ids[self.slots(of.user)], &self.log_weights[self.slots(of.user)]);
        out.iter_mut().zip(ids).for_each(|(out, id)| {
            let of_slots = || pool.iter().zip(log_weights).filter(|(other, _)| *other == id).map(|(_, log_weight)| *log_weight);
            let max = of_slots().fold(f32::NEG_INFINITY, f32::max);
            let mean = of_slots().map(|log_weight| (log_weight - max).exp()).sum::<f32>() / of_slots().count() as f32;
            *out = if max.is_finite() { -(max + mean.ln()) } else { 0.0 };
        });
    }

    /// What stands for the log-probabilities of what a stream drew for the user: minus the logarithms of the weights of the drawn slots. An
    /// item may stand in several, which it came to in other epochs and with other weights.
    fn log_probabilities_of_draws(&self, of: UserItems<'_>, rng: &mut Stream, _ids: &[u32], out: &mut [f32]) {
        let log_weights = &self.log_weights[self.slots(of.user)];
        out.fill_with(|| -log_weights[self.draw_slot(rng)]);
    }

    fn is_due(&self, step: u32, _items: usize, _draws: usize) -> bool {
        step == 1
    }

    /// Renews the pools of all users that have train items; those of the first epoch are all new.
    fn refresh(&mut self, vectors: Vectors<'_>, train: &Interactions, seed: u64, epoch: u32) {
        let (of_users, items) =
            (inner_product::users(vectors.users, vectors.similarity), inner_product::items(vectors.items, vectors.similarity));
        let Self { pool_size, proposals, proposal, ids, log_weights } = self;
        let users = ids.par_chunks_exact_mut(*pool_size).zip(log_weights.par_chunks_exact_mut(*pool_size)).enumerate();
        users.filter(|(user, _)| !train.row(*user).is_empty()).for_each_init(Renewal::default, |renewal, (user, (ids, log_weights))| {
            let mut stream = Stream::new(seed, Purpose::Pools, epoch, 0, user as u32);
            let of = UserItems { user: user as u32, train, items: items.rows as u32 };
            renewal.propose(&**proposal, of, &mut stream, *proposals);
            dots(of_users.row(user), &items.values, &renewal.ids, &mut renewal.scores);
            renewal.resample(&mut stream, *pool_size);
            renewal.put(&mut stream, epoch == 1, ids, log_weights);
        });
    }

    /// What the next refresh looks back on, by name; ids as the numbers of the same bits.
    fn state(&mut self, _within: bool) -> Vec<(String, &mut [f32])> {
        vec![("pools".to_owned(), bytemuck::cast_slice_mut(&mut self.ids)), ("pools.weights".to_owned(), &mut self.log_weights)]
    }
}

/// What comes new to a user's pool; buffers are reused from user to user.
#[derive(Default)]
struct Renewal {
    /// `[R]`
    ids: Vec<u32>,
    /// `[R]`
    log_probabilities: Vec<f32>,
    /// `[R]`: scores, then the logarithms of the weights.
    scores: Vec<f32>,
    /// `[S]`, twice in a refresh that is not the first: places in `ids`, and then those of the old pool.
    kept: Vec<(u32, f32)>,
}

impl Renewal {
    fn propose(&mut self, proposal: &dyn Proposal, of: UserItems<'_>, rng: &mut Stream, count: usize) {
        self.ids.resize(count, 0);
        self.log_probabilities.resize(count, 0.0);
        self.scores.resize(count, 0.0);
        proposal.fill(of, Row::alone(of.user), rng, &mut self.ids);
        proposal.log_probabilities(of, &self.ids, &mut self.log_probabilities);
    }

    /// Weighs the scored proposals, and takes `count` of them.
    fn resample(&mut self, rng: &mut Stream, count: usize) {
        self.scores.iter_mut().zip(&self.log_probabilities).for_each(|(score, log_probability)| *score -= log_probability);
        let max = self.scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weights = Cumulative::new(self.scores.iter().map(|score| f64::from(score - max).exp()).collect());
        let log_total = weights.total().ln() as f32;
        self.kept.clear();
        self.kept.extend((0..count).map(|_| {
            let place = weights.draw(rng);
            (self.ids[place], self.scores[place] - max - log_total)
        }));
    }

    /// Puts them into a pool: over it when it is `fresh`, else mixed with what it has.
    fn put(&mut self, rng: &mut Stream, fresh: bool, ids: &mut [u32], log_weights: &mut [f32]) {
        if !fresh {
            self.kept.extend(ids.iter().copied().zip(log_weights.iter().copied()));
        }
        let both = self.kept.len() as u32;
        for (at, (id, log_weight)) in ids.iter_mut().zip(log_weights).enumerate() {
            (*id, *log_weight) = self.kept[if fresh { at } else { rng.below(both) as usize }];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sampler;
    use super::*;
    use crate::{PopularityPool, Prepared, Row, Sampler};
    use testing::assert_drawn_from;
    use vectors::{Matrix, Similarity};

    const USERS: u32 = 20_000;

    /// Many users who have item 2 of three and score the others the same, and a few who make item 0 three times as popular as item 1.
    fn train() -> Interactions {
        let few = [0, 0, 0, 1].into_iter().zip(USERS..).map(|(item, user)| (user, item));
        Interactions::from_pairs(USERS as usize + 5, (0..USERS).map(|user| (user, 2)).chain(few))
    }

    fn refresh(prepared: &mut Prepared, scores: [f32; 2], epoch: u32) {
        let users = Matrix { rows: USERS as usize + 5, dim: 1, values: vec![1.0; USERS as usize + 5] };
        let items = Matrix { rows: 3, dim: 1, values: vec![scores[0], scores[1], 9.0] };
        prepared.refresh(Vectors { users: &users, items: &items, similarity: Similarity::Dot }, 7, epoch);
    }

    fn pool(pool_size: u32, proposals: u32, pool: Pool) -> Pool {
        Pool::AdaSir(AdaSirPool { pool_size, proposals, pool: Box::new(pool) })
    }

    /// What each of the many users draws, one each: how often item 0 and item 1.
    fn drawn(prepared: &Prepared) -> [f64; 2] {
        let mut found = [0.0; 2];
        for user in 0..USERS {
            let mut ids = [0];
            prepared.draw(&mut Stream::new(7, Purpose::Negatives, 1, 1, user), Row::alone(user), &mut ids, None);
            found[ids[0] as usize] += 1.0;
        }
        found
    }

    /// Of two proposals: one item twice, or both, of which one is taken by its weight exp(s) / q.
    #[test]
    fn pools_have_the_exact_distribution_of_two_proposals() {
        let popularity = Pool::Popularity(PopularityPool { exponent: 1.0, logarithm: false });
        for (base, q) in [(Pool::default(), [0.5, 0.5f64]), (popularity, [0.75, 0.25])] {
            let train = train();
            let mut prepared = Prepared::new(&sampler(&pool(1, 2, base), 1), &train, 3).unwrap();
            refresh(&mut prepared, [0.7, -0.2], 1);
            let weights = [0.7f64.exp() / q[0], (-0.2f64).exp() / q[1]];
            let share = weights[0] / (weights[0] + weights[1]);
            let first = q[0] * q[0] + 2.0 * q[0] * q[1] * share;
            assert_drawn_from(&drawn(&prepared), &[first, 1.0 - first], 1.0);
            // What stands for log q: minus the logarithm of the weight among the two proposals.
            for user in 0..100 {
                let mut ids = [0];
                let mut found = [0.0];
                prepared.draw(&mut Stream::new(7, Purpose::Negatives, 1, 1, user), Row::alone(user), &mut ids, Some(&mut found));
                let both = [share, 1.0 - share][ids[0] as usize];
                assert!([0.5, both].iter().any(|weight| (f64::from(found[0]) + weight.ln()).abs() < 1e-6), "{ids:?} {found:?}");
            }
        }
    }

    #[test]
    fn one_proposal_is_what_it_is() {
        let train = train();
        let mut prepared = Prepared::new(&sampler(&pool(3, 1, Pool::default()), 1), &train, 3).unwrap();
        refresh(&mut prepared, [30.0, 0.0], 1);
        assert_drawn_from(&drawn(&prepared), &[0.5, 0.5], 1.0);
    }

    #[test]
    fn later_pools_are_half_old() {
        let train = train();
        let mut prepared = Prepared::new(&sampler(&pool(1, 60, Pool::default()), 1), &train, 3).unwrap();
        refresh(&mut prepared, [50.0, 0.0], 1);
        assert_eq!(drawn(&prepared), [f64::from(USERS), 0.0]);
        refresh(&mut prepared, [0.0, 50.0], 2);
        assert_drawn_from(&drawn(&prepared), &[0.5, 0.5], 1.0);
    }

    /// Two slots each, of which any is old with an even chance: item 0 with weight 1/k, k being how often it was proposed. A new one is
    /// either item, with weight 1/60. Two draws that both find item 0 come from the same slot, or from two of which one is old and one new
    /// with chance 1/4, both are old with 1/4 and both are new with 1/16: weights differ in (1/2 1/4) / (1/2 3/4 + 1/2 9/16) = 4/21 of them.
    #[test]
    fn an_item_in_several_slots_has_the_weight_of_the_drawn_one() {
        let train = train();
        let mut prepared = Prepared::new(&sampler(&pool(2, 60, Pool::default()), 2), &train, 3).unwrap();
        refresh(&mut prepared, [50.0, 0.0], 1);
        refresh(&mut prepared, [0.0, 0.0], 2);
        let mut found = [0.0; 2];
        for user in 0..USERS {
            let (mut ids, mut log_probabilities) = ([0; 2], [0.0; 2]);
            let stream = || Stream::new(7, Purpose::Negatives, 2, 1, user);
            prepared.draw(&mut stream(), Row::alone(user), &mut ids, Some(&mut log_probabilities));
            let mut again = [0.0; 2];
            prepared.log_probabilities_of_draws(&mut stream(), user, &ids, &mut again);
            assert_eq!(again, log_probabilities);
            for (id, log_probability) in ids.into_iter().zip(log_probabilities) {
                assert!(id == 0 || (log_probability - 60f32.ln()).abs() < 1e-5, "item 1 is new: {log_probability}");
            }
            if ids == [0, 0] {
                found[usize::from((log_probabilities[0] - log_probabilities[1]).abs() < 1e-5)] += 1.0;
            }
        }
        assert_drawn_from(&found, &[4.0 / 21.0, 17.0 / 21.0], 1.0);
    }

    #[test]
    fn an_item_without_a_known_slot_has_the_mean_weight_of_its_slots() {
        let (settings, train) = (AdaSirPool { pool_size: 3, proposals: 1, pool: Box::default() }, Interactions::empty(1));
        let proposal = settings.pool.kind().prepare(1, &train, 9, None).unwrap();
        let mut pools = Pools::new(&settings, proposal, 1);
        (pools.ids, pools.log_weights) = (vec![4, 7, 4], vec![0.1f32.ln(), 0.5f32.ln(), 0.3f32.ln()]);
        let mut found = [0.0; 3];
        pools.log_probabilities(UserItems { user: 0, train: &train, items: 9 }, &[4, 7, 5], &mut found);
        // The mean of 0.1 and 0.3; ln 5 = 1.6094379, ln 2 = 0.6931472.
        assert!(found.iter().zip([5.0f32.ln(), 2.0f32.ln(), 0.0]).all(|(found, expected)| (found - expected).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn wrong_values_are_named() {
        let message = |text: &str| serde_json::from_str::<Sampler>(text).unwrap().check().unwrap_err();
        assert!(message(r#"{"ada-sir": {"negatives": 5, "pool_size": 0}}"#).starts_with("pool_size is 0"));
        assert!(message(r#"{"ada-sir": {"negatives": 5, "proposals": 0}}"#).starts_with("proposals is 0"));
        assert!(message(r#"{"ada-sir": {"negatives": 0}}"#).starts_with("negatives is 0"));
        assert!(message(r#"{"ada-sir": {"negatives": 5, "temperature": 0}}"#).starts_with("temperature is 0"));
        assert!(message(r#"{"ada-sir": {"negatives": 5, "pool": {"all": {}}}}"#).starts_with("pool: expected"));
        assert!(message(r#"{"aobpr": {"negatives": 5, "scale": 0}}"#).starts_with("scale is 0"));
        assert!(message(r#"{"kernel": {"negatives": 5, "curvature": -1}}"#).starts_with("curvature is -1"));
        assert!(message(r#"{"dns": {"candidates": 5, "pool": {"kernel": {"curvature": -1}}}}"#).starts_with("curvature is -1"));
    }
}
