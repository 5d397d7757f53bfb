//! Where the batches of an epoch come from: its order of pairs or of users, and its draws.

use crate::fit::step_id::{RowId, StepId};
use crate::{EpochRows, Error, Learning, Result};
use dataset::{Dataset, Interactions, Location};
use embeddings::{MASKED, Vectors};
use models::sequence::Targets;
use rayon::prelude::*;
use std::{borrow::Cow, ops::Range};
use streams::{Purpose, Stream};

/// The train interactions in the order of an epoch, and the sampler.
pub(crate) struct Batches<'a> {
    seed: u64,
    batch_size: usize,
    train: &'a Interactions,
    items: usize,
    sampler: samplers::Prepared<'a>,
    rule: Option<Box<dyn samplers::Rule>>,
    /// What a row is.
    rows: RowKind,
    /// The pairs that are rows, in runs that stay together; all pairs one by one without.
    targets: Option<Targets>,
    /// The rows' numbers in the order of the epoch.
    order: Vec<u32>,
    /// The positives of the pairs in this order, where draws look at those of the batch; else empty.
    positives: Vec<u32>,
}

/// What stands in a row of a batch.
enum RowKind {
    /// A pair of user and positive: the user of each train interaction, and which of them are rows of an epoch.
    Pairs(Vec<u32>, EpochRows),
    /// A user with a list of so many of its positives: the users that have any.
    Lists(Vec<u32>, usize),
}

impl<'a> Batches<'a> {
    /// Makes batches of all train pairs, or of `targets` alone; `cache` is where what a sampler prepares is kept.
    pub(crate) fn new(learning: &Learning, dataset: &'a Dataset, targets: Option<Targets>, cache: Option<&Location>) -> Result<Self> {
        let train = &dataset.train;
        let sampler = samplers::Prepared::with_cache(&learning.sampler, train, dataset.items(), cache);
        let mut sampler = sampler.map_err(|error| match error {
            samplers::Error::Store(error) => error.into(),
            error => Error::impossible(error),
        })?;
        if let Some(targets) = &targets {
            let mut of_items = vec![0; dataset.items()];
            targets.places().iter().for_each(|&place| of_items[train.items()[place as usize] as usize] += 1);
            sampler.set_row_counts(&of_items);
        }
        let rows = match learning.loss.list() {
            None => RowKind::Pairs(train.pairs().map(|(user, _)| user).collect(), learning.training.rows),
            Some(list) => RowKind::Lists((0..train.users() as u32).filter(|&user| !train.row(user as usize).is_empty()).collect(), list),
        };
        Ok(Self {
            seed: learning.seed,
            batch_size: learning.training.batch_size as usize,
            train,
            items: dataset.items(),
            sampler,
            rule: learning.sampler.rule(dataset.items()),
            rows,
            targets,
            order: Vec::new(),
            positives: Vec::new(),
        })
    }

    /// Puts the rows, or their runs, in the order of an epoch, or draws them.
    pub(crate) fn shuffle(&mut self, epoch: u32) {
        let mut stream = Stream::new(self.seed, Purpose::Order, epoch, 0, 0);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        match self.rows {
            RowKind::Pairs(_, EpochRows::Users) => order.extend((0..self.len()).map(|_| pair_of_any_user(&mut stream, self.train))),
            _ => {
                order.extend(0..self.targets.as_ref().map_or(self.len(), Targets::runs) as u32);
                put_in_random_order(&mut stream, &mut order);
            }
        }
        self.order = match &self.targets {
            Some(targets) => order.iter().flat_map(|&run| targets.run(run as usize)).copied().collect(),
            None => order,
        };
        if self.sampler.needs_positives() {
            self.positives.clear();
            self.positives.extend(self.order.iter().map(|&pair| self.train.items()[pair as usize]));
        }
    }

