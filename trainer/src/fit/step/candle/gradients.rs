//! From what is scored to its gradients: of the rows of one rank.

use super::{
    blocks::{self, Backward, Scoring},
    scoring::{BatchRelations, Items, Layers, NetworkPairs, Scores},
    touched::{Gradients, Marks, marks},
};
use crate::fit::{
    distributed::batch_shard::BatchShard,
    loss_state::{LossState, derivatives::Derivatives},
    step::{
        auxiliary_inputs::AuxiliaryInputs,
        batches::Batches,
        loss_step::{Extra, LossStep},
    },
    step_id::StepId,
};
use crate::{Learning, Result, device::DrawnScoring};
use candle_core::{Device, Tensor};
use dataset::Dataset;
use embeddings::{Batch, MASKED, Masks, Scored, Tables, Vectors};
use evaluator::Matrix;
use losses::Phase;
use models::{encoder::TrainStep, pairs::PairNetwork};
use samplers::Exclude;

/// Scores of rows with every item that are held on the host at once, about.
const SCORES: usize = 1 << 22;

/// The rows of a step, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct StepRows<'a> {
    pub(super) at: StepId,
    pub(super) phase: Phase,
    pub(super) batches: &'a Batches<'a>,
    pub(super) batch: BatchShard<'a>,
    /// `[b, P + N]` of this rank's rows, positives first; empty where a row is scored with every item.
    pub(super) ids: &'a [u32],
    pub(super) step: TrainStep<'a>,
}

/// What gradients of a rank's rows are made with.
pub(super) struct RankGradients<'a> {
    pub(super) learning: &'a Learning,
    pub(super) dataset: &'a Dataset,
    pub(super) network: Option<&'a dyn PairNetwork>,
    pub(super) quantiles: Option<&'a [f32]>,
    pub(super) loss_state: &'a mut LossState,
    pub(super) auxiliary: &'a mut AuxiliaryInputs,
    pub(super) device: &'a Device,
    /// The device's own code for scores of drawn items, where it has some.
    pub(super) drawn: Option<&'a mut Box<dyn DrawnScoring>>,
    /// Whether anything asks which rows have a gradient.
    pub(super) marks_rows: bool,
}

