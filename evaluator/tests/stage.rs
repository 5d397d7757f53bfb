//! The whole stage on `memory://`: a dataset and two checkpoints in, tables out.

#![allow(clippy::unwrap_used)]

use arrow::array::StringArray;
use clap::Parser;
use dataset::{Dataset, FileEntry, Files, Interactions, Location, Split, marker, table};
use evaluator::{Error, Factors, ItemWeights, Matrix, Scorer, Similarity, command::Evaluate, significance::Comparison, tables};
use sha2::{Digest, Sha256};

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    evaluate: Evaluate,
}

/// Four users and five items; every user knows item 0, and the third user has nothing to find.
fn dataset(fingerprint: &str) -> Dataset {
    Dataset {
        name: "small".to_owned(),
        fingerprint: fingerprint.to_owned(),
        user_ids: ["ann", "bob", "cy,\"d\"", "eve"].map(str::to_owned).to_vec(),
        item_ids: ["p", "q", "r", "s", "t"].map(str::to_owned).to_vec(),
        train: Interactions::from_pairs(4, (0..4).map(|user| (user, 0))),
        validation: Interactions::from_pairs(4, [(0, 1), (1, 1)].into_iter()),
        one_node_set: false,
        test: Interactions::from_pairs(4, [(0, 2), (1, 3), (1, 4), (3, 1)].into_iter()),
        fold_in: None,
        order: None,
        steps: vec![],
        settings: serde_json::Value::Null,
    }
}

/// The same scores for every user, as popularity has.
fn scorer(scores: [f32; 5]) -> Scorer {
    Scorer::Factors(Factors {
        users: Matrix { rows: 4, dim: 1, values: vec![1.0; 4] },
        items: Matrix { rows: 5, dim: 1, values: scores.to_vec() },
        similarity: Similarity::Dot,
    })
}

/// Ends a trial with a model.
fn end(trial: &Location, status: &str, scorer: &Scorer) {
    scorer.write(&trial.join("checkpoint")).unwrap();
    let describe = |path: &str| (path.to_owned(), FileEntry::of(&trial.join(path).read().unwrap()));
    let files: Files = ["trial.json", "checkpoint/scorer.json"].map(describe).into();
    let done = serde_json::json!({"status": status, "checkpoint": "checkpoint", "files": files});
    trial.join("done.json").write(marker::text(&done)).unwrap();
}

