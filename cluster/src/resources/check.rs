//! Rules that `resources` must keep before anything is made of it.

use super::{Cache, Quantity, Resources, StageResources, Volume};
use crate::{
    names::{not_a_key, not_a_name, not_a_value},
    reserved::{CACHE, OWN_VARIABLES, RENDEZVOUS, TAKEN},
};
use std::path::Path;

/// GPUs of one pod; no machine has more.
const MOST_GPUS: u32 = 64;
/// Trials that share a GPU.
const MOST_SHARING: u32 = 64;
/// Pods of one trial.
const MOST_NODES: u32 = 1024;
/// Memory below which not even the program starts: a number without its unit.
const LEAST_MEMORY: f64 = 268_435_456.0;
/// Seconds within which whoever waits for a sweep sees that it has ended.
const LEAST_TTL: u32 = 60;
/// Numbers of the API are signed.
const MOST_TTL: u32 = i32::MAX as u32;
/// Devices that CUDA does not know, by the domain of their names.
const OTHER_DEVICES: [(&str, &str); 5] =
    [("amd.com", "AMD's"), ("gpu.intel.com", "Intel's"), ("habana.ai", "Gaudi"), ("google.com", "TPUs"), ("aws.amazon.com", "Neuron")];
impl Resources {
    /// Checks all that can be known without a cluster.
    ///
    /// # Errors
    /// In words: the key, its value, and what was expected.
    pub fn check(&self) -> Result<(), String> {
        self.sharing()?;
        self.amounts()?;
        self.gpu_resource()?;
        self.named()?;
        self.placement()?;
        self.marks()?;
        self.variables()?;
        self.cache.as_ref().map_or(Ok(()), Cache::check)?;
        self.metrics_port()?;
        self.volume.as_ref().map_or(Ok(()), |volume| volume.check(self.cache.is_some()))
    }

    fn metrics_port(&self) -> Result<(), String> {
        match self.metrics_port {
            Some(port @ ..1024) => Err(format!("metrics_port is {port}: expected 1024 to 65535, as the pods are not root")),
            Some(port) if self.nodes > 1 && port == RENDEZVOUS => {
                Err(format!("metrics_port is {port}, where the ranks of a trial meet: expected another"))
            }
            _ => Ok(()),
        }
    }

    fn amounts(&self) -> Result<(), String> {
        within("gpus", self.gpus, 0, MOST_GPUS)?;
        within("nodes", self.nodes, 1, MOST_NODES)?;
        within("parallelism", self.parallelism, 1, 100_000)?;
        within("retries", self.retries, 0, 1000)?;
        within("trials_per_pod", self.batch(), 1, 10_000)?;
        within("ttl_seconds_after_finished", self.ttl_seconds_after_finished, LEAST_TTL, MOST_TTL)?;
        if let (2.., several @ 2..) = (self.nodes, self.batch()) {
            let nodes = self.nodes;
            return Err(format!("trials_per_pod is {several}, and nodes is {nodes}, so that a trial has several pods: expected 1"));
        }
        quantities("", Some(&self.cpu), Some(&self.memory), self.scratch.as_ref())?;
        let of = |name: &str, stage: &StageResources| quantities(name, stage.cpu.as_ref(), stage.memory.as_ref(), stage.scratch.as_ref());
        of("prepare.", &self.prepare)?;
        of("evaluate.", &self.evaluate)
    }

    /// That what shares a GPU has a whole one, and no more.
    fn sharing(&self) -> Result<(), String> {
        within("trials_per_gpu", self.trials_per_gpu, 1, MOST_SHARING)?;
        let refuse = |reason: String| Err(format!("trials_per_gpu is {}, and {reason}", self.trials_per_gpu));
        match (self.trials_per_gpu, self.gpus, self.nodes, self.trials_per_pod) {
            (1, ..) => Ok(()),
            (_, gpus @ 2.., ..) => {
                refuse(format!("gpus is {gpus}, so that a trial has several GPUs: expected 1 of the one or of the other"))
            }
            (_, _, nodes @ 2.., _) => refuse(format!("nodes is {nodes}, so that a trial has the GPUs of several pods: expected 1")),
            (several, _, _, Some(of_pod)) if of_pod < several => {
                refuse(format!("trials_per_pod is {of_pod}, so that no more are in a pod with its GPU: give it at least {several}"))
            }
            _ => Ok(()),
        }
    }

    /// The name by which nodes offer GPUs.
    fn gpu_resource(&self) -> Result<(), String> {
        let name = self.gpu_resource.as_str();
        let refuse = |reason: String| Err(format!("gpu_resource is `{name}`: {reason}"));
        if let Some((_, of)) = OTHER_DEVICES.iter().find(|(domain, _)| name.split('/').next() == Some(domain)) {
            return refuse(format!("ranksweep trains on NVIDIA GPUs, by CUDA, and not on {of}: expected a name such as `nvidia.com/gpu`"));
        }
        match name.split_once('/') {
            Some((domain, _)) if !domain.is_empty() && not_a_key(name).is_none() => {}
            _ => return refuse("expected a name with a domain, such as `nvidia.com/gpu` or `nvidia.com/mig-1g.10gb`".to_owned()),
        }
        if self.gpus > 1 && name.contains("/mig-") {
            let gpus = self.gpus;
            return refuse(format!("a process sees one MIG slice, and gpus is {gpus}: expected 1, or whole GPUs (`nvidia.com/gpu`)"));
        }
        Ok(())
    }

