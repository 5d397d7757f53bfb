//! The driver, and a pod that trains, when their node is drained or preempted.

use crate::{fake::Act, setting::Setting, support::changed};
use cluster::stages::Outcome;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

#[test]
fn a_driver_that_is_stopped_ends_with_75_and_the_next_one_goes_on() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    setting.fake.with(|world| world.pods(|_| Act::Run)); // the stage that the driver starts does not end
    let mut command = setting.command(&format!("drive tiny --namespace team --submission {}", setting.hash()));
    let mut driver = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(driver.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("unsuspended")), "no stage was started");
    assert!(Command::new("sh").args(["-c", &format!("kill -TERM {}", driver.id())]).status().unwrap().success());
    let last = lines.last().unwrap_or_default();
    assert_eq!(driver.wait().unwrap().code(), Some(75), "{last}");
    assert!(last.starts_with("interrupted; what was finished is kept"), "{last}");
    setting.run_pods();
    assert_eq!(setting.drive(), Outcome::Done);
}

/// Starts one trial's pod, and gives it back with its log.
fn trial(setting: &Setting, plan: &str) -> (std::process::Child, impl Iterator<Item = String> + use<>) {
    let mut command = setting.command(&format!("train s.yaml --index 0 --plan {plan}"));
    let mut pod = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(pod.stderr.take().unwrap()).lines().map_while(Result::ok);
    (pod, lines)
}

#[test]
fn the_first_line_of_a_resumed_pod_says_from_where() {
    let endless = changed("epochs: 2,", "epochs: 10000000, checkpoint_minutes: 1000,").replace("evaluate_every: 1,", "evaluate_every: 10,");
    let setting = Setting::of(&endless);
    setting.well("submit s.yaml --namespace team");
    let plan = setting.sandbox.stored(".json").into_iter().find(|path| path.to_str().unwrap().contains("/plans/")).unwrap();
    let plan = plan.to_str().unwrap();
    setting.well(&format!("prepare s.yaml --plan {plan}"));
    let end = |pod: &mut std::process::Child| {
        assert!(Command::new("sh").args(["-c", &format!("kill -TERM {}", pod.id())]).status().unwrap().success());
        assert_eq!(pod.wait().unwrap().code(), Some(75));
    };
    let (mut pod, mut lines) = trial(&setting, plan);
    assert!(lines.any(|line| line.contains("evaluated")), "nothing was trained");
    end(&mut pod);
    let (mut pod, mut lines) = trial(&setting, plan);
    let first = lines.next().unwrap();
    assert!(first.contains("goes on from its last checkpoint") && first.contains(" epoch="), "{first}");
    assert!(lines.any(|line| line.contains("evaluated")), "it does not go on");
    end(&mut pod);
}
