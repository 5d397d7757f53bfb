//! A training on the device: what stays there from step to step, and one step.

mod ahead;
mod between;

use super::{
    all_reduce::is_by_row,
    batch::{Batch, similarity_of},
    draws::{self, starts},
    gradient::{Exchange, UnderWay},
    loss::DeviceLoss,
    model::DeviceTable,
    optimizer,
    validation::Validator,
    whole::Whole,
};
use crate::{Learning, Result, Trial, collective::Collective};
use ahead::DrawnAhead;
use dataset::Dataset;
use gpu::{
    Buffer, Gpu,
    adam::Leaps,
    batches::{Pairs, Totals},
    draws::{Columns, Draws, Keys},
    marks,
    propagation::Graph,
};
use models::parameters::Parameters;
use optimizers::Stepper;
use streams::{Purpose, Stream};

/// What ranks exchange, of users and of items.
const GRADIENTS: [&str; 2] = ["the gradient of the users", "the gradient of the items"];

/// Steps after which rows that were left behind are brought up to date, if an epoch does not end sooner.
const LONGEST: usize = 1 << 13;

/// Everything of a training that is on the device.
#[derive(Debug)]
pub(crate) struct DeviceTraining {
    /// Before the memory that its stream uses: it waits for that when it goes.
    ahead: DrawnAhead,
    gpu: Gpu,
    seed: u64,
    /// Negatives of a positive.
    negatives: usize,
    loss: DeviceLoss,
    /// Users and items.
    tables: [DeviceTable; 2],
    /// Leaps of the optimizer, where rows of a table may be left behind.
    leaps: Option<Leaps>,
    /// Exchanges of the tables whose rows several ranks exchange one by one.
    exchange: [Option<Exchange>; 2],
    graph: Option<Propagated>,
    pairs: Pairs,
    draws: Draws,
    quantiles: Option<Buffer<f32>>,
    batch: Batch,
    totals: Totals,
    /// Room for scores of all users and items.
    whole: Whole,
    validator: Option<Validator>,
    /// Whether the tables have been taken from the host, and whether those on the host are still the same.
    is_loaded: bool,
    is_on_host: bool,
}

/// The vectors of a backbone that propagates.
#[derive(Debug)]
struct Propagated {
    graph: Graph,
    vectors: [Buffer<f32>; 2],
}

/// Which rows of an epoch's order a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The epoch, counted from 1.
    pub(crate) epoch: u32,
    /// The step, counted from 1.
    pub(crate) step: u32,
    /// The first row, in the order of the epoch.
    pub(crate) first: usize,
    /// Rows of the whole batch.
    pub(crate) rows: usize,
}

/// What a training needs to know before it begins.
pub(crate) struct Setting<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) learning: &'a Learning,
    pub(crate) dataset: &'a Dataset,
    pub(crate) pool: &'a samplers::Prepared<'a>,
    /// Whether a step touches few of the users, and of the items.
    pub(crate) sparse: [bool; 2],
    /// Ranks that train together.
    pub(crate) ranks: usize,
}

