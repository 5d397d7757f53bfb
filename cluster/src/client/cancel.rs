//! A sweep's objects, removed.

use super::{Call, ClientError, Cluster, call, find::Selector};
use crate::labels;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        batch::v1::Job,
        core::v1::{ConfigMap, Service},
        networking::v1::NetworkPolicy,
    },
};
use kube::{Resource, ResourceExt, api::DeleteParams};
use serde::de::DeserializeOwned;
use std::{fmt::Debug, time::Duration};
use tokio::time::sleep;

/// Pods that are told to stop have less time than this to do so.
const STOPPED_WITHIN: Duration = Duration::from_secs(300);
/// Time between two looks at the pods.
const LOOK: Duration = Duration::from_secs(2);

/// Removes all of a sweep's submissions from the cluster, or only one, and waits until their pods have stopped. What they have stored stays.
/// Gives the hashes of what was removed.
///
/// # Errors
/// Refusals of the server, and [`ClientError::NotGone`] when pods go on for minutes.
pub async fn cancel(cluster: &Cluster, sweep: &str, submission: Option<&str>) -> Result<Vec<String>, ClientError> {
    let hash = |job: &Job| job.labels().get(labels::SUBMISSION).cloned();
    let mut hashes: Vec<String> = cluster.jobs(&Selector::sweep(sweep)).await?.iter().filter_map(hash).collect();
    hashes.sort();
    hashes.dedup();
    hashes.retain(|hash| submission.is_none_or(|only| only == hash));
    for hash in &hashes {
        cluster.remove(sweep, hash).await?;
    }
    Ok(hashes)
}

impl Cluster {
    /// Removes a submission: the driver first, so that it starts nothing more, then what it does not own, as where `ranksweep render` was
    /// applied. Ends when no pod of it is left, which might write what a pod of the next submission writes.
    pub(super) async fn remove(&self, sweep: &str, hash: &str) -> Result<(), ClientError> {
        let of = Selector::submission(sweep, hash);
        let (drivers, stages): (Vec<Job>, Vec<Job>) = self.jobs(&of).await?.into_iter().partition(is_driver);
        for job in drivers.iter().chain(&stages) {
            self.delete::<Job>(call::DELETE_JOBS, &job.name_any()).await?;
        }
        for map in self.config_maps(&of).await? {
            self.delete::<ConfigMap>(call::DELETE_CONFIG_MAPS, &map.name_any()).await?;
        }
        self.remove_network(&of).await?;
        self.gone(hash, &of).await
    }

    /// Removes the objects of a network between nodes. The Services go last: without one there is nothing to look for.
    async fn remove_network(&self, of: &Selector) -> Result<(), ClientError> {
        let services = self.services(of).await?;
        if services.is_empty() {
            return Ok(());
        }
        for policy in self.network_policies(of).await? {
            self.delete::<NetworkPolicy>(call::DELETE_NETWORK_POLICIES, &policy.name_any()).await?;
        }
        for service in services {
            self.delete::<Service>(call::DELETE_SERVICES, &service.name_any()).await?;
        }
        Ok(())
    }

    /// Deletes an object, and in the background what it owns. One that is gone already is no error.
    async fn delete<K>(&self, call: Call, name: &str) -> Result<(), ClientError>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + DeserializeOwned + Debug,
    {
        match self.ask(call, self.api::<K>().delete(name, &DeleteParams::background())).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    /// Waits until no Job and no pod is left.
    async fn gone(&self, hash: &str, of: &Selector) -> Result<(), ClientError> {
        for _ in 0..STOPPED_WITHIN.as_secs() / LOOK.as_secs() {
            let (pods, jobs) = (self.pods(of).await?.len(), self.jobs(of).await?.len());
            if pods + jobs == 0 {
                return Ok(());
            }
            tracing::info!(submission = hash, pods, jobs, "stopping");
            sleep(LOOK).await;
        }
        let (namespace, submission) = (self.namespace().to_owned(), hash.to_owned());
        Err(ClientError::NotGone { namespace, submission, seconds: STOPPED_WITHIN.as_secs() })
    }
}

fn is_driver(job: &Job) -> bool {
    job.labels().get(labels::STAGE).is_some_and(|stage| stage == labels::DRIVER)
}
