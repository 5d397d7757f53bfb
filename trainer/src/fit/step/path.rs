//! Which way a training scores, chosen by its kind of step alone.

#[cfg(any(test, feature = "cuda"))]
use crate::device::Setting;
#[cfg(any(test, feature = "cuda"))]
use crate::fit::on_device;
use crate::fit::{
    Device, Operations, Resources,
    step::auxiliary_inputs::AuxiliaryInputs,
    step::{batches::Batches, candle::CandleSteps, dense_items::DenseItemStep, mixed::Mixed, pairs::PairRows, sparse::SparseStep},
};
use crate::{Learning, Result, Trial, collective::Collective, has_kernels, validation::Validation};
use dataset::{Dataset, Interactions};
use embeddings::{Catalogue, RowGradients, Sampled, SparseSampled};
use evaluator::MetricAt;
use losses::{
    Loss,
    quantile::{QuantileSchedule, Quantiles},
};
use models::{Backbone, parameters::Parameters};
use optimizers::Stepper;

/// A step touches few rows of a table when this many times its touches do not exceed the rows.
const FEW: usize = 4;

/// Which of the tables have many rows beside those that a step touches.
#[derive(Clone, Copy)]
pub(crate) struct StepKind {
    pub(crate) few_users: bool,
    pub(crate) few_items: bool,
    by_row: bool,
    sampled: bool,
    /// Whether the sampler leaves some of its candidates aside.
    narrows: bool,
    /// Whether the sampler mixes vectors.
    mixes: bool,
    /// Whether a network scores pairs.
    has_network: bool,
}

impl StepKind {
    /// Finds the kind of steps from the numbers of users, items and pairs. Steps go by row where a vector is its own row of a table, the loss is one
    /// of rows too, and leaves them as long as they are.
    pub(crate) fn new(backbone: &Backbone, learning: &Learning, (users, items, pairs): (usize, usize, usize)) -> Self {
        let batch = (learning.training.batch_size as usize).min(pairs);
        let by_row = backbone.mean_of_layers().is_some_and(|mean| mean.layers == 0);
        let by_row = by_row && learning.loss.is_by_row() && learning.loss.max_norm().is_none();
        let few = |touches: usize, rows: usize| by_row && !learning.sampler.needs_tables() && touches * FEW <= rows;
        let sampled = learning.candidates().is_some();
        let of_pairs = learning.loss.list().is_none();
        let few_items = learning.candidates().is_some_and(|negatives| of_pairs && few(batch * (1 + negatives), items));
        let narrows = learning.candidates() > learning.negatives();
        let mixes = learning.sampler.mixes();
        let has_network = backbone.has_network();
        Self { narrows, mixes, has_network, few_users: sampled && few(batch, users), few_items, by_row: by_row && !mixes, sampled }
    }

    /// The way without rows that are left behind: gradients of whole tables, or of layers where vectors are mixed.
    pub(crate) fn with_all_rows(self) -> Self {
        Self { few_users: false, few_items: false, by_row: false, ..self }
    }

    /// Whether a step draws from an item table most of whose rows it touches, and whose vectors are its rows.
    pub(crate) fn many_items(self) -> bool {
        self.by_row && self.sampled && !self.few_items
    }
}

/// The buffers of each way.
pub(crate) enum StepPath {
    /// The rows that a step touches.
    Sparse(Box<SparseStep>),
    /// The users that a step touches, and all items.
    DenseItems(Box<DenseItemStep>),
    /// Gradients of whole tables, users and items.
    FullTables(Box<FullTableStep>),
    /// Negatives that are made of the vectors of all layers.
    Mixed(Box<Mixed>),
    /// Pairs that a network scores.
    Pairs(Box<PairRows>),
    /// candle's operations alone.
    Candle(Box<CandleSteps>),
    /// A GPU.
    #[cfg(any(test, feature = "cuda"))]
    Device(Box<crate::device::Training>),
}

pub(crate) struct FullTableStep {
    pub(crate) users: RowGradients,
    pub(crate) items: RowGradients,
    pub(crate) sampled: Sampled,
    pub(crate) catalogue: Catalogue,
    pub(crate) auxiliary: AuxiliaryInputs,
    /// The weight decay of each row of users and of items, where it is one of the batch's rows alone; else empty.
    pub(crate) decays: [Vec<f32>; 2],
}

/// Whether candle's operations alone make the steps of a training: where they are asked for, and on a GPU that has no kernels for the trial.
pub(crate) fn by_candle(trial: &Trial, resources: &Resources) -> bool {
    resources.operations == Operations::Candle || resources.device != Device::Cpu && has_kernels(trial).is_err()
}