impl DeviceTraining {
    /// Puts a trial that [has kernels](super::has_kernels) on the device, with room for its largest batch.
    pub(crate) fn new(gpu: Gpu, setting: &Setting, stepper: &Stepper) -> Result<Self> {
        let Setting { trial, learning, dataset, pool, sparse, ranks } = *setting;
        let (sizes, train) = ([dataset.users(), dataset.items()], &dataset.train);
        let (dim, layers) = trial.backbone.mean_of_layers().map_or((0, 0), |mean| (mean.dim as usize, mean.layers as usize)); // others do not fit
        let similarity = similarity_of(learning.loss.similarity());
        let negatives = learning.candidates().unwrap_or_default();
        let rows = (learning.training.batch_size as usize).min(train.len()).div_ceil(ranks); // of a batch, here
        let leaves = sparse.map(|sparse| sparse && stepper.may_leave());
        let table = |side: usize| DeviceTable::new(&gpu, sizes[side], dim, leaves[side]);
        let leaps = leaves.contains(&true).then(|| Leaps::new(&gpu, stepper.epsilon(), &stepper.decays(LONGEST))).transpose()?;
        let touches = [rows, rows * (1 + negatives)];
        let exchange = |side: usize| {
            let (rows, room) = (sizes[side], touches[side].min(sizes[side]));
            (ranks > 1 && (is_by_row(ranks, room, [rows, dim]) || leaves[side]))
                .then(|| Exchange::new(&gpu, [rows, dim], room, ranks))
                .transpose()
        };
        let pair_users: Vec<u32> = train.pairs().map(|(user, _)| user).collect();
        Ok(Self {
            seed: learning.seed,
            negatives,
            loss: DeviceLoss::new(&learning.loss, dataset.items()),
            tables: [table(0)?, table(1)?],
            leaps,
            exchange: [exchange(0)?, exchange(1)?],
            graph: (layers > 0).then(|| Propagated::new(&gpu, dataset, layers, dim)).transpose()?,
            pairs: Pairs::new(&gpu, &pair_users, train.items())?,
            draws: draws::draws(&gpu, train, dataset.items(), pool)?,
            quantiles: learning.loss.quantiles().map(|_| gpu.zeros(sizes[0])).transpose()?,
            ahead: DrawnAhead::new(&gpu, [rows, 1 + negatives], sizes)?,
            batch: Batch::new(&gpu, [rows, 1 + negatives], [sizes[1], dim], similarity)?,
            totals: Totals::new(&gpu)?,
            whole: Whole::new(&gpu, sizes, dim, similarity)?,
            validator: Validator::new(&gpu, dataset)?,
            is_loaded: false,
            is_on_host: true,
            gpu,
        })
    }

    /// Whether the tables on the host are those on the device.
    pub(crate) fn is_on_host(&self) -> bool {
        self.is_on_host
    }

    /// Whether a state that is taken from the host may have rows that were left behind so many steps ago.
    pub(crate) fn takes(&self, steps_behind: u64) -> bool {
        self.is_loaded || steps_behind < LONGEST as u64
    }

    /// Begins an epoch: takes tables and moments from the host if it has not yet, and the users' quantiles.
    pub(crate) fn begin(&mut self, parameters: &Parameters, quantiles: Option<&[f32]>, stepper: &Stepper) -> Result<()> {
        if !self.is_loaded {
            for (table, parameter) in self.tables.iter_mut().zip([&parameters.users, &parameters.items]) {
                table.load(&self.gpu, parameter)?;
            }
            if let Some(leaps) = &mut self.leaps {
                leaps.resume(&self.gpu, &optimizer::leaps(&stepper.leaps_by_place()))?;
            }
            self.is_loaded = true;
        }
        match (&mut self.quantiles, quantiles) {
            (Some(on_device), Some(quantiles)) => Ok(self.gpu.write(on_device, quantiles)?),
            _ => Ok(()),
        }
    }

    /// Copies tables and moments to the host, as they are.
    pub(crate) fn store(&mut self, parameters: &mut Parameters) -> Result<()> {
        for (table, parameter) in self.tables.iter().zip([&mut parameters.users, &mut parameters.items]) {
            table.store(&self.gpu, parameter)?;
        }
        self.is_on_host = true;
        Ok(())
    }

    /// The order of the pairs of an epoch.
    pub(crate) fn set_order(&mut self, order: &[u32]) -> Result<()> {
        Ok(self.pairs.set_order(&self.gpu, order)?)
    }

    /// Steps after which several ranks wait for their devices and ask what is due.
    pub(crate) fn steps_together(&self) -> u32 {
        self.loss.steps_ahead()
    }

    /// Waits for the steps that were asked for. What was asked for with others is read only after it: they may be lost.
    pub(crate) fn finish(&self, collective: &Collective) -> Result<()> {
        collective.finish("the steps", &self.gpu)
    }

