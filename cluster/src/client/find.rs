//! A sweep's objects, found by their labels.

use super::{Call, ClientError, Cluster, call};
use crate::{labels, stages::State};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        batch::v1::Job,
        core::v1::{ConfigMap, Pod, Service},
        networking::v1::NetworkPolicy,
    },
};
use kube::{Resource, ResourceExt, api::ListParams};
use serde::de::DeserializeOwned;
use std::fmt;

/// A selector of labels.
#[derive(Clone, Debug)]
pub(crate) struct Selector(String);

impl Selector {
    /// Everything of all sweeps.
    pub(crate) fn all() -> Self {
        Self(labels::SWEEP.to_owned())
    }

    /// Everything of a sweep, of all its submissions.
    pub(crate) fn sweep(name: &str) -> Self {
        Self(format!("{}={name}", labels::SWEEP))
    }

    /// Everything of one submission.
    pub(crate) fn submission(sweep: &str, hash: &str) -> Self {
        Self::sweep(sweep).and(labels::SUBMISSION, hash)
    }

    pub(crate) fn and(self, label: &str, value: &str) -> Self {
        Self(format!("{},{label}={value}", self.0))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Cluster {
    pub(crate) async fn jobs(&self, of: &Selector) -> Result<Vec<Job>, ClientError> {
        self.list(call::LIST_JOBS, of).await
    }

    pub(super) async fn pods(&self, of: &Selector) -> Result<Vec<Pod>, ClientError> {
        self.list(call::LIST_PODS, of).await
    }

    pub(super) async fn config_maps(&self, of: &Selector) -> Result<Vec<ConfigMap>, ClientError> {
        self.list(call::LIST_CONFIG_MAPS, of).await
    }

    pub(super) async fn services(&self, of: &Selector) -> Result<Vec<Service>, ClientError> {
        self.list(call::LIST_SERVICES, of).await
    }

    pub(super) async fn network_policies(&self, of: &Selector) -> Result<Vec<NetworkPolicy>, ClientError> {
        self.list(call::LIST_NETWORK_POLICIES, of).await
    }

    async fn list<K>(&self, call: Call, of: &Selector) -> Result<Vec<K>, ClientError>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + DeserializeOwned + fmt::Debug,
    {
        let parameters = ListParams::default().labels(&of.0);
        Ok(self.ask(call, self.api::<K>().list(&parameters)).await?.items)
    }

    /// A sweep's submissions, the newest first.
    pub(super) async fn submissions(&self, sweep: &str) -> Result<Vec<Found>, ClientError> {
        let drivers = self.jobs(&Selector::sweep(sweep).and(labels::STAGE, labels::DRIVER)).await?;
        let mut found: Vec<Found> = drivers.into_iter().map(Found::of).collect();
        found.sort_by(|a, b| b.driver.metadata.creation_timestamp.cmp(&a.driver.metadata.creation_timestamp));
        Ok(found)
    }
}

/// A submission that is on the cluster.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) hash: String,
    pub(super) state: State,
    pub(super) driver: Job,
}

impl Found {
    fn of(driver: Job) -> Self {
        let hash = driver.labels().get(labels::SUBMISSION).cloned().unwrap_or_default();
        Self { hash, state: State::of(&driver), driver }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, State::Done | State::Failed(_))
    }
}
