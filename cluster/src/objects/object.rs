//! One object of a submission, typed.

use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{ConfigMap, Service},
        networking::v1::NetworkPolicy,
    },
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use serde::Serialize;

/// An object to create. Serialized, it has its `apiVersion` and `kind`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Object {
    /// The sweep file.
    ConfigMap(Box<ConfigMap>),
    /// Who may reach the ranks of trials over several nodes.
    NetworkPolicy(Box<NetworkPolicy>),
    /// The ranks' names of a trial over several nodes.
    Service(Box<Service>),
    /// A stage, or the driver.
    Job(Box<Job>),
}

impl Object {
    /// Name, labels and annotations.
    pub fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::ConfigMap(object) => &object.metadata,
            Self::NetworkPolicy(object) => &object.metadata,
            Self::Service(object) => &object.metadata,
            Self::Job(object) => &object.metadata,
        }
    }

    /// The name; every object has one.
    pub fn name(&self) -> &str {
        self.metadata().name.as_deref().unwrap_or_default()
    }

    /// The kind, as the API names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ConfigMap(_) => "ConfigMap",
            Self::NetworkPolicy(_) => "NetworkPolicy",
            Self::Service(_) => "Service",
            Self::Job(_) => "Job",
        }
    }

    /// Makes a Job its owner: when that is deleted, so is this. Not its controller, as Kueue takes a Job whose controller is a Job for a part of that one,
    /// and does not admit it.
    pub fn owned_by(&mut self, owner: &Job) {
        let metadata = match self {
            Self::ConfigMap(object) => &mut object.metadata,
            Self::NetworkPolicy(object) => &mut object.metadata,
            Self::Service(object) => &mut object.metadata,
            Self::Job(object) => &mut object.metadata,
        };
        metadata.owner_references = Some(vec![OwnerReference {
            api_version: "batch/v1".to_owned(),
            kind: "Job".to_owned(),
            name: owner.metadata.name.clone().unwrap_or_default(),
            uid: owner.metadata.uid.clone().unwrap_or_default(),
            controller: None,
            block_owner_deletion: None,
        }]);
    }
}

impl From<Job> for Object {
    fn from(job: Job) -> Self {
        Self::Job(Box::new(job))
    }
}

impl From<ConfigMap> for Object {
    fn from(config_map: ConfigMap) -> Self {
        Self::ConfigMap(Box::new(config_map))
    }
}

impl From<NetworkPolicy> for Object {
    fn from(policy: NetworkPolicy) -> Self {
        Self::NetworkPolicy(Box::new(policy))
    }
}

impl From<Service> for Object {
    fn from(service: Service) -> Self {
        Self::Service(Box::new(service))
    }
}