    /// The sum of the losses since it was last asked for, and the first step whose sum was no number.
    pub(crate) fn take_total(&mut self) -> Result<(f64, Option<u32>)> {
        Ok(self.totals.take(&self.gpu)?)
    }

    /// One step, of which this rank scores some rows: nothing of it is read back. The rows of the next step of the epoch are drawn meanwhile.
    pub(crate) fn step(&mut self, step: Step, next: Option<Step>, stepper: &Stepper, collective: &Collective) -> Result<()> {
        self.is_on_host = false;
        let rows = collective.part(step.rows).len();
        let Self { gpu, ahead, pairs, draws, seed, negatives, .. } = self;
        ahead.advance(gpu, step, next, |stream, step, ids| {
            let part = collective.part(step.rows);
            pairs.take(stream, step.first + part.start, part.len(), &mut ids.users, &mut ids.items, ids.width)?;
            let key = Stream::key(*seed, Purpose::Negatives, step.epoch);
            let keys = Keys { key, step: step.step, first_row: part.start, by_user: false };
            let columns = Columns { width: ids.width, first: 1, count: *negatives };
            draws.draw(stream, &ids.users, part.len(), keys, &mut ids.items, columns)?;
            ids.sort(stream, part.len())
        })?;
        self.look()?;
        self.encode(true)?;
        let (vectors, ids) = (vectors_of(&self.graph, &self.tables), self.ahead.ids());
        self.batch.score(&self.gpu, vectors, ids, rows)?;
        self.batch.score_gradients(&self.gpu, &self.loss, self.quantiles.as_ref(), ids, rows, 1.0 / step.rows as f32)?;
        self.totals.add(&self.gpu, &self.batch.losses, rows, step.step)?;
        self.move_tables(rows, stepper, collective)
    }

    /// Makes the vectors that scores are made of: of all rows, or of those that the batch looks at.
    fn encode(&mut self, of_batch: bool) -> Result<()> {
        let Self { gpu, tables: [users, items], graph, ahead, .. } = self;
        let Some(Propagated { graph, vectors: [of_users, of_items] }) = graph else { return Ok(()) };
        let wanted = if of_batch {
            marks::of_rows(gpu, ahead.ids().touched(0), &mut users.gradient.touched)?;
            marks::of_rows(gpu, ahead.ids().touched(1), &mut items.gradient.touched)?;
            Some([&users.gradient.touched, &items.gradient.touched])
        } else {
            None
        };
        Ok(graph.forward(gpu, [&users.values, &items.values], wanted, [of_users, of_items], users.gradient.dim)?)
    }

    /// Brings the rows that the batch looks at up to date.
    fn look(&mut self) -> Result<()> {
        let Self { gpu, tables, leaps, ahead, .. } = self;
        let Some(leaps) = leaps else { return Ok(()) };
        tables.iter_mut().enumerate().try_for_each(|(side, table)| table.look_at(gpu, leaps, ahead.ids().touched(side)))
    }

    /// Moves the tables by the gradients of the vectors. The gradients of each table are given to the other ranks as soon as they are there, and
    /// taken from them when they are needed: what is computed in between is computed while they travel.
    fn move_tables(&mut self, rows: usize, stepper: &Stepper, collective: &Collective) -> Result<()> {
        let users = self.gradient_of(0, rows).and_then(|()| self.give(0, collective))?;
        let items = self.gradient_of(1, rows).and_then(|()| self.give(1, collective))?;
        if self.graph.is_none() {
            self.take(0, collective, users)?;
            self.step_table(0, stepper)?;
            self.take(1, collective, items)?;
            return self.step_table(1, stepper);
        }
        self.take(0, collective, users)?;
        self.take(1, collective, items)?;
        self.backward()?;
        self.step_table(0, stepper)?;
        self.step_table(1, stepper)
    }

