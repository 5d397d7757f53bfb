//! From the scores of a step's rows to the derivatives of its mean loss by them.

use crate::Result;
use crate::fit::{
    loss_state::derivatives::Derivatives,
    step::{batches::Batches, formula::ScoredRows, fused, narrowed::Narrowed, parts},
    step_id::StepId,
};
use candle_core::Device;
use embeddings::{MASKED, Row, ScoreGradients, Scored};
use losses::{FusedLoss, FusedLossOfDraws, Loss, Per};
use rayon::prelude::*;
use samplers::{Choice, RowScores};
use std::{borrow::Cow, cell::RefCell};

/// A loss on plain slices.
#[derive(Clone, Copy)]
pub(crate) enum FusedForm<'a> {
    /// From scores.
    Scores(&'a dyn FusedLoss),
    /// From scores and the log-probabilities of the draws.
    Draws(&'a dyn FusedLossOfDraws),
}

/// The loss of the rows of a step, with what it needs beside their scores.
#[derive(Clone, Copy)]
pub(crate) struct LossStep<'a> {
    pub(crate) loss: &'a Loss,
    pub(crate) batches: &'a Batches<'a>,
    pub(crate) at: StepId,
    /// `[B]`
    pub(crate) users: &'a [u32],
    /// The place in the batch of the first of these rows, and what derivatives are multiplied by: a step's loss is the mean of its rows'.
    pub(crate) first: usize,
    pub(crate) scale: f32,
    /// Quantiles of all users, for losses that have them.
    pub(crate) quantiles: Option<&'a [f32]>,
    /// Where the formula is computed, if no fused form may stand for it.
    pub(crate) formula_on: Option<&'a Device>,
}