    /// The number of rows of an epoch.
    pub(crate) fn len(&self) -> usize {
        match (&self.targets, &self.rows) {
            (Some(targets), _) => targets.number(),
            (None, RowKind::Pairs(users, _) | RowKind::Lists(users, _)) => users.len(),
        }
    }

    /// Steps of an epoch.
    pub(crate) fn steps(&self) -> u32 {
        self.len().div_ceil(self.batch_size) as u32
    }

    /// Positives of a row.
    pub(crate) fn list(&self) -> usize {
        match self.rows {
            RowKind::Pairs(..) => 1,
            RowKind::Lists(_, list) => list,
        }
    }

    /// Items of the catalogue.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    fn order(&self, step: u32) -> &[u32] {
        &self.order[self.places(step)]
    }

    /// Where the rows of a step, counted from 1, stand in the order of the epoch.
    pub(crate) fn places(&self, step: u32) -> Range<usize> {
        let first = (step as usize - 1) * self.batch_size;
        first..self.order.len().min(first + self.batch_size)
    }

    /// The order of the epoch.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn whole_order(&self) -> &[u32] {
        &self.order
    }

    /// The sampler's pool.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn pool(&self) -> &samplers::Prepared<'a> {
        &self.sampler
    }

    /// The (user, positive) pairs of a step, counted from 1; rows must be pairs.
    pub(crate) fn pairs(&self, step: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
        let users: &[u32] = match &self.rows {
            RowKind::Pairs(users, _) => users,
            RowKind::Lists(..) => &[],
        };
        self.order(step).iter().map(|&pair| (users[pair as usize], self.train.items()[pair as usize]))
    }

    /// The users of a step's rows, `[B]`, and their positives, `[B, P]`.
    pub(crate) fn fill(&self, at: StepId, users: &mut Vec<u32>, positives: &mut Vec<u32>) {
        users.clear();
        positives.clear();
        match &self.rows {
            RowKind::Pairs(..) => self.pairs(at.step).for_each(|(user, positive)| {
                users.push(user);
                positives.push(positive);
            }),
            RowKind::Lists(of_rows, list) => {
                users.extend(self.order(at.step).iter().map(|&row| of_rows[row as usize]));
                positives.resize(users.len() * list, 0);
                for (row, (&user, positives)) in users.iter().zip(positives.chunks_exact_mut(*list)).enumerate() {
                    let mut stream = Stream::new(self.seed, Purpose::Positives, at.epoch, at.step, row as u32);
                    samplers::some_of(&mut stream, self.train.row(user as usize), positives);
                }
            }
        }
    }

    /// The positives of a step's rows without what fills the lists of users who have fewer; rows that are pairs have nothing of that.
    pub(crate) fn unpadded<'b>(&self, users: &[u32], positives: &'b [u32]) -> Cow<'b, [u32]> {
        let list = self.list();
        let own = |user: u32| self.train.row(user as usize).len().min(list);
        match list {
            1 => positives.into(),
            _ => users.iter().zip(positives.chunks_exact(list)).flat_map(|(&user, row)| &row[..own(user)]).copied().collect(),
        }
    }

    /// Whether what the pool carries has its size before it has looked at the model.
    pub(crate) fn is_sized(&self) -> bool {
        self.sampler.is_sized()
    }

    /// What the pool carries from epoch to epoch, or within one from step to step, by name.
    pub(crate) fn state(&mut self, within: bool) -> Vec<(String, &mut [f32])> {
        self.sampler.state(within)
    }

    /// The state has been put in place.
    pub(crate) fn restored(&mut self, within: bool) {
        self.sampler.restored(within);
    }

    /// Whether the pool has to look at the model before a step.
    pub(crate) fn is_due(&self, step: u32, candidates: Option<usize>) -> bool {
        self.sampler.is_due(step, self.batch_size.min(self.len()) * candidates.unwrap_or(self.items))
    }

    /// Has the pool look at the model.
    pub(crate) fn refresh(&mut self, vectors: Vectors, epoch: u32) {
        self.sampler.refresh(vectors, self.seed, epoch);
    }

    /// Draws the candidates of a row of a step.
    pub(crate) fn draw(&self, at: RowId, user: u32, ids: &mut [u32]) {
        let mut stream = self.draws(at);
        let positives = self.positives.chunks(self.batch_size).nth(at.step.step as usize - 1).unwrap_or_default();
        self.sampler.draw(&mut stream, samplers::Row { user, place: at.row, positives }, ids, None);
    }

    /// How many of so many candidates of each row of a step are draws: where they are the positives of other rows, no more than the batch has of these.
    pub(crate) fn drawn(&self, step: u32, candidates: usize) -> usize {
        match self.positives.chunks(self.batch_size).nth(step as usize - 1).map_or(0, <[u32]>::len) {
            0 | 1 => candidates,
            rows => candidates.min(rows - 1),
        }
    }

    /// The random numbers of the draws in a row of a step.
    fn draws(&self, at: RowId) -> Stream {
        self.stream(Purpose::Negatives, at)
    }

    /// What the sampler makes of its candidates' scores.
    pub(crate) fn rule(&self) -> Option<&dyn samplers::Rule> {
        self.rule.as_deref()
    }

    /// The random numbers of the rule in a row of a step.
    pub(crate) fn choices(&self, at: RowId) -> Stream {
        self.stream(Purpose::Choices, at)
    }

    fn stream(&self, purpose: Purpose, RowId { step: StepId { epoch, step }, row }: RowId) -> Stream {
        Stream::new(self.seed, purpose, epoch, step, row as u32)
    }

    /// Masks what stands for no item in the scores of a row: the places of a list that the user has no positives for, and candidates that
    /// are the row's own positive. Returns whether no candidate is left.
    pub(crate) fn mask(&self, user: u32, ids: &[u32], positives: &mut [f32], negatives: &mut [f32]) -> bool {
        if positives.len() > 1 {
            let has = self.train.row(user as usize).len().min(positives.len());
            positives[has..].fill(MASKED);
        }
        if !self.sampler.needs_positives() {
            return false;
        }
        let mut left = 0;
        for (score, id) in negatives.iter_mut().zip(&ids[positives.len()..]) {
            if *id == ids[0] {
                *score = MASKED;
            } else {
                left += 1;
            }
        }
        left == 0
    }

    /// The log-probabilities of the candidates that were drawn for a row of a step.
    pub(crate) fn log_probabilities_of_draws(&self, at: RowId, user: u32, ids: &[u32], out: &mut [f32]) {
        self.sampler.log_probabilities_of_draws(&mut self.draws(at), user, ids, out);
    }

    /// The log-probabilities of the items `[P + N]` of a row of a step: those of the positives, were they none, and of the negatives.
    pub(crate) fn log_probabilities_of_row(&self, at: RowId, user: u32, ids: &[u32], [own, drawn]: [&mut [f32]; 2]) {
        let (positives, negatives) = ids.split_at(own.len());
        self.sampler.log_probabilities(user, positives, own);
        self.log_probabilities_of_draws(at, user, negatives, drawn);
    }

    /// The log-probabilities of the items of a step's rows from one of them on, `[B, P + N]`: those of the positives, were they none, and of the
    /// negatives.
    pub(crate) fn log_probabilities(&self, first: RowId, users: &[u32], ids: &[u32]) -> [Vec<f32>; 2] {
        let (list, width) = (self.list(), ids.len() / users.len());
        let mut all = vec![0.0; ids.len()];
        let rows = all.par_chunks_exact_mut(width).zip(ids.par_chunks_exact(width)).zip(users).enumerate();
        rows.for_each(|(row, ((out, ids), &user))| {
            let (own, drawn) = out.split_at_mut(list);
            self.log_probabilities_of_row(first.step.row(first.row + row), user, ids, [own, drawn]);
        });
        let rows = || all.chunks_exact(width).map(|row| row.split_at(list));
        [rows().flat_map(|(positives, _)| positives).copied().collect(), rows().flat_map(|(_, negatives)| negatives).copied().collect()]
    }
}

