//! Storage that the quickstart is too small and too short for: files in parts, and a server that goes away for a while.

use crate::{
    assert_same,
    bucket::{self, Bucket},
    files_below,
    proxy::{Faults, NONE, Proxy},
    support::{SWEEP, Sandbox, changed},
    timeless,
};
use std::{
    fmt::Write,
    io::{BufRead, BufReader},
    process::Stdio,
};

/// 1,000 users with 40 of 1,500 items each, by long ids: 12 MB. Some rows are bad.
fn ratings() -> String {
    let mut text = "user,item,rating,time\n".to_owned();
    for (user, place) in (0..1_000).flat_map(|user| (0..40).map(move |place| (user, place))) {
        let item = (user * 31 + place * 37 + place * place * user) % 1_500;
        writeln!(text, "user-{user:0>140},item-{item:0>140},{},{}", 1 + item % 5, place + 1).unwrap();
    }
    text + "bad,row\n"
}

/// One model of 12 MB.
fn sweep(source: &str) -> String {
    let large = changed("dim: 4", "dim: 1200").replace("path: ratings.csv", &format!("path: {source}, on_bad_row: skip"));
    large.replace("      - {kind: softmax, temperature: 0.2}\n", "").replace("epochs: 2", "epochs: 1")
}

#[test]
fn large_files_travel_in_parts() {
    let Some(bucket) = Bucket::create("large") else { return };
    bucket.put("/ratings.csv", ratings().as_bytes());
    let here = Sandbox::new(&sweep("ratings.csv"));
    here.write("ratings.csv", ratings());
    here.run_well();
    let there = Sandbox::new(&sweep(&format!("s3://{}/ratings.csv", bucket.name)));
    let proxy = Proxy::new(&bucket.server, Faults { per_thousand: 100, seed: 3, ..NONE });
    let mut command = there.command(&["run", "s.yaml", "--storage", &format!("s3://{}/runs", bucket.name)]);
    let ended = there.ended(bucket::credentials(&mut command, &proxy.endpoint()));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    assert!(proxy.counts().contains_key("PART"), "{:?}", proxy.counts());
    let contents = |files: crate::Files, ending: &str| {
        let found: Vec<Vec<u8>> = files.into_iter().filter(|(path, _)| path.ends_with(ending)).map(|(_, content)| content).collect();
        assert!(!found.is_empty(), "no {ending}");
        found
    };
    let local = || files_below(&here.path("runs"), &here.path("runs"));
    for ending in ["/scorer.safetensors", "/train.parquet", "/users.parquet", "/test.parquet"] {
        assert!(contents(bucket.files("runs/"), ending) == contents(local(), ending), "{ending} differs");
    }
}

#[test]
fn a_server_that_goes_away_for_a_while_is_waited_for() {
    let Some(bucket) = Bucket::create("away") else { return };
    let here = Sandbox::new(SWEEP);
    here.run_well();
    let there = Sandbox::new(SWEEP);
    let proxy = Proxy::new(&bucket.server, Faults { outage: (25, 45), ..NONE });
    let mut command = there.command(&["run", "s.yaml", "--storage", &format!("s3://{}/runs", bucket.name)]);
    let ended = there.ended(bucket::credentials(&mut command, &proxy.endpoint()));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    assert!(ended.error.contains("the storage fails, and is tried again for up to 300 s"), "{}", ended.error);
    assert_same(&timeless(bucket.files("runs/")), &timeless(files_below(&here.path("runs"), &here.path("runs"))));
}

/// A pod that starts while the server is away: 8 s are not enough, and cost it one of its retries.
#[test]
fn a_server_that_is_away_at_the_start_is_waited_for_where_it_is_asked() {
    let Some(bucket) = Bucket::create("late") else { return };
    for (patience, code) in [("8", 1), ("300", 0)] {
        let there = Sandbox::new(SWEEP);
        let proxy = Proxy::new(&bucket.server, Faults { outage: (0, 40), ..NONE });
        let storage = format!("s3://{}/runs", bucket.name);
        let mut command = there.command(&["prepare", "s.yaml", "--storage", &storage, "--storage-patience", patience]);
        let ended = there.ended(bucket::credentials(&mut command, &proxy.endpoint()));
        assert_eq!(ended.code, Some(code), "{patience}: {}", ended.error);
        assert!(ended.error.contains(&format!("is tried again for up to {patience} s")), "{}", ended.error);
    }
}

/// The network of a process hangs in the middle of a trial, long enough for another to finish the sweep; then it answers again.
#[test]
fn who_was_cut_off_and_overtaken_harms_nothing() {
    let sweep = changed("epochs: 2,", "epochs: 20,");
    let here = Sandbox::new(&sweep);
    here.run_well();
    for (name, killed) in [("hung", false), ("hung-killed", true)] {
        let Some(bucket) = Bucket::create(name) else { return };
        let (there, storage) = (Sandbox::new(&sweep), format!("s3://{}/runs", bucket.name));
        let command = |arguments: &[&str], endpoint: &str| {
            let mut command = there.command(arguments);
            bucket::credentials(command.args(["--storage", &storage]), endpoint);
            command
        };
        let ended = |arguments: &[&str]| there.ended(&mut command(arguments, &bucket.server));
        assert_eq!(ended(&["prepare", "s.yaml"]).code, Some(0));
        let proxy = Proxy::new(&bucket.server, NONE);
        let share = ["train", "s.yaml", "--share=0.02", "--threads", "1"];
        let mut first = command(&share, &proxy.endpoint()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(first.stderr.take().unwrap()).lines().map_while(Result::ok);
        assert_eq!(lines.by_ref().filter(|line| line.contains("evaluated")).take(5).count(), 5);
        proxy.hang(true);
        let second = ended(&share);
        assert_eq!(second.code, Some(0), "{}", second.error);
        proxy.hang(false);
        if killed {
            assert!(lines.next().is_some());
            first.kill().unwrap();
            first.wait().unwrap();
        } else {
            let said: Vec<String> = lines.collect();
            assert_eq!(first.wait().unwrap().code(), Some(0), "{said:?}");
        }
        for arguments in [&["run", "s.yaml"][..], &["gc", "s.yaml", "--min-age", "0", "--yes"]] {
            let ended = ended(arguments);
            assert_eq!(ended.code, Some(0), "{}", ended.error);
        }
        assert_same(&timeless(bucket.files("runs/")), &timeless(files_below(&here.path("runs"), &here.path("runs"))));
    }
}
