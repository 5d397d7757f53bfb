//! The Job controller, and Kueue's part of it.

use super::{World, pods::annotation};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The state of a Job's pods.
#[derive(Default)]
struct Tally {
    done: BTreeSet<u32>,
    failed: BTreeSet<u32>,
    /// Pods of an index that are not over.
    alive: BTreeSet<u32>,
    /// Pods of an index so far.
    attempts: BTreeMap<u32, u32>,
    /// Failures of an index that count against its limit.
    failures: BTreeMap<u32, u32>,
    /// Ends of an index that were none of success, counted or not, and the tick of the last.
    ends: BTreeMap<u32, (u32, u32)>,
    /// The end of the whole Job: reason and message.
    end: Option<(&'static str, String)>,
}

impl World {
    pub(super) fn run_controllers(&mut self) {
        self.run_pods();
        for job in self.list("jobs") {
            let mut job = job;
            self.queue(&mut job);
            if condition(&job, "Complete").is_none() && condition(&job, "Failed").is_none() {
                self.sync(&mut job);
            }
            self.store("jobs", job);
        }
    }

    fn sync(&mut self, job: &mut Value) {
        if let Some((kind, reason, message)) = target(job) {
            // The pods are gone by now: what was a target is the end.
            self.stop_pods(job);
            if kind == "Complete" {
                job["status"]["completionTime"] = self.time().into();
            }
            return self.set(job, kind, "True", &reason, &message);
        }
        if job["spec"]["suspend"] == true {
            self.stop_pods(job);
            job["status"]["active"] = 0.into();
            job["status"]["ready"] = 0.into();
            job["status"].as_object_mut().map(|status| status.remove("startTime"));
            return self.set(job, "Suspended", "True", "JobSuspended", "Job suspended");
        }
        if job["status"]["startTime"].is_null() {
            job["status"]["startTime"] = self.time().into();
            self.set(job, "Suspended", "False", "JobResumed", "Job resumed");
        }
        let tally = self.tally(job);
        self.conclude(job, &tally);
        if target(job).is_none() {
            self.start_pods(job, &tally);
        }
        let pods = self.pods_of(job);
        let alive = pods.iter().filter(|pod| is_alive(pod) && pod["metadata"]["deletionTimestamp"].is_null()).count();
        let status = &mut job["status"];
        status["active"] = alive.into();
        status["ready"] = pods.iter().filter(|pod| is_ready(pod)).count().into();
        status["succeeded"] = tally.done.len().into();
        status["failed"] = tally.failures.values().sum::<u32>().into();
        status["completedIndexes"] = spans(&tally.done).into();
        status["failedIndexes"] = spans(&tally.failed).into();
    }

    fn pods_of(&self, job: &Value) -> Vec<Value> {
        let is_of = |pod: &Value| pod["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"];
        self.list("pods").into_iter().filter(is_of).collect()
    }

    /// Pods that are told to stop are not counted, however they end.
    fn stop_pods(&mut self, job: &Value) {
        let time = self.time();
        for mut pod in self.pods_of(job).into_iter().filter(is_alive) {
            pod["metadata"]["deletionTimestamp"] = time.clone().into();
            self.store("pods", pod);
        }
    }

    fn tally(&self, job: &Value) -> Tally {
        let mut tally = Tally { done: indexes(&job["status"]["completedIndexes"]), ..Tally::default() };
        for pod in self.pods_of(job) {
            let index = annotation(&pod, "batch.kubernetes.io/job-completion-index");
            let attempts = tally.attempts.entry(index).or_default();
            *attempts = (*attempts).max(annotation(&pod, "attempt") + 1);
            if !pod["metadata"]["deletionTimestamp"].is_null() || is_alive(&pod) {
                tally.alive.insert(index);
            } else if pod["status"]["phase"] == "Succeeded" {
                tally.done.insert(index);
            } else {
                tally.judge(job, &pod, index);
                let (ends, last) = tally.ends.entry(index).or_default();
                *ends += 1;
                *last = (*last).max(annotation(&pod, "ended"));
            }
        }
        tally
    }

    /// Sets the target of a Job whose end is known; the end itself comes when its pods are gone.
    fn conclude(&mut self, job: &mut Value, tally: &Tally) {
        let all = completions(job);
        let rule = &job["spec"]["successPolicy"]["rules"][0];
        let leader_done = rule["succeededIndexes"] == "0" && tally.done.contains(&0);
        let enough_done = rule["succeededCount"].as_u64().is_some_and(|count| tally.done.len() as u64 >= count);
        if let Some((reason, message)) = &tally.end {
            self.set(job, "FailureTarget", "True", reason, message);
        } else if leader_done || enough_done || tally.done.len() as u32 == all {
            self.set(job, "SuccessCriteriaMet", "True", "CompletionsReached", "Reached expected number of succeeded pods");
        } else if (tally.done.len() + tally.failed.len()) as u32 == all {
            self.set(job, "FailureTarget", "True", "FailedIndexes", "Job has failed indexes");
        }
    }

