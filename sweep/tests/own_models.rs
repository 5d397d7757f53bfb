//! Models that another program trained, beside those of a sweep; and what is exported for other programs.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use arrow::array::StringArray;
use dataset::{Location, table};
use evaluator::Scorer;
use std::collections::BTreeSet;
use support::{Ended, SWEEP, Sandbox, changed};
use sweep::tables::{LeaderboardRow, Status, TrialRow, leaderboard, trials};

const POPULARITY: &str = "  - backbones: [{kind: popularity}]\n";
const BPR: &str = "mf-4 / bpr / uniform-5";

/// The sweep with these backbones beside it.
fn beside(backbones: &str) -> String {
    changed(POPULARITY, &format!("  - backbones:\n{backbones}"))
}

fn rows(sandbox: &Sandbox) -> Vec<TrialRow> {
    trials::read(&sandbox.location("runs/sweeps/tiny/trials.parquet")).unwrap()
}

fn board(sandbox: &Sandbox) -> Vec<LeaderboardRow> {
    leaderboard::read(&sandbox.location("runs/sweeps/tiny/leaderboard.parquet")).unwrap()
}

fn trial_of(sandbox: &Sandbox, method: &str) -> String {
    let all = rows(sandbox);
    let methods: Vec<&str> = all.iter().map(|row| row.method.as_str()).collect();
    all.iter().find(|row| row.method == method).unwrap_or_else(|| panic!("{method}: {methods:?}")).trial.clone()
}

/// All means of a method, by metric and cutoff, as bits.
fn means(sandbox: &Sandbox, method: &str) -> Vec<(String, u64)> {
    let rows = board(sandbox).into_iter().filter(|row| row.method == method);
    let mut means: Vec<(String, u64)> = rows.map(|row| (row.at.to_string(), row.mean.unwrap().to_bits())).collect();
    means.sort();
    assert!(means.len() >= 2, "{method}");
    means
}

fn well(sandbox: &Sandbox, arguments: &[&str]) -> Ended {
    let ended = sandbox.ended(&mut sandbox.command(arguments));
    assert_eq!(ended.code, Some(0), "{arguments:?}\n{}\n{}", ended.out, ended.error);
    ended
}

fn scorer(sandbox: &Sandbox, trial: &str) -> Scorer {
    let at = sandbox.stored("scorer.json").into_iter().find(|path| path.to_str().unwrap().contains(trial)).unwrap();
    Scorer::read(&Location::parse(at.parent().unwrap().to_str().unwrap()).unwrap()).unwrap()
}

#[test]
fn vectors_of_an_own_trial_have_its_numbers_to_the_bit() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let trial = trial_of(&sandbox, BPR);
    for format in ["npy", "safetensors", "parquet"] {
        let ended = well(&sandbox, &["export", "s.yaml", "--trial", &trial, "--format", format, "--out", format]);
        assert!(
            ended.out.contains("vectors of 12 users and 20 items, by mf-4 / bpr / uniform-5") && ended.out.ends_with("similarity: dot\n"),
            "{}",
            ended.out
        );
    }
    sandbox.write(
        "s.yaml",
        beside(
            "      - {kind: external, name: arrays, users: npy/users.npy, items: npy/items.npy}
      - {kind: external, name: named arrays, users: npy/users.npy, items: npy/items.npy, user_ids: npy/user_ids.txt, item_ids: npy/item_ids.txt}
      - {kind: external, name: tensors, users: safetensors/vectors.safetensors, user_key: users, items: safetensors/vectors.safetensors, item_key: items}
      - {kind: external, name: columns, users: parquet/users.parquet, items: parquet/items.parquet}
      - {kind: external, name: folded, users: npy/index_queries.npy, items: npy/index_items.npy}
",
        ),
    );
    sandbox.run_well();
    let expected = (means(&sandbox, BPR), scorer(&sandbox, &trial));
    for name in ["arrays", "named arrays", "tensors", "columns", "folded"] {
        let method = format!("external({name})");
        let found = (means(&sandbox, &method), scorer(&sandbox, &trial_of(&sandbox, &method)));
        assert!(found == expected, "{method}");
    }
    // `evaluate` and `recommend` take them as any other.
    well(&sandbox, &["evaluate", "s.yaml"]);
    let lists = |trial: &str, out: &str| {
        well(&sandbox, &["recommend", "s.yaml", "--trial", trial, "--out", out]);
        std::fs::read_to_string(sandbox.path(out)).unwrap()
    };
    assert_eq!(lists(&trial, "own.csv"), lists(&trial_of(&sandbox, "external(columns)"), "other.csv"));
}

