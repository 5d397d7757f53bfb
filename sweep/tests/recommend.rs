//! `recommend`, by the binary: by which model, and where the lists go.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use arrow::array::{Float32Array, StringArray};
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

/// The method with the best mean of NDCG, each of one seed.
fn best(sandbox: &Sandbox) -> String {
    best_by(sandbox, "ndcg")
}

fn best_by(sandbox: &Sandbox, metric: &str) -> String {
    let rows = evaluator::tables::read_metrics(&sandbox.location("runs/sweeps/tiny/metrics.parquet")).unwrap();
    let values = rows.iter().filter(|row| row.metric.to_string().split('@').next() == Some(metric));
    values.max_by(|one, other| one.value.total_cmp(&other.value)).unwrap().method.clone()
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
    let tables = sandbox.path("runs/sweeps/tiny");
    assert!(!tables.join("leaderboard.parquet").exists() && !tables.join("report.html").exists(), "they are of the first evaluation");
}

/// A log grows every day; and what a sweep stored may go where its log is not.
#[test]
fn stored_models_and_tables_serve_when_the_data_has_changed() {
    let sandbox = finished();
    let read = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    recommended(&sandbox, "before.parquet");
    let run = |arguments: &[&str]| {
        let ended = sandbox.ended(&mut sandbox.command(arguments));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.error);
        ended
    };
    let leaderboard = run(&["report", "s.yaml"]).out;
    let serves = |warning: &str, out: &str| {
        let ended = run(&["recommend", "s.yaml", "-k", "2", "--out", out]);
        assert!(ended.error.contains(warning), "{}", ended.error);
        assert!(read("before.parquet") == read(out));
        assert_eq!(run(&["report", "s.yaml"]).out, leaderboard);
    };
    let log = String::from_utf8(read("ratings.csv")).unwrap();
    sandbox.write("ratings.csv", log.clone() + "u0,i1,5,99\n");
    serves("the source files changed since the sweep ran: this is of what they held then", "grown.parquet");
    run(&["refit", "s.yaml"]);
    // Tables of the data that is there are found in the history.
    sandbox.run_well();
    sandbox.write("ratings.csv", log);
    let history = run(&["diff", "s.yaml", "runs/sweeps/tiny"]);
    assert!(!history.error.contains("changed since") && history.out.contains("history"), "{}\n{}", history.out, history.error);
    sandbox.run_well();
    std::fs::remove_file(sandbox.path("ratings.csv")).unwrap();
    serves("this is of what the source files held when the sweep ran, as they cannot be read now: ", "gone.parquet");
    // Another sweep file is another sweep.
    sandbox.write("s.yaml", changed("seed: 7", "seed: 8"));
    let refused = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml"]));
    assert!(refused.complaint(1).contains("does not exist"), "{}", refused.error);
}

#[test]
fn what_lists_are_like_makes_no_winner() {
    let text = changed("[ndcg, recall]", "[coverage, ndcg]").replace("[{kind: popularity}]", "[{kind: popularity}, {kind: random}]");
    let sandbox = Sandbox::new(&text);
    sandbox.run_well();
    let winner = best(&sandbox);
    assert_ne!(winner, best_by(&sandbox, "coverage"), "the example has one winner by both");
    let said = recommended(&sandbox, "lists.parquet");
    assert!(said.contains(&format!("by {winner} (trial")), "{said}");
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
fn another_method_than_the_winner_is_named_as_the_leaderboard_calls_it() {
    let sandbox = finished();
    for name in ["popularity", "bpr on mf-4"] {
        let lists = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "--method", name, "--out", "lists.csv"]));
        let method = if name == "popularity" { "by popularity (trial " } else { "by mf-4 / bpr / uniform-5 (trial " };
        assert!(lists.code == Some(0) && lists.out.contains(method), "{}{}", lists.out, lists.error);
    }
    let arguments = ["export", "s.yaml", "--method", "bpr on mf-4", "--out", "vectors", "--format"];
    let vectors = sandbox.ended(sandbox.command(&arguments).arg("npy"));
    assert!(vectors.code == Some(0) && vectors.out.contains("by mf-4 / bpr / uniform-5"), "{}{}", vectors.out, vectors.error);
    let splits = sandbox.ended(sandbox.command(&arguments).arg("csv"));
    assert!(splits.complaint(2).starts_with("--method is for the vectors of a trial"), "{}", splits.error);
    let unknown = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "--method", "bpr on mf-5"]));
    assert!(unknown.complaint(2).contains("bpr on mf-4"), "{}", unknown.error);
}

