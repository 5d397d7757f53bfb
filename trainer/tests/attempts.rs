//! Several processes at one trial, and folders whose files were damaged since: what counts is whole, and of one training.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)] // this file uses parts of it
mod support;

use dataset::Location;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};
use support::{RESOURCES, Snapshot, Stops, copy, ended, folder, result, tastes, trial};
use trainer::{EpochReport, Error, Fence, Observer, Resources, Trial, train};

const MF: &str = r#"{"mf": {"dim": 16}}"#;
const ADAM: &str = r#"{"adam": {"learning_rate": 0.05}}"#;
const UNIFORM: &str = r#"{"uniform": {"negatives": 20}}"#;

fn bpr() -> Trial {
    trial(MF, r#"{"bpr": {}}"#, UNIFORM, ADAM)
}

fn whole(name: &str) -> Location {
    let folder = folder(name);
    train(&bpr(), &tastes(), &folder, &RESOURCES, &mut ()).unwrap();
    folder
}

/// A process that is stopped after an epoch, while another trains the same trial to its end; it goes on, and may be killed after a later one.
struct Overtaken<'a> {
    after: u32,
    killed: Option<u32>,
    folder: &'a Location,
}

impl Observer for Overtaken<'_> {
    fn epoch(&mut self, report: &EpochReport) {
        if report.epoch == self.after {
            train(&bpr(), &tastes(), self.folder, &RESOURCES, &mut ()).unwrap();
        }
        assert!(self.killed != Some(report.epoch), "killed");
    }
}

#[test]
fn who_was_overtaken_harms_no_model_wherever_it_is_killed() {
    let whole = whole("overtaken-whole");
    for after in [1, 2, 5] {
        for killed in [None, Some(after), Some(after + 1), Some(after + 3), Some(after + 4)] {
            let folder = folder(&format!("overtaken-{after}-{killed:?}"));
            let mut first = Overtaken { after, killed, folder: &folder };
            let end = catch_unwind(AssertUnwindSafe(|| train(&bpr(), &tastes(), &folder, &RESOURCES, &mut first).unwrap()));
            assert_eq!(end.is_err(), killed.is_some());
            assert!(result(&folder) == result(&whole), "after {after}, killed {killed:?}");
            let again = train(&bpr(), &tastes(), &folder, &RESOURCES, &mut ()).unwrap();
            assert!(Some(&again) == ended(&folder).unwrap().outcome.fit() && result(&folder) == result(&whole));
        }
    }
}

/// Refuses from some question on.
#[derive(Debug)]
struct Lost {
    asked: AtomicU32,
    after: u32,
}

impl Fence for Lost {
    fn holds(&self) -> dataset::Result<bool> {
        Ok(self.asked.fetch_add(1, Ordering::Relaxed) < self.after)
    }
}

fn files(folder: &Location) -> Vec<(String, Vec<u8>)> {
    folder.list().unwrap().iter().map(|at| (at.to_string(), at.read().unwrap().to_vec())).collect()
}

#[test]
fn who_lost_a_claim_writes_no_more() {
    for after in 0..8 {
        let folder = folder(&format!("fence-{after}"));
        let fence = Lost { asked: AtomicU32::new(0), after };
        let resources = Resources { fence: Some(&fence), ..RESOURCES };
        let error = train(&bpr(), &tastes(), &folder, &resources, &mut ()).unwrap_err();
        assert!(matches!(error, Error::TakenOver) && !error.repeats(), "{after}: {error}");
        assert_eq!(fence.asked.load(Ordering::Relaxed), after + 1, "it stops at the first refusal");
        assert_eq!(ended(&folder), None);
        train(&bpr(), &tastes(), &folder, &RESOURCES, &mut ()).unwrap();
    }
}

/// What is damaged in a folder, as its training says.
#[derive(Default)]
struct Damage(Vec<String>);

impl Observer for Damage {
    fn damaged(&mut self, error: &Error) {
        self.0.push(error.to_string());
    }
}

/// The contents that a file may have instead: bits flipped, cut off, empty, that of another file, none.
fn damages(content: &[u8], other: &[u8]) -> Vec<Option<Vec<u8>>> {
    let flipped = |place: usize| {
        let mut content = content.to_vec();
        content[place] ^= 1;
        Some(content)
    };
    let last = content.len() - 1;
    vec![flipped(0), flipped(last / 3), flipped(last), Some(content[..last].to_vec()), Some(Vec::new()), Some(other.to_vec()), None]
}

