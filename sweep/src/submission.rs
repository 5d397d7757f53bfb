//! A sweep as a cluster gets it: what its pods need, they must find without this machine.

use crate::{
    file::{self, AskedDevice, DatasetEntry, Placed, SweepFile},
    plan::{self, Batches, Titles},
    runner::{Session, left_to_one_rank, left_to_the_cpu},
    usage::Usage,
};
use anyhow::Result;
use cluster::{Resources, Stage, Submission};
use dataset::{Location, redact::is_secret};
use std::{num::NonZero, path::Path};

/// The folder of a sweep's stored plans, below that of its tables.
const PLANS: &str = "plans";

/// The settings of a submission on the command line.
#[derive(Clone, Debug)]
pub struct Target {
    /// The namespace of the objects.
    pub namespace: String,
    /// The image, in place of `resources.image`.
    pub image: Option<String>,
}

/// The plan's place in the storage, by its content.
pub fn plan_location(session: &Session) -> Location {
    session.folder().join(PLANS).join(&session.plan_name())
}

/// All that is submitted of a sweep, with as many trials in a pod as its file says, or were [`chosen`].
///
/// # Errors
/// [`file::Error`] and [`Usage`] for what a pod cannot use: no image, a storage or a source that only this machine sees, names that
/// Kubernetes refuses, a file that no ConfigMap holds.
pub fn submission(session: &Session, target: &Target, chosen: Option<&Batches>) -> Result<Submission> {
    let file = &session.file;
    let mut resources = resources(&file.resources, target)?;
    resources.trials_per_pod = resources.trials_per_pod.or(chosen.map(|chosen| chosen.trials_per_pod));
    if file.device.value == AskedDevice::Cuda && resources.gpus == 0 {
        let reason = "device is cuda, and pods have no GPU: give them one, as `resources: {gpus: 1}`";
        return Err(file.device.place().error(reason).into());
    }
    if let (0, several @ 2..) = (resources.gpus, resources.trials_per_gpu) {
        let reason = format!("trials_per_gpu is {several}, and pods have no GPU to share: give them one, as `gpus: 1`");
        return Err(file.resources.complain(reason).into());
    }
    seen_by_pods(session.storage(), &resources).map_err(|reason| file::Error::new(format!("the storage {reason}")))?;
    file.datasets.iter().try_for_each(|dataset| sources(dataset, &resources))?;
    model_files(session, &resources)?;
    without_secrets(file)?;
    warn_of_idle_gpus(session, &resources);
    let submission = Submission {
        name: file.name.value.clone(),
        namespace: target.namespace.clone(),
        image: resources.image.clone().unwrap_or_default(),
        text: file.text.clone(),
        meaning: file.meaning()?,
        variables: file.variables(),
        storage: session.storage().to_string(),
        plan: plan_location(session).to_string(),
        stages: stages(session)?,
        executors: file.preparation.value.executors.map_or(0, NonZero::get),
        resources,
    };
    submission.check().map_err(|error| blame(session, &error))?;
    Ok(submission)
}

/// How many trials a pod trains, where the sweep file leaves it open; not where the source files are not looked at.
///
/// # Errors
/// A source that cannot be read.
pub fn chosen(session: &Session) -> Result<Option<Batches>> {
    if session.is_offline() {
        return Ok(None);
    }
    plan::batches(&session.plan, &session.file.resources.value, || session.sizes())
}

/// The pods are given the variables that the file names, in plain text.
fn without_secrets(file: &SweepFile) -> Result<()> {
    let variables = file.variables();
    let secret = variables.keys().find(|name| is_secret(name));
    let reason = |name| {
        let words = "its name says that it holds a secret, which would stand readable in every Job";
        file::Error::new(format!("the sweep file names `${{{name}}}`: {words}; name a variable that holds none")).into()
    };
    secret.map_or(Ok(()), |name| Err(reason(name)))
}

/// The resources with the image that is used.
fn resources(asked: &Placed<Resources>, target: &Target) -> Result<Resources> {
    let image = target.image.clone().or_else(|| asked.value.image.clone());
    let missing = "no image: name one with `ranksweep` in it, as `resources: {image: registry.example.com/ranksweep:0.1.0}` or by --image";
    let image = image.ok_or_else(|| asked.place().error(missing))?;
    let resources = Resources { image: Some(image), ..asked.value.clone() };
    resources.check().map_err(|reason| Usage(format!("--image: {reason}")))?;
    Ok(resources)
}