/// By what rows are scored with the items that were drawn for them.
enum RowScores<'a> {
    /// candle's operations, block by block.
    Blocks(&'a dyn Scoring),
    /// The device's own code, of vectors of users and items.
    OfDevice(&'a mut Box<dyn DrawnScoring>),
}

/// What a rank has of a step.
pub(super) struct ShardGradients {
    /// The sum of its rows' losses.
    pub(super) total: f64,
    /// Gradients of what was scored, with marks of the rows that have one.
    pub(super) gradients: Gradients,
    /// Derivatives by what the loss has of its own.
    pub(super) derivatives: Derivatives,
}

impl RankGradients<'_> {
    /// Scores this rank's rows, derives the loss by the scores, and goes back to what these were made of.
    pub(super) fn gradients(&mut self, rows: StepRows, from: &[Tensor]) -> Result<ShardGradients> {
        let StepRows { batch: BatchShard { local, first, .. }, ids, step, at, batches, .. } = rows;
        if rows.batch.is_empty() {
            let none = |from: &Tensor| Ok((from.zeros_like()?, Some(vec![false; from.dim(0)?])));
            let gradients = from.iter().map(none).collect::<Result<_>>()?;
            return Ok(ShardGradients { total: 0.0, gradients, derivatives: Derivatives::none(&self.learning.loss) });
        }
        let (users, items, loss) = (local.users, self.dataset.items(), &self.learning.loss);
        match (self.learning.negatives().filter(|_| self.learning.sampler.mixes()), self.network) {
            (Some(negatives), _) => {
                let choices = |row: usize| batches.choices(at.row(first + row));
                self.of_drawn_items(rows, RowScores::Blocks(&Layers::new(from, users, ids, negatives, items, choices)?), from)
            }
            (_, Some(network)) => {
                let pairs = NetworkPairs { network, step, users, ids, list: local.list(), first };
                self.of_drawn_items(rows, RowScores::Blocks(&pairs), from)
            }
            _ if self.learning.candidates().is_none() => self.of_every_item(rows, from),
            _ => {
                let related = loss.relations().of_negatives;
                if let Some(drawn) = self.drawn.take().filter(|_| !related) {
                    return self.of_drawn_items(rows, RowScores::OfDevice(drawn), from);
                }
                let scores = Scores::new(local, Items::Drawn(ids), items, loss.similarity(), related);
                self.of_drawn_items(rows, RowScores::Blocks(&scores), from)
            }
        }
    }

    /// The loss on some rows, by its formula.
    fn loss_step<'s>(&'s self, rows: StepRows<'s>) -> LossStep<'s> {
        let StepRows { batch: BatchShard { whole, first, local }, at, batches, .. } = rows;
        LossStep::new(&self.learning.loss, batches, at, local.users, self.quantiles)
            .some(first, whole.users.len())
            .by_formula_on(self.device)
    }

    /// Rows that are scored with the items that were drawn for them.
    fn of_drawn_items(&mut self, rows: StepRows, mut scoring: RowScores, from: &[Tensor]) -> Result<ShardGradients> {
        let (batch, loss) = (rows.batch.local, &self.learning.loss);
        let values = match &mut scoring {
            RowScores::Blocks(scoring) => blocks::values(*scoring, from)?,
            RowScores::OfDevice(drawn) => {
                let scores = drawn.scores(from, batch.queries, rows.ids, loss.similarity())?;
                apart(&scores, scores.len() / batch.users.len(), batch.list()).into()
            }
        };
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or_default();
        let scored = Scored {
            ids: if self.learning.sampler.mixes() { Vec::new() } else { rows.ids.to_vec() },
            positives: next(),
            negatives: next(),
        };
        let of_negatives = loss.relations().of_negatives.then(next);
        let relations = BatchRelations { batch, similarity: loss.similarity() };
        let of_rows = if loss.relations().of_rows { blocks::values(&relations, from)? } else { Vec::new() };
        let found = match loss.needs_ranks() || loss.needs_others() {
            true => {
                let Tables { users, items } = to_host(from)?;
                let vectors = Vectors { users: &users, items: &items, similarity: loss.similarity() };
                Some(self.auxiliary.find(vectors, batch, rows.ids, &self.dataset.train))
            }
            false => None,
        };
        let columns = self.loss_state.of(batch);
        let count = rows.ids.len() / batch.users.len() - batch.list();
        let drawn =
            |row: usize, _: u32, out: &mut [u32]| out.copy_from_slice(&rows.ids[(row + 1) * (batch.list() + count) - count..][..count]);
        let adversary = self.loss_state.adversary_model.as_mut().map(|adversary| adversary.score(batch, count, drawn));
        let extra = Extra {
            phase: rows.phase.number,
            columns: &columns,
            ranks: found.as_ref().and_then(|found| found.ranks()),
            others: found.as_ref().and_then(|found| found.others()),
            adversary: adversary.as_deref(),
            relations: [of_negatives.as_deref(), of_rows.first().map(Vec::as_slice), of_rows.get(1).map(Vec::as_slice)],
        };
        let derivatives = self.loss_step(rows).rows(scored, extra)?;
        let total = derivatives.scores.losses.iter().map(|&loss| f64::from(loss)).sum();
        let (mut backward, [of_negatives, of_users, of_positives]) = (Backward::new(from)?, &derivatives.relations);
        let third = match self.batch_l2(rows.batch.whole.users.len()) {
            Some(weight) if self.learning.sampler.mixes() => vec![weight; batch.users.len()],
            _ => of_negatives.clone(),
        };
        let [positives, negatives] = [&derivatives.scores.positives, &derivatives.scores.negatives];
        match scoring {
            RowScores::Blocks(scoring) if third.is_empty() => backward.add(scoring, &[positives, negatives], self.device)?,
            RowScores::Blocks(scoring) => backward.add(scoring, &[positives, negatives, &third], self.device)?,
            RowScores::OfDevice(drawn) => backward.add_gradients(drawn.gradients(&together(positives, negatives, batch.list()))?)?,
        }
        if loss.relations().of_rows {
            backward.add(&relations, &[of_users, of_positives], self.device)?;
        }
        let touched = self.touched(rows, from, Some(&derivatives.scores.negatives))?;
        Ok(ShardGradients { total, gradients: backward.finish()?.into_iter().zip(touched).collect(), derivatives })
    }

    /// Rows that are scored with every item, some rows at a time: such a loss has a value of each row by itself.
    fn of_every_item(&self, rows: StepRows, from: &[Tensor]) -> Result<ShardGradients> {
        let (batch, items, mut total) = (rows.batch.local, self.dataset.items(), 0.0);
        let masks = match self.learning.sampler.exclude() {
            Exclude::Train => Masks::Train(&self.dataset.train),
            Exclude::Row => Masks::Positives,
        };
        let (mut backward, loss_step) = (Backward::new(from)?, self.loss_step(rows));
        let of_part = (SCORES / items).max(1);
        for start in (0..batch.users.len()).step_by(of_part) {
            let part = part_of(batch, start..batch.users.len().min(start + of_part));
            let scoring = Scores::new(part, Items::Every(items), items, self.learning.loss.similarity(), false);
            let mut values = blocks::values(&scoring, from)?.into_iter();
            let [positives, mut negatives] = [values.next().unwrap_or_default(), values.next().unwrap_or_default()];
            let masked = |scores: &mut [f32], with: f32| {
                let of_rows = scores.chunks_exact_mut(items).enumerate();
                of_rows.for_each(|(row, scores)| masks.of(part, row).iter().for_each(|&item| scores[item as usize] = with));
            };
            masked(&mut negatives, MASKED);
            let some = LossStep { users: part.users, first: loss_step.first + start, ..loss_step };
            let mut scores = some.rows(Scored { ids: Vec::new(), positives, negatives }, Extra::default())?.scores;
            masked(&mut scores.negatives, 0.0);
            total += scores.losses.iter().map(|&loss| f64::from(loss)).sum::<f64>();
            backward.add(&scoring, &[&scores.positives, &scores.negatives], self.device)?;
        }
        let touched = self.touched(rows, from, None)?;
        let gradients = backward.finish()?.into_iter().zip(touched).collect();
        Ok(ShardGradients { total, gradients, derivatives: Derivatives::none(&self.learning.loss) })
    }

    /// The weight of a vector's half squared norm that stands once in a batch of so many rows, where there is one.
    fn batch_l2(&self, rows: usize) -> Option<f32> {
        self.learning.optimizer.batch_l2().map(|weight| weight as f32 / rows as f32)
    }

    /// Which rows of what is scored have a gradient: of the negatives that a rule leaves aside, with derivatives of zero, none.
    fn touched(&self, rows: StepRows, from: &[Tensor], negatives: Option<&[f32]>) -> Result<Vec<Marks>> {
        let (batch, all) = (rows.batch.local, from.iter().map(|_| None));
        if self.learning.sampler.mixes() || !self.marks_rows {
            return Ok(all.collect());
        }
        let of_items = |negatives: &[f32]| {
            let (width, list) = (rows.ids.len() / batch.users.len(), batch.list());
            let drops = self.learning.narrows();
            let of_rows = rows.ids.chunks_exact(width).zip(negatives.chunks_exact(width - list));
            let ids = of_rows.flat_map(|(ids, negatives)| {
                let drawn = ids[list..].iter().zip(negatives).filter(move |(_, derivative)| !drops || **derivative != 0.0);
                ids[..list].iter().chain(drawn.map(|(id, _)| id)).copied()
            });
            Ok::<_, candle_core::Error>(marks(ids, from[1].dim(0)?))
        };
        let queries = if self.network.is_some() { batch.users } else { batch.queries };
        let tables = [Some(marks(queries.iter().copied(), from[0].dim(0)?)), negatives.map(of_items).transpose()?];
        Ok(tables.into_iter().chain(all.skip(2)).collect())
    }
}

