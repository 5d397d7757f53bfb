//! All that is submitted of a sweep.

use crate::{
    Error, Resources, Result,
    names::{MOST, nearest_label, not_a_label},
    reserved::{BALLISTA, DRIVERS, OWN_VARIABLES},
};
use std::collections::BTreeMap;

/// Bytes that a ConfigMap holds.
const MOST_BYTES: usize = 1_048_576;

/// A sweep on its way to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The sweep's name.
    pub name: String,
    /// Where all objects live.
    pub namespace: String,
    /// The container image with `ranksweep`.
    pub image: String,
    /// The sweep file.
    pub text: String,
    /// The part of the sweep file that tells submissions apart: all but its comments, and `resources`, which stand in the objects.
    pub meaning: String,
    /// The variables of the environment that the sweep file names, with their values on the machine that submits.
    pub variables: BTreeMap<String, String>,
    /// The URL of the storage.
    pub storage: String,
    /// The URL of the stored plan.
    pub plan: String,
    /// The stages, in the order in which they run.
    pub stages: Vec<Stage>,
    /// Executors of an Apache Ballista cluster that the preparation has for itself; 0 for none.
    pub executors: u32,
    /// The resources that the pods ask for.
    pub resources: Resources,
}

/// A part of the work that begins when the one before it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// One pod that prepares all datasets, and the executors that it has.
    Prepare,
    /// One pod, or group of pods, for each trial.
    Train {
        /// How many.
        trials: u32,
        /// The rung of successive halving, from 0; `None` where every trial is trained to its end at once.
        rung: Option<u32>,
    },
    /// One pod that ranks, tests, and writes tables and report.
    Evaluate,
}

impl Stage {
    /// The value of the label [`STAGE`](crate::labels::STAGE).
    pub const fn label(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Train { .. } => "train",
            Self::Evaluate => "evaluate",
        }
    }

    /// The last part of its Job's name.
    pub fn suffix(self) -> String {
        match self {
            Self::Train { rung: Some(rung), .. } => format!("train-r{rung}"),
            other => other.label().to_owned(),
        }
    }
}

impl Submission {
    /// The name of an object of this submission.
    pub(crate) fn object_name(&self, hash: &str, suffix: &str) -> String {
        format!("{}-{hash}-{suffix}", self.name)
    }

    /// Checks all that can be known without a cluster; [`Resources::check`] has checked the resources.
    ///
    /// # Errors
    /// A name or a namespace that is no DNS label, a name that is too long, variables that the pods set otherwise, several nodes without a
    /// Secret, a port of metrics that the executors have, and a sweep file that no ConfigMap holds.
    pub fn check(&self) -> Result<()> {
        self.check_name()?;
        if let Some(reason) = not_a_label(&self.namespace) {
            return Err(Error::Namespace { name: self.namespace.clone(), reason });
        }
        self.check_variables()?;
        if let (nodes @ 2.., None) = (self.resources.nodes, &self.resources.secret) {
            return Err(Error::NoSecret { nodes });
        }
        if let Some(port) = self.resources.metrics_port.filter(|port| self.executors > 0 && BALLISTA.contains(port)) {
            return Err(Error::MetricsPort { port });
        }
        if self.text.len() > MOST_BYTES {
            return Err(Error::TooLarge { bytes: self.text.len(), limit: MOST_BYTES });
        }
        Ok(())
    }

    /// With another value in the pods, the sweep file would mean something else there.
    fn check_variables(&self) -> Result<()> {
        let elsewhere = |(name, value): (&String, &String)| {
            let given = self.resources.environment.get(name).filter(|given| *given != value);
            let given = given.map(|given| format!("it is `{value}` here, and `{given}` in `resources.environment`"));
            let own = OWN_VARIABLES.contains(&name.as_str()).then(|| "the pods set it themselves".to_owned());
            own.or(given).map(|reason| Error::Variable { name: name.clone(), reason })
        };
        self.variables.iter().find_map(elsewhere).map_or(Ok(()), Err)
    }

    fn check_name(&self) -> Result<()> {
        let refuse = |reason, remedy| Err(Error::Name { name: self.name.clone(), reason, remedy });
        let room = MOST.saturating_sub(self.longest_addition());
        if let Some(reason) = not_a_label(&self.name) {
            let nearest = nearest_label(&self.name).filter(|label| label.len() <= room);
            return refuse(reason, nearest.map_or_else(|| "write another".to_owned(), |label| format!("write for example `{label}`")));
        }
        if self.has_services() && self.name.starts_with(|c: char| c.is_ascii_digit()) {
            let reason = "with `nodes` or `executors` it is part of the name of a Service, which begins with a letter".to_owned();
            return refuse(reason, "write another".to_owned());
        }
        if self.name.len() > room {
            let reason = format!("it has {} characters, and with what Jobs and pods add to it {room} are left", self.name.len());
            return refuse(reason, format!("shorten it by {}", self.name.len() - room));
        }
        Ok(())
    }

    /// Whether pods of it find each other by a Service.
    fn has_services(&self) -> bool {
        self.resources.nodes > 1 || self.executors > 0
    }

    /// Characters that follow the name in the longest host name of a pod: `-1a2b3c4d-train-r0-999`.
    fn longest_addition(&self) -> usize {
        let host = |stage: &Stage| {
            let indexes = |trials: u32| self.resources.indexes(trials).saturating_sub(1).to_string().len() + 1;
            let hosts = match stage {
                Stage::Train { trials, .. } => indexes(*trials),
                Stage::Prepare if self.executors > 0 => self.executors.to_string().len() + 1,
                _ => 0,
            };
            let rank = if self.resources.nodes > 1 { (self.resources.nodes - 1).to_string().len() + 1 } else { 0 };
            "-1a2b3c4d-".len() + stage.suffix().len() + hosts + rank
        };
        let driver = format!("-1a2b3c4d-drive-{}", DRIVERS - 1).len();
        self.stages.iter().map(host).chain([driver]).max().unwrap_or_default()
    }
}
