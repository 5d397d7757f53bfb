//! Why Kueue does not admit a Job: in the words of its Workload, where there is a Kueue.

use super::{Reason, one_line};
use crate::{
    client::{ClientError, Cluster, call},
    stages::{SeenJob, State},
};
use k8s_openapi::api::batch::v1::Job;
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams},
};
use std::collections::BTreeMap;

/// The API group of Kueue's objects.
const GROUP: &str = "kueue.x-k8s.io";

impl Cluster {
    /// The reasons of Jobs that wait for their queue, by the Jobs' names.
    pub(super) async fn queue_reasons(&self, jobs: &[Job]) -> Result<BTreeMap<String, Reason>, ClientError> {
        let is_queued = |job: &&Job| {
            let seen = SeenJob::of(job, 0);
            seen.queue.is_some() && seen.started && seen.state == State::Suspended
        };
        let queued: Vec<&Job> = jobs.iter().filter(is_queued).collect();
        if queued.is_empty() {
            return Ok(BTreeMap::new());
        }
        let Some(version) = self.kueue().await? else {
            return Ok(queued.into_iter().map(|job| (job.name_any(), no_kueue())).collect());
        };
        let Some(workloads) = self.workloads(&version).await? else { return Ok(BTreeMap::new()) };
        Ok(queued.into_iter().filter_map(|job| Some((job.name_any(), reason(job, &workloads)?))).collect())
    }

    /// The version of its objects that the cluster's Kueue prefers; `None` where there is no Kueue.
    pub(in crate::client) async fn kueue(&self) -> Result<Option<String>, ClientError> {
        let groups = self.ask(call::DISCOVER, self.groups()).await?.groups;
        let own = groups.into_iter().find(|group| group.name == GROUP);
        Ok(own.and_then(|group| group.preferred_version.or_else(|| group.versions.into_iter().next())).map(|found| found.version))
    }

    /// Kueue's Workloads of the namespace's Jobs; `None` where they are not the user's to read.
    async fn workloads(&self, version: &str) -> Result<Option<Vec<DynamicObject>>, ClientError> {
        let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(GROUP, version, "Workload"), "workloads");
        let workloads: Api<DynamicObject> = self.dynamic(&resource);
        match self.ask(call::LIST_WORKLOADS, workloads.list(&ListParams::default())).await {
            Err(ClientError::Forbidden { .. }) => Ok(None),
            other => Ok(Some(other?.items)),
        }
    }
}

/// The reason of a Job that waits for a queue on a cluster without Kueue.
pub(in crate::client) fn no_kueue() -> Reason {
    let remedy = "have it installed, or leave `queue` out of `resources` and submit again with --replace";
    Reason::new("there is no Kueue on the cluster, and nobody else starts what waits for a queue", remedy)
}

fn reason(job: &Job, workloads: &[DynamicObject]) -> Option<Reason> {
    let is_of = |workload: &&DynamicObject| workload.owner_references().iter().any(|owner| Some(&owner.uid) == job.metadata.uid.as_ref());
    let Some(workload) = workloads.iter().find(is_of) else {
        return Some(Reason::new("Kueue has made no Workload for it", "have Kueue manage `batch/job` in this namespace"));
    };
    let conditions = workload.data.pointer("/status/conditions").and_then(|conditions| conditions.as_array());
    let find = |kind: &str, value: &str| {
        let found = conditions?.iter().find(|found| found["type"] == kind && found["status"] == value)?;
        Some(one_line(found["message"].as_str().unwrap_or_default())).filter(|text| !text.is_empty())
    };
    let said = find("QuotaReserved", "False").or_else(|| find("Evicted", "True")).or_else(|| find("Admitted", "False"))?;
    let remedy = match said.contains("LocalQueue") && (said.contains("doesn't exist") || said.contains("not found")) {
        true => "have the LocalQueue created, or correct `queue` in `resources`".to_owned(),
        false => format!("it is started when its queue has room; `kubectl describe workload {}` shows more", workload.name_any()),
    };
    Some(Reason::new(format!("its queue has not admitted it ({said})"), remedy))
}
