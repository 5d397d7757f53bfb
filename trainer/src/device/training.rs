//! A training on the device: what stays there from step to step, and one step.

use super::{
    draws::{self, starts},
    loss::Weigher,
    model::{Gradient, Table},
};
use crate::{
    Backbone, Learning, Result, Trial,
    collective::Collective,
    optimizer::{Moments, Stepper},
    sampler::{self, Purpose, Stream},
    tables::Tables,
};
use dataset::Dataset;
use evaluator::Similarity;
use gpu::{
    Buffer, Gpu,
    draws::{Columns, Draws, Keys},
    losses::{Pairs, Scored, Totals},
    propagation::Graph,
    scores,
    segments::{Segments, Terms},
    vectors::{self, Prepared},
};

/// Everything of a training that is on the device.
#[derive(Debug)]
pub(crate) struct Training {
    gpu: Gpu,
    seed: u64,
    /// Negatives of a positive.
    negatives: usize,
    weigher: Weigher,
    /// Users and items.
    tables: [Table; 2],
    graph: Option<Propagated>,
    pairs: Pairs,
    draws: Draws,
    quantiles: Option<Buffer<f32>>,
    batch: Batch,
    totals: Totals,
    /// Whether the tables have been taken from home, and whether those at home are still the same.
    is_loaded: bool,
    is_home: bool,
}

/// The vectors of a backbone that propagates.
#[derive(Debug)]
struct Propagated {
    graph: Graph,
    vectors: [Buffer<f32>; 2],
}

/// Buffers of a step.
#[derive(Debug)]
struct Batch {
    users: Buffer<u32>,
    /// `[B, 1 + N]`
    ids: Buffer<u32>,
    scores: Buffer<f32>,
    losses: Buffer<f32>,
    queries: Prepared,
    items: Prepared,
    /// `[B, dim]`, of the queries.
    gradients: Buffer<f32>,
    /// `[B]`
    totals: Buffer<f32>,
    /// `[B]`
    ones: Buffer<f32>,
    of_users: Segments,
    of_items: Segments,
}

/// Which rows of an epoch's order a step takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Counted from 1.
    pub(crate) epoch: u32,
    /// Counted from 1.
    pub(crate) step: u32,
    /// The first row, in the order of the epoch.
    pub(crate) first: usize,
    /// Rows of the whole batch.
    pub(crate) rows: usize,
}

impl Step {
    /// This rank's rows: the place of the first in the whole batch, and how many.
    fn part(self, collective: &Collective) -> (usize, usize) {
        let part = collective.part(self.rows);
        (part.start, part.len())
    }
}

impl Training {
    /// Of a trial that [fits](super::fits_gpu), with room for its largest batch.
    pub(crate) fn new(gpu: Gpu, trial: &Trial, learning: &Learning, dataset: &Dataset, sampler: &sampler::Prepared) -> Result<Self> {
        let (users, items, train) = (dataset.users(), dataset.items(), &dataset.train);
        let (dim, layers) = match &trial.backbone {
            Backbone::LightGcn(settings) => (settings.dim as usize, settings.layers as usize),
            Backbone::Mf(settings) => (settings.dim as usize, 0),
            Backbone::Popularity(_) | Backbone::Ease(_) => (0, 0), // they do not fit
        };
        let similarity = match learning.loss.similarity() {
            Similarity::Dot => vectors::Similarity::Dot,
            Similarity::Cosine => vectors::Similarity::Cosine,
            Similarity::NegativeSquaredDistance => vectors::Similarity::NegativeSquaredDistance,
        };
        let negatives = learning.candidates().unwrap_or_default();
        let rows = (learning.training.batch_size as usize).min(train.len());
        let pair_users: Vec<u32> = train.pairs().map(|(user, _)| user).collect();
        let tables = [Table::new(&gpu, users, dim)?, Table::new(&gpu, items, dim)?];
        let graph = (layers > 0).then(|| Propagated::new(&gpu, dataset, layers, dim)).transpose()?;
        Ok(Self {
            seed: learning.seed,
            negatives,
            weigher: Weigher::new(&learning.loss, items),
            tables,
            graph,
            pairs: Pairs::new(&gpu, &pair_users, train.items())?,
            draws: draws::draws(&gpu, train, items, sampler)?,
            quantiles: learning.loss.quantiles().map(|_| gpu.zeros(users)).transpose()?,
            batch: Batch::new(&gpu, [rows, 1 + negatives], [users, items, dim], similarity)?,
            totals: Totals::new(&gpu)?,
            is_loaded: false,
            is_home: true,
            gpu,
        })
    }

