//! What a run left unfinished, or what was damaged since.

use crate::support::{SWEEP, Sandbox};
use std::path::Path;

#[test]
fn what_has_no_marker_is_done_again() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    for (marker, half_written) in [
        ("manifest.json", &["/train.parquet", "/users.parquet"][..]),
        ("done.json", &["/curve.parquet", "/scorer.safetensors", "/scorer.json"]),
        ("plan.json", &["/metrics.parquet", "/trials.parquet", "/leaderboard.parquet"]),
    ] {
        for file in sandbox.stored(marker) {
            std::fs::remove_file(file).unwrap();
        }
        for file in half_written.iter().flat_map(|name| sandbox.stored(name)) {
            halve(&file);
        }
        sandbox.run_well();
        assert!(sandbox.results() == whole, "{marker}");
    }
}

#[test]
fn what_was_finished_and_then_damaged_is_named_and_comes_back() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    let again = "delete the trial's folder";
    for (name, command, remedy) in [
        ("/manifest.json", "run", "delete the folder and prepare again"),
        ("/train.parquet", "run", "the checksum differs from the manifest's; delete the folder and prepare again"),
        ("/done.json", "run", again),
        ("/scorer.safetensors", "run", "the checksum differs from the one in scorer.json; delete the trial's folder and train it again"),
        ("/scorer.json", "run", again),
        ("/curve.parquet", "run", "delete its folder and run again"),
        ("/metrics.parquet", "report", "delete its folder and run again"),
    ] {
        let file = sandbox.stored(name).remove(0);
        halve(&file);
        let ended = sandbox.ended(&mut sandbox.command(&[command, "s.yaml"]));
        let complaint = ended.complaint(1);
        assert!(complaint.contains(name) && complaint.contains("FOLDER/runs/") && complaint.contains(remedy), "{name}: {complaint}");
        let folder = file.parent().unwrap();
        std::fs::remove_dir_all(if folder.ends_with("checkpoint") { folder.parent().unwrap() } else { folder }).unwrap();
        sandbox.run_well();
        assert!(sandbox.results() == whole, "{name}");
    }
}

fn halve(file: &Path) {
    let bytes = std::fs::read(file).unwrap();
    std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn one_byte_that_changed_is_noticed() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    for (name, expected) in [
        ("/test.parquet", "the checksum differs from the manifest's; delete the folder and prepare again"),
        ("/scorer.safetensors", "the checksum differs from the one in scorer.json; delete the trial's folder and train it again"),
    ] {
        let file = sandbox.stored(name).remove(0);
        let whole = std::fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        std::fs::write(&file, flipped).unwrap();
        let ended = sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml"]));
        let complaint = ended.complaint(1);
        assert!(complaint.contains(name) && complaint.ends_with(expected), "{complaint}");
        std::fs::write(&file, whole).unwrap();
    }
    sandbox.run_well();
}

#[test]
fn what_a_newer_build_stored_asks_for_that_build() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    for (name, command) in [("/manifest.json", "run"), ("/scorer.json", "evaluate")] {
        let file = sandbox.stored(name).remove(0);
        let ours = std::fs::read_to_string(&file).unwrap();
        let newer = ours.replace("\"schema_version\": 1,", "\"schema_version\": 2,\n  \"a_later_key\": [],");
        assert_ne!(newer, ours);
        std::fs::write(&file, &newer).unwrap();
        let ended = sandbox.ended(&mut sandbox.command(&[command, "s.yaml"]));
        let complaint = ended.complaint(1);
        let expected = format!("{name}: schema version 2 is newer than 1, which this build reads; use a newer ranksweep");
        assert!(complaint.ends_with(&expected), "{complaint}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), newer);
        std::fs::write(&file, ours).unwrap();
    }
    sandbox.run_well();
}
