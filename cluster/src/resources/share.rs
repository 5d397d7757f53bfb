//! The resources of one pod: the stage's own settings laid over the trial's.

use super::{Quantity, Resources, StageResources, Toleration};
use std::collections::BTreeMap;

/// The resources of one pod, and where it may go.
pub(crate) struct Share<'a> {
    pub(crate) cpu: &'a Quantity,
    pub(crate) memory: &'a Quantity,
    pub(crate) scratch: Option<&'a Quantity>,
    pub(crate) gpus: u32,
    pub(crate) gpu_resource: &'a str,
    pub(crate) node_selector: &'a BTreeMap<String, String>,
    pub(crate) tolerations: &'a [Toleration],
}

impl Resources {
    /// How many pods so many trials take, each with as many as it may have.
    pub(crate) fn indexes(&self, trials: u32) -> u32 {
        trials.div_ceil(self.batch())
    }

    /// Trials of a pod; where the file does not say, as many as share its GPU.
    pub(crate) fn batch(&self) -> u32 {
        self.trials_per_pod.unwrap_or(self.trials_per_gpu)
    }

    /// The share of a trial's pod.
    pub(crate) fn trial(&self) -> Share<'_> {
        Share { gpus: self.gpus, ..self.share(None) }
    }

    /// The share of the pod that prepares.
    pub(crate) fn preparing(&self) -> Share<'_> {
        self.share(Some(&self.prepare))
    }

    /// The share of the pod that evaluates.
    pub(crate) fn evaluating(&self) -> Share<'_> {
        self.share(Some(&self.evaluate))
    }

    fn share<'a>(&'a self, stage: Option<&'a StageResources>) -> Share<'a> {
        Share {
            cpu: stage.and_then(|stage| stage.cpu.as_ref()).unwrap_or(&self.cpu),
            memory: stage.and_then(|stage| stage.memory.as_ref()).unwrap_or(&self.memory),
            scratch: stage.and_then(|stage| stage.scratch.as_ref()).or(self.scratch.as_ref()),
            gpus: 0,
            gpu_resource: &self.gpu_resource,
            node_selector: stage.and_then(|stage| stage.node_selector.as_ref()).unwrap_or(&self.node_selector),
            tolerations: stage.and_then(|stage| stage.tolerations.as_ref()).unwrap_or(&self.tolerations),
        }
    }
}
