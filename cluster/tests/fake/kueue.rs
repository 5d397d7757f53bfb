//! Kueue: a Workload for each Job that names a queue, admission, and eviction.

use super::{World, controller::condition};
use serde_json::{Value, json};

/// Kueue's words about a Workload for which there is no quota.
const NO_QUOTA: &str =
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default, 1 more needed";

/// Kueue's words about a Workload whose quota another took.
const PREEMPTED: &str = "Preempted to accommodate a workload (UID: u, JobUID: j) due to prioritization in the ClusterQueue";

impl World {
    /// What Kueue's webhook refuses of Jobs with partial admission (`pkg/controller/jobs/job/job_webhook.go`), in its words.
    pub(super) fn refused_by_kueue(&self, before: Option<&Value>, after: &Value) -> Option<String> {
        let least = |job: &Value| {
            job["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"].as_str().map(|least| least.parse::<u64>().unwrap())
        };
        let number = |job: &Value, key: &str| job["spec"][key].as_u64().unwrap_or(1);
        let least_of_after = least(after).filter(|_| self.has_kueue)?;
        let pods = number(after, "parallelism").min(number(after, "completions"));
        let is_fixed = |before: &Value| before["spec"]["suspend"] != true && number(before, "parallelism") != number(after, "parallelism");
        let reason = if least_of_after == 0 || least_of_after >= pods {
            format!(
                "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: {least_of_after}: should be between 0 and {}",
                pods - 1
            )
        } else if before.is_some_and(is_fixed) {
            "spec.parallelism: Forbidden: cannot change when partial admission is enabled and the job is not suspended".to_owned()
        } else {
            return None;
        };
        Some(format!("admission webhook \"vjob.kb.io\" denied the request: {reason}"))
    }

    /// Admits a Job that names a queue, or says why not.
    pub(super) fn queue(&mut self, job: &mut Value) {
        let is_queued = !job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"].is_null();
        let is_over = condition(job, "Complete").is_some() || condition(job, "Failed").is_some();
        if !self.has_kueue || !is_queued || is_over {
            return;
        }
        if job["spec"]["suspend"] == true && self.queue_admits {
            job["spec"]["suspend"] = false.into();
            let reserved = self.told("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue default");
            let admitted = self.told("Admitted", "True", "Admitted", "The workload is admitted");
            self.workload(job, json!([reserved, admitted]));
        } else if job["spec"]["suspend"] == true && !self.was_evicted(job) {
            let pending = self.told("QuotaReserved", "False", "Pending", NO_QUOTA);
            self.workload(job, json!([pending]));
        }
    }

    /// Takes the quota back from all Jobs, and admits none until it is told to. They are queued again at once.
    pub(crate) fn evict(&mut self) {
        self.queue_admits = false;
        for mut job in self.list("jobs") {
            if !job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"].is_null() && condition(&job, "Complete").is_none() {
                job["spec"]["suspend"] = true.into();
                let pending = self.told("QuotaReserved", "False", "Pending", PREEMPTED);
                let evicted = self.told("Evicted", "True", "Preempted", PREEMPTED);
                let admitted = self.told("Admitted", "False", "NoReservation", "The workload has no reservation");
                let requeued = self.told("Requeued", "True", "Preempted", PREEMPTED);
                self.workload(&job, json!([pending, evicted, admitted, requeued]));
                self.store("jobs", job);
            }
        }
    }

    fn was_evicted(&self, job: &Value) -> bool {
        let workload = self.get("workloads", &format!("job-{}", job["metadata"]["name"].as_str().unwrap()));
        workload.is_some_and(|workload| workload["status"]["conditions"].to_string().contains("\"Evicted\""))
    }

    /// A condition with all that the schema of conditions asks for.
    fn told(&self, kind: &str, status: &str, reason: &str, message: &str) -> Value {
        json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": self.time()})
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