    /// Whether the tables at home are those on the device.
    pub(crate) fn is_home(&self) -> bool {
        self.is_home
    }

    /// Begins an epoch: takes tables and moments from home if it has not yet, and the users' quantiles.
    pub(crate) fn begin(&mut self, parameters: &Tables, moments: [&Moments; 2], quantiles: Option<&[f32]>) -> Result<()> {
        if !self.is_loaded {
            for ((table, values), moments) in self.tables.iter_mut().zip([&parameters.users, &parameters.items]).zip(moments) {
                table.load(&self.gpu, values, moments)?;
            }
            self.is_loaded = true;
        }
        match (&mut self.quantiles, quantiles) {
            (Some(on_device), Some(quantiles)) => Ok(self.gpu.write(on_device, quantiles)?),
            _ => Ok(()),
        }
    }

    /// Brings tables and moments home.
    pub(crate) fn store(&mut self, parameters: &mut Tables, moments: [&mut Moments; 2]) -> Result<()> {
        for ((table, values), moments) in self.tables.iter().zip([&mut parameters.users, &mut parameters.items]).zip(moments) {
            table.store(&self.gpu, values, moments)?;
        }
        self.is_home = true;
        Ok(())
    }

    /// The order of the pairs of an epoch.
    pub(crate) fn set_order(&mut self, order: &[u32]) -> Result<()> {
        Ok(self.pairs.set_order(&self.gpu, order)?)
    }

    /// Waits for the steps that were asked for. What was asked for with others is read only after it: they may be lost.
    pub(crate) fn finish(&self, collective: &Collective) -> Result<()> {
        collective.finish("the steps", &self.gpu)
    }

    /// The sum of the losses since it was last asked for, and the first step whose sum was no number.
    pub(crate) fn take_total(&mut self) -> Result<(f64, Option<u32>)> {
        Ok(self.totals.take(&self.gpu)?)
    }

    /// One step, of which this rank scores some rows: nothing of it is read back.
    pub(crate) fn step(&mut self, step: Step, stepper: &Stepper, collective: &Collective) -> Result<()> {
        let part = step.part(collective);
        self.is_home = false;
        if let Some(graph) = &mut self.graph {
            let [users, items] = &self.tables;
            let [of_users, of_items] = &mut graph.vectors;
            graph.graph.forward(&self.gpu, [&users.values, &items.values], None, [of_users, of_items], users.dim)?;
        }
        self.draw(step, part)?;
        self.score(step, part.1)?;
        self.gradients(part.1)?;
        for (table, what) in self.tables.iter_mut().zip(["the gradient of the users", "the gradient of the items"]) {
            table.gradient.add_up(&self.gpu, collective, what)?;
        }
        if let Some(graph) = &mut self.graph {
            let [users, items] = &mut self.tables;
            let dim = users.dim;
            let [users, items] = [&mut users.gradient, &mut items.gradient];
            let marks = [&mut users.touched, &mut items.touched];
            graph.graph.backward(&self.gpu, [&mut users.values, &mut items.values], marks, dim)?;
        }
        self.tables.iter_mut().try_for_each(|table| table.step(&self.gpu, stepper))
    }

    /// The batch's users, positives and negatives.
    fn draw(&mut self, step: Step, (first, rows): (usize, usize)) -> Result<()> {
        let Batch { users, ids, .. } = &mut self.batch;
        let width = 1 + self.negatives;
        self.pairs.take(&self.gpu, (step.first + first, rows), users, (ids, width))?;
        let key = Stream::key(self.seed, Purpose::Negatives, step.epoch);
        let keys = Keys { key, step: step.step, first_row: first, by_user: false };
        let columns = Columns { width, first: 1, count: self.negatives };
        Ok(self.draws.draw(&self.gpu, users, rows, keys, ids, columns)?)
    }