    /// Other objects of the namespace.
    fn named(&self) -> Result<(), String> {
        let one = [
            ("priority_class", &self.priority_class),
            ("runtime_class", &self.runtime_class),
            ("queue", &self.queue),
            ("service_account", &self.service_account),
            ("secret", &self.secret),
        ];
        let one = one.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?)));
        let many = self.image_pull_secrets.iter().map(|name| ("image_pull_secrets", name));
        let claim = self.volume.iter().map(|volume| ("claim", &volume.claim));
        let cache = self.cache.iter().filter_map(|cache| Some(("cache.claim", cache.claim.as_ref()?)));
        let mut names = one.chain(many).chain(claim).chain(cache);
        let wrong = names.find_map(|(key, name)| Some(format!("{key} is `{name}`, the name of no object: {}", not_a_name(name)?)));
        let blank = |image: &&String| image.is_empty() || image.contains(char::is_whitespace);
        let image = self.image.as_ref().filter(blank);
        let image = image.map(|image| format!("image is `{image}`: expected a reference such as `registry.example.com/ranksweep:0.1.0`"));
        image.or(wrong).map_or(Ok(()), Err)
    }

    fn placement(&self) -> Result<(), String> {
        let stages = [&self.prepare, &self.evaluate];
        let selectors = stages.into_iter().filter_map(|stage| stage.node_selector.as_ref()).chain([&self.node_selector]);
        for (key, value) in selectors.flatten() {
            if let Some(reason) = not_a_key(key).or_else(|| not_a_value(value)) {
                return Err(format!("node_selector has `{key}: {value}`, which no node can have: {reason}"));
            }
        }
        let tolerations = stages.into_iter().filter_map(|stage| stage.tolerations.as_ref()).chain([&self.tolerations]);
        tolerations.flatten().try_for_each(|toleration| toleration.check().map_err(|reason| format!("tolerations: {reason}")))
    }

    /// Labels and annotations of the pods.
    fn marks(&self) -> Result<(), String> {
        let own =
            |key: &str| (key.starts_with("ranksweep.dev/") || key == "app.kubernetes.io/name").then(|| "it is ranksweep's own".to_owned());
        let label = |(key, value): (&String, &String)| {
            let reason = not_a_key(key).or_else(|| not_a_value(value)).or_else(|| own(key))?;
            Some(format!("labels has `{key}: {value}`, which no pod can be given: {reason}"))
        };
        let annotation = |key: &String| Some(format!("annotations has `{key}`, which no pod can be given: {}", not_a_key(key)?));
        let mut wrong = self.labels.iter().filter_map(label).chain(self.annotations.keys().filter_map(annotation));
        wrong.next().map_or(Ok(()), Err)
    }

    fn variables(&self) -> Result<(), String> {
        for name in self.environment.keys() {
            if OWN_VARIABLES.contains(&name.as_str()) {
                return Err(format!("environment has `{name}`, which the pods set themselves: leave it out"));
            }
            let fine = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(fine) || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(format!("environment has `{name}`: expected a name of letters, digits and `_`, not starting with a digit"));
            }
        }
        Ok(())
    }
}

impl Volume {
    /// Whether its path is free, beside a cache of datasets if there is one.
    fn check(&self, beside_cache: bool) -> Result<(), String> {
        let path = self.path.as_str();
        if !path.starts_with('/') || path.len() == 1 || path.split('/').any(|step| step == "..") || path.contains(':') {
            return Err(format!("path is `{path}`: expected an absolute path such as `/data`, without `..` and `:`"));
        }
        // Below the scratch folder there is room for others.
        let inside = |taken: &str| taken != "/tmp" && Path::new(path).starts_with(taken);
        let mut taken = TAKEN.into_iter().chain(beside_cache.then_some(CACHE));
        let taken = taken.find(|taken| self.holds(Path::new(taken)) || inside(taken));
        taken.map_or(Ok(()), |taken| {
            Err(format!("path is `{path}`, but the pods use `{taken}` themselves: expected another, such as `/data`"))
        })
    }
}

fn within(key: &str, value: u32, least: u32, most: u32) -> Result<(), String> {
    let refuse = || Err(format!("{key} is {value}: expected {least} to {most}"));
    if (least..=most).contains(&value) { Ok(()) } else { refuse() }
}

fn quantities(of: &str, cpu: Option<&Quantity>, memory: Option<&Quantity>, scratch: Option<&Quantity>) -> Result<(), String> {
    if let Some(cpu) = cpu.filter(|cpu| cpu.value() < 0.001) {
        return Err(format!("{of}cpu is {cpu}: expected at least 1m, a thousandth of a core"));
    }
    for (key, quantity) in [("memory", memory), ("scratch", scratch)] {
        if let Some(quantity) = quantity.filter(|quantity| quantity.value() < LEAST_MEMORY) {
            return Err(format!("{of}{key} is {quantity}, in bytes: expected at least 256Mi; write for example `16Gi`"));
        }
    }
    Ok(())
}
