//! The logs of pods.

use super::{
    ClientError, Cluster, call,
    find::Selector,
    status::{PodView, stage_of},
};
use crate::labels;
use futures::{AsyncBufReadExt, TryStreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::api::LogParams;
use std::fmt;

/// The pods whose logs are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whose {
    /// `prepare`, `train`, `train-r0`, `evaluate`, `driver`; every trial's stage with `train`.
    pub stage: String,
    /// The index of the pod in its Job; pods of all indexes where left out.
    pub index: Option<u32>,
}

/// Gives each line of the pods' logs, the newest submission's, together with the pod's name. Where an index has several pods, and where several
/// drivers followed each other, the last one's log is read. With `follow`, the log of the only pod that fits is read until the pod ends.
///
/// # Errors
/// [`ClientError::NotThere`] where no pod fits, or several do that cannot be followed together; refusals of the server.
pub async fn logs(
    cluster: &Cluster,
    sweep: &str,
    whose: &Whose,
    follow: bool,
    line: &mut (dyn FnMut(&str, &str) -> bool + Send),
) -> Result<(), ClientError> {
    let namespace = cluster.namespace();
    let Some(newest) = cluster.submissions(sweep).await?.into_iter().next() else {
        let words = format!("sweep `{sweep}` is not on the cluster, in namespace `{namespace}`");
        return Err(ClientError::NotThere(format!("{words}; `ranksweep list --namespace {namespace}` shows which are")));
    };
    let mut pods = cluster.pods(&Selector::submission(sweep, &newest.hash)).await?;
    pods.retain(|pod| whose.is_of(pod, &newest.hash));
    let mut pods = super::status::newest_pods(&pods, &[]);
    if whose.stage == labels::DRIVER {
        // Each took the place of the one before it.
        pods.drain(..pods.len().saturating_sub(1));
    }
    if pods.is_empty() {
        return Err(ClientError::NotThere(format!(
            "there is no pod of {whose}: it has not begun, or was removed; `ranksweep status {sweep} --namespace {namespace}` says which"
        )));
    }
    if follow && pods.len() > 1 {
        return Err(ClientError::NotThere(format!("{} pods fit {whose}, and one can be followed: name it with --index", pods.len())));
    }
    for pod in &pods {
        let is_heard = match cluster.read(pod, follow, line).await {
            // Of several pods one may have no log yet, or none any longer.
            Err(ClientError::Refused { message, .. }) if pods.len() > 1 => line(&pod.name, &format!("(no log: {message})")),
            read => read?,
        };
        if !is_heard {
            break;
        }
    }
    Ok(())
}

impl Whose {
    fn is_of(&self, pod: &Pod, hash: &str) -> bool {
        let view = PodView::of(pod, &[]);
        let job = view.job.split_once(&format!("-{hash}-")).map_or("", |(_, suffix)| suffix);
        let is_stage = stage_of(pod).is_some_and(|stage| *stage == self.stage) || job == self.stage;
        let is_driver = self.stage == labels::DRIVER;
        is_stage && (is_driver || self.index.is_none_or(|index| view.index == Some(index)))
    }
}

impl Cluster {
    /// Reads one pod's log; `false` where nobody listens any longer.
    async fn read(&self, pod: &PodView, follow: bool, line: &mut (dyn FnMut(&str, &str) -> bool + Send)) -> Result<bool, ClientError> {
        let parameters = LogParams { follow, ..LogParams::default() };
        let stream = self.ask(call::READ_LOGS, self.api::<Pod>().log_stream(&pod.name, &parameters)).await?;
        let mut lines = stream.lines();
        let broken = |error: std::io::Error| ClientError::Unreachable { at: self.at().to_owned(), reason: error.to_string() };
        while let Some(text) = lines.try_next().await.map_err(broken)? {
            if !line(&pod.name, &text) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            None => write!(f, "`{}`", self.stage),
            Some(index) => write!(f, "`{}`, index {index}", self.stage),
        }
    }
}
