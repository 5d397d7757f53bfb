//! How this process fares, for Prometheus: `--metrics-address ADDRESS` serves it as a page (`serve`), which `page` writes in Prometheus's text format.
//!
//! A process tells which sweep it works on, and how long it has been waiting for the storage. One that trains tells its trials by state, and of each that it trains now how far it is; a sweep's driver tells its stages. What has
//! ended is counted and no longer named, so that the page stays small.

mod page;
mod serve;

pub use serve::serve;

use dataset::longest_operation;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

/// The process's own.
static METER: Meter = Meter(Mutex::new(State::new()));

/// What this process tells.
pub fn meter() -> &'static Meter {
    &METER
}

/// The state of a process, as its page has it.
#[derive(Debug, Default)]
pub struct Meter(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The name of the sweep that the process works on.
    sweep: Option<String>,
    /// Trials that the process is to train, or to find trained; in successive halving each counts once in every rung.
    trials: Option<usize>,
    /// Those of them that have ended, by how.
    ended: BTreeMap<&'static str, usize>,
    /// Those that train now, by their ids, with the time since 1970 at which each last told how far it is.
    running: BTreeMap<String, (Training, f64)>,
    /// The stages of a sweep on a cluster.
    stages: Vec<Stage>,
}

/// A trial that trains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Training {
    /// The method's label.
    pub method: String,
    /// The dataset's name.
    pub dataset: String,
    /// The validation metric.
    pub metric: String,
    /// Epochs done.
    pub epoch: u32,
    /// Epochs at most.
    pub epochs: u32,
    /// Mean loss of the last epoch.
    pub loss: Option<f64>,
    /// Pairs of the last epoch by its seconds.
    pub pairs_per_second: Option<f64>,
    /// Seconds that the other epochs will take, were all of them trained.
    pub left_seconds: Option<f64>,
    /// The last value of the validation metric.
    pub validation: Option<f64>,
}

/// A stage of a sweep on a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The sweep's name.
    pub sweep: String,
    /// The submission's hash.
    pub submission: String,
    /// `prepare`, `train`, `train-r0`, `evaluate`.
    pub stage: String,
    /// The state in a word.
    pub state: &'static str,
    /// The indexes of its Job, or Jobs, by state.
    pub indexes: [(&'static str, u32); 4],
}

impl State {
    const fn new() -> Self {
        Self { sweep: None, trials: None, ended: BTreeMap::new(), running: BTreeMap::new(), stages: Vec::new() }
    }
}

impl Meter {
    /// The process works on the sweep of this name.
    pub fn of_sweep(&self, name: &str) {
        self.state().sweep = Some(name.to_owned());
    }

    /// The process begins with so many trials.
    pub fn begin(&self, trials: usize) {
        let mut state = self.state();
        (state.trials, state.ended) = (Some(trials), BTreeMap::new());
    }

    /// A trial trains, and stands so.
    pub fn tell(&self, trial: &str, training: Training) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.state().running.insert(trial.to_owned(), (training, now.as_secs_f64()));
    }

    /// A trial trains no longer.
    pub fn rest(&self, trial: &str) {
        self.state().running.remove(trial);
    }

    /// A trial has ended so: `done`, `stopped`, `failed`.
    pub fn end(&self, how: &'static str) {
        *self.state().ended.entry(how).or_default() += 1;
    }

    /// The stages of a sweep stand so.
    pub fn stages(&self, stages: Vec<Stage>) {
        self.state().stages = stages;
    }

    /// The page.
    pub fn page(&self) -> String {
        page::write(&self.state(), longest_operation())
    }

    /// A holder of the lock that panicked has left nothing half done.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
