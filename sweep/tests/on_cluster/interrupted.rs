//! What a drain or a preemption of its node does to the driver.

use crate::{fake::Act, setting::Setting};
use cluster::drive::Outcome;
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
