//! Changes to a submission while it runs: how many trials run at once, and for how long its objects are kept.

use super::{
    ClientError, Cluster, call,
    find::{Found, Selector},
};
use crate::{
    Object,
    labels::{PARALLELISM, TTL},
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

impl Cluster {
    /// The changes that the Jobs on the cluster lack to be as is now asked. The driver's comes last: what was only half changed is seen again.
    pub(super) async fn adjustments(&self, sweep: &str, found: &Found, objects: &[Object]) -> Result<Vec<(String, Value)>, ClientError> {
        let wanted = objects.iter().filter_map(|object| if let Object::Job(job) = object { Some(&**job) } else { None });
        let (drivers, stages): (Vec<&Job>, Vec<&Job>) = wanted.partition(|job| job.annotations().contains_key(PARALLELISM));
        let Some(driver) = drivers.first() else { return Ok(Vec::new()) };
        let is_same = |key: &str| driver.annotations().get(key) == found.driver.annotations().get(key);
        if is_same(PARALLELISM) && is_same(TTL) {
            return Ok(Vec::new());
        }
        let there = self.jobs(&Selector::submission(sweep, &found.hash)).await?;
        let differs = |job: &Job| {
            let found = there.iter().find(|other| other.name_any() == job.name_any())?;
            let is_open = !matches!(State::of(found), State::Done | State::Failed(_));
            let [wanted, has] = [job, found].map(|job| job.spec.as_ref().and_then(|spec| spec.parallelism));
            (is_open && wanted != has).then(|| (job.name_any(), json!({"spec": {"parallelism": wanted}})))
        };
        let is_shared = |job: &&&Job| job.spec.as_ref().is_some_and(|spec| spec.backoff_limit_per_index.is_some());
        let of_stages = stages.iter().filter(is_shared).filter_map(|job| differs(job));
        let annotations = json!({PARALLELISM: driver.annotations().get(PARALLELISM), TTL: driver.annotations().get(TTL)});
        Ok(of_stages.chain([(driver.name_any(), json!({"metadata": {"annotations": annotations}}))]).collect())
    }

    /// Changes a Job.
    pub(super) async fn adjust(&self, job: &str, patch: &Value) -> Result<(), ClientError> {
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        self.ask(call::PATCH_JOBS, self.api::<Job>().patch(job, &parameters, &Patch::Merge(patch))).await.map(drop)
    }
}
