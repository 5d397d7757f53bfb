//! Reasons why a submission has no objects.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there are no objects for a submission. Each names the value, what was expected and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The sweep's name cannot be part of the objects' names.
    #[error("`{name}` cannot name objects of Kubernetes: {reason}; {remedy}")]
    Name {
        /// The sweep's name, as given.
        name: String,
        /// Which rule it breaks.
        reason: String,
        /// The advice, such as a name that fits.
        remedy: String,
    },
    /// The namespace is no DNS label.
    #[error("`{name}` is no namespace: {reason}")]
    Namespace {
        /// The namespace, as given.
        name: String,
        /// Which rule it breaks.
        reason: String,
    },
    /// A variable of the sweep file means something else in the pods.
    #[error("the sweep file names `${{{name}}}`: {reason}; write its value there, or name another variable")]
    Variable {
        /// The variable of the environment.
        name: String,
        /// Who else sets it.
        reason: String,
    },
    /// The ranks of trials over several nodes have nothing to know each other by.
    #[error(
        "nodes is {nodes}, and the pods of a trial know each other by RANKSWEEP_RENDEZVOUS_SECRET: name the Secret that has this key in `secret`, \
         as `kubectl create secret generic NAME --from-literal=RANKSWEEP_RENDEZVOUS_SECRET=$(openssl rand -hex 32)` makes it"
    )]
    NoSecret {
        /// Pods of a trial.
        nodes: u32,
    },
    /// The pods that prepare listen there already.
    #[error("metrics_port is {port}, and the scheduler and the executors of the preparation have 50050 to 50052: expected another")]
    MetricsPort {
        /// The port.
        port: u16,
    },
    /// The sweep file does not fit into a ConfigMap.
    #[error(
        "the sweep file has {bytes} bytes, and a ConfigMap holds {limit}: cut it into several sweeps under the same storage, \
         which share their datasets and trials"
    )]
    TooLarge {
        /// Bytes of the sweep file.
        bytes: usize,
        /// Bytes that a ConfigMap may have.
        limit: usize,
    },
}