    fn start_pods(&mut self, job: &Value, tally: &Tally) {
        let room = job["spec"]["parallelism"].as_u64().unwrap_or(1) as usize;
        let open = (0..completions(job)).filter(|index| ![&tally.done, &tally.failed, &tally.alive].iter().any(|set| set.contains(index)));
        // An index that waits for its next pod keeps its slot; where retries are not by index, the whole Job waits.
        let by_index = !job["spec"]["backoffLimitPerIndex"].is_null();
        let of_job = tally.ends.values().copied().reduce(|(ends, last), (more, then)| (ends + more, last.max(then)));
        let waited = |index: &u32| if by_index { tally.ends.get(index).copied() } else { of_job };
        let is_over = |index: &u32| waited(index).is_none_or(|(ends, last)| self.now >= last + pause(ends));
        let due: Vec<u32> = open.take(room.saturating_sub(tally.alive.len())).filter(is_over).collect();
        for index in due {
            self.create_pod(job, index, tally.attempts.get(&index).copied().unwrap_or_default());
        }
    }

    fn set(&self, job: &mut Value, kind: &str, status: &str, reason: &str, message: &str) {
        let mut conditions = job["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.retain(|condition| condition["type"] != kind);
        conditions.push(json!({
            "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": self.time()
        }));
        job["status"]["conditions"] = conditions.into();
    }
}

impl Tally {
    /// Counts a failed pod by the first rule that fits it.
    fn judge(&mut self, job: &Value, pod: &Value, index: u32) {
        let code = &pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"];
        let is_disrupted = pod["status"]["conditions"][0]["type"] == "DisruptionTarget";
        let fits = |rule: &Value| {
            let codes = rule["onExitCodes"]["values"].as_array();
            let has_code = codes.is_some_and(|codes| codes.contains(code) == (rule["onExitCodes"]["operator"] == "In"));
            has_code || (is_disrupted && rule["onPodConditions"][0]["type"] == "DisruptionTarget")
        };
        let rules = job["spec"]["podFailurePolicy"]["rules"].as_array().cloned().unwrap_or_default();
        let found = rules.iter().enumerate().find(|(_, rule)| fits(rule));
        match found.map(|(place, rule)| (place, rule["action"].as_str().unwrap())) {
            Some((_, "Ignore")) => {}
            Some((_, "FailIndex")) => drop(self.failed.insert(index)),
            Some((place, "FailJob")) => {
                let name = pod["metadata"]["name"].as_str().unwrap();
                let message =
                    format!("Container ranksweep for pod team/{name} failed with exit code {code} matching FailJob rule at index {place}");
                self.end = Some(("PodFailurePolicy", message));
            }
            _ => self.count(job, index),
        }
    }

    fn count(&mut self, job: &Value, index: u32) {
        *self.failures.entry(index).or_default() += 1;
        match job["spec"]["backoffLimitPerIndex"].as_u64() {
            Some(limit) if u64::from(self.failures[&index]) > limit => drop(self.failed.insert(index)),
            None if u64::from(self.failures.values().sum::<u32>()) > job["spec"]["backoffLimit"].as_u64().unwrap_or(6) => {
                self.end = Some(("BackoffLimitExceeded", "Job has reached the specified backoff limit".to_owned()));
            }
            _ => {}
        }
    }
}

/// The end that follows from a target that was set.
fn target(job: &Value) -> Option<(&'static str, String, String)> {
    let text = |condition: &Value, key: &str| condition[key].as_str().unwrap().to_owned();
    let of = |kind: &str, end| condition(job, kind).map(|found| (end, text(&found, "reason"), text(&found, "message")));
    of("FailureTarget", "Failed").or_else(|| of("SuccessCriteriaMet", "Complete"))
}

pub(super) fn condition(job: &Value, kind: &str) -> Option<Value> {
    let conditions = job["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind && condition["status"] == "True").cloned()
}

/// Ticks between an end and the next pod of its index: 10 s, 20 s, 40 s, and at most 10 minutes.
fn pause(ends: u32) -> u32 {
    if ends > 6 { 60 } else { 1 << (ends - 1) }
}

fn is_ready(pod: &Value) -> bool {
    let holds = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    is_alive(pod) && pod["status"]["conditions"].as_array().is_some_and(|conditions| conditions.iter().any(holds))
}

fn is_alive(pod: &Value) -> bool {
    pod["status"]["phase"] == "Pending" || pod["status"]["phase"] == "Running"
}

fn completions(job: &Value) -> u32 {
    job["spec"]["completions"].as_u64().unwrap_or(1) as u32
}

/// `1,3-5` as a set.
fn indexes(text: &Value) -> BTreeSet<u32> {
    let parts = text.as_str().unwrap_or_default().split(',').filter(|part| !part.is_empty());
    let span = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<u32>().unwrap()..=last.parse::<u32>().unwrap()
    };
    parts.flat_map(span).collect()
}

/// A set as `1,3-5`: three or more in a row are a span.
fn spans(indexes: &BTreeSet<u32>) -> String {
    let all: Vec<u32> = indexes.iter().copied().collect();
    let runs = all.chunk_by(|a, b| a + 1 == *b).flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first}-{last}")],
        few => few.iter().map(ToString::to_string).collect(),
    });
    runs.collect::<Vec<_>>().join(",")
}