#[test]
fn cosines_and_distances_are_exported_as_they_rank() {
    let sweep = SWEEP
        .replace("{kind: softmax, temperature: 0.2}", "{kind: softmax, temperature: 0.2, similarity: cosine}")
        .replace("{kind: bpr}", "{kind: cml, margin: 0.5}");
    let sandbox = Sandbox::new(&sweep);
    sandbox.run_well();
    let (cosine, distance) = ("mf-4 / softmax / uniform-5", "mf-4 / cml / uniform-5");
    for (method, out, similarity) in [(cosine, "c", "cosine"), (distance, "d", "negative-squared-distance")] {
        let ended = well(&sandbox, &["export", "s.yaml", "--trial", &trial_of(&sandbox, method), "--format", "npy", "--out", out]);
        assert!(ended.out.ends_with(&format!("similarity: {similarity}\n")), "{}", ended.out);
    }
    let backbones = "      - {kind: external, name: c, users: c/users.npy, items: c/items.npy, similarity: cosine}
      - {kind: external, name: d, users: d/users.npy, items: d/items.npy, similarity: negative-squared-distance}
      - {kind: external, name: folded c, users: c/index_queries.npy, items: c/index_items.npy}
      - {kind: external, name: folded d, users: d/index_queries.npy, items: d/index_items.npy}
";
    sandbox.write("s.yaml", sweep.replace(POPULARITY, &format!("  - backbones:\n{backbones}")));
    sandbox.run_well();
    for (own, name) in [(cosine, "c"), (distance, "d"), (cosine, "folded c"), (distance, "folded d")] {
        assert_eq!(means(&sandbox, own), means(&sandbox, &format!("external({name})")), "{name}");
    }
}

#[test]
fn own_lists_have_the_numbers_of_their_model() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let trial = trial_of(&sandbox, BPR);
    let write =
        |out: &str, seen: &str, k: &str| well(&sandbox, &["recommend", "s.yaml", "--trial", &trial, "--seen", seen, "-k", k, "--out", out]);
    write("lists.parquet", "evaluate", "5");
    write("all.csv", "include", "20");
    write("short.csv", "evaluate", "3");
    let text = std::fs::read_to_string(sandbox.path("all.csv")).unwrap();
    let trec = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("{} Q0 {} {} {} ours\n", fields[1], fields[4], fields[2], fields[5])
    };
    sandbox.write("all.run", text.lines().skip(1).map(trec).collect::<String>());
    sandbox.write(
        "s.yaml",
        beside(
            "      - {kind: run, name: table, path: lists.parquet}
      - {kind: run, name: text, path: all.csv}
      - {kind: run, name: trec, path: all.run}
      - {kind: run, name: short, path: short.csv}
",
        ),
    );
    sandbox.run_well();
    for name in ["table", "text", "trec"] {
        assert_eq!(means(&sandbox, BPR), means(&sandbox, &format!("run({name})")), "{name}");
    }
    let remark = |name: &str| rows(&sandbox).into_iter().find(|row| row.method == format!("run({name})")).unwrap().remarks;
    assert_eq!(remark("table"), None);
    assert_eq!(remark("short").unwrap(), "the lists of 12 of 12 users are shorter than the largest cutoff, 5");
    // 24 of 120 interactions are test, and the lists have every item.
    assert_eq!(remark("trec").unwrap(), "96 listed items that users have in train or validation were passed over");
    let report = std::fs::read_to_string(sandbox.path("runs/sweeps/tiny/report.html")).unwrap();
    assert!(report.contains("run(short): the lists of 12 of 12 users are shorter than the largest cutoff, 5."));
    let refused = sandbox.ended(&mut sandbox.command(&[
        "export",
        "s.yaml",
        "--trial",
        &trial_of(&sandbox, "run(text)"),
        "--format",
        "npy",
        "--out",
        "x",
    ]));
    assert!(refused.complaint(2).starts_with("run(text) has no vectors whose similarity is its score"), "{}", refused.error);
}

