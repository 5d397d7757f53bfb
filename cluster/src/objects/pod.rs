//! The pod of a stage, within Pod Security `restricted`.

use super::{RenderContext, command::PROGRAM, environment, metadata::labels, volumes};
use crate::{
    Stage,
    resources::{Share, Toleration},
};
use k8s_openapi::{
    api::core::v1::{
        Capabilities, Container, ContainerPort, EnvVar, LocalObjectReference, PodSecurityContext, PodSpec, PodTemplateSpec,
        ResourceRequirements, SeccompProfile, SecurityContext, TopologySpreadConstraint,
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, ObjectMeta},
    },
};
use std::collections::BTreeMap;

/// The label of the stage whose pods train.
const TRAIN: &str = Stage::Train { trials: 0, rung: None }.label();
/// Nobody's user and group in distroless images.
const USER: i64 = 65_532;
/// Seconds from the polite signal to the rude one. The program has checkpointed and left after 10 at the latest.
const GRACE: i64 = 30;

/// The parts of a pod that its stage decides.
pub(super) struct Work<'a> {
    pub(super) stage: &'a str,
    pub(super) program: &'a str,
    pub(super) arguments: Vec<String>,
    pub(super) share: Share<'a>,
    /// Variables beside those of every stage.
    pub(super) environment: Vec<EnvVar>,
    pub(super) runtime_class: Option<String>,
    /// The headless Service under which the pod has a name.
    pub(super) subdomain: Option<String>,
}

/// The rules as given; those without a selector count the pods of the sweep's trials.
fn spread(context: &RenderContext<'_>) -> Vec<TopologySpreadConstraint> {
    let trials = || LabelSelector { match_labels: Some(labels(context, Some(TRAIN))), ..LabelSelector::default() };
    let given = context.submission.resources.topology_spread_constraints.iter().map(|given| given.0.clone());
    given.map(|rule| TopologySpreadConstraint { label_selector: rule.label_selector.or_else(|| Some(trials())), ..rule }).collect()
}

/// The template of a stage's pods.
pub(super) fn template(context: &RenderContext<'_>, work: Work<'_>) -> PodTemplateSpec {
    let resources = &context.submission.resources;
    let is_of_trial = work.stage == TRAIN;
    let (mut volumes, mut mounts) = volumes::volumes(context, &work.share);
    if let Some((volume, mount)) = volumes::cache(context).filter(|_| is_of_trial) {
        volumes.push(volume);
        mounts.push(mount);
    }
    let container = Container {
        command: Some(vec![work.program.to_owned()]),
        env: Some(environment::of_stage(context).into_iter().chain(work.environment).collect()),
        env_from: environment::secret(context),
        volume_mounts: Some(mounts),
        ..container(context, work.arguments, amounts(&work.share))
    };
    let spec = PodSpec {
        volumes: Some(volumes),
        subdomain: work.subdomain,
        service_account_name: resources.service_account.clone(),
        runtime_class_name: work.runtime_class,
        affinity: resources.affinity.clone().filter(|_| is_of_trial).map(|given| given.0),
        topology_spread_constraints: if is_of_trial { some(spread(context)) } else { None },
        // What a trial computes has no business with the API.
        automount_service_account_token: Some(false),
        ..placed(context, container, &work.share)
    };
    of_stage(context, work.stage, spec)
}

/// A pod with its labels and annotations.
pub(super) fn of_stage(context: &RenderContext<'_>, stage: &str, spec: PodSpec) -> PodTemplateSpec {
    let resources = &context.submission.resources;
    let scraped = resources.metrics_port.into_iter().flat_map(scraped);
    let annotations: BTreeMap<String, String> = scraped.chain(resources.annotations.clone()).collect();
    let annotations = (!annotations.is_empty()).then_some(annotations);
    let labels = resources.labels.clone().into_iter().chain(labels(context, Some(stage))).collect();
    let metadata = ObjectMeta { labels: Some(labels), annotations, ..ObjectMeta::default() };
    PodTemplateSpec { metadata: Some(metadata), spec: Some(spec) }
}