/// A storage with a dataset, two finished trials, a failed one, and one of another dataset.
fn storage(name: &str) -> Location {
    let root = Location::parse("memory:///stage").unwrap().join(name);
    dataset("f00d").write(&root.join("dataset")).unwrap();
    let trial = |id: &str, fingerprint: &str, status: &str, scores: [f32; 5]| {
        let folder = root.join("trials").join(id);
        folder.join("trial.json").write(format!(r#"{{"version": 1, "dataset": "{fingerprint}", "more": []}}"#)).unwrap();
        end(&folder, status, &scorer(scores));
    };
    trial("aa", "f00d", "done", [9.0, 5.0, 4.0, 3.0, 2.0]);
    trial("bb", "f00d", "done", [9.0, 1.0, 2.0, 2.0, 3.0]);
    trial("cc", "f00d", "failed", [0.0; 5]);
    trial("dd", "beef", "done", [0.0; 5]);
    root
}

fn evaluate(root: &Location, more: &[&str]) -> evaluator::Result<evaluator::command::Summary> {
    let (dataset, trials, out) = (format!("{root}/dataset"), format!("{root}/trials"), format!("{root}/out"));
    let mut words = vec!["x", "--dataset", &dataset, "--out", &out];
    if !more.contains(&"--checkpoints") {
        words.extend(["--checkpoints", &trials]);
    }
    Flags::try_parse_from(words.into_iter().chain(more.iter().copied())).unwrap().evaluate.run(1 << 20)
}

#[test]
fn checkpoints_become_tables() {
    let root = storage("tables");
    let summary = evaluate(&root, &["--metrics", "mrr,recall,auc", "--cutoffs", "1,3", "--tests", "paired-t"]).unwrap();
    assert_eq!((summary.other_datasets, summary.unfinished), (1, 1));

    let out = root.join("out");
    let mut values = tables::read_values(&out.join("metrics.parquet"), &out.join("per_user")).unwrap();
    tables::read_groups(&out.join("groups.parquet"), &mut values).unwrap();
    assert_eq!(values, summary.values);
    let [first, second] = &values[..] else { panic!("two trials of this dataset are done") };
    assert_eq!((first.trial.as_str(), first.method.as_str(), first.split), ("aa", "aa", Split::Test));
    assert_eq!((first.users.as_slice(), &first.user_ids[1..]), ([0, 1, 3].as_slice(), ["bob".to_owned(), "eve".to_owned()].as_slice()));

    // ann's candidates are r s t, of which r is held out; bob's the same, of which s and t; eve's q r s t, of which q.
    let by_name = |values: &evaluator::TrialValues, name: &str| {
        values.values.iter().find(|(metric, _)| metric.to_string() == name).map(|(_, values)| values.clone()).unwrap()
    };
    assert_eq!(by_name(first, "mrr@3"), [1.0, 0.5, 1.0]);
    assert_eq!(by_name(first, "recall@3"), [1.0, 1.0, 1.0]);
    assert_eq!(by_name(first, "auc"), [1.0, 0.0, 1.0]);
    assert_eq!(first.tied_users, 0);
    // Scores 2 2 3: r is tied with s, against the method; bob's t is first, and his s stands behind r.
    assert_eq!(by_name(second, "mrr@3"), [1.0 / 3.0, 1.0, 0.0]);
    assert_eq!(by_name(second, "recall@1"), [0.0, 0.5, 0.0]);
    assert_eq!(by_name(second, "auc"), [0.25, 0.75, 0.0]);
    assert_eq!(second.tied_users, 2);

    let at = out.join("checkpoints.parquet");
    let batch = table::read(&at).unwrap();
    let texts = |name: &str| {
        let column: &StringArray = table::column(&batch, name, &at).unwrap();
        column.iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts("trial"), ["aa", "bb"]);
    assert_eq!(texts("checkpoint"), ["aa", "bb"].map(|id| format!("{root}/trials/{id}/checkpoint")));
    let tensors = |id: &str| root.join(&format!("trials/{id}/checkpoint/scorer.safetensors")).read().unwrap();
    assert_eq!(texts("sha256"), ["aa", "bb"].map(|id| hex::encode(Sha256::digest(tensors(id)))));
    assert_eq!((texts("dataset_at"), texts("fingerprint")), (vec![format!("{root}/dataset"); 2], vec!["f00d".to_owned(); 2]));

    let rows: Vec<Comparison> = tables::read_significance(&out.join("significance.parquet")).unwrap();
    assert_eq!(rows, summary.comparisons);
    assert_eq!(rows.len(), 5);
    let text = summary.to_string();
    assert!(text.contains("small, test: 3 users") && text.contains("skipped 1 trials of other datasets and 1 that failed"), "{text}");
}

#[test]
fn conventions_are_options() {
    let root = storage("conventions");
    let value = |flags: &[&str]| evaluate(&root, flags).unwrap().values[0].values[0].1.clone();
    // With validation items as candidates, q stands before r for ann and before s and t for bob.
    assert_eq!(value(&["--metrics", "mrr"]), [1.0, 0.5, 1.0]);
    assert_eq!(value(&["--metrics", "mrr", "--mask", "train-only"]), [0.5, 1.0 / 3.0, 1.0]);
    assert_eq!(value(&["--metrics", "mrr", "--split", "validation"]), [1.0, 1.0]);
    assert_eq!(value(&["--metrics", "recall", "--cutoffs", "2"]), [1.0, 0.5, 1.0]);
    let optimistic = evaluate(&root, &["--metrics", "mrr", "--ties", "optimistic"]).unwrap();
    assert_eq!(optimistic.values[1].values[0].1, [0.5, 1.0, 0.25]);
}

/// Of 1,000 others 100 are above each held-out item, so that it is first among 10 of them with a probability of C(900, 10) / C(1000, 10) = 0.3469, and
/// never first in the full catalogue.
#[test]
fn sampled_candidates_are_what_is_ranked_among() {
    let (root, users, items) = (Location::parse("memory:///stage/sampled").unwrap(), 2_000_u32, 1_002_u32);
    let ids = |count: u32| (0..count).map(|id| id.to_string()).collect::<Vec<_>>();
    let sets = Dataset {
        user_ids: ids(users),
        item_ids: ids(items),
        train: Interactions::from_pairs(users as usize, (0..users).map(|user| (user, 0))),
        validation: Interactions::empty(users as usize),
        test: Interactions::from_pairs(users as usize, (0..users).map(|user| (user, 901))),
        ..dataset("f00d")
    };
    sets.write(&root.join("dataset")).unwrap();
    let folder = root.join("trials/aa");
    folder.join("trial.json").write(r#"{"version": 1, "dataset": "f00d"}"#).unwrap();
    let model = Scorer::Factors(Factors {
        users: Matrix { rows: users as usize, dim: 1, values: vec![1.0; users as usize] },
        items: Matrix { rows: items as usize, dim: 1, values: (0..items).map(|item| item as f32).collect() },
        similarity: Similarity::Dot,
    });
    end(&folder, "done", &model);
    let hits = |more: &[&str]| {
        let summary = evaluate(&root, &[&["--metrics", "hit-rate", "--cutoffs", "1", "--tests", "paired-t"], more].concat()).unwrap();
        let stored = tables::read_values(&root.join("out/metrics.parquet"), &root.join("out/per_user")).unwrap();
        let of_users = &stored[0].values[0].1;
        (summary.to_string(), stored[0].sampled_candidates, of_users.iter().sum::<f64>() / of_users.len() as f64)
    };
    let (words, sampled, mean) = hits(&["--sampled-candidates", "10"]);
    assert!(words.contains("among 10 sampled candidates") && sampled == Some(10), "{words}");
    // A standard error is 0.0106.
    assert!((mean - 0.3469).abs() < 0.032, "{mean}");
    let (words, sampled, mean) = hits(&[]);
    assert!(!words.contains("sampled") && sampled.is_none() && mean == 0.0, "{words} {mean}");
}

#[test]
fn tables_of_others_are_not_overwritten() {
    for (marker, what) in [("tables.json", "the tables of a sweep"), ("manifest.json", "a prepared dataset"), ("done.json", "a trial")] {
        let root = storage(&format!("marked-{marker}"));
        root.join("out").join(marker).write("{}").unwrap();
        let message = evaluate(&root, &["--metrics", "mrr"]).unwrap_err().to_string();
        assert!(message.contains(&format!("--out {root}/out: the folder holds {what}")), "{message}");
        assert!(!root.join("out/metrics.parquet").exists().unwrap());
    }
}

#[test]
fn the_same_checkpoints_give_the_same_bytes() {
    let root = storage("bytes");
    let bytes = || {
        evaluate(&root, &["--metrics", "ndcg,auc", "--tests", "paired-t,randomization"]).unwrap();
        let files = root.join("out").list().unwrap();
        files.into_iter().map(|file| (file.to_string(), file.read().unwrap())).collect::<Vec<_>>()
    };
    let first = bytes();
    assert_eq!(first.len(), 7);
    assert_eq!(first, bytes());
}

#[test]
fn a_folder_used_again_holds_the_last_evaluation_alone() {
    let root = storage("again");
    evaluate(&root, &[]).unwrap();
    let per_user = root.join("out/per_user");
    for own in ["notes.txt", "kept/aa.parquet"] {
        per_user.join(own).write("own").unwrap();
    }
    evaluate(&root, &["--checkpoints", &format!("{root}/trials/bb")]).unwrap();
    let files: Vec<String> = per_user.list().unwrap().iter().map(|file| file.to_string().replace(&format!("{per_user}/"), "")).collect();
    assert_eq!(files, ["bb.parquet", "kept/aa.parquet", "notes.txt"]);
    assert_eq!(tables::read_metrics(&root.join("out/metrics.parquet")).unwrap()[0].trial, "bb");
}

#[test]
fn tables_that_cannot_be_written_whole_have_no_metrics() {
    let root = Location::parse(concat!(env!("CARGO_TARGET_TMPDIR"), "/stage half")).unwrap();
    dataset("f00d").write(&root.join("dataset")).unwrap();
    scorer([0.0; 5]).write(&root.join("alone")).unwrap();
    root.join("out/metrics.parquet").write("old").unwrap();
    root.join("out/per_user/alone.parquet/in the way").write("").unwrap();
    let error = evaluate(&root, &["--checkpoints", &format!("{root}/alone")]).unwrap_err();
    assert!(error.to_string().contains("per_user/alone.parquet"), "{error}");
    assert!(!root.join("out/metrics.parquet").exists().unwrap());
}

#[test]
fn one_checkpoint_goes_by_its_trial() {
    let root = storage("one");
    for at in ["trials/bb", "trials/bb/checkpoint"] {
        let at = format!("{root}/{at}");
        let summary = evaluate(&root, &["--checkpoints", &at]).unwrap();
        assert_eq!((summary.values.len(), summary.values[0].trial.as_str()), (1, "bb"));
    }
}

#[test]
fn one_checkpoint_of_another_dataset_is_refused() {
    let root = storage("other");
    let checkpoint = format!("{root}/trials/dd/checkpoint");
    let Error::Settings { reason } = evaluate(&root, &["--checkpoints", &checkpoint]).unwrap_err() else { panic!("an error of the flags") };
    assert!(reason.contains("trials/dd/checkpoint is of a trial of dataset beef, not of `small` (f00d)"), "{reason}");

    scorer([0.0; 5]).write(&root.join("alone")).unwrap();
    let alone = evaluate(&root, &["--checkpoints", &format!("{root}/alone")]).unwrap();
    assert_eq!(alone.values[0].trial, "alone");
}

#[test]
fn a_local_checkpoint_of_another_dataset_is_refused() {
    let root = Location::parse(concat!(env!("CARGO_TARGET_TMPDIR"), "/stage with space")).unwrap();
    dataset("f00d").write(&root.join("dataset")).unwrap();
    root.join("trial/trial.json").write(r#"{"dataset": "beef"}"#).unwrap();
    scorer([0.0; 5]).write(&root.join("trial/checkpoint")).unwrap();
    let error = evaluate(&root, &["--checkpoints", &format!("{root}/trial/checkpoint/")]).unwrap_err();
    assert!(error.to_string().contains("dataset beef"), "{error}");
}

#[test]
fn what_cannot_be_ranked_is_named() {
    let root = storage("errors");
    let error = |flags: &[&str]| evaluate(&root, flags).unwrap_err();
    let nowhere = format!("{root}/nowhere");
    let none = error(&["--checkpoints", &nowhere]);
    assert!(none.to_string().contains("nowhere does not exist, or is empty"), "{none}");
    let failed = format!("{root}/trials/cc");
    assert!(error(&["--checkpoints", &failed]).to_string().contains("1 failed or are not done"));
    assert!(matches!(error(&["--alpha", "2"]), Error::Settings { reason } if reason.contains("`alpha` is 2")));
    assert!(matches!(error(&["--cutoffs", "5,5"]), Error::Settings { reason } if reason.contains("`cutoffs` has 5 twice")));

    root.join("trials/aa/checkpoint/scorer.safetensors").write("junk").unwrap();
    let Error::Trial { trial, source } = error(&[]) else { panic!("a damaged checkpoint is an error of its trial") };
    assert_eq!(trial, "aa");
    assert!(source.to_string().contains("scorer.safetensors: its checksum differs"), "{source}");
}

#[test]
fn a_score_that_overflows_is_named_by_the_users_own_ids() {
    let root = storage("overflow");
    let dim = 2;
    let users = Matrix { rows: 4, dim, values: vec![f32::MAX; 8] };
    let mut items = Matrix { rows: 5, dim, values: vec![0.0; 10] };
    items.values[6..8].copy_from_slice(&[2.0, 2.0]);
    end(&root.join("trials/aa"), "done", &Scorer::Factors(Factors { users, items, similarity: Similarity::Dot }));
    let Error::Trial { source, .. } = evaluate(&root, &[]).unwrap_err() else { panic!("an error of its trial") };
    assert_eq!(source.to_string(), "cannot rank: the score of user `ann` for item `s` is not finite");
}

/// Eve is held out: she took p and r, and q is ranked. Of the others s has the score 0.6 and t nothing; p and r, which lead to each other, are masked.
#[test]
fn a_held_out_user_is_scored_by_the_history_to_fold_in() {
    let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(4, pairs.iter().copied());
    let dataset = Dataset {
        train: part(&[(0, 0), (1, 3), (2, 0)]),
        fold_in: Some(part(&[(3, 0), (3, 2)])),
        validation: part(&[]),
        test: part(&[(3, 1)]),
        ..dataset("f01d")
    };
    let root = Location::parse("memory:///stage/held-out").unwrap();
    dataset.write(&root.join("dataset")).unwrap();
    let read = Dataset::read(&root.join("dataset")).unwrap();
    assert_eq!(read, dataset);
    let mut weights = Matrix { rows: 5, dim: 5, values: vec![0.0; 25] };
    for (from, to, weight) in [(0, 1, 0.5), (2, 1, 0.25), (0, 3, 0.6), (0, 2, 9.0), (2, 0, 9.0)] {
        weights.values[from * 5 + to] = weight;
    }
    let trial = root.join("trials/aa");
    trial.join("trial.json").write(r#"{"version": 1, "dataset": "f01d"}"#).unwrap();
    end(&trial, "done", &Scorer::ItemWeights(ItemWeights { weights }));
    let summary = evaluate(&root, &["--cutoffs", "1"]).unwrap();
    let values = &summary.values[0];
    assert_eq!((values.user_ids.as_ref(), values.unknown_users), (&["eve".to_owned()][..], 0));
    assert!(values.values.iter().any(|(at, own)| at.to_string() == "ndcg@1" && own == &[1.0]), "{:?}", values.values);
}

#[test]
fn a_user_in_train_and_in_the_fold_in_is_refused() {
    let folded = Interactions::from_pairs(4, [(3, 2)].into_iter());
    let at = Location::parse("memory:///stage/both").unwrap();
    Dataset { fold_in: Some(folded), ..dataset("f02d") }.write(&at).unwrap();
    let message = Dataset::read(&at).unwrap_err().to_string();
    assert!(
        message.ends_with("user `eve` has a history to fold in and train interactions; training may not see whom the split holds out"),
        "{message}"
    );
}

/// Users and items are nodes a, b, c and d, at other places as items. Each node scores itself highest; without itself the held-out node comes first.
#[test]
fn no_node_is_ranked_for_itself() {
    let ids = |ids: [&str; 4]| ids.map(str::to_owned).to_vec();
    let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(4, pairs.iter().copied());
    let dataset = Dataset {
        user_ids: ids(["a", "b", "c", "d"]),
        item_ids: ids(["d", "c", "b", "a"]),
        train: part(&[(0, 2), (1, 3), (2, 0), (3, 1)]),
        validation: part(&[]),
        test: part(&[(0, 1), (2, 3)]),
        one_node_set: true,
        ..dataset("f03d")
    };
    let root = Location::parse("memory:///stage/nodes").unwrap();
    dataset.write(&root.join("dataset")).unwrap();
    assert_eq!(Dataset::read(&root.join("dataset")).unwrap(), dataset);
    // Of node a its own score is 9 and that of c 5; of c its own 9 and that of a 5.
    let users = Matrix { rows: 4, dim: 4, values: vec![0.0, 5.0, 1.0, 9.0, 0.0, 0.0, 9.0, 0.0, 1.0, 9.0, 0.0, 5.0, 9.0, 0.0, 0.0, 0.0] };
    let items = Matrix { rows: 4, dim: 4, values: (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect() };
    let trial = root.join("trials/aa");
    trial.join("trial.json").write(r#"{"version": 1, "dataset": "f03d"}"#).unwrap();
    end(&trial, "done", &Scorer::Factors(Factors { users, items, similarity: Similarity::Dot }));
    let summary = evaluate(&root, &["--cutoffs", "1"]).unwrap();
    let values = &summary.values[0];
    assert_eq!(values.user_ids.as_ref(), ["a".to_owned(), "c".to_owned()]);
    assert!(values.values.iter().any(|(at, own)| at.to_string() == "ndcg@1" && own == &[1.0, 1.0]), "{:?}", values.values);
}

#[test]
fn tests_that_can_find_nothing_are_refused() {
    let root = storage("resamples");
    let asked = |alpha: &str| evaluate(&root, &["--tests", "bootstrap", "--correction", "holm", "--alpha", alpha]);
    assert!(asked("0.01").is_ok());
    let Err(Error::Settings { reason }) = asked("0.00005") else { panic!("10,001 resamples find no p-value below it") };
    assert!(
        reason.starts_with("--tests bootstrap: 1 of them, adjusted by holm, leave no p-value below 0.00005, as that takes 20000 resamples"),
        "{reason}"
    );
}
