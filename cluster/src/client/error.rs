//! Refusals of the cluster, in one line each.

use super::Call;

/// What the server says of a webhook that refused.
const WEBHOOK: &str = "admission webhook";
/// What it says of a quota that is spent.
const QUOTA: &str = "exceeded quota";

/// Why the cluster did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Neither a kubeconfig nor a pod's environment says which cluster.
    #[error("no cluster is configured: {reason}; point KUBECONFIG to a kubeconfig, or write ~/.kube/config")]
    NoCluster {
        /// Why no cluster is found.
        reason: String,
        /// Whether somebody has tried to name one: by KUBECONFIG, a kubeconfig that is not whole, or the environment of a pod.
        is_named: bool,
    },
    /// No answer.
    #[error("cannot reach the Kubernetes API at {at}: {reason}; check the network and the kubeconfig's current context")]
    Unreachable {
        /// The API server.
        at: String,
        /// The innermost cause.
        reason: String,
    },
    /// The credentials are not accepted.
    #[error("the Kubernetes API at {at} does not accept the credentials: {message}; log in again, or check the kubeconfig's user")]
    Unauthorized {
        /// The API server.
        at: String,
        /// Its words.
        message: String,
    },
    /// The credentials are known, and not enough.
    #[error("the cluster forbids it: {message}; ask its administrator for a role that allows this")]
    Forbidden {
        /// The server's words: who, which verb, which resource, which namespace.
        message: String,
    },
    /// A quota of the namespace is spent.
    #[error(
        "a quota of the namespace does not allow it: {message}; have it raised, or free what it counts, and submit again: what \
         was created stays, and the rest is added"
    )]
    Quota {
        /// The server's words: which quota, what is asked for, used and allowed.
        message: String,
    },
    /// The namespace is not there.
    #[error(
        "namespace `{namespace}` does not exist at {at}; create it (`kubectl create namespace {namespace}`), or name another \
         with --namespace"
    )]
    NoNamespace {
        /// Its name.
        namespace: String,
        /// The API server.
        at: String,
    },
    /// Everything else that the server does not do.
    #[error("the API server does not {call}: {message} (code {code})")]
    Refused {
        /// The call that is refused.
        call: Call,
        /// The HTTP status.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// Pod Security would not let a pod start.
    #[error(
        "namespace `{namespace}` forbids the sweep's pods: {message}; use another namespace, or have its Pod Security levels changed, `warn` as well as `enforce`"
    )]
    PodsForbidden {
        /// Its name.
        namespace: String,
        /// The server's words.
        message: String,
    },
    /// The namespace gives every Job a queue, also those that the driver is to start.
    #[error(
        "namespace `{namespace}` has a LocalQueue `{queue}` that Kueue gives every Job which names none, so that stages would not wait for their \
         turn; submit to another namespace, or give the LocalQueue another name"
    )]
    Queued {
        /// The namespace's name.
        namespace: String,
        /// The queue that a Job got.
        queue: String,
    },
    /// Another submission of the sweep has not ended.
    #[error(
        "sweep `{sweep}` is still running as it was submitted before ({submission}); wait for it, end it with \
         `ranksweep cancel {sweep} --namespace {namespace}`, or replace it with --replace: what it has trained stays"
    )]
    StillRunning {
        /// The sweep's name.
        sweep: String,
        /// The namespace of the sweep.
        namespace: String,
        /// The other submission's hash.
        submission: String,
    },
    /// Pods of a deleted submission do not stop.
    #[error(
        "pods of submission {submission} did not stop within {seconds} s; \
         `kubectl get pods --namespace {namespace} --selector {key}={submission}` shows them, try again when they have",
        key = crate::labels::SUBMISSION
    )]
    NotGone {
        /// The namespace of the pods.
        namespace: String,
        /// The submission's hash.
        submission: String,
        /// The limit.
        seconds: u64,
    },
    /// Nothing is found that was asked for.
    #[error("{0}")]
    NotThere(String),
    /// The objects cannot be made.
    #[error(transparent)]
    Objects(#[from] crate::Error),
}

impl ClientError {
    /// Whether the same question may be answered a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { code, .. } => *code >= 500 || [408, 429].contains(code),
            _ => false,
        }
    }

    /// Whether credentials are at fault. A server that has just started may say so of good ones.
    pub fn is_of_credentials(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Forbidden { .. })
    }

    /// Whether the object asked for is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code: 404, .. })
    }

    pub(super) fn of(error: kube::Error, call: Call, at: &str, namespace: &str) -> Self {
        let (at, namespace) = (at.to_owned(), namespace.to_owned());
        match error {
            kube::Error::Api(status) => {
                let message = status.message.clone();
                match status.code {
                    401 => Self::Unauthorized { at, message },
                    403 if message.contains(QUOTA) => Self::Quota { message },
                    // A webhook's refusal is no matter of roles.
                    403 if !message.contains(WEBHOOK) => Self::Forbidden { message },
                    404 if message.starts_with("namespaces ") => Self::NoNamespace { namespace, at },
                    code => Self::Refused { call, code, message },
                }
            }
            kube::Error::Auth(error) => Self::Unauthorized { at, message: innermost(&error) },
            other => Self::Unreachable { at, reason: innermost(&other) },
        }
    }
}

/// The last cause: the outer ones only say that a request failed.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error.source();
    while let Some(next) = last.and_then(|cause| cause.source()) {
        last = Some(next);
    }
    last.map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::call::PATCH_JOBS;
    use kube::core::Status;

    #[test]
    fn a_spent_quota_is_no_matter_of_roles() {
        let error = |message: &str| {
            let status = Status { code: 403, message: message.to_owned(), ..Status::default() };
            ClientError::of(kube::Error::Api(Box::new(status)), PATCH_JOBS, "https://cluster", "team")
        };
        let quota = error(
            "jobs.batch \"s-train-1\" is forbidden: exceeded quota: objects, requested: count/jobs.batch=1, used: count/jobs.batch=4, limited: count/jobs.batch=4",
        );
        assert!(!quota.is_of_credentials() && !quota.is_transient());
        assert!(
            quota.to_string().starts_with("a quota of the namespace does not allow it: jobs.batch \"s-train-1\" is forbidden"),
            "{quota}"
        );
        let role = error("jobs.batch is forbidden: User \"jane\" cannot list resource \"jobs\"");
        assert!(role.is_of_credentials(), "{role}");
    }
}