/// The annotations by which a Prometheus without its operator finds the pods that it is to ask.
fn scraped(port: u16) -> [(String, String); 2] {
    [("prometheus.io/scrape", "true".to_owned()), ("prometheus.io/port", port.to_string())].map(|(key, value)| (key.to_owned(), value))
}

/// The specification that all pods share.
pub(super) fn placed(context: &RenderContext<'_>, container: Container, share: &Share<'_>) -> PodSpec {
    let secret = |name: &String| LocalObjectReference { name: name.clone() };
    let secrets: Vec<_> = context.submission.resources.image_pull_secrets.iter().map(secret).collect();
    PodSpec {
        containers: vec![container],
        restart_policy: Some("Never".to_owned()),
        termination_grace_period_seconds: Some(GRACE),
        // Variables for each Service of the namespace would stand among the sweep's.
        enable_service_links: Some(false),
        security_context: Some(nobody()),
        priority_class_name: context.submission.resources.priority_class.clone(),
        image_pull_secrets: some(secrets),
        node_selector: (!share.node_selector.is_empty()).then(|| share.node_selector.clone()),
        tolerations: some(share.tolerations.iter().map(toleration).collect()),
        ..PodSpec::default()
    }
}

/// The only container. Its last lines become the pod's message when it fails.
pub(super) fn container(context: &RenderContext<'_>, arguments: Vec<String>, resources: ResourceRequirements) -> Container {
    let metrics = |port: u16| ContainerPort { name: Some("metrics".to_owned()), container_port: port.into(), ..ContainerPort::default() };
    Container {
        ports: context.submission.resources.metrics_port.map(|port| vec![metrics(port)]),
        name: PROGRAM.to_owned(),
        image: Some(context.submission.image.clone()),
        command: Some(vec![PROGRAM.to_owned()]),
        args: Some(arguments),
        resources: Some(resources),
        security_context: Some(unprivileged()),
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        ..Container::default()
    }
}

/// Requests equal limits: the pod is the last to be evicted, and starts as many threads as it has cores.
fn amounts(share: &Share<'_>) -> ResourceRequirements {
    let gpus = (share.gpus > 0).then(|| (share.gpu_resource, share.gpus.to_string()));
    let scratch = share.scratch.map(|scratch| ("ephemeral-storage", scratch.to_string()));
    let asked = [("cpu", share.cpu.to_string()), ("memory", share.memory.to_string())].into_iter().chain(gpus).chain(scratch);
    equal(asked)
}

/// Requests and limits that are equal.
pub(super) fn equal<'a>(amounts: impl IntoIterator<Item = (&'a str, String)>) -> ResourceRequirements {
    let amounts: BTreeMap<String, Quantity> = amounts.into_iter().map(|(name, amount)| (name.to_owned(), Quantity(amount))).collect();
    ResourceRequirements { requests: Some(amounts.clone()), limits: Some(amounts), ..ResourceRequirements::default() }
}

fn nobody() -> PodSecurityContext {
    PodSecurityContext {
        run_as_non_root: Some(true),
        run_as_user: Some(USER),
        run_as_group: Some(USER),
        fs_group: Some(USER),
        // A volume with many files is not walked through at every start.
        fs_group_change_policy: Some("OnRootMismatch".to_owned()),
        seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".to_owned(), localhost_profile: None }),
        ..PodSecurityContext::default()
    }
}

fn unprivileged() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), add: None }),
        read_only_root_filesystem: Some(true),
        ..SecurityContext::default()
    }
}

fn toleration(given: &Toleration) -> k8s_openapi::api::core::v1::Toleration {
    k8s_openapi::api::core::v1::Toleration {
        key: given.key.clone(),
        operator: Some(format!("{:?}", given.operator)),
        value: given.value.clone(),
        effect: given.effect.map(|effect| format!("{effect:?}")),
        toleration_seconds: given.toleration_seconds.map(i64::from),
    }
}

fn some<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}