#[test]
fn lists_on_standard_output_stand_there_alone() {
    let sandbox = finished();
    let output = sandbox.command(&["recommend", "s.yaml", "-k", "2", "--out", "/dev/stdout"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && error.contains("/dev/stdout: lists of up to 2 items"), "{error}");
    assert_eq!(rows(output.stdout), 24);
}

/// The rows of lists as texts: rank, item and score of each user's own id.
fn lists(sandbox: &Sandbox, name: &str) -> Vec<(String, String, f32)> {
    let at = sandbox.location(name);
    let table = dataset::table::read(&at).unwrap();
    let text = |column: &str| dataset::table::column::<StringArray>(&table, column, &at).unwrap();
    let (users, items) = (text("user_id"), text("item_id"));
    let scores = dataset::table::column::<Float32Array>(&table, "score", &at).unwrap();
    (0..table.num_rows()).map(|row| (users.value(row).to_owned(), items.value(row).to_owned(), scores.value(row))).collect()
}

/// A new user with the train items of `u3` has the list of `u3` by a model of item weights, to the bit; an item that nobody knows is said.
#[test]
fn a_new_user_with_the_history_of_another_has_its_list() {
    let sandbox = Sandbox::new(&changed("[{kind: popularity}]", "[{kind: ease, regularization: 1}]"));
    sandbox.run_well();
    let trials = sandbox.timeless_rows().0;
    let ease = trials.iter().find(|trial| trial.backbone.starts_with("ease")).unwrap();
    let recommend = |arguments: &[&str]| {
        let ended = sandbox.ended(&mut sandbox.command(&[&["recommend", "s.yaml", "-k", "30", "--seen", "include"], arguments].concat()));
        assert_eq!(ended.code, Some(0), "{}", ended.error);
        ended.out
    };
    let folder = std::fs::read_dir(sandbox.path("runs/datasets")).unwrap().next().unwrap().unwrap().file_name();
    let prepared = dataset::Dataset::read(&sandbox.location("runs/datasets").join(folder.to_str().unwrap())).unwrap();
    let user = prepared.user_ids.iter().position(|id| id == "u3").unwrap();
    let history: String = prepared.train.row(user).iter().map(|&item| format!("new,{}\n", prepared.item_ids[item as usize])).collect();
    sandbox.write("new.csv", format!("user_id,item_id\n{history}new,nobody's\nother,nobody's\n"));
    sandbox.write("u3.txt", "u3\n");
    recommend(&["--trial", &ease.trial, "--users", "u3.txt", "--out", "known.parquet"]);
    let said = recommend(&["--trial", &ease.trial, "--histories", "new.csv", "--out", "new.parquet"]);
    assert!(said.contains("for 1 user, by") && said.contains("2 rows of items that the model does not know left out"), "{said}");
    assert!(said.contains("no list for 1 user without an item that it knows"), "{said}");
    let known: Vec<(String, f32)> = lists(&sandbox, "known.parquet").into_iter().map(|(_, item, score)| (item, score)).collect();
    let new: Vec<(String, f32)> = lists(&sandbox, "new.parquet").into_iter().map(|(_, item, score)| (item, score)).collect();
    assert_eq!((known.len(), &known), (20, &new));

    let learned = trials.iter().find(|trial| trial.backbone.starts_with("mf")).unwrap();
    let by_ridge = |more: &[&str]| {
        recommend(&[&["--trial", &learned.trial, "--histories", "new.csv", "--out", "ridge.parquet"], more].concat());
        lists(&sandbox, "ridge.parquet")
    };
    let usual = by_ridge(&[]);
    assert!(usual.iter().all(|(user, _, _)| user == "new") && usual == by_ridge(&["--ridge", "10"]));
    // A larger penalty shortens the user's vector, and all of its scores.
    let largest = |lists: &[(String, String, f32)]| lists.iter().map(|(_, _, score)| score.abs()).fold(0.0, f32::max);
    let [weak, strong] = ["0.01", "2000"].map(|ridge| largest(&by_ridge(&["--ridge", ridge])));
    assert!(strong > 0.0 && strong < 0.1 * largest(&usual) && largest(&usual) < weak, "{strong} {usual:?} {weak}");
    let arguments = ["recommend", "s.yaml", "--trial", &ease.trial, "--histories", "new.csv", "--ridge", "2"];
    let refused = sandbox.ended(&mut sandbox.command(&arguments));
    let words = format!(
        "--ridge weighs a ridge regression, and {} (trial {}) folds histories in another way; leave it out",
        ease.method, ease.trial
    );
    assert!(refused.code == Some(2) && refused.error.contains(&words), "{}", refused.error);
    let refused = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "--histories", "new.csv", "--ridge", "0"]));
    assert!(refused.code == Some(2) && refused.error.contains("expected a number above 0"), "{}", refused.error);
}