#[test]
fn each_seed_has_its_file_and_a_changed_file_is_another_trial() {
    let lists = |items: [&str; 2]| format!("user,item,rank\nu0,{},1\nu1,{},1\nx,i1,1\n", items[0], items[1]);
    let sandbox = Sandbox::new(
        &beside("      - {kind: run, name: two, path: \"${OWN_MODELS}/{dataset}-{seed}.csv\"}\n")
            .replace("evaluation:", "seeds: [1, 2]\nevaluation:"),
    );
    sandbox.write("small-1.csv", lists(["i1", "i2"]));
    sandbox.write("small-2.csv", lists(["i3", "i4"]));
    let run = |code: i32| {
        let ended = sandbox.ended(sandbox.command(&["run", "s.yaml"]).env("OWN_MODELS", "."));
        assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.error);
        let of_run = rows(&sandbox).into_iter().filter(|row| row.method == "run(two)");
        of_run.map(|row| (row.seed, row.trial, row.remarks.unwrap_or_default())).collect::<Vec<_>>()
    };
    let first = run(0);
    assert_eq!([first[0].0, first[1].0], [Some(1), Some(2)]);
    assert!(
        first[0].2.starts_with("entries of 1 user (`x`) that the dataset does not have were passed over; the lists of 12 of 12 users"),
        "{}",
        first[0].2
    );
    sandbox.write("small-2.csv", lists(["i3", "i5"]));
    let second = run(0);
    assert_eq!(first[0].1, second[0].1);
    assert_ne!(first[1].1, second[1].1);
    // What is stored holds the variable's name, and not its value.
    let plan = std::fs::read_to_string(sandbox.path("runs/sweeps/tiny/plan.json")).unwrap();
    assert!(plan.contains("\"${OWN_MODELS}/{dataset}-{seed}.csv\"") && !plan.contains("\"./"), "{plan}");
    std::fs::remove_file(sandbox.path("small-2.csv")).unwrap();
    let ended = sandbox.ended(sandbox.command(&["plan", "s.yaml"]).env("OWN_MODELS", "."));
    let complaint = ended.complaint(2);
    assert!(complaint.contains("s.yaml:14:") && complaint.contains("run(two): FOLDER/small-2.csv does not exist"), "{complaint}");
}

#[test]
fn what_is_wrong_with_files_is_said() {
    let sandbox = Sandbox::new(&beside(
        "      - {kind: run, name: bad, path: bad.csv}\n      - {kind: external, name: odd, users: u.npy, items: i.npy}\n",
    ));
    sandbox.write("bad.csv", "user,item,score\nu0,i1,1\nu0,i1,2\n");
    sandbox.write("u.npy", npy(12, 2));
    sandbox.write("i.npy", npy(19, 3));
    let ended = sandbox.run();
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.out, ended.error);
    let error = |method: &str| {
        let row = rows(&sandbox).into_iter().find(|row| row.method == method).unwrap();
        assert_eq!(row.status, Status::Failed);
        row.error.unwrap().replace(sandbox.path("").to_str().unwrap(), "")
    };
    assert!(error("run(bad)").ends_with("bad.csv: an item stands twice in the lists of 1 user (`u0`)"), "{}", error("run(bad)"));
    let odd = error("external(odd)");
    assert!(
        odd.contains("i.npy: 19 rows for 20 items: rows without ids are in the order of item_ids.txt, which `ranksweep export` writes"),
        "{odd}"
    );
    assert!(odd.contains("; vectors of users have 2 numbers") && odd.contains("and those of items 3"), "{odd}");
    for (backbone, expected) in [
        ("{kind: external, users: u.npy, items: i.npy}", "the key `name` is missing"),
        ("{kind: external, name: a/b, users: u.npy, items: i.npy}", "name is `a/b`: expected at most 60 letters"),
        ("{kind: external, name: a, users: u.txt, items: i.npy}", "users: `u.txt` has an unknown suffix (expected .npy"),
        ("{kind: external, name: a, users: u.parquet, items: i.npy, user_ids: u.txt}", "user_ids is given, and `users` is a Parquet file"),
        ("{kind: run, name: a, path: l.json}", "path: `l.json` has an unknown suffix (expected .csv"),
        ("{kind: run, name: a, path: /dev/zero}", "/dev/zero is a pipe or a device, expected a file"),
        ("{kind: run, name: a, path: l.csv, similarity: dot}", "unknown key `similarity`"),
    ] {
        sandbox.write("s.yaml", beside(&format!("      - {backbone}\n")));
        let ended = sandbox.ended(&mut sandbox.command(&["plan", "s.yaml"]));
        assert!(ended.complaint(2).contains(expected), "{}", ended.error);
    }
    let split = beside("      - {kind: run, name: a, path: l.csv}\n").replace("seed: 7", "seed: [7, 8]");
    sandbox.write("s.yaml", split);
    let ended = sandbox.ended(&mut sandbox.command(&["plan", "s.yaml"]));
    assert!(ended.complaint(2).contains("dataset `small` has 2 splits, and the model was trained on one"), "{}", ended.error);
    // Files of ids say nothing of what a model was trained on.
    let ids = "      - {kind: external, name: a, users: u.npy, items: i.npy, user_ids: 'ids-{split_seed}.txt'}\n";
    sandbox.write("s.yaml", beside(ids).replace("seed: 7", "seed: [7, 8]"));
    let ended = sandbox.ended(&mut sandbox.command(&["plan", "s.yaml"]));
    assert!(ended.complaint(2).contains("dataset `small` has 2 splits, and the model was trained on one"), "{}", ended.error);
    // Two datasets of one source are two splits of it.
    let two = |path: &str| {
        let text = beside(&format!("      - {{kind: run, name: a, path: '{path}'}}\n"));
        let entry = &text[text.find("  - name: small").unwrap()..text.find("grid:").unwrap()];
        text.replace(entry, &format!("{entry}{}", entry.replace("small", "other").replace("seed: 7", "seed: 8")))
    };
    sandbox.write("s.yaml", two("l.csv"));
    let ended = sandbox.ended(&mut sandbox.command(&["plan", "s.yaml"]));
    assert!(ended.complaint(2).contains("datasets `small` and `other` are of one source"), "{}", ended.error);
    sandbox.write("s.yaml", two("l-{dataset}.csv"));
    let ended = sandbox.ended(&mut sandbox.command(&["plan", "s.yaml"]));
    assert!(!ended.error.contains("are of one source"), "{}", ended.error);
    let lists =
        beside("      - {kind: run, name: a, path: l.csv}\n").replace("evaluation: {", "evaluation: {sampled_candidates: {negatives: 5}, ");
    sandbox.write("s.yaml", lists);
    let ended = sandbox.ended(&mut sandbox.command(&["plan", "s.yaml"]));
    assert!(ended.complaint(2).contains("run(a): top-N lists have no scores of items that they do not name"), "{}", ended.error);
}

