//! Changes to a submission while it runs: how many trials run at once, and for how long its objects are kept.

use super::{
    ClientError, Cluster, call,
    find::{Found, Selector},
};
use crate::{
    Object,
    labels::{LEAST_PARALLELISM, PARALLELISM, TTL},
    stages::State,
};
use k8s_openapi::api::batch::v1::Job;
use kube::{
    ResourceExt,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

/// The manager of the fields that a submission sets.
const MANAGER: &str = "ranksweep";

/// What the Jobs on the cluster lack to be as is now asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjustments {
    /// Patches of Jobs by their names, in the order in which they are made.
    pub(super) patches: Vec<(String, Value)>,
    /// Whether a Job keeps its `parallelism`, as Kueue lets nobody change that of a Job that it has admitted with fewer pods than it could have.
    pub(super) is_held: bool,
}

impl Cluster {
    /// The changes that the Jobs on the cluster lack to be as is now asked. The driver's comes last: what was only half changed is seen again.
    pub(super) async fn adjustments(&self, sweep: &str, found: &Found, objects: &[Object]) -> Result<Adjustments, ClientError> {
        let wanted = objects.iter().filter_map(|object| if let Object::Job(job) = object { Some(&**job) } else { None });
        let (drivers, stages): (Vec<&Job>, Vec<&Job>) = wanted.partition(|job| job.annotations().contains_key(PARALLELISM));
        let Some(driver) = drivers.first() else { return Ok(Adjustments::default()) };
        let is_same = |key: &str| driver.annotations().get(key) == found.driver.annotations().get(key);
        if is_same(PARALLELISM) && is_same(TTL) {
            return Ok(Adjustments::default());
        }
        let there = self.jobs(&Selector::submission(sweep, &found.hash)).await?;
        let differs = |job: &&Job| {
            let found = there.iter().find(|other| other.name_any() == job.name_any())?;
            let is_open = !matches!(State::of(found), State::Done | State::Failed(_));
            let [wanted, has] = [*job, found].map(|job| job.spec.as_ref().and_then(|spec| spec.parallelism));
            (is_open && wanted != has).then_some((found, wanted))
        };
        let is_shared = |job: &&&Job| job.spec.as_ref().is_some_and(|spec| spec.backoff_limit_per_index.is_some());
        let is_admitted = |job: &Job| {
            job.annotations().contains_key(LEAST_PARALLELISM) && job.spec.as_ref().is_some_and(|spec| spec.suspend != Some(true))
        };
        let (held, open): (Vec<_>, Vec<_>) = stages.iter().filter(is_shared).filter_map(differs).partition(|(found, _)| is_admitted(found));
        let of_stages = open.into_iter().map(|(found, wanted)| (found.name_any(), json!({"spec": {"parallelism": wanted}})));
        let annotations = json!({PARALLELISM: driver.annotations().get(PARALLELISM), TTL: driver.annotations().get(TTL)});
        let of_driver = (driver.name_any(), json!({"metadata": {"annotations": annotations}}));
        Ok(Adjustments { patches: of_stages.chain([of_driver]).collect(), is_held: !held.is_empty() })
    }

    /// Changes a Job.
    pub(super) async fn adjust(&self, job: &str, patch: &Value) -> Result<(), ClientError> {
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        self.ask(call::PATCH_JOBS, self.api::<Job>().patch(job, &parameters, &Patch::Merge(patch))).await.map(drop)
    }
}
