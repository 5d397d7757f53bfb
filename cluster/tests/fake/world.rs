//! The objects that are stored, and what happens to them.

use super::{Act, Answer, NAMESPACE, PodRun, Start, patch, request::Asked};
use cluster::client::Call;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};
use tokio::time::Instant;

type Happening = (u32, Box<dyn FnOnce(&mut World) + Send>);

/// All that the server knows.
pub(crate) struct World {
    /// Objects by resource and name.
    objects: BTreeMap<(String, String), Value>,
    version: u64,
    /// Ticks so far.
    pub(crate) now: u32,
    happenings: Vec<Happening>,
    pub(super) script: Box<dyn FnMut(&PodRun) -> Act + Send>,
    pub(super) starts: Box<dyn FnMut(&PodRun) -> Start + Send>,
    /// How many pods have a node at a time.
    pub(crate) nodes: Option<usize>,
    /// Pods whose node is lost, by name, with the tick since which.
    pub(super) lost: BTreeMap<String, u32>,
    /// Whether there is a Kueue at all.
    pub(crate) has_kueue: bool,
    /// The LocalQueue that Kueue gives every Job which names none.
    pub(crate) default_queue: Option<&'static str>,
    /// The warning of Pod Security about pods, where the namespace forbids them.
    pub(crate) forbids_pods: Option<String>,
    /// Whether Kueue has room.
    pub(crate) queue_admits: bool,
    pub(super) absence: Option<(Instant, bool)>,
    /// Questions that were answered.
    pub(crate) asked: u32,
    /// The question whose answer is lost on its way.
    pub(crate) last_answer: Option<u32>,
    /// Questions that came while the server was away.
    pub(crate) unanswered: u32,
    /// Every change that was asked for: `patch jobs/a {..}`.
    pub(crate) changes: Vec<String>,
    /// Every call that was made.
    pub(crate) calls: BTreeSet<String>,
    /// Pods whose end the controller has counted, by uid.
    pub(super) counted: BTreeSet<String>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            version: 0,
            now: 0,
            happenings: Vec::new(),
            script: Box::new(|_| Act::Exit(0)),
            starts: Box::new(|_| Start::Runs),
            nodes: None,
            lost: BTreeMap::new(),
            has_kueue: true,
            default_queue: None,
            forbids_pods: None,
            queue_admits: true,
            absence: None,
            asked: 0,
            last_answer: None,
            unanswered: 0,
            changes: Vec::new(),
            calls: BTreeSet::new(),
            counted: BTreeSet::new(),
        }
    }
}

impl World {
    /// Sets what each running pod does in a tick.
    pub(crate) fn pods(&mut self, script: impl FnMut(&PodRun) -> Act + Send + 'static) {
        self.script = Box::new(script);
    }

    /// Sets the fate of each pod that does not run yet, in a tick; all of them start where nothing is said.
    pub(crate) fn starts(&mut self, starts: impl FnMut(&PodRun) -> Start + Send + 'static) {
        self.starts = Box::new(starts);
    }

    /// Has something else happen in a tick to come.
    pub(crate) fn at(&mut self, tick: u32, happening: impl FnOnce(&mut Self) + Send + 'static) {
        self.happenings.push((tick, Box::new(happening)));
    }

    /// Lets time go on by one tick.
    pub(crate) fn tick(&mut self) {
        self.now += 1;
        let (due, later) = mem::take(&mut self.happenings).into_iter().partition(|(tick, _)| *tick <= self.now);
        self.happenings = later;
        for (_, happening) in due {
            happening(self);
        }
        self.collect_garbage();
        self.run_controllers();
    }

    pub(crate) fn get(&self, resource: &str, name: &str) -> Option<&Value> {
        self.objects.get(&(resource.to_owned(), name.to_owned()))
    }

    pub(crate) fn list(&self, resource: &str) -> Vec<Value> {
        self.objects.iter().filter(|((of, _), _)| of == resource).map(|(_, object)| object.clone()).collect()
    }

