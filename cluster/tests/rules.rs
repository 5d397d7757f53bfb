//! Rules of the API server and the Job controller between fields, which no schema says. Each rule is held for sweeps of every shape.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use cluster::{Object, labels};
use k8s_openapi::api::{
    batch::v1::{Job, JobSpec},
    core::v1::{Container, PodSpec},
};
use std::collections::{BTreeMap, BTreeSet};
use support::{SHAPES, rendered, submission};

fn all() -> impl Iterator<Item = (&'static str, Vec<Object>)> {
    SHAPES.into_iter().map(|(name, ..)| (name, rendered(name)))
}

fn jobs() -> Vec<Job> {
    let job = |object| if let Object::Job(job) = object { Some(*job) } else { None };
    all().flat_map(|(_, objects)| objects.into_iter().filter_map(job)).collect()
}

fn name(job: &Job) -> &str {
    job.metadata.name.as_deref().unwrap()
}

fn spec(job: &Job) -> &JobSpec {
    job.spec.as_ref().unwrap()
}

fn pod(job: &Job) -> &PodSpec {
    spec(job).template.spec.as_ref().unwrap()
}

fn container(job: &Job) -> &Container {
    let [container] = pod(job).containers.as_slice() else { panic!("{}: one container", name(job)) };
    container
}

fn is_driver(job: &Job) -> bool {
    job.metadata.labels.as_ref().unwrap()[labels::STAGE] == "driver"
}

fn is_indexed(job: &Job) -> bool {
    spec(job).completion_mode.as_deref() == Some("Indexed")
}