/// After Fisher and Yates.
fn put_in_random_order(stream: &mut Stream, order: &mut [u32]) {
    for at in (1..order.len()).rev() {
        order.swap(at, stream.below(at as u32 + 1) as usize);
    }
}

/// A train interaction of a user, uniform over those that have any, and over the user's.
fn pair_of_any_user(stream: &mut Stream, train: &Interactions) -> u32 {
    loop {
        let user = stream.below(train.users() as u32) as usize;
        let row = train.row(user).len() as u32;
        if row > 0 {
            return train.offsets()[user] as u32 + stream.below(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use samplers::{Popularity, Sampler};
    use testing::assert_drawn_from;

    /// Of three users with train items, who have 1, 2 and 5, each stands in a third of the rows.
    #[test]
    fn users_are_drawn_alike_and_their_items_too() {
        let rows = [(0, 0), (1, 0), (1, 3), (3, 0), (3, 1), (3, 2), (3, 3), (3, 4)];
        let train = Interactions::from_pairs(4, rows.into_iter());
        let mut found = [0.0; 8];
        for epoch in 0..1_000 {
            let mut stream = Stream::new(3, Purpose::Order, epoch, 0, 0);
            (0..8).for_each(|_| found[pair_of_any_user(&mut stream, &train) as usize] += 1.0);
        }
        assert_drawn_from(&found, &[[1.0 / 3.0; 1].as_slice(), &[1.0 / 6.0; 2], &[1.0 / 15.0; 5]].concat(), 1.0);
    }

    fn batches(train: &Interactions, rows: RowKind) -> Batches<'_> {
        let sampler = Sampler::Popularity(Popularity { negatives: 5, exponent: 0.75, logarithm: false });
        let sampler = samplers::Prepared::new(&sampler, train, 4).unwrap();
        let (order, positives) = (Vec::new(), Vec::new());
        Batches { seed: 1, batch_size: 3, train, items: 4, sampler, rule: None, rows, targets: None, order, positives }
    }

    /// A user with one item has it in all places of its list, of which one is its own.
    #[test]
    fn what_fills_short_lists_is_no_positive() {
        let train = Interactions::from_pairs(3, [(0, 0), (1, 0), (1, 1), (1, 2), (2, 3), (2, 1)].into_iter());
        let lists = batches(&train, RowKind::Lists(vec![0, 1, 2], 3));
        assert_eq!(lists.unpadded(&[2, 0, 1], &[1, 3, 1, 0, 0, 0, 0, 1, 2])[..], [1, 3, 0, 0, 1, 2]);
        let pairs = batches(&train, RowKind::Pairs(Vec::new(), EpochRows::Pairs));
        assert_eq!(pairs.unpadded(&[2, 0], &[3, 0])[..], [3, 0]);
    }

    #[test]
    fn log_probabilities_are_those_of_the_sampler() {
        let train = Interactions::from_pairs(3, [(0, 0), (0, 1), (1, 0), (1, 2), (2, 0), (2, 3)].into_iter());
        let sampler = Sampler::Popularity(Popularity { negatives: 5, exponent: 0.75, logarithm: false });
        let prepared = || samplers::Prepared::new(&sampler, &train, 4).unwrap();
        let batches = batches(&train, RowKind::Pairs(Vec::new(), EpochRows::Pairs));
        let [own, drawn] = batches.log_probabilities(StepId { epoch: 1, step: 1 }.row(0), &[2, 0], &[3, 1, 2, 1, 2, 3]);
        let expected = |user: u32, ids: &[u32]| ids.iter().map(|&id| prepared().log_probability(user, id)).collect::<Vec<_>>();
        assert_eq!(own, [expected(2, &[3]), expected(0, &[1])].concat());
        assert_eq!(drawn, [expected(2, &[1, 2]), expected(0, &[2, 3])].concat());
    }
}