/// What a loss is given beside scores, quantiles and draws.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extra<'a> {
    pub(crate) phase: usize,
    pub(crate) columns: &'a [Vec<f32>],
    pub(crate) ranks: Option<[&'a [f32]; 2]>,
    /// How many of the user's other train items score above each positive and above each negative, and how many such items there are.
    pub(crate) others: Option<[&'a [f32]; 3]>,
    pub(crate) adversary: Option<&'a [f32]>,
    /// Relations of the negatives, of the users and of the positives.
    pub(crate) relations: [Option<&'a [f32]>; 3],
}

/// What a rule leaves of a row.
#[derive(Default)]
struct Chosen {
    choice: Choice,
    /// Of the chosen candidates.
    scores: Vec<f32>,
    /// The log-probabilities of the row's draws.
    draws: Vec<f32>,
}

thread_local! {
    static CHOSEN: RefCell<Chosen> = RefCell::default();
    /// The log-probabilities of a row's draws.
    static DRAWS: RefCell<Vec<f32>> = RefCell::default();
}

impl<'a> LossStep<'a> {
    /// The loss of all rows of a step.
    pub(crate) fn new(loss: &'a Loss, batches: &'a Batches<'a>, at: StepId, users: &'a [u32], quantiles: Option<&'a [f32]>) -> Self {
        Self { loss, batches, at, users, first: 0, scale: 1.0 / users.len() as f32, quantiles, formula_on: None }
    }

    /// The same by the loss's formula alone, computed on a device.
    pub(crate) fn by_formula_on(self, device: &'a Device) -> Self {
        Self { formula_on: Some(device), ..self }
    }

    /// The loss of some of so many rows: these users' rows follow each other from `first` on.
    pub(crate) fn some(self, first: usize, rows: usize) -> Self {
        Self { first, scale: 1.0 / rows as f32, ..self }
    }

    /// The loss on plain slices, where it has a fused form that takes what the sampler gives.
    pub(crate) fn fused(&self) -> Option<FusedForm<'a>> {
        match self.loss.fused_of_draws() {
            Some(fused) => self.batches.rule().is_none().then_some(FusedForm::Draws(fused)),
            None => self.loss.fused().filter(|fused| !self.weighs() || fused.takes_weights()).map(FusedForm::Scores),
        }
    }

    /// One row by the fused loss: scores to derivatives, in place; returns the row's loss.
    pub(crate) fn row(&self, fused: FusedForm, row: Row) -> f32 {
        let user = self.users[row.at];
        if self.batches.mask(user, row.ids, row.positives, row.negatives) {
            return nothing(row);
        }
        let quantile = self.quantiles.map_or(0.0, |quantiles| quantiles[user as usize]);
        if let (FusedForm::Scores(fused), Some(_)) = (fused, self.batches.rule()) {
            return CHOSEN.with_borrow_mut(|chosen| self.narrow_row(fused, row, quantile, chosen));
        }
        let count = self.batches.drawn(self.at.step, row.negatives.len());
        let drawn = &mut row.negatives[..count];
        let loss = match fused {
            FusedForm::Scores(fused) => fused.row(row.positives, drawn, quantile),
            FusedForm::Draws(fused) => DRAWS.with_borrow_mut(|draws| {
                draws.resize(row.ids.len(), 0.0);
                let (own, of_draws) = draws.split_at_mut(1);
                self.batches.log_probabilities_of_row(self.at.row(self.first + row.at), user, row.ids, [own, of_draws]);
                fused.row(&mut row.positives[0], drawn, own[0], &of_draws[..count])
            }),
        };
        row.negatives[count..].fill(0.0);
        row.positives.iter_mut().for_each(|weight| *weight *= self.scale);
        row.negatives.iter_mut().for_each(|weight| *weight *= self.scale);
        loss
    }

    /// One row by the fused loss, with those candidates alone that the sampler's rule chooses.
    fn narrow_row(&self, fused: &dyn FusedLoss, row: Row, quantile: f32, chosen: &mut Chosen) -> f32 {
        let Chosen { choice, scores, draws } = chosen;
        self.choose(row.at, row.ids.get(row.positives.len()..), row.positives[0], row.negatives, draws, choice);
        scores.clear();
        scores.extend(choice.places.iter().zip(&choice.weights).map(|(&place, &weight)| left(row.negatives[place as usize], weight)));
        let loss = match self.weighs() {
            true => fused.weighted_row(row.positives, scores, &choice.weights),
            false => fused.row(row.positives, scores, quantile),
        };
        row.positives.iter_mut().for_each(|weight| *weight *= self.scale);
        row.negatives.fill(0.0);
        choice.places.iter().zip(scores).for_each(|(&place, weight)| row.negatives[place as usize] = *weight * self.scale);
        loss
    }

    /// All rows of a step by the formula.
    pub(crate) fn rows(&self, mut scored: Scored, extra: Extra) -> Result<Derivatives> {
        let candidates = scored.negatives.len() / self.users.len();
        let rows = rows_of(&mut scored, self.batches.list(), candidates);
        let empty: Vec<bool> = rows.map(|row| self.batches.mask(self.users[row.at], row.ids, row.positives, row.negatives)).collect();
        let narrowed = self.narrow(&scored, candidates);
        let mut derivatives = self.by_formula(&scored, narrowed.as_ref(), extra)?;
        if let Some(narrowed) = &narrowed {
            let Derivatives { scores, adversary, relations: [of_negatives, ..], .. } = &mut derivatives;
            for values in [&mut scores.negatives, adversary, of_negatives].into_iter().filter(|values| !values.is_empty()) {
                *values = narrowed.put_back(values);
            }
        }
        for (_, column) in self.loss.columns().iter().zip(&mut derivatives.columns).filter(|(spec, _)| !matches!(spec.per, Per::Whole(_))) {
            column.iter_mut().zip(&empty).filter(|(_, empty)| **empty).for_each(|(derivative, _)| *derivative = 0.0);
        }
        let ScoreGradients { losses, positives, negatives } = &mut derivatives.scores;
        let rows = losses.iter_mut().zip(positives.chunks_exact_mut(self.batches.list())).zip(negatives.chunks_exact_mut(candidates));
        for (((loss, positives), negatives), _) in rows.zip(empty).filter(|(_, empty)| *empty && !self.loss.compares_rows_alone()) {
            *loss = nothing(Row { at: 0, ids: &[], positives, negatives });
        }
        Ok(derivatives)
    }

    /// The formula, or its fused form, on masked scores, of those candidates that are left.
    fn by_formula(&self, scored: &Scored, narrowed: Option<&Narrowed>, extra: Extra) -> Result<Derivatives> {
        let mut negatives = left_of(narrowed, &scored.negatives);
        if let Some(narrowed) = narrowed {
            negatives.to_mut().iter_mut().zip(&narrowed.weights).for_each(|(score, &weight)| *score = left(*score, weight));
        }
        let draws =
            self.loss.needs_log_probabilities().then(|| self.batches.log_probabilities(self.at.row(self.first), self.users, &scored.ids));
        let of_draws = draws.as_ref().map(|[own, drawn]| (own, left_of(narrowed, drawn)));
        let ranks = extra.ranks.map(|[own, others]| (own, left_of(narrowed, others)));
        let others = extra.others.map(|[own, drawn, counts]| (own, left_of(narrowed, drawn), counts));
        let adversary = extra.adversary.map(|scores| left_of(narrowed, scores));
        let of_negatives = extra.relations[0].map(|scores| left_of(narrowed, scores));
        let quantiles = self.quantiles_of(self.users);
        let rows = ScoredRows {
            positives: &scored.positives,
            negatives: &negatives,
            items: self.batches.items(),
            phase: extra.phase,
            weights: narrowed.filter(|_| self.weighs()).map(|narrowed| &narrowed.weights[..]),
            quantiles: quantiles.as_deref(),
            log_probabilities: of_draws.as_ref().map(|(own, drawn)| [&own[..], drawn]),
            ranks: ranks.as_ref().map(|(own, others)| [*own, others]),
            others: others.as_ref().map(|(own, drawn, counts)| [*own, drawn, *counts]),
            estimated_ranks: narrowed.filter(|_| self.batches.rule().is_some()).map(|narrowed| &narrowed.ranks[..]),
            columns: extra.columns,
            adversary: adversary.as_deref(),
            relations: [of_negatives.as_deref(), extra.relations[1], extra.relations[2]],
        };
        match (self.formula_on, self.loss.fused_with_state()) {
            (None, Some(fused)) => Ok(fused::score_gradients(fused, rows, self.scale)),
            (device, _) => parts::score_gradients(self.loss, rows, self.scale, device.unwrap_or(&Device::Cpu)),
        }
    }

    /// What the sampler's rule leaves of a step's candidates, or a batch that has fewer other rows than are drawn; `None` where all are left.
    fn narrow(&self, scored: &Scored, candidates: usize) -> Option<Narrowed> {
        let (list, width) = (self.batches.list(), self.batches.list() + candidates);
        let Some(rule) = self.batches.rule() else {
            let drawn = self.batches.drawn(self.at.step, candidates);
            return (drawn < candidates).then(|| Narrowed::first([self.users.len(), candidates, drawn]));
        };
        Some(Narrowed::new([self.users.len(), candidates, rule.chosen(candidates)], |at, choice| {
            let ids = scored.ids.get(at * width + list..(at + 1) * width);
            let (positive, negatives) = (scored.positives[at * list], &scored.negatives[at * candidates..][..candidates]);
            self.choose(at, ids, positive, negatives, &mut Vec::new(), choice);
        }))
    }

    /// Has the sampler's rule look at the candidates of a row, `ids [N]`, none where they are the whole catalogue, and at its scores.
    fn choose(&self, at: usize, ids: Option<&[u32]>, positive: f32, negatives: &[f32], draws: &mut Vec<f32>, choice: &mut Choice) {
        let Some(rule) = self.batches.rule() else { return };
        let row = self.at.row(self.first + at);
        let log_probabilities = ids.filter(|_| rule.needs_log_probabilities()).map(|ids| {
            draws.resize(ids.len(), 0.0);
            self.batches.log_probabilities_of_draws(row, self.users[at], ids, draws);
            &draws[..]
        });
        let mut stream = self.batches.choices(row);
        rule.choose(&mut stream, RowScores { positive, candidates: negatives, log_probabilities }, choice);
    }

    /// Some rows with all items: scores to derivatives, in place; returns the sum of the losses.
    pub(crate) fn block(&self, first: usize, positives: &mut [f32], scores: &mut [f32]) -> Result<f64> {
        let list = self.batches.list();
        let users = &self.users[first..][..positives.len() / list];
        let count = scores.len() / users.len();
        let losses: Vec<f32> = match self.fused() {
            Some(fused) => {
                let rows = scores.par_chunks_exact_mut(count).zip(positives.par_chunks_exact_mut(list)).enumerate();
                rows.map(|(at, (negatives, positives))| self.row(fused, Row { at: first + at, ids: &[], positives, negatives })).collect()
            }
            None => {
                let scored = Scored { ids: Vec::new(), positives: positives.to_vec(), negatives: scores.to_vec() };
                let score_gradients = Self { users, first: self.first + first, ..*self }.rows(scored, Extra::default())?.scores;
                positives.copy_from_slice(&score_gradients.positives);
                scores.copy_from_slice(&score_gradients.negatives);
                score_gradients.losses
            }
        };
        Ok(losses.iter().map(|&loss| f64::from(loss)).sum())
    }

    /// Whether the loss is to weigh its negatives.
    fn weighs(&self) -> bool {
        self.loss.weighs_negatives() && self.batches.rule().is_some_and(|rule| rule.weighs())
    }

    fn quantiles_of(&self, users: &[u32]) -> Option<Vec<f32>> {
        self.quantiles.map(|quantiles| users.iter().map(|&user| quantiles[user as usize]).collect())
    }
}

/// Those of values `[B, N]` that a rule has left.
fn left_of<'a>(narrowed: Option<&Narrowed>, values: &'a [f32]) -> Cow<'a, [f32]> {
    narrowed.map_or(Cow::Borrowed(values), |narrowed| Cow::Owned(narrowed.take(values)))
}

