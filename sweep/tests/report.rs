//! `report` by the binary: its formats, and where it says that the page is.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use support::{Ended, SWEEP, Sandbox};
use sweep::tables::leaderboard;

fn reported(sandbox: &Sandbox, arguments: &[&str]) -> Ended {
    sandbox.ended(&mut sandbox.command(&[&["report", "s.yaml"], arguments].concat()))
}

fn well(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ended = reported(sandbox, arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    ended.out
}

fn finished() -> (Sandbox, String) {
    let sandbox = Sandbox::new(SWEEP);
    let said = sandbox.run_well().out;
    (sandbox, said)
}

#[test]
fn run_and_report_end_with_where_the_page_is() {
    let (sandbox, said) = finished();
    assert!(said.ends_with("\n\nreport: FOLDER/runs/sweeps/tiny/report.html\n"), "{said}");
    assert_eq!(well(&sandbox, &[]), said);
    assert_eq!(well(&sandbox, &["--format", "html", "--out", "page.html"]), "FOLDER/page.html\n");
    let read = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    assert!(read("page.html") == read("runs/sweeps/tiny/report.html"));
}

#[test]
fn tables_are_printed_or_written() {
    let (sandbox, _) = finished();
    for (format, begins) in [("markdown", "**small: 12 users"), ("latex", "% ranksweep "), ("csv", "dataset,metric,cutoff,rank,")] {
        let printed = well(&sandbox, &["--format", format]);
        assert!(printed.starts_with(begins), "{printed}");
        assert_eq!(well(&sandbox, &["--format", format, "--out", "table"]), "FOLDER/table\n");
        assert_eq!(std::fs::read_to_string(sandbox.path("table")).unwrap(), printed);
    }
    for (out, format) in [("t.md", "markdown"), ("T.MARKDOWN", "markdown"), ("t.tex", "latex"), ("t.csv", "csv"), ("t.HTM", "html")] {
        well(&sandbox, &["--format", format, "--out", "table"]);
        well(&sandbox, &["--out", out]);
        assert_eq!(std::fs::read(sandbox.path(out)).unwrap(), std::fs::read(sandbox.path("table")).unwrap(), "{out}");
    }
    for out in ["page.pdf", "page"] {
        let words = format!("--out: FOLDER/{out} has no suffix of a format (expected .html, .md, .tex or .csv, or give --format)");
        let ended = reported(&sandbox, &["--out", out]);
        assert!(ended.code == Some(2) && ended.error.contains(&words) && !sandbox.path(out).exists(), "{}", ended.error);
    }
    let ended = reported(&sandbox, &["--format", "word"]);
    assert!(ended.code == Some(2) && ended.error.contains("[possible values: html, markdown, latex, csv]"), "{}", ended.error);
}

#[test]
fn csv_has_the_stored_leaderboard() {
    let (sandbox, _) = finished();
    let stored = leaderboard::read(&sandbox.location("runs/sweeps/tiny/leaderboard.parquet")).unwrap();
    let printed = well(&sandbox, &["--format", "csv"]);
    let mut reader = csv::Reader::from_reader(printed.as_bytes());
    let at = reader.headers().unwrap().iter().position(|name| name == "mean").unwrap();
    let means: Vec<f64> = reader.records().map(|record| record.unwrap()[at].parse().unwrap()).collect();
    assert_eq!(means, stored.iter().map(|row| row.mean.unwrap()).collect::<Vec<_>>());
}