/// The first `list` numbers of rows of `width`, and the others.
fn apart(rows: &[f32], width: usize, list: usize) -> [Vec<f32>; 2] {
    let of_rows = |from: usize, to: usize| rows.chunks_exact(width).flat_map(|row| &row[from..to]).copied().collect();
    [of_rows(0, list), of_rows(list, width)]
}

/// Rows of `list` numbers and the others.
fn together(positives: &[f32], negatives: &[f32], list: usize) -> Vec<f32> {
    let others = negatives.len() * list / positives.len();
    positives.chunks_exact(list).zip(negatives.chunks_exact(others)).flat_map(|(own, others)| own.iter().chain(others)).copied().collect()
}

/// Some rows of a batch.
fn part_of(batch: Batch, rows: std::ops::Range<usize>) -> Batch {
    let Batch { users, queries, positives } = batch;
    let list = batch.list();
    Batch { users: &users[rows.clone()], queries: &queries[rows.clone()], positives: &positives[rows.start * list..rows.end * list] }
}

/// The vectors of users and items, on the host.
fn to_host(from: &[Tensor]) -> Result<Tables> {
    let table = |tensor: &Tensor| -> Result<Matrix> {
        let (rows, dim) = tensor.dims2()?;
        Ok(Matrix { rows, dim, values: tensor.flatten_all()?.to_vec1()? })
    };
    Ok(Tables { users: table(&from[0])?, items: table(&from[1])? })
}
