//! How a sweep fares: its stages by the cluster, its trials by the storage and by their pods.
//!
//! Each side is shown as far as it can be reached, and why something does not move. What a trial has stored is the truth about what is done and what failed; the cluster
//! says what runs, and why something does not.

mod pods;
mod show;
mod stored;
mod trial;

pub use pods::{PodStatus, Which, whose};
pub use show::{show, without_model};
pub use stored::{StoredPlan, stored};
pub use trial::{TrialState, TrialStatus};

use crate::{
    chain::chain,
    file::{self, Named},
    mark,
    plan::{PlannedRef, Titles},
    runner::{Decisions, Machine, Progress, Session},
    usage::Usage,
};
use anyhow::{Context, Result, anyhow};
use cluster::client::{ClientError, Cluster, PodView, Reason, Seen, StageView, status};
use dataset::block_on;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// A sweep as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct SweepStatus {
    /// The sweep's name.
    pub sweep: String,
    /// The storage, where it can be read.
    pub storage: Option<String>,
    /// The newest submission; none where the cluster has none, or cannot be asked.
    pub cluster: Option<OnCluster>,
    /// Whether the cluster was asked and did not answer, so that nothing is known of it.
    #[serde(skip)]
    pub is_unanswered: bool,
    /// Notes on what could not be found out, and what stands in the way.
    pub notes: Vec<String>,
    /// How many trials are in each state.
    pub counts: BTreeMap<TrialState, usize>,
    /// Every trial, in the plan's order; none where the storage cannot be read.
    pub trials: Vec<TrialStatus>,
    /// Where the storage cannot be read, the last pod of each trial that the cluster has.
    pub pods: Vec<PodStatus>,
}

/// A submission as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct OnCluster {
    /// The namespace.
    pub namespace: String,
    /// The submission's hash.
    pub submission: String,
    /// Whether the driver's Job is over.
    pub ended: bool,
    /// The driver and the stages.
    pub stages: Vec<StageStatus>,
}

/// A stage as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct StageStatus {
    /// `driver`, `prepare`, `train`, `train-r0`, `evaluate`.
    pub stage: String,
    /// The state in a few words.
    pub state: String,
    /// Whether the state is a failure.
    #[serde(skip)]
    pub failed: bool,
    /// When its pods could first run, in RFC 3339.
    pub began: Option<String>,
    /// When it was over.
    pub ended: Option<String>,
    /// Why it does not move, and what to do.
    pub reasons: Vec<Reason>,
}

impl SweepStatus {
    fn of(
        named: &Named,
        seen: Option<&Seen>,
        namespace: &str,
        notes: Vec<String>,
        storage: Option<String>,
        trials: Vec<TrialStatus>,
    ) -> Self {
        let pods = if storage.is_some() { Vec::new() } else { pods::alone(seen) };
        let cluster = seen.map(|seen| OnCluster::of(seen, namespace));
        let mut counts: BTreeMap<TrialState, usize> = BTreeMap::new();
        trials.iter().for_each(|trial| *counts.entry(trial.state).or_default() += 1);
        Self { sweep: named.name.clone(), storage, cluster, is_unanswered: false, notes, counts, trials, pods }
    }

    /// Whether nothing will change any more.
    pub fn has_ended(&self) -> bool {
        let has_ended =
            |state: TrialState| matches!(state, TrialState::Done | TrialState::Stopped | TrialState::Skipped | TrialState::Failed);
        let all_trials = || self.trials.iter().all(|trial| has_ended(trial.state));
        self.cluster.as_ref().map_or_else(all_trials, |cluster| cluster.ended)
    }
}

/// How a sweep's storage is looked at.
#[derive(Clone, Debug)]
pub struct StorageAccess<'a> {
    /// The storage, in place of the sweep file's.
    pub storage: Option<&'a str>,
    /// The part of the machine that the work may use.
    pub machine: Machine,
}

/// The sweep as it is now.
///
/// # Errors
/// A bad sweep file, or a storage that fails while the cluster does not know the sweep either. Where one of both can be asked, the other is a
/// note, but for a machine on which nothing names a cluster; by a name alone, without a file, the cluster alone is asked.
pub fn find(named: &Named, way: &StorageAccess<'_>, cluster: &Result<Cluster, ClientError>) -> Result<SweepStatus> {
    let mut notes = Vec::new();
    let asked = cluster.as_ref().map_err(|error| anyhow!(error.to_string()));
    let seen = asked.and_then(|cluster| Ok(block_on(status(cluster, &named.name))?));
    let is_unanswered = seen.is_err();
    let Some(path) = &named.file else { return by_name(named, seen, cluster) };
    let has_none = matches!(cluster, Err(ClientError::NoCluster { is_named: false, .. }));
    let seen = seen.unwrap_or_else(|error| {
        if !has_none {
            notes.push(format!("{error}. What follows is known from the storage alone"));
        }
        None
    });
    if let (None, Ok(cluster), true) = (&seen, cluster, notes.is_empty()) {
        notes.push(format!("the sweep is not on the cluster, in namespace {}", cluster.namespace()));
    }
    let stored = open(path, way, seen.as_ref(), &mut notes).and_then(|Opened { session, is_submitted }| {
        let trials = trials(&session, seen.as_ref().filter(|_| is_submitted))?;
        Ok((session.storage().to_string(), trials, mark::is_marked(session.storage())?))
    });
    if let Ok((storage, _, false)) = &stored {
        notes.push(format!("nothing of ranksweep is in {storage} yet; where the sweep has run elsewhere, name that by --storage"));
    }
    let (storage, trials) = match (stored, &seen) {
        (Ok((storage, trials, _)), _) => (Some(storage), trials),
        (Err(error), Some(_)) if !error.is::<file::Error>() => {
            notes.push(format!("{}. What follows is known from the cluster alone", chain(&error)));
            (None, Vec::new())
        }
        (Err(error), _) => return Err(error),
    };
    let status = SweepStatus::of(named, seen.as_ref(), namespace(cluster), notes, storage, trials);
    Ok(SweepStatus { is_unanswered, ..status })
}