/// Models that need their parameters, or the users of train, to score a new user, who has the id of another here.
#[test]
fn networks_graphs_and_neighbours_score_new_users_from_their_checkpoints() {
    let sweep = changed("[{kind: mf, dim: 4}]", "[{kind: light-gcn, dim: 4, layers: 1}, {kind: gru4rec, dim: 4, hidden: 4}]");
    let more = "[{kind: user-knn, neighbours: 5}, {kind: mult-vae, dim: 2, hidden: 4, batch_size: 4}]";
    let sandbox = Sandbox::new(&sweep.replace("[{kind: popularity}]", more));
    sandbox.run_well();
    sandbox.write("new.csv", "user_id,item_id\nu3,i9\nu3,nobody's\nu3,i12\nu3,i0\n");
    for trial in sandbox.timeless_rows().0 {
        let arguments = ["recommend", "s.yaml", "--trial", &trial.trial, "--histories", "new.csv", "-k", "30", "--out", "new.parquet"];
        let ended = sandbox.ended(&mut sandbox.command(&arguments));
        assert!(ended.code == Some(0) && ended.out.contains("for 1 user, by"), "{}: {}{}", trial.method, ended.out, ended.error);
        assert!(ended.out.contains("1 row of items that the model does not know left out (`nobody's`)"), "{}", ended.out);
        let lists = lists(&sandbox, "new.parquet");
        let is_new = |item: &str| !["i9", "i12", "i0"].contains(&item);
        assert!(lists.len() == 17 && lists.iter().all(|(user, item, _)| user == "u3" && is_new(item)), "{}: {lists:?}", trial.method);
        assert!(lists.iter().any(|(_, _, score)| *score != 0.0), "{}: {lists:?}", trial.method);
        let joined = sandbox.ended(&mut sandbox.command(&[&arguments[..], &["--fold-in", "joint"]].concat()));
        if trial.backbone.starts_with("light-gcn") {
            assert_eq!(joined.code, Some(0), "{}", joined.error);
            assert_ne!(self::lists(&sandbox, "new.parquet"), lists);
        } else {
            let words = "--fold-in says how users come to a train graph, and ";
            assert!(joined.code == Some(2) && joined.error.contains(words), "{}: {}", trial.method, joined.error);
        }
    }
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

/// What a sweep reads and what it has stored is not an output's place; any other is.
#[test]
fn nothing_that_a_sweep_needs_is_written_over() {
    let sandbox = finished();
    symlink(sandbox.path("s.yaml"), sandbox.path("link.yaml")).unwrap();
    let folder = std::fs::read_dir(sandbox.path("runs/datasets")).unwrap().next().unwrap().unwrap().file_name();
    let prepared = format!("runs/datasets/{}", folder.to_str().unwrap());
    let files = || support::files_below(&sandbox.path(".")).into_iter();
    let contents = || files().map(|file| (std::fs::read(&file).unwrap(), file)).collect::<Vec<_>>();
    let before = contents();
    let refused = [
        (vec!["recommend", "s.yaml", "--out", "ratings.csv"], "is a source file of the sweep"),
        (vec!["report", "s.yaml", "--format", "csv", "--out", "s.yaml"], "is the sweep file"),
        (vec!["report", "s.yaml", "--format", "csv", "--out", "link.yaml"], "is the sweep file"),
        (vec!["report", "s.yaml", "--format", "csv", "--out", "runs/sweeps/tiny/plan.json"], "is a stored table of a sweep"),
        (vec!["recommend", "s.yaml", "--out", "runs/sweeps/tiny/metrics.parquet"], "is a stored table of a sweep"),
        (vec!["recommend", "s.yaml", "--out", "runs/trials/new.parquet"], "in the folder of the storage's trials"),
        (
            vec!["groups", "s.yaml", "--users", "users.csv", "--column", "side", "--out", "runs/sweeps/tiny/metrics.parquet"],
            "is a stored table of a sweep",
        ),
        (vec!["export", "s.yaml", "--format", "csv", "--out", &prepared], "in the folder of the storage's prepared datasets"),
    ];
    for (arguments, reason) in refused {
        let ended = sandbox.ended(&mut sandbox.command(&arguments));
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.error);
        assert!(ended.error.contains(reason) && ended.error.contains("; name another place"), "{}", ended.error);
    }
    assert!(before == contents());
    recommended(&sandbox, "runs/sweeps/tiny/recommendations.parquet");
}

/// Tables of a part of the trials name a winner of that part.
#[test]
fn that_trials_are_missing_in_the_tables_is_told() {
    let sandbox = Sandbox::new(SWEEP);
    let run = |arguments: &[&str]| {
        let ended = sandbox.ended(&mut sandbox.command(arguments));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.error);
        ended.error
    };
    run(&["prepare", "s.yaml"]);
    run(&["train", "s.yaml", "--index", "0"]);
    run(&["evaluate", "s.yaml", "--partial"]);
    run(&["train", "s.yaml"]);
    let told = run(&["recommend", "s.yaml", "--out", "lists.parquet"]);
    assert!(told.contains("were not trained when the tables were made, so that another may rank best"), "{told}");
    run(&["evaluate", "s.yaml"]);
    let told = run(&["recommend", "s.yaml", "--out", "lists.parquet"]);
    assert!(!told.contains("were not trained"), "{told}");
}

/// The same data under another spelling of its path is the same sweep, whose tables stay.
#[test]
fn a_source_may_be_spelled_in_another_way() {
    let sandbox = finished();
    sandbox.write("s.yaml", changed("path: ratings.csv", "path: ./ratings.csv"));
    for arguments in [&["report", "s.yaml"][..], &["recommend", "s.yaml", "--out", "lists.parquet"], &["run", "s.yaml"]] {
        let ended = sandbox.ended(&mut sandbox.command(arguments));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.error);
    }
    assert!(!sandbox.path("runs/sweeps/tiny/history").exists(), "nothing of another plan was there");
}
