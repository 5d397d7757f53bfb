//! Where trials are trained: what cannot be is refused before any work.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use support::{SWEEP, Sandbox};

/// The complaint of `ranksweep ARGUMENTS` with these variables; nothing is stored.
fn complaint(sweep: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let sandbox = Sandbox::new(sweep);
    let ended = sandbox.ended(sandbox.command(arguments).envs(variables.iter().copied()));
    assert!(!sandbox.path("runs").exists(), "something was stored");
    ended.complaint(2).to_owned()
}

#[track_caller]
fn refused(sweep: &str, message: &str) {
    let found = complaint(sweep, &["run", "s.yaml"], &[]);
    assert!(found.starts_with(message), "\n   found: {found}\nexpected: {message}");
}

#[test]
fn a_device_is_one_of_three_names() {
    refused(
        &format!("{SWEEP}device: gpu\n"),
        "s.yaml:16:9: device: unknown name `gpu`: did you mean `cuda`? (expected one of `auto`, `cpu`, `cuda`",
    );
}

#[test]
fn gpus_are_for_trials_that_are_trained_on_them() {
    let message = "s.yaml:16:19: resources.gpus: gpus is 2, and `device` is cpu, which would leave them idle: leave one of the two out";
    refused(&format!("{SWEEP}resources: {{gpus: 2}}\ndevice: cpu\n"), message);
    let message = "s.yaml:16:29: resources.trials_per_gpu: trials_per_gpu is 4, and `device` is cpu, which has no GPU to share: leave one of the two out";
    refused(&format!("{SWEEP}resources: {{trials_per_gpu: 4}}\ndevice: cpu\n"), message);
    let sandbox = Sandbox::new(&format!("{SWEEP}resources: {{gpus: 4, nodes: 2}}\n"));
    let planned = sandbox.ended(&mut sandbox.command(&["plan", "s.yaml"]));
    assert_eq!(planned.code, Some(0), "{}", planned.error);
}

/// The build of the tests trains on the CPU alone.
#[cfg(not(feature = "cuda"))]
#[test]
fn a_build_for_the_cpu_refuses_cuda_before_any_work() {
    // Popularity does not learn, and is no reason to refuse.
    refused(
        &format!("{SWEEP}device: cuda\n"),
        "s.yaml:16:9: device: device is cuda, and this build trains on the CPU alone: build it with ",
    );
}

#[cfg(not(feature = "cuda"))]
#[test]
fn processes_do_not_meet_on_cpus() {
    let secret = ("RANKSWEEP_RENDEZVOUS_SECRET", "0123456789abcdef");
    let variables = [secret, ("WORLD_SIZE", "2"), ("RANK", "0"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "29500")];
    for arguments in [&["run", "s.yaml"][..], &["train", "s.yaml", "--index", "0"], &["train", "s.yaml", "--share"]] {
        let found = complaint(SWEEP, arguments, &variables);
        assert!(found.contains("WORLD_SIZE is 2: several processes train one trial on GPUs alone"), "{found}");
    }
    let found = complaint(SWEEP, &["run", "s.yaml"], &variables[..4]);
    assert!(found.contains("WORLD_SIZE is 2 and MASTER_PORT is not set"), "{found}");
    let found = complaint(SWEEP, &["run", "s.yaml"], &variables[1..]);
    assert!(found.contains("WORLD_SIZE is 2 and RANKSWEEP_RENDEZVOUS_SECRET is not set"), "{found}");
}
