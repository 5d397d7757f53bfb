//! Pods: what they do in a tick, and what is then seen of them.

use super::World;
use serde_json::{Value, json};

/// A running pod.
#[derive(Clone, Debug)]
pub(crate) struct PodRun {
    /// Its Job.
    pub(crate) job: String,
    /// Its completion index.
    pub(crate) index: u32,
    /// How many pods of this index came before it.
    pub(crate) attempt: u32,
    /// The tick.
    pub(crate) now: u32,
    /// The arguments of its program.
    pub(crate) arguments: Vec<String>,
}

/// A pod's act in a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Goes on.
    Run,
    /// Ends with an exit code.
    Exit(u8),
    /// Is evicted: by a drain, a preemption, a node that is lost.
    Disrupted,
    /// Ends with an exit code, and these last words.
    Says(u8, &'static str),
}

/// The fate of a pod that does not run yet, in a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// The pod runs.
    Runs,
    /// The scheduler has no node for it, and says why.
    Unschedulable(&'static str),
    /// Its container waits, by this reason and message of the kubelet.
    Waits(&'static str, &'static str),
    /// Its container is being created, by this reason and message of an event.
    Creating(&'static str, &'static str),
}

/// Ticks until the pods of a node that does not answer are deleted: five minutes.
const GIVEN_UP: u32 = 30;

impl World {
    pub(super) fn run_pods(&mut self) {
        for pod in self.list("pods") {
            let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
            if let Some(since) = self.lost.get(&name) {
                let is_given_up = self.now - since >= GIVEN_UP;
                self.store("pods", silent(pod, is_given_up, &self.time()));
            } else if !pod["metadata"]["deletionTimestamp"].is_null() {
                self.delete("pods", &name);
            } else if pod["status"]["phase"] == "Pending" {
                let start = self.start(&pod);
                self.begin(pod, start);
            } else if pod["status"]["phase"] == "Running" {
                let act = (self.script)(&run_of(&pod, self.now));
                self.act(pod, act);
            }
        }
    }

    /// The node of a pod stops to answer.
    pub(crate) fn lose_node(&mut self, pod: &str) {
        assert!(self.get("pods", pod).is_some(), "no pod {pod}");
        self.lost.insert(pod.to_owned(), self.now);
    }

    /// The Node object of a lost node is removed: its pods count as ended.
    pub(crate) fn remove_node(&mut self, pod: &str) {
        self.lost.remove(pod).unwrap();
        let mut pod = self.get("pods", pod).unwrap().clone();
        pod["metadata"].as_object_mut().unwrap().remove("deletionTimestamp");
        self.act(pod, Act::Disrupted);
    }

    /// The fate that the scheduler and the kubelet give a pod that does not run yet.
    fn start(&mut self, pod: &Value) -> Start {
        let has_node = |pod: &&Value| {
            !pod["spec"]["nodeName"].is_null() && (pod["status"]["phase"] == "Running" || pod["status"]["phase"] == "Pending")
        };
        let is_driver = |pod: &Value| pod["metadata"]["labels"]["ranksweep.dev/stage"] == "driver";
        let taken = self.list("pods").iter().filter(has_node).filter(|pod| !is_driver(pod)).count();
        if pod["spec"]["nodeName"].is_null() && !is_driver(pod) && self.nodes.is_some_and(|nodes| taken >= nodes) {
            return Start::Unschedulable(
                "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found.",
            );
        }
        (self.starts)(&run_of(pod, self.now))
    }

    fn begin(&mut self, mut pod: Value, start: Start) {
        let scheduled = |status: &str, more: Value| {
            let mut condition = json!({"type": "PodScheduled", "status": status});
            super::patch::merge(&mut condition, &more);
            condition
        };
        if !matches!(start, Start::Unschedulable(_)) {
            pod["spec"]["nodeName"] = "node-1".into();
        }
        let waiting = |reason: &str, message: &str| {
            let state = json!({"waiting": {"reason": reason, "message": message}});
            json!({"phase": "Pending", "conditions": [scheduled("True", json!({}))], "containerStatuses": [container(state, false)]})
        };
        let status = match start {
            Start::Unschedulable(message) => {
                json!({"phase": "Pending", "conditions": [scheduled("False", json!({"reason": "Unschedulable", "message": message}))]})
            }
            Start::Waits(reason, message) => waiting(reason, message),
            Start::Creating(reason, message) => {
                let event = self.event("Pod", &pod, reason, message);
                self.store("events", event);
                waiting("ContainerCreating", "")
            }
            Start::Runs => {
                let conditions = json!([scheduled("True", json!({})), {"type": "Ready", "status": "True"}]);
                json!({"phase": "Running", "conditions": conditions, "containerStatuses": [container(json!({"running": {}}), true)]})
            }
        };
        self.store("pods", with_status(pod, &status));
    }

