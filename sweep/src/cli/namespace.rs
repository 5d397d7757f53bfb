//! `--namespace`: where on the cluster.

use super::Global;
use crate::status::StorageAccess;
use anyhow::Result;
use clap::Args;
use cluster::client::Cluster;
use dataset::block_on;

/// A namespace of the cluster that the kubeconfig names.
#[derive(Debug, Args)]
pub(super) struct Namespace {
    /// The namespace of the sweep's objects, on the cluster of the kubeconfig's current context
    #[arg(long, value_name = "NAME", default_value = "ranksweep")]
    namespace: String,
}

impl Namespace {
    pub(super) fn name(&self) -> &str {
        &self.namespace
    }

    /// Nothing is asked of the cluster yet.
    pub(super) fn cluster(&self) -> Result<Cluster, cluster::client::ClientError> {
        block_on(Cluster::connect(Some(&self.namespace)))
    }
}

/// How the sweep's storage is looked at.
pub(super) fn way(global: &Global) -> StorageAccess<'_> {
    StorageAccess { storage: global.storage.as_deref(), machine: global.machine() }
}
