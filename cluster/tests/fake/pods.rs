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

/// What a pod does in a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Goes on.
    Run,
    /// Ends with an exit code.
    Exit(u8),
    /// Is evicted: by a drain, a preemption, a node that is lost.
    Disrupted,
}

impl World {
    pub(super) fn run_pods(&mut self) {
        for pod in self.list("pods") {
            if !pod["metadata"]["deletionTimestamp"].is_null() {
                self.delete("pods", pod["metadata"]["name"].as_str().unwrap());
            } else if pod["status"]["phase"] == "Pending" {
                self.store("pods", with_status(pod, &json!({"phase": "Running"})));
            } else if pod["status"]["phase"] == "Running" {
                let act = (self.script)(&run_of(&pod, self.now));
                self.act(pod, act);
            }
        }
    }

    fn act(&mut self, pod: Value, act: Act) {
        let ended = |phase: &str, code: u8, conditions: Value| {
            let terminated = json!({"exitCode": code, "finishedAt": self.time()});
            let container = json!({
                "name": "ranksweep", "ready": false, "restartCount": 0, "image": "", "imageID": "", "state": {"terminated": terminated}
            });
            json!({"phase": phase, "containerStatuses": [container], "conditions": conditions})
        };
        let status = match act {
            Act::Run => return,
            Act::Exit(0) => ended("Succeeded", 0, json!([])),
            Act::Exit(code) => ended("Failed", code, json!([])),
            Act::Disrupted => {
                ended("Failed", 75, json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]))
            }
        };
        self.store("pods", with_status(pod, &status));
    }

    /// A new pod of a Job, or the event that says why there is none.
    pub(super) fn create_pod(&mut self, job: &Value, index: u32, attempt: u32) {
        let name = format!("{}-{index}-{attempt}", job["metadata"]["name"].as_str().unwrap());
        if let Some(reason) = &self.forbids_pods {
            let message = format!("Error creating: pods \"{name}\" is forbidden: {reason}");
            return drop(self.store("events", event(job, &message)));
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

fn event(job: &Value, message: &str) -> Value {
    let name = job["metadata"]["name"].as_str().unwrap();
    json!({
        "metadata": {"name": format!("{name}.failed-create")}, "type": "Warning", "reason": "FailedCreate", "message": message,
        "involvedObject": {"kind": "Job", "name": name, "uid": job["metadata"]["uid"]}
    })
}
