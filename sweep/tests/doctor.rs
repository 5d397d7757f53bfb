//! `ranksweep doctor` by the binary: what it prints and writes, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use support::Sandbox;

#[test]
fn it_says_what_there_is_and_writes_nothing() {
    let sandbox = Sandbox::new("");
    let ended = sandbox.ended(&mut sandbox.command(&["doctor"]));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    for word in ["ranksweep ", "features", "cores", "memory"] {
        assert!(ended.out.contains(word), "{word}: {}", ended.out);
    }
    assert!(!sandbox.path("doctor.json").exists());
}

/// The build of the tests trains on the CPU alone.
#[cfg(not(feature = "cuda"))]
#[test]
fn a_check_holds_every_way_of_the_cpu_against_the_first() {
    let sandbox = Sandbox::new("");
    let ended = sandbox.ended(&mut sandbox.command(&["doctor", "--check"]));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    let file: serde_json::Value = serde_json::from_slice(&std::fs::read(sandbox.path("doctor.json")).unwrap()).unwrap();
    let on = |device: &str| file["comparisons"].as_array().unwrap().iter().filter(|compared| compared["device"] == device).count();
    assert_eq!([on("cpu"), on("cpu, 2 ranks"), on("cpu, 4 ranks")], [4, 12, 12]);
    assert!(file["missing"][0].as_str().unwrap().contains("docs/gpu.md"));
}

#[cfg(not(feature = "cuda"))]
#[test]
fn without_a_gpu_nothing_is_timed_and_that_is_no_success() {
    let sandbox = Sandbox::new("");
    let ended = sandbox.ended(&mut sandbox.command(&["doctor", "--bench", "--out", "findings.json"]));
    assert!(ended.complaint(1).starts_with("--bench times the kernels of GPUs: this build trains on the CPU alone"), "{}", ended.error);
    assert!(sandbox.path("findings.json").exists(), "what was found is written all the same");
}