    fn act(&mut self, mut pod: Value, act: Act) {
        let words = if let Act::Says(_, words) = act { Value::from(words) } else { Value::Null };
        let ended = |phase: &str, code: u8, conditions: Value| {
            let terminated = json!({"terminated": {"exitCode": code, "finishedAt": self.time(), "message": words}});
            json!({"phase": phase, "containerStatuses": [container(terminated, false)], "conditions": conditions})
        };
        let status = match act {
            Act::Run => return,
            Act::Exit(0) => ended("Succeeded", 0, json!([])),
            Act::Exit(code) | Act::Says(code, _) => ended("Failed", code, json!([])),
            Act::Disrupted => {
                ended("Failed", 75, json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]))
            }
        };
        pod["metadata"]["annotations"]["ended"] = self.now.to_string().into();
        self.store("pods", with_status(pod, &status));
    }

    /// A new pod of a Job, or the event that says why there is none.
    pub(super) fn create_pod(&mut self, job: &Value, index: u32, attempt: u32) {
        let name = format!("{}-{index}-{attempt}", job["metadata"]["name"].as_str().unwrap());
        if let Some(reason) = &self.forbids_pods {
            let message = format!("Error creating: pods \"{name}\" is forbidden: {reason}");
            let event = self.event("Job", job, "FailedCreate", &message);
            return drop(self.store("events", event));
        }
        let mut metadata = job["spec"]["template"]["metadata"].clone();
        metadata["name"] = name.into();
        metadata["annotations"]["batch.kubernetes.io/job-completion-index"] = index.to_string().into();
        metadata["annotations"]["attempt"] = attempt.to_string().into();
        metadata["labels"]["batch.kubernetes.io/job-name"] = job["metadata"]["name"].clone();
        metadata["ownerReferences"] = json!([{
            "apiVersion": "batch/v1", "kind": "Job", "controller": true, "name": job["metadata"]["name"], "uid": job["metadata"]["uid"]
        }]);
        let pod = json!({"metadata": metadata, "spec": job["spec"]["template"]["spec"], "status": {"phase": "Pending"}});
        self.store("pods", pod);
    }
}

fn with_status(mut pod: Value, status: &Value) -> Value {
    pod["status"] = status.clone();
    pod
}

fn run_of(pod: &Value, now: u32) -> PodRun {
    let arguments = pod["spec"]["containers"][0]["args"].as_array().unwrap();
    PodRun {
        job: pod["metadata"]["ownerReferences"][0]["name"].as_str().unwrap().to_owned(),
        index: annotation(pod, "batch.kubernetes.io/job-completion-index"),
        attempt: annotation(pod, "attempt"),
        now,
        arguments: arguments.iter().map(|argument| argument.as_str().unwrap().to_owned()).collect(),
    }
}

pub(super) fn annotation(pod: &Value, key: &str) -> u32 {
    pod["metadata"]["annotations"][key].as_str().unwrap().parse().unwrap()
}

fn container(state: Value, ready: bool) -> Value {
    json!({"name": "ranksweep", "ready": ready, "restartCount": 0, "image": "", "imageID": "", "state": state})
}

/// A pod as it looks on a node that does not answer: it is not ready though its container was, and is deleted in vain after a while.
fn silent(mut pod: Value, is_given_up: bool, time: &str) -> Value {
    let ready = json!({"type": "Ready", "status": "False"});
    let given_up = json!({"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"});
    pod["status"]["conditions"] = if is_given_up { json!([ready, given_up]) } else { json!([ready]) };
    if is_given_up && pod["metadata"]["deletionTimestamp"].is_null() {
        pod["metadata"]["deletionTimestamp"] = time.into();
    }
    pod
}

impl World {
    /// A warning about an object; the same again is the same event.
    fn event(&self, kind: &str, object: &Value, reason: &str, message: &str) -> Value {
        let name = object["metadata"]["name"].as_str().unwrap();
        json!({
            "metadata": {"name": format!("{name}.{}", reason.to_lowercase())}, "type": "Warning", "reason": reason, "message": message,
            "lastTimestamp": self.time(), "involvedObject": {"kind": kind, "name": name, "uid": object["metadata"]["uid"]}
        })
    }
}