/// A trial that no GPU can train, or not several, is trained all the same, beside the GPUs that its pods have.
fn warn_of_idle_gpus(session: &Session, resources: &Resources) {
    let (gpus, nodes) = (resources.gpus, resources.nodes);
    let on_cpu = if gpus > 0 { left_to_the_cpu(&session.plan) } else { String::new() };
    let by_one = if gpus > 0 && gpus * nodes > 1 { left_to_one_rank(&session.plan) } else { String::new() };
    for (how, left) in [("on the CPU", on_cpu), ("by one rank", by_one)] {
        if !left.is_empty() {
            tracing::warn!(gpus, nodes, "trained {how}, beside idle GPUs of its pods: {left}");
        }
    }
}

/// Why a pod does not see a location, if so.
fn seen_by_pods(location: &Location, resources: &Resources) -> Result<(), String> {
    let remedy = "give a URL (s3://, gs://, az://), or a path on `resources.volume`";
    let Some(path) = location.local_path() else {
        let in_memory = location.to_string().starts_with("memory:");
        return if in_memory { Err(format!("{location} is the memory of one process; {remedy}")) } else { Ok(()) };
    };
    match &resources.volume {
        Some(volume) if volume.holds(&path) => Ok(()),
        Some(volume) => Err(format!("{location} is not on the volume, which pods see as {}; {remedy}", volume.path)),
        None => Err(format!("{location} is a folder of this machine, which no pod sees; {remedy}")),
    }
}

/// The splits of a dataset have one source.
fn sources(dataset: &DatasetEntry, resources: &Resources) -> Result<()> {
    for (key, path) in dataset.splits[0].source.files() {
        let place = &dataset.node.at(key).place;
        let location = Location::parse(path)?;
        if location.local_path().is_some() && !path.starts_with("file:") && Path::new(path).is_relative() {
            return Err(place.error(format!("`{path}` starts at this machine's working directory; pods have another: give a URL")).into());
        }
        seen_by_pods(&location, resources).map_err(|reason| place.error(format!("the source {reason}")))?;
    }
    Ok(())
}

/// The files of models that other programs trained.
fn model_files(session: &Session, resources: &Resources) -> Result<()> {
    let titles = Titles::new(&session.plan);
    for (method, _, trial) in session.plan.trials() {
        let refuse = |reason: String| Usage(format!("{}: {reason}", titles.of(method)));
        let places = session.model_files(trial)?;
        for file in trial.trial.backbone.files() {
            let Some(at) = places.get(file.key) else { continue };
            if at.local_path().is_some()
                && !file.path.starts_with("file:")
                && !file.path.starts_with("${")
                && Path::new(file.path).is_relative()
            {
                let words = "starts at this machine's working directory; pods have another: give a URL";
                return Err(refuse(format!("`{}` {words}", file.path)).into());
            }
            seen_by_pods(at, resources).map_err(|reason| refuse(format!("the file {reason}")))?;
        }
    }
    Ok(())
}

/// One stage of training, or one for each rung of successive halving.
fn stages(session: &Session) -> Result<Vec<Stage>> {
    let (plan, search) = (&session.plan, &session.file.search);
    if search.value.halving().is_some_and(|halving| halving.asynchronous) {
        let reason = "a cluster trains one rung after the other: leave `asynchronous` out, or use `ranksweep run` on one machine";
        return Err(search.complain(reason.to_owned()).into());
    }
    let train = |trials: usize, rung: Option<usize>| -> Result<Stage> {
        Ok(Stage::Train { trials: u32::try_from(trials)?, rung: rung.map(u32::try_from).transpose()? })
    };
    let rungs = plan.rungs();
    let training: Vec<Stage> = match rungs.is_empty() {
        true => vec![train(plan.trials().count(), None)?],
        false => {
            let reached = rungs.iter().enumerate().filter(|(_, rung)| rung.trials > 0);
            reached.map(|(rung, of)| train(of.trials, Some(rung))).collect::<Result<_>>()?
        }
    };
    Ok([vec![Stage::Prepare], training, vec![Stage::Evaluate]].concat())
}

/// An error with the key or the flag that it is about.
fn blame(session: &Session, error: &cluster::Error) -> anyhow::Error {
    let message = error.to_string();
    match error {
        cluster::Error::Name { .. } => session.file.name.place().error(message).into(),
        cluster::Error::Namespace { .. } => Usage(format!("--namespace: {message}")).into(),
        cluster::Error::NoSecret { .. } => session.file.resources.node.at("nodes").place.error(message).into(),
        cluster::Error::MetricsPort { .. } => session.file.resources.node.at("metrics_port").place.error(message).into(),
        cluster::Error::Variable { .. } | cluster::Error::TooLarge { .. } => file::Error::new(message).into(),
    }
}