/// A chosen score; one without weight stands for no item.
fn left(score: f32, weight: f32) -> f32 {
    if weight == 0.0 { MASKED } else { score }
}

/// A row without negatives costs nothing and moves nothing.
fn nothing(row: Row) -> f32 {
    row.positives.fill(0.0);
    row.negatives.fill(0.0);
    0.0
}

/// The rows of what was scored; those of the whole catalogue have no ids.
fn rows_of(scored: &mut Scored, list: usize, candidates: usize) -> impl Iterator<Item = Row<'_>> {
    let Scored { ids, positives, negatives } = scored;
    let all: &[u32] = ids;
    let rows = positives.chunks_exact_mut(list).zip(negatives.chunks_exact_mut(candidates)).enumerate();
    rows.map(move |(at, (positives, negatives))| {
        let ids = all.get(at * (list + candidates)..(at + 1) * (list + candidates)).unwrap_or_default();
        Row { at, ids, positives, negatives }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Learning;
    use dataset::{Dataset, Interactions};
    use streams::Stream;

    const SAMPLERS: [&str; 12] = [
        r#"{"uniform": {"negatives": 20}}"#,
        r#"{"in-batch": {}}"#,
        r#"{"dns": {"candidates": 20}}"#,
        r#"{"dns": {"candidates": 3, "pool": {"in-batch": {}}}}"#,
        r#"{"dns-mn": {"candidates": 20, "negatives": 5}}"#,
        r#"{"dns-mn": {"candidates": 20, "negatives": 5, "sum": true}}"#,
        r#"{"softmax": {"candidates": 20, "temperature": 0.5}}"#,
        r#"{"softmax": {"candidates": 20, "temperature": 0.5, "negatives": 3, "corrected": true, "pool": {"popularity": {}}}}"#,
        r#"{"softmax-v": {"candidates": 20, "divergence": 0.3}}"#,
        r#"{"pris": {"candidates": 20, "pool": {"popularity": {}}}}"#,
        r#"{"warp": {"candidates": 20}}"#,
        r#"{"warp": {"candidates": 20, "margin": 0}}"#,
    ];

    /// Losses that look at how likely the draws were, and samplers that leave all of them.
    const OF_DRAWS: [&str; 2] =
        [r#"{"sampled-softmax": {"temperature": 0.5}}"#, r#"{"sampled-softmax": {"temperature": 0.5, "correction": "negatives"}}"#];
    const SAMPLERS_OF_DRAWS: [&str; 3] =
        [r#"{"uniform": {"negatives": 20}}"#, r#"{"popularity": {"negatives": 20}}"#, r#"{"in-batch": {}}"#];

    /// 12 users, each with three of 40 items.
    fn tastes() -> Dataset {
        let pairs = (0..12u32).flat_map(|user| [(user, user), (user, user + 13), (user, 39 - user)]);
        Dataset {
            name: "tastes".into(),
            fingerprint: "tastes".into(),
            user_ids: (0..12).map(|user| user.to_string()).collect(),
            item_ids: (0..40).map(|item| item.to_string()).collect(),
            train: Interactions::from_pairs(12, pairs),
            validation: Interactions::empty(12),
            one_node_set: false,
            test: Interactions::empty(12),
            fold_in: None,
            order: None,
            steps: vec![],
            settings: serde_json::Value::Null,
        }
    }

    fn learning(loss: &str, sampler: &str) -> Learning {
        let text = format!(
            r#"{{"loss": {loss}, "sampler": {sampler}, "optimizer": {{"adam": {{"learning_rate": 0.1}}}}, "seed": 5,
                "training": {{"epochs": 1, "batch_size": 8, "evaluate_every": 1}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    fn assert_close(sampler: &str, found: &[f32], expected: &[f32]) {
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-6 * b.abs().max(1.0));
        assert!(found.len() == expected.len() && near, "{sampler}: {found:?} {expected:?}");
    }

    /// Whatever the sampler leaves: row by row with the fused form, and all rows with the formula.
    #[test]
    fn the_fused_form_weighs_as_the_formula_does() {
        let dataset = tastes();
        let of_draws = OF_DRAWS.into_iter().flat_map(|loss| SAMPLERS_OF_DRAWS.map(|sampler| (loss, sampler)));
        let weighing = [r#"{"bpr": {}}"#, r#"{"bce": {}}"#].into_iter().flat_map(|loss| SAMPLERS.map(|sampler| (loss, sampler)));
        for (loss, sampler) in weighing.chain(of_draws) {
            let learning = learning(loss, sampler);
            let mut batches = Batches::new(&learning, &dataset, None, None).unwrap();
            batches.shuffle(1);
            for step in 1..=batches.steps() {
                let (mut users, mut own) = (Vec::new(), Vec::new());
                batches.fill(StepId { epoch: 1, step }, &mut users, &mut own);
                let count = learning.candidates().unwrap();
                let mut ids = vec![0; users.len() * (1 + count)];
                for (row, ids) in ids.chunks_exact_mut(1 + count).enumerate() {
                    ids[0] = own[row];
                    batches.draw(StepId { epoch: 1, step }.row(row), users[row], &mut ids[1..]);
                }
                let mut random = Stream::new(9, streams::Purpose::Parameters, 1, step, 0);
                let mut scores = |length: usize| -> Vec<f32> { (0..length).map(|_| 4.0 * random.fraction() as f32 - 2.0).collect() };
                let (mut positives, mut negatives) = (scores(users.len()), scores(users.len() * count));
                let loss_step = LossStep::new(&learning.loss, &batches, StepId { epoch: 1, step }, &users, None);
                let scored = Scored { ids: ids.clone(), positives: positives.clone(), negatives: negatives.clone() };
                let expected = loss_step.rows(scored, Extra::default()).unwrap().scores;
                let fused = loss_step.fused().unwrap();
                let rows =
                    positives.chunks_exact_mut(1).zip(negatives.chunks_exact_mut(count)).zip(ids.chunks_exact(1 + count)).enumerate();
                let losses: Vec<f32> =
                    rows.map(|(at, ((positives, negatives), ids))| loss_step.row(fused, Row { at, ids, positives, negatives })).collect();
                assert_close(sampler, &losses, &expected.losses);
                assert_close(sampler, &positives, &expected.positives);
                assert_close(sampler, &negatives, &expected.negatives);
            }
        }
    }
    /// A batch that has all 36 pairs has 35 negatives of each, however many more its size would allow.
    #[test]
    fn a_smaller_batch_has_fewer_negatives() {
        let dataset = tastes();
        for loss in
            [r#"{"gbce": {"calibration": 0.5}}"#, OF_DRAWS[1], r#"{"ccl": {"margin": 0.4, "negative_weight": 10}}"#, r#"{"bpr": {}}"#]
        {
            let [exact, larger] = [36, 100].map(|batch_size| {
                let mut learning = learning(loss, r#"{"in-batch": {}}"#);
                learning.training.batch_size = batch_size;
                let mut batches = Batches::new(&learning, &dataset, None, None).unwrap();
                batches.shuffle(1);
                let (at, count) = (StepId { epoch: 1, step: 1 }, learning.candidates().unwrap());
                let (mut users, mut own) = (Vec::new(), Vec::new());
                batches.fill(at, &mut users, &mut own);
                let mut ids = vec![0; users.len() * (1 + count)];
                for (row, ids) in ids.chunks_exact_mut(1 + count).enumerate() {
                    ids[0] = own[row];
                    batches.draw(at.row(row), users[row], &mut ids[1..]);
                }
                let score = |row: usize, id: u32| ((row * 7 + id as usize * 3) % 11) as f32 / 11.0 - 0.5;
                let of = |row: usize, ids: &[u32]| ids.iter().map(|&id| score(row, id)).collect::<Vec<f32>>();
                let scored = Scored {
                    positives: own.iter().enumerate().map(|(row, &id)| score(row, id)).collect(),
                    negatives: ids.chunks_exact(1 + count).enumerate().flat_map(|(row, ids)| of(row, &ids[1..])).collect(),
                    ids,
                };
                let scores = LossStep::new(&learning.loss, &batches, at, &users, None).rows(scored, Extra::default()).unwrap().scores;
                let negatives: Vec<f32> = scores.negatives.chunks_exact(count).flat_map(|row| row[..35].to_vec()).collect();
                assert!(scores.negatives.chunks_exact(count).all(|row| row[35..].iter().all(|&derivative| derivative == 0.0)));
                [scores.losses, scores.positives, negatives]
            });
            assert_eq!(exact, larger, "{loss}");
        }
    }

    /// The first row's draw stands for no item: the boundary of its user stays where it is.
    #[test]
    fn a_row_without_negatives_moves_no_number_of_its_user() {
        let (dataset, learning) = (tastes(), learning(r#"{"uib": {}}"#, r#"{"in-batch": {"negatives": 1}}"#));
        let batches = Batches::new(&learning, &dataset, None, None).unwrap();
        let loss_step = LossStep::new(&learning.loss, &batches, StepId { epoch: 1, step: 1 }, &[0, 1], None);
        let scored = Scored { ids: vec![0, 0, 1, 30], positives: vec![1.0, 1.0], negatives: vec![0.5, 0.5] };
        let columns = [vec![0.2, 0.2]];
        let Derivatives { scores, columns, .. } = loss_step.rows(scored, Extra { columns: &columns, ..Extra::default() }).unwrap();
        assert_eq!((scores.losses[0], scores.positives[0], columns[0][0]), (0.0, 0.0, 0.0));
        assert!(scores.losses[1] > 0.0 && columns[0][1] != 0.0, "{columns:?}");
    }
}
