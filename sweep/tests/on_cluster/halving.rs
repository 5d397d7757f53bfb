//! Successive halving: a trial has one pod in each rung that it comes to.

use crate::{setting::Setting, support::changed};
use cluster::drive::Outcome;
use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

/// Five trials: `bpr` in one configuration, `softmax` in three, of which one goes on, and `popularity`, which has no epochs.
fn halved() -> Setting {
    let sweep = changed("temperature: 0.2", "temperature: [0.1, 0.2, 0.4]");
    Setting::of(&format!("{sweep}search: {{kind: successive-halving, epochs: 1}}\n"))
}

/// The last of what `status` says until it says this, or for two minutes.
fn status_until(setting: &Setting, words: &str) -> String {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let said = setting.ranksweep("status s.yaml --namespace team").out;
        if said.contains(words) || Instant::now() > end {
            return said;
        }
    }
}

#[test]
fn trials_run_in_the_rung_that_they_have_come_to() {
    let setting = halved();
    setting.well("submit s.yaml --namespace team");
    let second = setting.hold_back("-train-r1");
    let words = "5 trials: 1 done, 2 running, 0 waiting, 0 failed, 2 stopped by the search\n";
    let (said, outcome) = thread::scope(|scope| {
        let driver = scope.spawn(|| setting.drive());
        let said = status_until(&setting, words);
        second.store(true, Ordering::Relaxed);
        (said, driver.join().unwrap())
    });
    assert!(said.contains(words), "{said}");
    assert_eq!(outcome, Outcome::Done);
}