/// The way of a training on its device, and the ranks, who meet there.
///
/// # Errors
/// `Error::Impossible` when the trial cannot be trained there, and those of the device.
pub(crate) fn of(
    (trial, learning): (&Trial, &Learning),
    dataset: &Dataset,
    (resources, collective): (&Resources, Collective),
    (kind, dim): (StepKind, usize),
    batches: &Batches,
) -> Result<(StepPath, Collective)> {
    if by_candle(trial, resources) {
        let (steps, collective) = CandleSteps::new(trial, learning, dataset, (resources, collective))?;
        return Ok((StepPath::Candle(Box::new(steps)), collective));
    }
    #[cfg(any(test, feature = "cuda"))]
    if let Some(gpu) = on_device::gpu(resources.device, &collective)? {
        let collective = collective.on(&gpu, resources.ranks.limit)?;
        let few = [kind.few_users, kind.few_items];
        let ranks = collective.ranks() as usize;
        let path = on_device::path(gpu, &Setting { trial, learning, dataset, pool: batches.pool(), few, ranks })?;
        return Ok((path, collective));
    }
    #[cfg(not(any(test, feature = "cuda")))]
    let _ = batches;
    let sizes = [dataset.users(), dataset.items(), dim];
    Ok((StepPath::new(kind, sizes, &learning.loss), collective))
}

impl StepPath {
    /// Brings parameters and moments home from a device, where they are newer.
    pub(crate) fn sync_to_host(&mut self, parameters: &mut Parameters) -> Result<()> {
        match self {
            Self::Candle(steps) => steps.store(parameters),
            #[cfg(any(test, feature = "cuda"))]
            Self::Device(device) if !device.is_on_host() => device.store(parameters),
            _ => Ok(()),
        }
    }

    /// Whether the tables are on a device, which brings their rows up to date itself.
    pub(crate) fn is_on_device(&self) -> bool {
        match self {
            #[cfg(any(test, feature = "cuda"))]
            Self::Device(_) => true,
            _ => false,
        }
    }

    /// Has a device take tables and moments from home, if it has not yet.
    #[cfg_attr(not(any(test, feature = "cuda")), expect(unused_variables, reason = "a build without a device has them at home"))]
    pub(crate) fn load(&mut self, parameters: &Parameters, stepper: &Stepper) -> Result<()> {
        match self {
            #[cfg(any(test, feature = "cuda"))]
            Self::Device(device) => device.begin(parameters, None, stepper),
            _ => Ok(()),
        }
    }

    /// Ranks the validation part by vectors that are on a device; `None` where they are at home.
    #[cfg_attr(not(any(test, feature = "cuda")), expect(unused_variables, reason = "a build without a device has them at home"))]
    pub(crate) fn validate(&mut self, dataset: &Dataset, select_by: MetricAt) -> Option<Result<Option<Validation>>> {
        match self {
            #[cfg(any(test, feature = "cuda"))]
            Self::Device(device) => Some(device.validate(dataset, select_by)),
            _ => None,
        }
    }

    /// Sets the quantiles between epochs from vectors that are on a device; `None` where they are at home.
    #[cfg_attr(not(any(test, feature = "cuda")), expect(unused_variables, reason = "a build without a device has them at home"))]
    pub(crate) fn update_quantiles(
        &mut self,
        quantiles: &mut Quantiles,
        schedule: QuantileSchedule,
        train: &Interactions,
        epoch: u32,
    ) -> Option<Result<()>> {
        match self {
            #[cfg(any(test, feature = "cuda"))]
            Self::Device(device) => Some(device.update_quantiles(quantiles, schedule, train, epoch)),
            _ => None,
        }
    }

    /// Makes the path of steps for the vectors of so many users and items, of `dim` numbers each.
    pub(crate) fn new(kind: StepKind, [users, items, dim]: [usize; 3], loss: &Loss) -> Self {
        if kind.few_items {
            return Self::Sparse(Box::new(SparseStep::new(SparseSampled::new(dim, loss.similarity()))));
        }
        if kind.mixes {
            return Self::Mixed(Box::default());
        }
        if kind.has_network {
            return Self::Pairs(Box::new(PairRows::new([users, items, dim])));
        }
        if kind.many_items() {
            return Self::DenseItems(Box::new(DenseItemStep::new(dim, kind.narrows)));
        }
        let (users, items) = (RowGradients::new(users, dim), RowGradients::new(items, dim));
        let (sampled, catalogue, auxiliary) = (Sampled::new(kind.narrows), Catalogue::default(), AuxiliaryInputs::new(loss));
        Self::FullTables(Box::new(FullTableStep { users, items, sampled, catalogue, auxiliary, decays: Default::default() }))
    }
}
