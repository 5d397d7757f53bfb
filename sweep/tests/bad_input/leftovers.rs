//! Work that a run left unfinished, or that was damaged since.

use crate::support::{SWEEP, Sandbox};
use dataset::marker;
use std::path::{Path, PathBuf};

/// The curves of trials that count.
fn curves(sandbox: &Sandbox) -> Vec<PathBuf> {
    let curve = |done: PathBuf| {
        let ended: serde_json::Value = serde_json::from_slice(&std::fs::read(&done).unwrap()).unwrap();
        done.parent().unwrap().join(ended["curve"].as_str().unwrap())
    };
    sandbox.stored("done.json").into_iter().map(curve).collect()
}

#[test]
fn what_has_no_marker_is_done_again() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    for (marker, half_written) in [
        ("manifest.json", &["/train.parquet", "/users.parquet"][..]),
        ("done.json", &["/scorer.safetensors", "/scorer.json"]),
        ("tables.json", &["/plan.json", "/metrics.parquet", "/trials.parquet", "/leaderboard.parquet"]),
    ] {
        let curve = curves(&sandbox).remove(0);
        for file in sandbox.stored(marker) {
            std::fs::remove_file(file).unwrap();
        }
        for file in half_written.iter().flat_map(|name| sandbox.stored(name)).chain([curve]) {
            halve(&file);
        }
        // A curve is not read before the tables are made; a trial whose curve is damaged is trained again by the next start.
        if marker == "tables.json" || marker == "manifest.json" {
            assert_eq!(sandbox.run().complaint(1), "1 trial failed; everything else was done");
        }
        sandbox.run_well();
        assert!(sandbox.results() == whole, "{marker}");
    }
}

#[test]
fn what_was_finished_and_then_damaged_is_said_and_made_again() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    for name in ["/manifest.json", "/train.parquet", "/done.json"] {
        halve(&sandbox.stored(name)[0]);
        let ended = sandbox.run_well();
        assert!(ended.error.contains(name) && ended.error.contains("again now"), "{name}: {}", ended.error);
        assert!(sandbox.results() == whole, "{name}");
    }
}

#[test]
fn one_damaged_trial_fails_alone_and_is_trained_again_by_the_next_start() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    for name in ["/scorer.safetensors", "/scorer.json", "/curve/"] {
        let file = if name == "/curve/" { curves(&sandbox).remove(0) } else { sandbox.stored(name).remove(0) };
        halve(&file);
        let ended = sandbox.run();
        assert_eq!(ended.complaint(1), "1 trial failed; everything else was done", "{name}");
        assert!(ended.error.contains(name) && ended.error.contains("trains this trial again"), "{name}: {}", ended.error);
        let rows = sandbox.timeless_rows().0;
        let failed: Vec<&str> = rows.iter().filter_map(|row| row.error.as_deref()).collect();
        assert!(failed.len() == 1 && failed[0].contains(name), "{name}: {failed:?}");
        assert!(ended.out.contains("popularity") || ended.out.contains("bpr"), "the others are ranked: {}", ended.out);
        sandbox.run_well();
        assert!(sandbox.results() == whole, "{name}");
        let partial = {
            halve(&sandbox.stored("/scorer.json")[0]);
            sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml", "--partial"]))
        };
        assert_eq!(partial.code, Some(0), "{}", partial.error);
        sandbox.run_well();
    }
}

#[test]
fn damaged_tables_are_named_and_evaluated_again() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    for name in ["/metrics.parquet", "/trials.parquet", "/tables.json"] {
        halve(sandbox.stored(&format!("sweeps/tiny{name}")).first().unwrap());
        let ended = sandbox.ended(&mut sandbox.command(&["report", "s.yaml"]));
        let complaint = ended.complaint(1);
        assert!(complaint.contains(&format!("FOLDER/runs/sweeps/tiny{name}: ")), "{complaint}");
        assert!(complaint.ends_with("run `ranksweep evaluate` again, which makes it anew"), "{complaint}");
        sandbox.run_well();
        assert!(sandbox.results() == whole, "{name}");
    }
}

fn halve(file: &Path) {
    let bytes = std::fs::read(file).unwrap();
    std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn one_byte_of_a_dataset_that_changed_is_named() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let file = sandbox.stored("/test.parquet").remove(0);
    let whole = std::fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(&file, flipped).unwrap();
    let ended = sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml"]));
    let complaint = ended.complaint(1);
    let expected = "/test.parquet: its checksum differs from the one in its marker; delete the folder and prepare again";
    assert!(complaint.ends_with(expected), "{complaint}");
    std::fs::write(&file, whole).unwrap();
    sandbox.run_well();
}

#[test]
fn what_a_newer_build_stored_asks_for_that_build() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let file = sandbox.stored("/manifest.json").remove(0);
    let ours = std::fs::read_to_string(&file).unwrap();
    let mut newer: serde_json::Value = serde_json::from_str(&marker::covered(ours.as_bytes()).unwrap()).unwrap();
    newer["schema_version"] = 4.into();
    newer["a_later_key"] = serde_json::json!([]);
    let newer = marker::text(&newer);
    std::fs::write(&file, &newer).unwrap();
    let ended = sandbox.run();
    let complaint = ended.complaint(1);
    let expected = "/manifest.json: schema version 4 is newer than 3, which this build reads; use a newer ranksweep";
    assert!(complaint.ends_with(expected), "{complaint}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), newer);
    std::fs::write(&file, ours).unwrap();
    sandbox.run_well();
}
