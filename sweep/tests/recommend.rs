//! `recommend`, by the binary: by which model, and where the lists go.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::{os::unix::fs::symlink, path::Path, process::Command, thread};
use support::{SWEEP, Sandbox, changed};

/// The rows of lists.
fn rows(bytes: Vec<u8>) -> i64 {
    ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap().metadata().file_metadata().num_rows()
}

fn recommended(sandbox: &Sandbox, out: &str) -> String {
    let ended = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "-k", "2", "--out", out]));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    ended.out
}

fn finished() -> Sandbox {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    sandbox
}

/// The method with the best mean of the primary metric, each of one seed.
fn best(sandbox: &Sandbox) -> String {
    let rows = evaluator::tables::read_metrics(&sandbox.location("runs/sweeps/tiny/metrics.parquet")).unwrap();
    let primary = rows.iter().filter(|row| row.metric == rows[0].metric);
    primary.max_by(|one, other| one.value.total_cmp(&other.value)).unwrap().method.clone()
}

#[test]
fn the_best_is_that_of_the_last_evaluation() {
    let sandbox = Sandbox::new(&changed("[{kind: popularity}]", "[{kind: ease, regularization: 1.0e+9}]"));
    sandbox.run_well();
    let before = best(&sandbox);
    // Popularity comes into the place of ease.
    sandbox.write("s.yaml", SWEEP);
    for stage in ["train", "evaluate"] {
        let ended = sandbox.ended(&mut sandbox.command(&[stage, "s.yaml"]));
        assert_eq!(ended.code, Some(0), "{}", ended.error);
    }
    let after = best(&sandbox);
    assert_ne!(before, after, "the example has another winner");
    assert!(recommended(&sandbox, "lists.parquet").contains(&format!("by {after} (trial")));
    assert!(
        sandbox.stored("leaderboard.parquet").is_empty() && sandbox.stored("report.html").is_empty(),
        "they are of the first evaluation"
    );
}

#[test]
fn lists_go_through_links_and_pipes() {
    let sandbox = finished();
    std::fs::write(sandbox.path("there.parquet"), "old").unwrap();
    symlink("there.parquet", sandbox.path("link.parquet")).unwrap();
    assert!(recommended(&sandbox, "link.parquet").contains("lists of up to 2 items for 12 users"));
    assert!(sandbox.path("link.parquet").is_symlink());
    let read = |path: &Path| rows(std::fs::read(path).unwrap());
    assert_eq!(read(&sandbox.path("there.parquet")), 24);

    let pipe = sandbox.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).unwrap()
    });
    recommended(&sandbox, "pipe");
    assert_eq!(rows(reader.join().unwrap()), 24);
}

#[test]
fn lists_on_standard_output_stand_there_alone() {
    let sandbox = finished();
    let output = sandbox.command(&["recommend", "s.yaml", "-k", "2", "--out", "/dev/stdout"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && error.contains("/dev/stdout: lists of up to 2 items"), "{error}");
    assert_eq!(rows(output.stdout), 24);
}

#[test]
fn lists_are_written_as_the_suffix_says() {
    let sandbox = finished();
    for (out, lines, first) in
        [("lists.csv", 25, "user,user_id,rank,item,item_id,score"), ("lists.jsonl", 24, "{\"user\":0,\"user_id\":\"u0\",\"rank\":1,")]
    {
        recommended(&sandbox, out);
        let text = std::fs::read_to_string(sandbox.path(out)).unwrap();
        assert!(text.starts_with(first) && text.lines().count() == lines, "{text}");
    }
    let ended = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "--out", "lists.xlsx"]));
    assert_eq!(ended.complaint(2), "--out: `lists.xlsx` has an unknown suffix (expected .parquet, .csv or .jsonl)");
}