    /// The gradient of the vectors of users or of items, of this rank's rows.
    fn gradient_of(&mut self, side: usize, rows: usize) -> Result<()> {
        let Self { gpu, tables: [users, items], graph, batch, ahead, .. } = self;
        let ids = ahead.ids_mut();
        let vectors = graph.as_ref().map_or([&users.values, &items.values], |graph| graph.vectors.each_ref());
        match side {
            0 => batch.user_gradients(gpu, vectors, ids, rows, &mut users.gradient),
            _ => batch.item_gradients(gpu, vectors, ids, &mut items.gradient),
        }
    }

    /// Begins to add up the gradients of all ranks, where there are several.
    fn give(&mut self, side: usize, collective: &Collective) -> Result<Option<UnderWay>> {
        if collective.ranks() == 1 {
            return Ok(None);
        }
        let Self { gpu, tables, exchange, ahead, .. } = self;
        let gradient = &mut tables[side].gradient;
        gradient.give(gpu, collective, GRADIENTS[side], ahead.ids().touched(side), exchange[side].as_mut()).map(Some)
    }

    /// Ends it.
    fn take(&mut self, side: usize, collective: &Collective, under_way: Option<UnderWay>) -> Result<()> {
        let Self { gpu, tables, exchange, .. } = self;
        let Some(under_way) = under_way else { return Ok(()) };
        tables[side].gradient.take(gpu, collective, GRADIENTS[side], under_way, exchange[side].as_mut())
    }

    /// Gradients of the vectors to those of the tables.
    fn backward(&mut self) -> Result<()> {
        let Self { gpu, tables, graph, .. } = self;
        let Some(Propagated { graph, .. }) = graph else { return Ok(()) };
        let [users, items] = tables.each_mut().map(|table| &mut table.gradient);
        let marks = [&mut users.touched, &mut items.touched];
        Ok(graph.backward(gpu, [users.values.get_mut(), items.values.get_mut()], marks, users.dim)?)
    }

    fn step_table(&mut self, side: usize, stepper: &Stepper) -> Result<()> {
        let Self { gpu, tables, leaps, ahead, exchange, .. } = self;
        let touched = exchange[side].as_ref().map_or_else(|| ahead.ids().touched(side), Exchange::touched);
        let listed = leaps.as_ref().filter(|_| stepper.leaves()).map(|leaps| (leaps, touched));
        tables[side].step(gpu, stepper, listed)
    }

    /// The optimizer has finished the step. Returns whether all rows are now to be brought up to date.
    pub(crate) fn finish_step(&mut self, stepper: &Stepper) -> Result<bool> {
        let Some(leaps) = &mut self.leaps else { return Ok(false) };
        match optimizer::leaps(&stepper.recent_leaps()) {
            recent if recent.len() > 1 => leaps.advance(&self.gpu, &recent)?,
            _ => leaps.restart(), // every row has moved
        }
        Ok(leaps.room() == 0)
    }

    /// Brings all rows up to date.
    pub(crate) fn catch_up(&mut self, stepper: &mut Stepper) -> Result<()> {
        let Self { gpu, tables, leaps, .. } = self;
        if let Some(leaps) = leaps {
            tables.iter_mut().try_for_each(|table| table.catch_up(gpu, leaps))?;
            leaps.restart();
            self.is_on_host = false;
        }
        stepper.caught_up_there();
        Ok(())
    }
}

/// The vectors of users and items: propagated, or the tables.
fn vectors_of<'a>(graph: &'a Option<Propagated>, [users, items]: &'a [DeviceTable; 2]) -> [&'a Buffer<f32>; 2] {
    graph.as_ref().map_or([&users.values, &items.values], |graph| graph.vectors.each_ref())
}

impl Propagated {
    fn new(gpu: &Gpu, dataset: &Dataset, layers: usize, dim: usize) -> Result<Self> {
        let (train, of_items) = (&dataset.train, dataset.train.transpose(dataset.items()));
        let graph = Graph::new(gpu, (&starts(train), train.items()), (&starts(&of_items), of_items.items()), layers)?;
        Ok(Self { graph, vectors: [gpu.zeros(dataset.users() * dim)?, gpu.zeros(dataset.items() * dim)?] })
    }
}
