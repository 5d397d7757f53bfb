//! Ranks, best items and quantiles: the CPU's.
//!
//! Numbers are multiples of 1/8 between -1 and 1, of which all sums are exact and many are equal: nothing may differ, ties are real ones, and each of
//! their rules shows. Norms of cosines are rounded on both sides, in another order: they are not compared here.

use super::{Comparison, Sizes, interactions, wave};
use crate::{
    Result,
    device::{batch::similarity_of, draws::starts, quantiles::Estimator, whole::Whole},
    fit::loss_state::quantiles,
};
use dataset::Interactions;
use embeddings::Vectors;
use evaluator::{Factors, Matrix, Rankings, Scorer, Similarity, rank, settings::Ties};
use gpu::{
    Buffer, Gpu,
    draws::Draws,
    ranking::{HeldOut, Lists, count_before, top_k},
};
use losses::{
    QuantileEstimator,
    quantile::{QuantileSchedule, QuantileUpdate, Quantiles},
};
use streams::{Purpose, Stream};

/// Users that are ranked at most: the CPU ranks them too.
const USERS: usize = 2_000;
const SIMILARITIES: [(&str, Similarity); 2] = [("dot products", Similarity::Dot), ("distances", Similarity::NegativeSquaredDistance)];

/// A model on both sides, and who has which items.
struct RankingCase<'a> {
    gpu: &'a Gpu,
    tables: [Buffer<f32>; 2],
    dim: usize,
    users: Matrix,
    items: Matrix,
    train: Interactions,
    held_out: Interactions,
    draws: Draws,
}

pub(super) fn check(gpu: &Gpu, sizes: Sizes) -> Result<Vec<Comparison>> {
    let sizes = Sizes { users: sizes.users.min(USERS), ..sizes };
    let of_dim = |dim| -> Result<Vec<Comparison>> {
        let case = RankingCase::new(gpu, sizes, dim)?;
        let each = SIMILARITIES.iter().map(|(what, similarity)| {
            let what = format!("{what} of {dim}");
            Ok([case.ranks(&what, *similarity)?, case.best(&what, *similarity)?, case.quantiles(&what, *similarity, sizes)?])
        });
        Ok(each.collect::<Result<Vec<_>>>()?.into_iter().flatten().flatten().collect())
    };
    Ok([of_dim(16)?, of_dim(13)?].concat())
}

impl<'a> RankingCase<'a> {
    fn new(gpu: &'a Gpu, sizes: Sizes, dim: usize) -> Result<Self> {
        let exact = |rows: usize, which| -> Matrix {
            let values = wave(rows * dim, 8.0, which).into_iter().map(|value| value.round() / 8.0);
            Matrix { rows, dim, values: values.collect() }
        };
        let (users, items, train) = (exact(sizes.users, 5), exact(sizes.items, 6), interactions(sizes));
        Ok(Self {
            gpu,
            tables: [gpu.upload(&users.values)?, gpu.upload(&items.values)?],
            dim,
            held_out: held_out(sizes, &train),
            draws: Draws::new(gpu, &starts(&train), train.items(), sizes.items, None)?,
            users,
            items,
            train,
        })
    }

    fn whole(&self, similarity: Similarity) -> Result<Whole> {
        Whole::new(self.gpu, [self.users.rows, self.items.rows], self.dim, similarity_of(similarity))
    }

    fn scorer(&self, similarity: Similarity) -> Scorer {
        Scorer::Factors(Factors { users: self.users.clone(), items: self.items.clone(), similarity })
    }

    fn masked(&self) -> Lists<'_> {
        Lists { starts: self.draws.starts(), items: self.draws.train() }
    }

    /// Under both rules for ties.
    fn ranks(&self, what: &str, similarity: Similarity) -> Result<Vec<Comparison>> {
        let (mut whole, scorer) = (self.whole(similarity)?, self.scorer(similarity));
        let [users, items] = whole.prepare(self.gpu, self.tables.each_ref())?;
        let held_out = HeldOut::new(self.gpu, &starts(&self.held_out), self.held_out.items())?;
        let counts = count_before(self.gpu, users, items, &held_out, self.masked())?;
        let before: Vec<(u32, u32)> = counts.at_least.into_iter().zip(counts.above).collect();
        let each = [("against", Ties::Pessimistic), ("for", Ties::Optimistic)].map(|(rule, ties)| {
            let found = Rankings::from_counts(&self.held_out, &self.train, self.items.rows, &before, ties, None);
            let expected = rank::rank(&scorer, &self.train, &[&self.train], &self.held_out, ties, 1 << 28)?;
            Ok(Comparison::of_ids(format!("ranks by {what}, ties {rule} held-out items"), &ranks(&found), &ranks(&expected)))
        });
        each.into_iter().collect()
    }

    fn best(&self, what: &str, similarity: Similarity) -> Result<Vec<Comparison>> {
        let (mut whole, k) = (self.whole(similarity)?, 20);
        let [users, items] = whole.prepare(self.gpu, self.tables.each_ref())?;
        let who: Vec<u32> = (0..self.users.rows as u32).collect();
        let found = top_k(self.gpu, users, items, &who, Some(self.masked()), k, 1 << 28)?;
        let mut lists = rank::top_k(&self.scorer(similarity), &self.train, &[&self.train], &who, k, 1 << 28)?;
        lists.iter_mut().for_each(|list| list.resize(k, (u32::MAX, f32::NEG_INFINITY)));
        let (ids, scores): (Vec<u32>, Vec<f32>) = lists.into_iter().flatten().unzip();
        let what = format!("best items by {what}");
        Ok(vec![Comparison::of_ids(what.clone(), &found.ids, &ids), Comparison::new(what + ": scores", &found.scores, &scores, 0.0)])
    }

    fn quantiles(&self, what: &str, similarity: Similarity, sizes: Sizes) -> Result<Vec<Comparison>> {
        let mut whole = self.whole(similarity)?;
        let vectors = whole.prepare(self.gpu, self.tables.each_ref())?;
        let estimator = Estimator {
            gpu: self.gpu,
            vectors,
            train: &self.train,
            draws: &self.draws,
            candidates: Some(sizes.negatives),
            memory: 1 << 28,
        };
        let schedule =
            QuantileSchedule { cutoff: 20, every: 1, update: QuantileUpdate::default(), estimator: QuantileEstimator::default() };
        let [mut found, mut expected] = [Quantiles::new(self.users.rows), Quantiles::new(self.users.rows)];
        estimator.update(&mut found, schedule, 8, 2)?;
        let vectors = Vectors { users: &self.users, items: &self.items, similarity };
        quantiles::update(&mut expected, schedule, vectors, &self.train, Some(sizes.negatives), 8, 2).map_err(crate::Error::impossible)?;
        Ok(vec![Comparison::new(format!("quantiles by {what}"), &found.values, &expected.values, 0.0)])
    }
}

/// Up to eight items of each user that are not in its train part.
pub(super) fn held_out(sizes: Sizes, train: &Interactions) -> Interactions {
    let mut stream = Stream::new(4, Purpose::Parameters, 0, 0, 0);
    let mut pairs = Vec::new();
    for user in 0..sizes.users {
        let items = (0..user % 9).map(|_| stream.below(sizes.items as u32));
        pairs.extend(items.filter(|&item| !train.contains(user, item)).map(|item| (user as u32, item)));
    }
    Interactions::from_pairs(sizes.users, pairs.into_iter())
}

fn ranks(rankings: &Rankings) -> Vec<u32> {
    rankings.iter().flat_map(|ranked| ranked.ranks.to_vec()).collect()
}
