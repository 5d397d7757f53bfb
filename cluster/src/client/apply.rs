//! Objects are created by server-side apply.

use super::{Call, ClientError, Cluster, call};
use crate::{Object, labels::KUEUE_QUEUE};
use k8s_openapi::{NamespaceResourceScope, api::batch::v1::Job};
use kube::{
    Resource, ResourceExt,
    api::{Patch, PatchParams},
};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// The manager of the fields that a submission sets.
const MANAGER: &str = "ranksweep";
/// How Pod Security's warnings begin.
const VIOLATION: &str = "would violate PodSecurity";

impl Cluster {
    /// Has the server check what it would create, and create nothing.
    ///
    /// # Errors
    /// Refusals that the server would give, and a namespace that would not let the pods start, or would have Kueue start them.
    pub(super) async fn rehearse(&self, objects: &[Object]) -> Result<(), ClientError> {
        drop(self.warnings());
        for object in objects {
            let queue = self.apply_with(object, &parameters().dry_run()).await?.and_then(|job| job.labels().get(KUEUE_QUEUE).cloned());
            if let (Object::Job(sent), Some(queue)) = (object, queue)
                && !sent.labels().contains_key(KUEUE_QUEUE)
            {
                return Err(ClientError::Queued { namespace: self.namespace().to_owned(), queue });
            }
        }
        let forbidden = self.warnings().into_iter().find(|warning| warning.contains(VIOLATION));
        forbidden.map_or(Ok(()), |message| Err(ClientError::PodsForbidden { namespace: self.namespace().to_owned(), message }))
    }

    /// Creates an object, or brings it up to date. A Job is given back as it is then.
    pub(super) async fn apply(&self, object: &Object) -> Result<Option<Job>, ClientError> {
        self.apply_with(object, &parameters()).await
    }

    async fn apply_with(&self, object: &Object, parameters: &PatchParams) -> Result<Option<Job>, ClientError> {
        match object {
            Object::Job(job) => return self.put(call::PATCH_JOBS, object.name(), &**job, parameters).await.map(Some),
            Object::ConfigMap(map) => drop(self.put(call::PATCH_CONFIG_MAPS, object.name(), &**map, parameters).await?),
            Object::NetworkPolicy(policy) => drop(self.put(call::PATCH_NETWORK_POLICIES, object.name(), &**policy, parameters).await?),
            Object::Service(service) => drop(self.put(call::PATCH_SERVICES, object.name(), &**service, parameters).await?),
        }
        Ok(None)
    }

    async fn put<K>(&self, call: Call, name: &str, object: &K, parameters: &PatchParams) -> Result<K, ClientError>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + DeserializeOwned + Serialize + Debug,
    {
        let patch = Patch::Apply(object);
        self.ask(call, self.api::<K>().patch(name, parameters, &patch)).await
    }
}

/// Unknown fields are refused; fields that another manager has set are taken over.
fn parameters() -> PatchParams {
    PatchParams::apply(MANAGER).force().validation_strict()
}