    /// The derivatives of the mean loss by the scores, in the place of the scores.
    fn score(&mut self, step: Step, rows: usize) -> Result<()> {
        let (gpu, width) = (&self.gpu, 1 + self.negatives);
        let [of_users, of_items] = vectors_of(&self.graph, &self.tables);
        let Batch { users, ids, scores, losses, queries, items, .. } = &mut self.batch;
        queries.choose(gpu, of_users, users, rows)?;
        items.prepare(gpu, of_items)?;
        let batch = scores::Rows { ids, rows, width };
        scores::score(gpu, queries.view(of_users), items.view(of_items), batch, scores)?;
        let scored = Scored { scores, rows, width, quantiles: self.quantiles.as_ref(), users };
        self.weigher.weigh(gpu, scored, 1.0 / step.rows as f32, losses)?;
        Ok(self.totals.add(gpu, losses, rows, step.step)?)
    }

    /// The gradients of the vectors.
    fn gradients(&mut self, rows: usize) -> Result<()> {
        let (gpu, width) = (&self.gpu, 1 + self.negatives);
        let Self { graph, tables, batch, .. } = self;
        let Batch { users, ids, scores, queries, items, gradients, totals, ones, of_users, of_items, .. } = batch;
        let [
            Table { values: users_now, gradient: of_user_table, dim, .. },
            Table { values: items_now, gradient: of_item_table, rows: all, .. },
        ] = tables;
        let vectors = graph.as_ref().map_or([&*users_now, &*items_now], |graph| graph.vectors.each_ref());
        let (queries, items) = (queries.view(vectors[0]), items.view(vectors[1]));

        scores::gather(gpu, items, scores::Rows { ids, rows, width }, scores, gradients, totals)?;
        queries.finish(gpu, gradients, totals, None, rows)?;
        of_users.sort(gpu, users, rows)?;
        of_users.sum(gpu, Terms { weights: ones, vectors: gradients, width: 1, dim: *dim }, of_user_table.sums())?;

        of_items.sort(gpu, ids, rows * width)?;
        of_items.sum(gpu, Terms { weights: scores, vectors: queries.vectors, width, dim: *dim }, of_item_table.sums())?;
        let Gradient { values, touched, totals, .. } = of_item_table;
        Ok(items.finish(gpu, values, totals, Some(touched), *all)?)
    }
}

/// The vectors of users and items: propagated, or the tables.
fn vectors_of<'a>(graph: &'a Option<Propagated>, [users, items]: &'a [Table; 2]) -> [&'a Buffer<f32>; 2] {
    graph.as_ref().map_or([&users.values, &items.values], |graph| graph.vectors.each_ref())
}

impl Propagated {
    fn new(gpu: &Gpu, dataset: &Dataset, layers: usize, dim: usize) -> Result<Self> {
        let (train, of_items) = (&dataset.train, dataset.train.transpose(dataset.items()));
        let graph = Graph::new(gpu, (&starts(train), train.items()), (&starts(&of_items), of_items.items()), layers)?;
        Ok(Self { graph, vectors: [gpu.zeros(dataset.users() * dim)?, gpu.zeros(dataset.items() * dim)?] })
    }
}

impl Batch {
    fn new(gpu: &Gpu, [rows, width]: [usize; 2], [users, items, dim]: [usize; 3], similarity: vectors::Similarity) -> Result<Self> {
        Ok(Self {
            users: gpu.zeros(rows)?,
            ids: gpu.zeros(rows * width)?,
            scores: gpu.zeros(rows * width)?,
            losses: gpu.zeros(rows)?,
            queries: Prepared::chosen(gpu, rows, dim, similarity)?,
            items: Prepared::whole(gpu, items, dim, similarity)?,
            gradients: gpu.zeros(rows * dim)?,
            totals: gpu.zeros(rows)?,
            ones: gpu.upload(&vec![1.0; rows])?,
            of_users: Segments::new(gpu, rows, users)?,
            of_items: Segments::new(gpu, rows * width, items)?,
        })
    }
}