    /// Changes an object as another client would.
    pub(crate) fn change(&mut self, resource: &str, name: &str, change: &Value) {
        let mut object = self.get(resource, name).unwrap_or_else(|| panic!("no {resource}/{name}")).clone();
        patch::merge(&mut object, change);
        self.store(resource, object);
    }

    /// Deletes an object as another client would; what it owns goes with the next tick.
    pub(crate) fn delete(&mut self, resource: &str, name: &str) -> Option<Value> {
        self.objects.remove(&(resource.to_owned(), name.to_owned()))
    }

    /// Stores an object, which gets a new version if it differs.
    pub(crate) fn store(&mut self, resource: &str, mut object: Value) -> Value {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        if self.get(resource, &name) != Some(&object) {
            self.version += 1;
            object["metadata"]["resourceVersion"] = self.version.to_string().into();
            if object["metadata"]["uid"].is_null() {
                object["metadata"]["uid"] = format!("uid-{}", self.version).into();
                object["metadata"]["creationTimestamp"] = self.time().into();
                object["metadata"]["namespace"] = NAMESPACE.into();
            }
        }
        self.objects.insert((resource.to_owned(), name), object.clone());
        object
    }

    /// The time of the tick, for objects.
    pub(super) fn time(&self) -> String {
        let (day, hour, minute, second) = (1 + self.now / 86_400, self.now / 3_600 % 24, self.now / 60 % 60, self.now % 60);
        format!("2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// Removes the objects whose owner is gone.
    fn collect_garbage(&mut self) {
        let alive: BTreeSet<String> = self.objects.values().map(|object| object["metadata"]["uid"].as_str().unwrap().to_owned()).collect();
        let is_orphan = |object: &Value| {
            let owners = object["metadata"]["ownerReferences"].as_array();
            owners.is_some_and(|owners| !owners.iter().any(|owner| alive.contains(owner["uid"].as_str().unwrap())))
        };
        // The pods of a lost node are deleted, and stay until it is back.
        let lost = &self.lost;
        self.objects.retain(|(resource, name), object| !is_orphan(object) || (resource == "pods" && lost.contains_key(name)));
    }

    pub(super) fn answer(&mut self, asked: &Asked, allowed: Option<&[Call]>) -> Answer {
        self.asked += 1;
        if asked.resource == "apis" {
            return self.groups();
        }
        let creates = asked.is_apply() && asked.name.as_ref().is_some_and(|name| self.get(&asked.resource, name).is_none());
        for verb in [Some(asked.verb), creates.then_some("create")].into_iter().flatten() {
            self.calls.insert(format!("{verb} {}", asked.resource));
            if allowed.is_some_and(|calls| !calls.iter().any(|call| call.verb == verb && call.resource == asked.resource)) {
                return forbidden(verb, asked);
            }
        }
        if asked.namespace != NAMESPACE {
            return match asked.verb {
                "list" => self.listed(asked, Vec::new()),
                _ => Answer::failure(404, "NotFound", format!("namespaces \"{}\" not found", asked.namespace)),
            };
        }
        match (asked.verb, &asked.name) {
            ("list", _) => {
                if ["jobs", "pods"].contains(&asked.resource.as_str()) {
                    self.tick();
                }
                let items = self.list(&asked.resource).into_iter().filter(|object| asked.selects(object)).collect();
                self.listed(asked, items)
            }
            ("get", Some(name)) if asked.resource == "pods/log" => self.log(name),
            ("patch", Some(name)) => self.patched(asked, name),
            ("delete", Some(name)) => self.deleted(asked, name),
            _ => panic!("{asked:?} is not played"),
        }
    }

    /// The groups of the API.
    fn groups(&self) -> Answer {
        let group = |name: &str, version: &str| {
            let version = json!({"groupVersion": format!("{name}/{version}"), "version": version});
            json!({"name": name, "versions": [version], "preferredVersion": version})
        };
        let kueue = self.has_kueue.then(|| group("kueue.x-k8s.io", "v1beta2"));
        let groups: Vec<Value> = [group("batch", "v1")].into_iter().chain(kueue).collect();
        Answer::object(200, json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
    }

    fn listed(&self, asked: &Asked, items: Vec<Value>) -> Answer {
        let (kind, version) = match asked.resource.as_str() {
            "jobs" => ("JobList", "batch/v1"),
            "pods" => ("PodList", "v1"),
            "configmaps" => ("ConfigMapList", "v1"),
            "services" => ("ServiceList", "v1"),
            "networkpolicies" => ("NetworkPolicyList", "networking.k8s.io/v1"),
            "events" => ("EventList", "v1"),
            "workloads" => ("WorkloadList", "kueue.x-k8s.io/v1beta2"),
            other => panic!("{other} is not played"),
        };
        let metadata = json!({"resourceVersion": self.version.to_string()});
        Answer::object(200, json!({"kind": kind, "apiVersion": version, "metadata": metadata, "items": items}))
    }

    fn log(&self, name: &str) -> Answer {
        match self.get("pods", name) {
            Some(pod) => Answer::text(&format!("hello from {}\n", pod["metadata"]["name"].as_str().unwrap())),
            None => not_found("pods", name),
        }
    }

    fn patched(&mut self, asked: &Asked, name: &str) -> Answer {
        let before = self.get(&asked.resource, name).cloned();
        let mut after = match (&before, asked.is_apply()) {
            (Some(object), _) => object.clone(),
            (None, true) => Value::Null,
            (None, false) => return not_found(&asked.resource, name),
        };
        patch::merge(&mut after, &asked.body);
        let label = &after["metadata"]["labels"]["kueue.x-k8s.io/queue-name"];
        if let (true, true, Some(queue)) = (asked.resource == "jobs", label.is_null(), self.default_queue) {
            after["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = queue.into();
        }
        if let Some(field) = before.as_ref().and_then(|before| patch::immutable(&asked.resource, before, &after)) {
            return Answer::failure(422, "Invalid", format!("{} \"{name}\" is invalid: {field}: field is immutable", asked.resource));
        }
        if let Some(message) = (asked.resource == "jobs").then(|| self.refused_by_kueue(before.as_ref(), &after)).flatten() {
            return Answer::failure(403, "Forbidden", message);
        }
        if !asked.is_dry() {
            self.changes.push(format!("{} {}/{name} {}", if asked.is_apply() { "apply" } else { "patch" }, asked.resource, asked.body));
            after = self.store(&asked.resource, after);
        }
        let mut answer = Answer::object(if before.is_some() { 200 } else { 201 }, after);
        answer.warnings.extend(self.forbids_pods.clone().filter(|_| asked.resource == "jobs" && asked.is_apply()));
        answer
    }

    fn deleted(&mut self, asked: &Asked, name: &str) -> Answer {
        let policy = asked.body["propagationPolicy"].as_str();
        assert!(asked.resource != "jobs" || policy == Some("Background"), "a Job's pods would stay: {}", asked.body);
        self.changes.push(format!("delete {}/{name}", asked.resource));
        match self.delete(&asked.resource, name) {
            Some(_) => Answer::object(200, json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})),
            None => not_found(&asked.resource, name),
        }
    }
}

fn not_found(resource: &str, name: &str) -> Answer {
    Answer::failure(404, "NotFound", format!("{resource} \"{name}\" not found"))
}

/// The refusal in the words of a real server.
fn forbidden(verb: &str, asked: &Asked) -> Answer {
    let group = match asked.resource.as_str() {
        "jobs" => "batch",
        "networkpolicies" => "networking.k8s.io",
        "workloads" => "kueue.x-k8s.io",
        _ => "",
    };
    let named = asked.name.as_ref().map_or(String::new(), |name| format!(" \"{name}\""));
    let of_group = if group.is_empty() { String::new() } else { format!(".{group}") };
    let message = format!(
        "{}{of_group}{named} is forbidden: User \"jane\" cannot {verb} resource \"{}\" in API group \"{group}\" in the namespace \"{}\"",
        asked.resource, asked.resource, asked.namespace
    );
    Answer::failure(403, "Forbidden", message)
}