/// The status by the cluster alone.
fn by_name(named: &Named, seen: Result<Option<Seen>>, cluster: &Result<Cluster, ClientError>) -> Result<SweepStatus> {
    let namespace = namespace(cluster);
    let list = format!("`ranksweep list --namespace {namespace}` shows which are");
    let missing = || format!("sweep `{}` is not on the cluster, in namespace {namespace}; {list}", named.name);
    let seen = seen?.with_context(missing)?;
    let notes = vec!["by its name alone, a sweep is known from the cluster: with its file, `status` reads the storage too".to_owned()];
    Ok(SweepStatus::of(named, Some(&seen), namespace, notes, None, Vec::new()))
}

fn namespace(cluster: &Result<Cluster, ClientError>) -> &str {
    cluster.as_ref().map_or("", |cluster| cluster.namespace())
}

/// A sweep's session.
struct Opened {
    session: Session,
    /// Whether its plan is the one that was submitted, so that the indexes of pods are places in it.
    is_submitted: bool,
}

/// With the submitted plan the sources need not be read. A sweep file that was changed since has another.
fn open(path: &str, way: &StorageAccess<'_>, seen: Option<&Seen>, notes: &mut Vec<String>) -> Result<Opened> {
    let open = |plan, is_submitted| {
        let session = Session::planned(path, way.storage, plan, way.machine.clone(), Progress::lines())?;
        Ok(Opened { session, is_submitted })
    };
    match seen.and_then(|seen| seen.plan.as_deref()) {
        None => open(None, true),
        plan => open(plan, true).or_else(|error: anyhow::Error| {
            if !error.is::<Usage>() {
                return Err(error);
            }
            notes.push(format!("{}. The trials are those of the sweep file as it is now, by what is stored of them", chain(&error)));
            open(None, false)
        }),
    }
}

/// Every trial, asked for side by side.
fn trials(session: &Session, seen: Option<&Seen>) -> Result<Vec<TrialStatus>> {
    let mut decisions = Decisions::of(session)?;
    let pods = pods::of_trials(&mut decisions, seen)?;
    let left_out = decisions.left_out(pods::begun(seen))?;
    let (titles, planned) = (Titles::new(&session.plan), session.plan.trials().collect::<Vec<_>>());
    let status = |(index, planned): (usize, PlannedRef<'_>)| {
        let id = planned.2.id.as_str();
        let known = trial::Known { title: titles.of(planned.0), left_out: left_out.get(id), pod: pods.get(id).copied() };
        trial::status(session, index, planned, &known)
    };
    let mut trials: Vec<TrialStatus> = planned.into_par_iter().enumerate().map(status).collect::<Result<_>>()?;
    as_many_as_run_at_once(&mut trials, &pods, seen);
    Ok(trials)
}

/// Lets as many trials of each pod stand as running as share a GPU, the first that have not ended; the others wait.
fn as_many_as_run_at_once(trials: &mut [TrialStatus], pods: &HashMap<String, &PodView>, seen: Option<&Seen>) {
    let jobs = || seen.into_iter().flat_map(|seen| &seen.stages);
    let at_once = |pod: &PodView| jobs().find(|job| job.job == pod.job).map_or(1, |job| job.trials_per_gpu);
    let mut busy: HashMap<&str, u32> = HashMap::new();
    for trial in trials.iter_mut().filter(|trial| trial.state == TrialState::Running) {
        let Some(&pod) = pods.get(&trial.trial) else { continue };
        let running = busy.entry(&pod.name).or_default();
        *running += 1;
        if *running > at_once(pod) {
            (trial.state, trial.why) = (TrialState::Waiting, Some("its pod trains others before it".to_owned()));
        }
    }
}

impl OnCluster {
    fn of(seen: &Seen, namespace: &str) -> Self {
        let status = |stage: &StageView, name: &str| StageStatus {
            stage: name.to_owned(),
            state: stage.to_string(),
            failed: stage.has_failed(),
            began: stage.began.clone(),
            ended: stage.ended.clone(),
            reasons: stage.reasons.clone(),
        };
        let stages = seen.stages.iter().map(|stage| status(stage, &stage.stage));
        Self {
            namespace: namespace.to_owned(),
            submission: seen.submission.clone(),
            ended: seen.driver.ended.is_some(),
            stages: [status(&seen.driver, "driver")].into_iter().chain(stages).collect(),
        }
    }
}
