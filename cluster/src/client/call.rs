//! Calls of the API server: all that each side may make.

use std::fmt;

/// A verb on a resource, as a Role names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// `get`, `list`, `create`, `patch`, `delete`.
    pub verb: &'static str,
    /// The resource in the plural: `jobs`, `pods/log`.
    pub resource: &'static str,
}

impl Call {
    const fn new(verb: &'static str, resource: &'static str) -> Self {
        Self { verb, resource }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)
    }
}

pub(crate) const LIST_JOBS: Call = Call::new("list", "jobs");
pub(crate) const PATCH_JOBS: Call = Call::new("patch", "jobs");
pub(crate) const CREATE_JOBS: Call = Call::new("create", "jobs");
pub(crate) const DELETE_JOBS: Call = Call::new("delete", "jobs");
pub(crate) const LIST_PODS: Call = Call::new("list", "pods");
pub(crate) const READ_LOGS: Call = Call::new("get", "pods/log");
pub(crate) const LIST_WORKLOADS: Call = Call::new("list", "workloads");
/// Everybody may ask for the groups of the API.
pub(crate) const DISCOVER: Call = Call::new("list", "apis");
pub(crate) const LIST_EVENTS: Call = Call::new("list", "events");
pub(crate) const CREATE_CONFIG_MAPS: Call = Call::new("create", "configmaps");
pub(crate) const PATCH_CONFIG_MAPS: Call = Call::new("patch", "configmaps");
pub(crate) const LIST_CONFIG_MAPS: Call = Call::new("list", "configmaps");
pub(crate) const DELETE_CONFIG_MAPS: Call = Call::new("delete", "configmaps");
pub(crate) const CREATE_SERVICES: Call = Call::new("create", "services");
pub(crate) const PATCH_SERVICES: Call = Call::new("patch", "services");
pub(crate) const LIST_SERVICES: Call = Call::new("list", "services");
pub(crate) const DELETE_SERVICES: Call = Call::new("delete", "services");
pub(crate) const CREATE_NETWORK_POLICIES: Call = Call::new("create", "networkpolicies");
pub(crate) const PATCH_NETWORK_POLICIES: Call = Call::new("patch", "networkpolicies");
pub(crate) const LIST_NETWORK_POLICIES: Call = Call::new("list", "networkpolicies");
pub(crate) const DELETE_NETWORK_POLICIES: Call = Call::new("delete", "networkpolicies");

/// All that the driver asks for, in its own namespace.
pub const DRIVER: [Call; 2] = [LIST_JOBS, PATCH_JOBS];

/// All that `submit`, `status`, `list`, `logs` and `cancel` ask for; of Services and NetworkPolicies only where trials have several nodes, but
/// that `cancel` lists Services in any case; of Kueue's Workloads only where a queue is named. Without those and without events they do all
/// the same, and say less of why something does not move.
pub const USER: [Call; 20] = [
    LIST_JOBS,
    CREATE_JOBS,
    PATCH_JOBS,
    DELETE_JOBS,
    LIST_PODS,
    READ_LOGS,
    LIST_EVENTS,
    CREATE_CONFIG_MAPS,
    PATCH_CONFIG_MAPS,
    LIST_CONFIG_MAPS,
    DELETE_CONFIG_MAPS,
    CREATE_SERVICES,
    PATCH_SERVICES,
    LIST_SERVICES,
    DELETE_SERVICES,
    CREATE_NETWORK_POLICIES,
    PATCH_NETWORK_POLICIES,
    LIST_NETWORK_POLICIES,
    DELETE_NETWORK_POLICIES,
    LIST_WORKLOADS,
];
