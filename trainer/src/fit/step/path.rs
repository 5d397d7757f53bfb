//! Which way a training scores, chosen by its kind of step alone.

#[cfg(any(test, feature = "cuda"))]
use crate::device::{DeviceTraining, Setting};
#[cfg(any(test, feature = "cuda"))]
use crate::fit::step::on_device;
use crate::fit::{
    Device, Operations, Resources,
    step::{
        batches::Batches, candle::CandleSteps, dense_items::DenseItemStep, full_tables::FullTableStep, mixed::Mixed, pairs::PairRows,
        sparse::SparseStep,
    },
};
use crate::{Learning, Result, Trial, collective::Collective, has_kernels, validation::Validation};
use dataset::{Dataset, Interactions};
use embeddings::SparseSampled;
use evaluator::MetricAt;
use losses::{
    Loss,
    quantile::{QuantileSchedule, Quantiles},
};
use models::{Backbone, parameters::Parameters};
use optimizers::Stepper;

/// A step touches few rows of a table when this many times its touches do not exceed the rows.
const SPARSE: usize = 4;

/// How steps go over the rows of the tables.
#[derive(Clone, Copy)]
pub(crate) struct StepKind {
    /// Whether a step touches a small part of the users, and leaves the others behind.
    pub(crate) sparse_users: bool,
    /// The same of the items.
    pub(crate) sparse_items: bool,
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
    pub(crate) fn new(backbone: &Backbone, learning: &Learning, [users, items, pairs]: [usize; 3]) -> Self {
        let batch = (learning.training.batch_size as usize).min(pairs);
        let by_row = backbone.mean_of_layers().is_some_and(|mean| mean.layers == 0);
        let by_row = by_row && learning.loss.looks_at_scores_alone() && learning.loss.max_norm().is_none();
        let sparse = |touches: usize, rows: usize| by_row && !learning.sampler.needs_tables() && touches * SPARSE <= rows;
        let sampled = learning.candidates().is_some();
        let of_pairs = learning.loss.list().is_none();
        let sparse_items = learning.candidates().is_some_and(|negatives| of_pairs && sparse(batch * (1 + negatives), items));
        let narrows = learning.narrows();
        let mixes = learning.sampler.mixes();
        let has_network = backbone.has_network();
        Self { narrows, mixes, has_network, sparse_users: sampled && sparse(batch, users), sparse_items, by_row: by_row && !mixes, sampled }
    }

    /// The way without rows that are left behind: gradients of whole tables, or of layers where vectors are mixed.
    pub(crate) fn with_all_rows(self) -> Self {
        Self { sparse_users: false, sparse_items: false, by_row: false, ..self }
    }

    /// Whether a step draws from an item table most of whose rows it touches, and whose vectors are its rows.
    pub(crate) fn has_dense_items(self) -> bool {
        self.by_row && self.sampled && !self.sparse_items
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
    Device(Box<DeviceTraining>),
}

/// Whether candle's operations alone make the steps of a training: where they are asked for, and on a GPU that has no kernels for the trial.
pub(crate) fn by_candle(trial: &Trial, resources: &Resources) -> bool {
    resources.operations == Operations::Candle || resources.device != Device::Cpu && has_kernels(trial).is_err()
}

/// What the path of a training follows from.
pub(crate) struct PathInputs<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) learning: &'a Learning,
    pub(crate) dataset: &'a Dataset,
    pub(crate) batches: &'a Batches<'a>,
    pub(crate) kind: StepKind,
    /// Numbers of a vector.
    pub(crate) dim: usize,
}

/// The path of a training on its device, and the ranks, whose sums are made there.
///
/// # Errors
/// `Error::Impossible` when the trial cannot be trained there, and those of the device.
pub(crate) fn of(inputs: PathInputs<'_>, resources: &Resources, collective: Collective) -> Result<(StepPath, Collective)> {
    let PathInputs { trial, learning, dataset, batches, kind, dim } = inputs;
    if by_candle(trial, resources) {
        let (steps, collective) = CandleSteps::new(trial, learning, dataset, resources, collective)?;
        return Ok((StepPath::Candle(Box::new(steps)), collective));
    }
    #[cfg(any(test, feature = "cuda"))]
    if let Some(gpu) = on_device::gpu(resources.device, &collective)? {
        let collective = collective.on(&gpu, resources.ranks.limit)?;
        let sparse = [kind.sparse_users, kind.sparse_items];
        let ranks = collective.ranks() as usize;
        let setting = Setting { trial, learning, dataset, pool: batches.pool(), sparse, ranks };
        let training = DeviceTraining::new(gpu, &setting, &Stepper::new(&learning.optimizer, 0))?;
        return Ok((StepPath::Device(Box::new(training)), collective));
    }
    #[cfg(not(any(test, feature = "cuda")))]
    let _ = batches;
    let sizes = [dataset.users(), dataset.items(), dim];
    Ok((StepPath::new(kind, sizes, &learning.loss), collective))
}

impl StepPath {
    /// Whether a GPU's kernels make the steps, and the host waits for them.
    pub(crate) fn has_kernels(&self) -> bool {
        match self {
            #[cfg(any(test, feature = "cuda"))]
            Self::Device(_) => true,
            _ => false,
        }
    }

    /// Copies parameters and moments from a device to the host, where they are newer.
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

    /// Has a device take tables and moments from the host, if it has not yet.
    #[cfg_attr(not(any(test, feature = "cuda")), expect(unused_variables, reason = "a build without a device has them on the host"))]
    pub(crate) fn load(&mut self, parameters: &Parameters, stepper: &Stepper) -> Result<()> {
        match self {
            #[cfg(any(test, feature = "cuda"))]
            Self::Device(device) => device.begin(parameters, None, stepper),
            _ => Ok(()),
        }
    }

    /// Ranks the validation part by vectors that are on a device; `None` where they are on the host.
    #[cfg_attr(not(any(test, feature = "cuda")), expect(unused_variables, reason = "a build without a device has them on the host"))]
    pub(crate) fn validate(&mut self, dataset: &Dataset, select_by: MetricAt) -> Option<Result<Option<Validation>>> {
        match self {
            #[cfg(any(test, feature = "cuda"))]
            Self::Device(device) => Some(device.validate(dataset, select_by)),
            _ => None,
        }
    }

    /// Sets the quantiles between epochs from vectors that are on a device; `None` where they are on the host.
    #[cfg_attr(not(any(test, feature = "cuda")), expect(unused_variables, reason = "a build without a device has them on the host"))]
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
        if kind.sparse_items {
            return Self::Sparse(Box::new(SparseStep::new(SparseSampled::new(dim, loss.similarity()))));
        }
        if kind.mixes {
            return Self::Mixed(Box::default());
        }
        if kind.has_network {
            return Self::Pairs(Box::new(PairRows::new([users, items, dim])));
        }
        if kind.has_dense_items() {
            return Self::DenseItems(Box::new(DenseItemStep::new(dim, kind.narrows)));
        }
        Self::FullTables(Box::new(FullTableStep::new([users, items, dim], kind.narrows, loss)))
    }
}
