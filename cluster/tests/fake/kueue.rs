//! Kueue: a Workload for each Job that names a queue, admission, and eviction.

use super::{World, controller::condition};
use serde_json::{Value, json};

/// Kueue's words about a Workload for which there is no quota.
const NO_QUOTA: &str =
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default, 1 more needed";

impl World {
    /// Admits a Job that names a queue, or says why not.
    pub(super) fn queue(&mut self, job: &mut Value) {
        let is_queued = !job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"].is_null();
        let is_over = condition(job, "Complete").is_some() || condition(job, "Failed").is_some();
        if !self.has_kueue || !is_queued || is_over {
            return;
        }
        if job["spec"]["suspend"] == true && self.queue_admits {
            job["spec"]["suspend"] = false.into();
            self.workload(job, json!([{"type": "QuotaReserved", "status": "True"}, {"type": "Admitted", "status": "True"}]));
        } else if job["spec"]["suspend"] == true {
            self.workload(job, json!([{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": NO_QUOTA}]));
        }
    }

    /// Takes the quota back from all Jobs, and admits none until it is told to.
    pub(crate) fn evict(&mut self) {
        self.queue_admits = false;
        for mut job in self.list("jobs") {
            if !job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"].is_null() && condition(&job, "Complete").is_none() {
                job["spec"]["suspend"] = true.into();
                self.store("jobs", job);
            }
        }
    }

    fn workload(&mut self, job: &Value, conditions: Value) {
        let name = job["metadata"]["name"].as_str().unwrap();
        let owner = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job["metadata"]["uid"], "controller": true}]);
        let metadata = json!({"name": format!("job-{name}"), "ownerReferences": owner});
        let before = self.get("workloads", &format!("job-{name}")).cloned();
        let mut workload = before.unwrap_or_else(|| json!({"metadata": metadata}));
        workload["status"]["conditions"] = conditions;
        self.store("workloads", workload);
    }
}
