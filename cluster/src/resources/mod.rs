//! `resources` in a sweep file: what a trial's pods are given, and where the pods go.

mod cache;
mod check;
mod given;
mod quantity;
mod share;
mod toleration;

pub use cache::Cache;
pub use given::Given;
pub use quantity::Quantity;
pub(crate) use share::Share;
pub use toleration::{Effect, Operator, Toleration};

use k8s_openapi::api::core::v1::{Affinity, TopologySpreadConstraint};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// The resources that the pods of a sweep ask of the cluster. They are no part of a trial's identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Resources {
    /// The container image with `ranksweep`; `--image` of the command line goes before it.
    pub image: Option<String>,
    /// Names of the Secrets with which a private image is pulled.
    pub image_pull_secrets: Vec<String>,
    /// GPUs of one pod of a trial.
    pub gpus: u32,
    /// The name by which nodes offer them: `nvidia.com/gpu`, or that of a MIG slice such as `nvidia.com/mig-1g.10gb`.
    pub gpu_resource: String,
    /// Trials that share a GPU, in one process: of small ones one alone leaves most of it idle.
    pub trials_per_gpu: u32,
    /// Pods of one trial, each on a node of its own choice.
    pub nodes: u32,
    /// Cores of one pod: requested, and the limit, so that the program starts as many threads.
    pub cpu: Quantity,
    /// Memory of one pod: requested, and the limit.
    pub memory: Quantity,
    /// Disk of one pod for temporary files and cached datasets: requested, and the limit. Without it: as much as the node has.
    pub scratch: Option<Quantity>,
    /// Resources of the pod that prepares, in place of the trial's.
    pub prepare: StageResources,
    /// Resources of the pod that evaluates, in place of the trial's; the driver's pod goes where this one goes.
    pub evaluate: StageResources,
    /// Pods that train at once, or trials where each has several pods; submitted with another number, a sweep that runs goes on with that one.
    pub parallelism: u32,
    /// Trials that one pod trains, as many at once as share its GPU: of short ones a pod of its own costs more than the trial. Left out, whoever
    /// submits chooses; the objects have as many as share a GPU.
    pub trials_per_pod: Option<u32>,
    /// How often a pod that failed, and was not merely interrupted, is started again: for each trial, and for each other stage.
    pub retries: u32,
    /// Labels that a node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints on which the pods may run all the same.
    pub tolerations: Vec<Toleration>,
    /// Further rules for the nodes of the trials' pods, as Kubernetes writes them.
    pub affinity: Option<Given<Affinity>>,
    /// How the trials' pods are spread over nodes or zones, as Kubernetes writes it; without a selector, it counts the pods of the sweep's trials.
    pub topology_spread_constraints: Vec<Given<TopologySpreadConstraint>>,
    /// The pods' PriorityClass, the driver's included.
    pub priority_class: Option<String>,
    /// The RuntimeClass of the trials' pods, such as `nvidia` where GPUs need one.
    pub runtime_class: Option<String>,
    /// Further labels of all pods, such as Azure's for workload identities.
    pub labels: BTreeMap<String, String>,
    /// Annotations of all pods, such as a service mesh's that keeps its sidecars out.
    pub annotations: BTreeMap<String, String>,
    /// The Kueue queue (LocalQueue) of the namespace that admits the stages.
    pub queue: Option<String>,
    /// The ServiceAccount of the stages' pods, for clouds that give it credentials; its token for the API is not mounted.
    pub service_account: Option<String>,
    /// The Secret whose keys become variables of the environment: credentials of the object store.
    pub secret: Option<String>,
    /// Variables of the environment, as they stand.
    pub environment: BTreeMap<String, String>,
    /// A volume that every pod sees, where the storage is a folder of it.
    pub volume: Option<Volume>,
    /// Where the trials' pods keep the datasets that they have read, for others to find; left out, each pod has a cache of its own.
    pub cache: Option<Cache>,
    /// How the pods log.
    pub log_format: LogFormat,
    /// The port on which the pods of driver and stages tell Prometheus how they fare; left out, they listen on none.
    pub metrics_port: Option<u16>,
    /// For how many seconds the objects of a sweep that has ended are kept; submitted with another number, a sweep that runs takes that one.
    pub ttl_seconds_after_finished: u32,
}

/// How pods log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One line of text for each event.
    #[default]
    Text,
    /// One JSON object for each event, for collectors of logs.
    Json,
}

/// Resources of one stage's pod, in place of those of a trial's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename = "Stage")]
pub struct StageResources {
    /// Cores.
    pub cpu: Option<Quantity>,
    /// Memory.
    pub memory: Option<Quantity>,
    /// Disk for temporary files.
    pub scratch: Option<Quantity>,
    /// Labels that the node must have.
    pub node_selector: Option<BTreeMap<String, String>>,
    /// Taints on which the pod may run all the same.
    pub tolerations: Option<Vec<Toleration>>,
}

/// A PersistentVolumeClaim, mounted in every pod that computes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    /// The claim's name; trials on several nodes need one with access mode ReadWriteMany.
    pub claim: String,
    /// The path where it is mounted.
    pub path: String,
}

impl Volume {
    /// Whether a path of a pod stands on the volume.
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.path)
    }
}

impl Default for Resources {
    fn default() -> Self {
        let quantity = |text: &str| Quantity::try_from(text.to_owned()).expect("a literal of this file");
        Self {
            image: None,
            image_pull_secrets: Vec::new(),
            gpus: 0,
            gpu_resource: "nvidia.com/gpu".to_owned(),
            trials_per_gpu: 1,
            nodes: 1,
            cpu: quantity("2"),
            memory: quantity("8Gi"),
            scratch: None,
            prepare: StageResources::default(),
            evaluate: StageResources::default(),
            parallelism: 32,
            trials_per_pod: None,
            retries: 3,
            node_selector: BTreeMap::new(),
            tolerations: Vec::new(),
            affinity: None,
            topology_spread_constraints: Vec::new(),
            priority_class: None,
            runtime_class: None,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            queue: None,
            service_account: None,
            secret: None,
            environment: BTreeMap::new(),
            volume: None,
            cache: None,
            metrics_port: None,
            log_format: LogFormat::default(),
            ttl_seconds_after_finished: 7 * 24 * 60 * 60,
        }
    }
}