#[test]
fn host_names_are_dns_labels() {
    for job in jobs() {
        let last = spec(&job).completions.unwrap_or(1) - 1;
        let host = if is_indexed(&job) { format!("{}-{last}", name(&job)) } else { name(&job).to_owned() };
        assert!(host.len() <= 63, "{host}");
        assert!(host.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{host}");
    }
}

/// A failure policy needs pods that are never restarted in place, and replaced only when they have ended; `FailIndex` needs retries by index.
#[test]
fn failure_policies_have_what_they_need() {
    for job in jobs() {
        let spec = spec(&job);
        assert_eq!(pod(&job).restart_policy.as_deref(), Some("Never"));
        assert_eq!(spec.pod_replacement_policy.as_deref(), Some("Failed"));
        let rules = &spec.pod_failure_policy.as_ref().unwrap().rules;
        let disruption = rules[0].on_pod_conditions.as_ref().unwrap();
        assert_eq!(
            (rules[0].action.as_str(), disruption[0].type_.as_str(), disruption[0].status.as_str()),
            (if is_driver(&job) { "FailIndex" } else { "Ignore" }, "DisruptionTarget", "True")
        );
        let mut seen = BTreeSet::new();
        for rule in rules {
            assert!(rule.action != "FailIndex" || spec.backoff_limit_per_index.is_some(), "{}", name(&job));
            assert!(rule.on_exit_codes.is_some() != rule.on_pod_conditions.is_some(), "one kind of condition in each rule");
            let Some(codes) = &rule.on_exit_codes else { continue };
            assert_eq!(codes.container_name.as_deref(), Some(container(&job).name.as_str()));
            assert!(codes.values.is_sorted() && !codes.values.contains(&0), "ascending, and never success");
            assert!(codes.values.iter().all(|code| seen.insert(*code)), "a code of an earlier rule is never reached");
        }
        assert!(rules.len() <= 20);
    }
}

/// The answers to each exit code, first match first.
#[test]
fn exit_codes_are_answered() {
    let answer = |job: &Job, code: i32| {
        let rules = spec(job).pod_failure_policy.clone().unwrap().rules;
        let matches = |rule: &k8s_openapi::api::batch::v1::PodFailurePolicyRule| {
            rule.on_exit_codes.as_ref().is_some_and(|codes| codes.operator == "In" && codes.values.contains(&code))
        };
        rules.into_iter().find(matches).map_or("retried".to_owned(), |rule| rule.action)
    };
    for job in jobs() {
        let one_trial_of_many = spec(&job).backoff_limit_per_index.is_some() && spec(&job).success_policy.is_none();
        let for_good = if one_trial_of_many { "FailIndex" } else { "FailJob" };
        let interrupted = if is_driver(&job) { "FailIndex" } else { "Ignore" };
        let expected =
            [(1, "retried"), (2, "FailJob"), (42, for_good), (75, interrupted), (101, "retried"), (124, for_good), (137, "retried")];
        for (code, action) in expected {
            assert_eq!(answer(&job, code), action, "{} on {code}", name(&job));
        }
    }
}

/// Whether the Job's pods are a preparation and its executors.
fn has_executors(job: &Job) -> bool {
    container(job).command.as_deref() == Some(&["ranksweep-engine".to_owned()])
}

/// One failed trial must not end the others; of a group of ranks, and of a preparation with executors, the first ends all; of drivers that follow each other,
/// whichever comes to the end.
#[test]
fn indexes_stand_for_trials_for_ranks_or_for_drivers() {
    let mut seen = [0, 0, 0];
    for job in jobs() {
        let spec = spec(&job);
        if is_driver(&job) {
            assert_eq!(spec.success_policy.as_ref().unwrap().rules[0].succeeded_count, Some(1));
            assert_eq!((spec.parallelism, spec.completions), (Some(1), Some(1000)), "one at a time");
            assert!(spec.backoff_limit.is_none() && spec.backoff_limit_per_index.is_some() && spec.max_failed_indexes.is_none());
            continue;
        }
        if has_executors(&job) {
            assert_eq!(spec.success_policy.as_ref().unwrap().rules[0].succeeded_indexes.as_deref(), Some("0"));
            assert_eq!((spec.completions, spec.parallelism), (Some(9), Some(9)), "one that prepares, and 8 executors");
            assert_eq!((spec.backoff_limit, spec.backoff_limit_per_index, spec.max_failed_indexes), (None, Some(3), Some(0)));
            continue;
        }
        let uses_index = container(&job).args.iter().flatten().any(|word| word == "$(JOB_COMPLETION_INDEX)");
        let ranks = spec.success_policy.is_some();
        seen[usize::from(is_indexed(&job)) + usize::from(ranks)] += 1;
        assert_eq!(uses_index, is_indexed(&job) && !ranks, "{}", name(&job));
        assert!(spec.max_failed_indexes.is_none());
        if ranks {
            assert_eq!(spec.success_policy.as_ref().unwrap().rules[0].succeeded_indexes.as_deref(), Some("0"));
            assert_eq!(spec.completions, spec.parallelism, "all ranks or none");
            assert!(spec.backoff_limit.is_some() && spec.backoff_limit_per_index.is_none());
        } else if is_indexed(&job) {
            assert!(spec.parallelism <= spec.completions && spec.backoff_limit.is_none() && spec.backoff_limit_per_index.is_some());
        } else {
            assert!(spec.completions.is_none() && spec.parallelism.is_none() && spec.backoff_limit.is_some());
        }
    }
    assert!(seen.iter().all(|count| *count > 1), "{seen:?}");
}

#[test]
fn stages_wait_and_the_driver_does_not() {
    for job in jobs() {
        assert_eq!(spec(&job).suspend, if is_driver(&job) { None } else { Some(true) });
        assert_eq!(spec(&job).ttl_seconds_after_finished, None, "results are not persisted yet");
        assert_eq!(spec(&job).active_deadline_seconds, None, "a deadline looks like a disruption");
    }
}

/// Kueue takes a suspended Job with its label at once: the driver sets the label when the stage is due.
#[test]
fn the_queue_is_an_annotation_until_the_stage_is_due() {
    for (shape, objects) in all() {
        for object in objects {
            let metadata = object.metadata();
            assert!(!metadata.labels.as_ref().unwrap().contains_key(labels::KUEUE_QUEUE));
            let Object::Job(job) = &object else { continue };
            let queue = metadata.annotations.iter().flatten().find(|(key, _)| *key == labels::QUEUE).map(|(_, queue)| queue.as_str());
            assert_eq!(queue, (shape == "kueue" && !is_driver(job)).then_some("research"), "{}", object.name());
        }
    }
}

/// The fields of Pod Security `restricted`, and what PLATFORM asks beside them.
#[test]
fn pods_are_restricted() {
    for job in jobs() {
        let pod_context = pod(&job).security_context.as_ref().unwrap();
        assert_eq!(pod_context.run_as_non_root, Some(true));
        assert!(pod_context.run_as_user.unwrap() > 0 && pod_context.fs_group.unwrap() > 0);
        assert_eq!(pod_context.seccomp_profile.as_ref().unwrap().type_, "RuntimeDefault");
        let context = container(&job).security_context.as_ref().unwrap();
        assert_eq!((context.allow_privilege_escalation, context.read_only_root_filesystem), (Some(false), Some(true)));
        assert_eq!(context.capabilities.as_ref().unwrap().drop.as_deref(), Some(&["ALL".to_owned()][..]));
        assert_eq!((context.privileged, pod(&job).host_network, pod(&job).host_pid, pod(&job).host_ipc), (None, None, None, None));
        // A folder of the node is the only thing that `restricted` forbids, and docs/cluster.md says so.
        let of_node = pod(&job).volumes.iter().flatten().filter(|volume| volume.host_path.is_some()).count();
        let is_cached = name(&job).starts_with("node-cache-") && name(&job).ends_with("-train");
        assert_eq!(of_node, usize::from(is_cached), "{}", name(&job));
        assert_eq!(pod(&job).automount_service_account_token, Some(is_driver(&job)));
    }
}

#[test]
fn mounts_have_volumes_and_the_volumes_are_there() {
    for (shape, objects) in all() {
        let config_maps: Vec<&str> = objects.iter().filter(|object| object.kind() == "ConfigMap").map(Object::name).collect();
        for object in &objects {
            let Object::Job(job) = object else { continue };
            let volumes: BTreeSet<&str> = pod(job).volumes.iter().flatten().map(|volume| volume.name.as_str()).collect();
            let mounts = container(job).volume_mounts.iter().flatten();
            let paths: BTreeSet<&str> = mounts.clone().map(|mount| mount.mount_path.as_str()).collect();
            assert_eq!(volumes, mounts.clone().map(|mount| mount.name.as_str()).collect(), "{shape}");
            assert_eq!(paths.len(), volumes.len(), "{shape}: no path twice");
            let mounted = pod(job).volumes.iter().flatten().filter_map(|volume| volume.config_map.as_ref());
            assert!(mounted.map(|config_map| config_map.name.as_str()).all(|name| config_maps == [name]));
        }
    }
}

/// Threads follow the limit of cores, and NCCL's shared memory must fit beside the model.
#[test]
fn requests_are_limits() {
    for job in jobs() {
        let resources = container(&job).resources.as_ref().unwrap();
        assert_eq!(resources.requests, resources.limits);
        let gpus = resources.limits.as_ref().unwrap().get("nvidia.com/gpu").map_or(0, |count| count.0.parse::<u32>().unwrap());
        let mut volumes = pod(&job).volumes.iter().flatten().filter_map(|volume| volume.empty_dir.as_ref());
        assert_eq!(volumes.any(|volume| volume.medium.as_deref() == Some("Memory")), gpus > 1, "{}", name(&job));
    }
}

/// A reference to a variable that stands later, or nowhere, would stay as it is written.
#[test]
fn no_variable_stands_twice_or_refers_to_another() {
    for job in jobs() {
        let mut seen = BTreeMap::new();
        for variable in container(&job).env.iter().flatten() {
            assert_eq!(seen.insert(&variable.name, ()), None, "{}", variable.name);
            let value = variable.value.as_deref().unwrap_or_default().replace("$$", "");
            assert!(!value.contains("$("), "{}: {value}", variable.name);
        }
    }
}

#[test]
fn ranks_find_each_other() {
    let objects = rendered("multi-node");
    let mut gangs = 0;
    for pair in objects.windows(2) {
        let [Object::Service(service), Object::Job(job)] = pair else { continue };
        gangs += 1;
        let secret = container(job).env_from.as_ref().unwrap()[0].secret_ref.as_ref().unwrap();
        assert_eq!(secret.name, "bucket", "the ranks know each other by a key of it");
        let service_name = service.metadata.name.as_deref().unwrap();
        let ports = service.spec.as_ref().unwrap();
        assert_eq!((ports.cluster_ip.as_deref(), ports.publish_not_ready_addresses), (Some("None"), Some(true)));
        assert_eq!(ports.selector.as_ref().unwrap()["batch.kubernetes.io/job-name"], name(job));
        assert_eq!(pod(job).subdomain.as_deref(), Some(service_name));
        let env = |name: &str| container(job).env.iter().flatten().find(|variable| variable.name == name).unwrap().clone();
        assert_eq!(env("MASTER_ADDR").value.unwrap(), format!("{}-0.{service_name}", name(job)));
        assert_eq!(env("WORLD_SIZE").value.unwrap(), "2");
        let field = env("RANK").value_from.unwrap().field_ref.unwrap().field_path;
        assert_eq!(field, "metadata.annotations['batch.kubernetes.io/job-completion-index']");
    }
    assert_eq!(gangs, 2);
}

/// Whoever is not of the same submission's trials reaches none of their pods.
#[test]
fn ranks_are_reached_by_ranks_alone() {
    for (shape, objects) in all() {
        let policies = objects.iter().filter_map(|object| if let Object::NetworkPolicy(policy) = object { Some(policy) } else { None });
        let [policy] = policies.collect::<Vec<_>>()[..] else {
            assert!(shape != "multi-node" && objects.iter().all(|object| object.kind() != "Service"), "{shape}");
            continue;
        };
        let spec = policy.spec.as_ref().unwrap();
        let chosen = spec.pod_selector.as_ref().unwrap().match_labels.as_ref().unwrap();
        assert_eq!(spec.policy_types.as_deref(), Some(&["Ingress".to_owned()][..]));
        let [rule] = spec.ingress.as_deref().unwrap() else { panic!("one rule") };
        assert_eq!((rule.from.as_ref().unwrap()[0].pod_selector.as_ref(), &rule.ports), (spec.pod_selector.as_ref(), &None));
        let jobs = objects.iter().filter_map(|object| if let Object::Job(job) = object { Some(job) } else { None });
        for job in jobs {
            let of_pod = self::spec(job).template.metadata.as_ref().unwrap().labels.as_ref().unwrap();
            let is_chosen = chosen.iter().all(|(key, value)| of_pod.get(key) == Some(value));
            assert_eq!(is_chosen, pod(job).subdomain.is_some(), "{}", name(job));
        }
    }
}

/// The driver comes first, names all stages' Jobs, and can own everything.
#[test]
fn the_driver_knows_and_owns_the_stages() {
    for (shape, mut objects) in all() {
        let Object::Job(mut driver) = objects.remove(0) else { panic!("{shape}: the driver is a Job") };
        assert!(is_driver(&driver));
        let stages = driver.metadata.annotations.as_ref().unwrap()[labels::STAGES].clone();
        let jobs: Vec<&str> = objects.iter().filter(|object| object.kind() == "Job").map(Object::name).collect();
        assert_eq!(stages.split([' ', ',']).collect::<Vec<_>>(), jobs);
        driver.metadata.uid = Some("0b1f".to_owned());
        for object in &mut objects {
            object.owned_by(&driver);
            let owner = &object.metadata().owner_references.as_ref().unwrap()[0];
            assert_eq!((owner.kind.as_str(), owner.uid.as_str(), &owner.name), ("Job", "0b1f", driver.metadata.name.as_ref().unwrap()));
        }
    }
}

/// What is submitted decides the names; where it is submitted decides nothing else.
#[test]
fn anything_that_differs_has_other_names() {
    let first = submission("single-gpu");
    let hash = first.hash();
    assert!(hash.len() == 8 && hash == submission("single-gpu").hash());
    assert!(rendered("single-gpu").iter().all(|object| object.name().starts_with(&format!("single-gpu-{hash}"))));
    let changes: [fn(&mut cluster::Submission); 6] = [
        |changed| changed.meaning += "seeds: [2]",
        |changed| changed.image += "-other",
        |changed| changed.plan = changed.plan.replace('0', "1"),
        |changed| changed.resources.retries = 1,
        |changed| drop(changed.variables.insert("MORE".to_owned(), "1".to_owned())),
        |changed| changed.stages.truncate(2),
    ];
    for change in changes {
        let mut changed = first.clone();
        change(&mut changed);
        assert_ne!(changed.hash(), hash);
    }
    // But for comments, and what may change while it runs.
    let mut same = first.clone();
    same.text += "# one more line\n";
    (same.resources.parallelism, same.resources.ttl_seconds_after_finished) = (3, 60);
    assert_eq!(same.hash(), hash);
}