/// An array of zeros.
fn npy(rows: usize, dim: usize) -> Vec<u8> {
    let header = format!("{:<117}\n", format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}"));
    [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), &vec![0; 4 * rows * dim]].concat()
}

/// The pairs of lines of text.
fn pairs(sandbox: &Sandbox, file: &str, separator: char) -> BTreeSet<(String, String)> {
    let text = std::fs::read_to_string(sandbox.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let pair = |line: &str| {
        let mut fields = line.split(separator).map(str::to_owned);
        (fields.next().unwrap(), fields.next().unwrap())
    };
    text.lines().filter(|line| !line.starts_with("user")).map(pair).collect()
}

/// The parts of all formats hold the same interactions, and together those of the source; no file of a model needs to be there yet.
#[test]
fn splits_are_written_for_other_programs() {
    let sandbox = Sandbox::new(&beside("      - {kind: run, name: later, path: not-there-yet.csv}\n"));
    for format in ["recbole", "lenskit", "elliot", "csv", "npz"] {
        let ended = well(&sandbox, &["export", "s.yaml", "--format", format, "--out", format]);
        assert!(ended.out.contains("small: 84 train, 12 validation and 24 test interactions of 12 users and 20 items\n"), "{}", ended.out);
    }
    let mut all = BTreeSet::new();
    for (part, of_recbole) in [("train", "train"), ("validation", "valid"), ("test", "test")] {
        let expected = pairs(&sandbox, &format!("csv/small/{part}.csv"), ',');
        assert_eq!(pairs(&sandbox, &format!("recbole/small/small.{of_recbole}.inter"), '\t'), expected);
        assert_eq!(pairs(&sandbox, &format!("elliot/small/{part}.tsv"), '\t'), expected);
        let at = sandbox.location(&format!("lenskit/small/{part}.parquet"));
        let read = table::read(&at).unwrap();
        let [users, items] = ["user_id", "item_id"].map(|name| table::column::<StringArray>(&read, name, &at).unwrap());
        let found = users.iter().zip(items).map(|(user, item)| (user.unwrap().to_owned(), item.unwrap().to_owned())).collect();
        assert_eq!(expected, found);
        assert!(sandbox.path(&format!("npz/small/{part}.npz")).exists());
        assert!(all.is_disjoint(&expected));
        all.extend(expected);
    }
    assert_eq!(all, pairs(&sandbox, "ratings.csv", ','));
    let ids = std::fs::read_to_string(sandbox.path("npz/small/user_ids.txt")).unwrap();
    assert_eq!((ids.lines().count(), ids.lines().next()), (12, Some("u0")));
    let refused = sandbox.ended(&mut sandbox.command(&["export", "s.yaml", "--format", "csv", "--trial", "x", "--out", "o"]));
    assert!(refused.complaint(2).starts_with("--trial is for the vectors of a trial"), "{}", refused.error);
}