#[test]
fn a_damaged_state_or_model_is_said_and_trained_again() {
    let (expected, interrupted) = (whole("damage-whole"), folder("damage-interrupted"));
    let flag = AtomicBool::new(false);
    let resources = Resources { interrupt: Some(&flag), ..RESOURCES };
    train(&bpr(), &tastes(), &interrupted, &resources, &mut Stops { at: &[(5, 3)], flag: &flag }).unwrap_err();
    let root = format!("{interrupted}/");
    for (number, file) in interrupted.list().unwrap().into_iter().enumerate() {
        let path = file.to_string().strip_prefix(&root).unwrap().to_owned();
        let other = format!("{path}-of-another");
        for (way, content) in damages(&file.read().unwrap(), other.as_bytes()).into_iter().enumerate() {
            let folder = folder(&format!("damage-{number}-{way}"));
            copy(&interrupted, &folder);
            let at = folder.join(&path);
            content.map_or_else(|| at.delete(), |content| at.write(content)).unwrap();
            let mut said = Damage::default();
            train(&bpr(), &tastes(), &folder, &RESOURCES, &mut said).unwrap();
            assert!(result(&folder) == result(&expected), "{path}, {way}");
            let is_silent = path == "trial.json" || (path.ends_with("state.safetensors") && way == 6);
            assert_eq!(said.0.len(), usize::from(!is_silent), "{path}, {way}: {:?}", said.0);
            assert!(said.0.iter().all(|error| error.contains(&path) && error.contains("delete the trial's folder")), "{:?}", said.0);
        }
    }
}

#[test]
fn the_state_of_another_trial_is_not_gone_on_from() {
    let (one, other) = (folder("swapped-one"), folder("swapped-other"));
    let another = trial(MF, r#"{"bpr": {}}"#, UNIFORM, r#"{"adam": {"learning_rate": 0.01}}"#);
    let flag = AtomicBool::new(false);
    let resources = Resources { interrupt: Some(&flag), ..RESOURCES };
    train(&another, &tastes(), &other, &resources, &mut Stops { at: &[(5, 3)], flag: &flag }).unwrap_err();
    copy(&other, &one);
    let mut said = Damage::default();
    train(&bpr(), &tastes(), &one, &RESOURCES, &mut said).unwrap();
    assert!(said.0.len() == 1 && said.0[0].contains(&format!("it is that of trial {}", another.id())), "{:?}", said.0);
    assert!(result(&one) == result(&whole("swapped-whole")));
}

#[test]
fn a_damaged_marker_is_said_and_trained_again() {
    let expected = whole("marker-whole");
    for (way, content) in damages(&expected.join("done.json").read().unwrap(), b"{}").into_iter().enumerate().take(6) {
        let folder = folder(&format!("marker-{way}"));
        copy(&expected, &folder);
        folder.join("done.json").write(content.unwrap()).unwrap();
        let mut said = Damage::default();
        train(&bpr(), &tastes(), &folder, &RESOURCES, &mut said).unwrap();
        assert!(said.0.len() == 1 && said.0[0].contains("done.json: "), "{:?}", said.0);
        assert!(result(&folder) == result(&expected));
    }
}

#[test]
fn what_does_not_count_in_the_end_is_gone() {
    let (first, killed) = (folder("leftovers"), folder("leftovers-killed"));
    train(&bpr(), &tastes(), &first, &RESOURCES, &mut Snapshot { epoch: 6, from: &first, to: &killed }).unwrap();
    killed.join("checkpoint/0123456789abcdef/scorer.json").write("of a process that lost the trial").unwrap();
    train(&bpr(), &tastes(), &killed, &RESOURCES, &mut ()).unwrap();
    let marker = ended(&killed).unwrap();
    let names: Vec<String> = files(&killed).into_iter().map(|(path, _)| path[killed.to_string().len() + 1..].to_owned()).collect();
    assert!(names.iter().all(|name| name == "done.json" || marker.files().contains_key(name)), "{names:?}");
    assert_eq!(names.len(), 1 + marker.files().len());
}
