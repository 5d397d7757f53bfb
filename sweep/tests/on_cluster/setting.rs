//! A sweep whose storage is a volume that every pod sees, and the cluster it goes to.

use crate::{
    fake::{Act, Fake, PodRun},
    support::{Ended, SWEEP, Sandbox},
};
use cluster::{
    client::call,
    drive::{Pace, drive},
    stages::Outcome,
};
use dataset::block_on;
use std::{process::Command, sync::Arc, time::Duration};

/// A folder with a sweep, and a cluster.
pub(crate) struct Setting {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) fake: Fake,
}

impl Setting {
    pub(crate) fn new() -> Self {
        Self::of(SWEEP)
    }

    pub(crate) fn of(sweep: &str) -> Self {
        let sandbox = Sandbox::new("");
        let folder = sandbox.path("");
        let folder = folder.to_str().unwrap().trim_end_matches('/');
        let resources = format!("resources: {{image: 'ranksweep:test', volume: {{claim: shared, path: {folder}}}}}\n");
        let sweep = sweep.replace("path: ratings.csv", &format!("path: {folder}/ratings.csv"));
        sandbox.write("s.yaml", format!("{sweep}storage: {folder}/runs\n{resources}"));
        let setting = Self { sandbox: Arc::new(sandbox), fake: Fake::new() };
        setting.configure(&setting.fake.serve());
        setting.run_pods();
        setting
    }

    /// Writes a kubeconfig for a server.
    pub(crate) fn configure(&self, server: &str) {
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{server}'}}}}]\nusers: [{{name: u, user: {{token: t}}}}]\n"
        );
        self.sandbox.write("kubeconfig", config);
    }

    /// The binary as a user starts it.
    pub(crate) fn command(&self, line: &str) -> Command {
        let arguments: Vec<&str> = line.split(' ').collect();
        let mut command = self.sandbox.command(&arguments);
        command.env("KUBECONFIG", self.sandbox.path("kubeconfig")).env_remove("KUBERNETES_SERVICE_HOST");
        command
    }

    /// The same, to its end.
    pub(crate) fn ranksweep(&self, line: &str) -> Ended {
        self.sandbox.ended(&mut self.command(line))
    }

    /// The same, which must end well; what it printed.
    pub(crate) fn well(&self, line: &str) -> String {
        let ended = self.ranksweep(line);
        assert_eq!(ended.code, Some(0), "{line}\n{}\n{}", ended.out, ended.error);
        ended.out
    }

    /// The same, of a command that prints JSON.
    pub(crate) fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.well(line)).unwrap()
    }

    /// From now on pods of stages run what their Jobs say, to its end; the driver's does nothing.
    pub(crate) fn run_pods(&self) {
        self.run_pods_but(|_| None);
    }

    /// The same, but for pods that are said to do something else.
    pub(crate) fn run_pods_but(&self, other: impl Fn(&PodRun) -> Option<Act> + Send + 'static) {
        let sandbox = Arc::clone(&self.sandbox);
        let act = move |pod: &PodRun| if is_driver(pod) { Act::Run } else { Act::Exit(code(&sandbox, pod)) };
        self.fake.with(|world| world.pods(move |pod| other(pod).unwrap_or_else(|| act(pod))));
    }

    /// The hash of the only submission.
    pub(crate) fn hash(&self) -> String {
        let jobs = self.fake.with(|world| world.list("jobs"));
        jobs[0]["metadata"]["labels"]["ranksweep.dev/submission"].as_str().unwrap().to_owned()
    }

    /// Drives the only submission to its end, without much sleep between looks, and ends the driver's pod.
    pub(crate) fn drive(&self) -> Outcome {
        let hash = self.hash();
        let pace = Pace { look: Duration::from_millis(1), ..Pace::default() };
        let outcome = block_on(async {
            let cluster = self.fake.cluster(&call::DRIVER);
            drive(&cluster, "tiny", &hash, pace).await.unwrap()
        });
        let code = if outcome == Outcome::Done { 0 } else { 42 };
        self.fake.with(|world| {
            world.pods(move |_| Act::Exit(code));
            (0..5).for_each(|_| world.tick());
        });
        self.run_pods();
        outcome
    }
}

fn is_driver(pod: &PodRun) -> bool {
    pod.job.ends_with("-drive")
}

/// How a pod's program ends.
fn code(sandbox: &Sandbox, pod: &PodRun) -> u8 {
    let index = pod.index.to_string();
    let here = |argument: &String| match argument.as_str() {
        "/sweep/sweep.yaml" => "s.yaml".to_owned(),
        "$(JOB_COMPLETION_INDEX)" => index.clone(),
        "/var/cache/ranksweep" => "cache".to_owned(),
        other => other.to_owned(),
    };
    let arguments: Vec<String> = pod.arguments.iter().map(here).collect();
    let ended = sandbox.ended(&mut sandbox.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()));
    ended.code.unwrap().try_into().unwrap()
}
