//! Splits that hold users out: trained without them, ranked by their histories, and refused where a model cannot.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use dataset::Dataset;
use evaluator::tables::read_metrics;
use support::{Sandbox, changed};

const RANDOM: &str = "{kind: random, test: 0.2, validation: 0.1, seed: 7}";
const USERS: &str = "{kind: users, test: 0.25, validation: 0.25, seed: 3}";

/// The methods that learn, popularity, and models by item weights and least squares.
fn on(split: &str) -> String {
    changed(RANDOM, split).replace(
        "[{kind: popularity}]",
        "[{kind: popularity}, {kind: ease, regularization: 1}, {kind: item-knn, neighbours: 5}, {kind: ials, dim: 4, regularization: 0.1}]",
    )
}

fn dataset(sandbox: &Sandbox) -> Dataset {
    let folder = sandbox.stored("manifest.json")[0].parent().unwrap().to_owned();
    Dataset::read(&dataset::Location::parse(folder.to_str().unwrap()).unwrap()).unwrap()
}

#[test]
fn all_stages_know_users_who_are_held_out() {
    let sandbox = Sandbox::new(&on(USERS));
    let ended = sandbox.run_well();
    // Three of twelve users each, with 10 interactions: 8 to fold in, 2 to rank.
    assert!(ended.error.contains("fold-in, of users whom no training sees") && ended.error.contains("interactions=48"), "{}", ended.error);
    let stored = dataset(&sandbox);
    assert_eq!((stored.train.len(), stored.fold_in.as_ref().unwrap().len(), stored.validation.len(), stored.test.len()), (60, 48, 6, 6));
    let metrics = read_metrics(&sandbox.location("runs/sweeps/tiny/metrics.parquet")).unwrap();
    assert!(metrics.len() == 12 && metrics.iter().all(|row| (row.users, row.unknown_users) == (3, 0)));
    assert!(ended.out.contains("12 users, 20 items, 120 interactions"), "{}", ended.out);
    assert!(ended.out.contains("No training saw the users who are ranked: models know them by histories to fold in, of 48 interactions"));
    let page = std::fs::read_to_string(sandbox.path("runs/sweeps/tiny/report.html")).unwrap();
    assert!(page.contains("fold-in") && page.contains("48"));
    // The stored checkpoints alone, by the program that holds no code of training.
    let at = sandbox.stored("manifest.json")[0].parent().unwrap().to_str().unwrap().to_owned();
    let again = ["evaluate", "--checkpoints", "runs/trials", "--dataset", &at, "--out", "again", "--cutoffs", "5"];
    assert_eq!(sandbox.ended(&mut sandbox.command(&again)).code, Some(0));
    let again = read_metrics(&sandbox.location("again/metrics.parquet")).unwrap();
    for row in &metrics {
        assert!(
            again.iter().any(|other| (&other.trial, other.metric, other.value) == (&row.trial, row.metric, row.value)),
            "{}",
            row.method
        );
    }
    let recommended = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml"]));
    assert!(recommended.out.contains("for 12 users") && !recommended.out.contains("no train interaction"), "{}", recommended.out);
    let exported = sandbox.ended(&mut sandbox.command(&["export", "s.yaml", "--format", "csv", "--out", "exported"]));
    assert!(exported.out.contains("60 train, 48 fold-in, 6 validation and 6 test interactions"), "{}\n{}", exported.out, exported.error);
}

#[test]
fn a_fold_in_goes_with_its_dataset() {
    let sandbox = Sandbox::new(&on(USERS));
    sandbox.prepare();
    assert_eq!(sandbox.stored("fold-in.parquet").len(), 1);
    sandbox.write("s.yaml", on(RANDOM));
    sandbox.run_well();
    let ended = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--min-age", "0", "--unreferenced", "--yes"]));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    assert_eq!((sandbox.stored("fold-in.parquet").len(), sandbox.stored("manifest.json").len()), (0, 1));
}

#[test]
fn models_that_cannot_score_new_users_are_refused_by_the_plan() {
    let sweep =
        on(USERS).replace("{kind: mf, dim: 4}", "{kind: neu-mf, dim: 4}").replace("      - {kind: softmax, temperature: 0.2}\n", "");
    let message = Sandbox::new(&sweep).run().complaint(2).to_owned();
    assert!(
        message.contains("s.yaml:7:17: ") && message.contains("neu-mf-4: this model cannot score users that it was not trained with"),
        "{message}"
    );
    assert!(message.ends_with("dataset `small` (line 3) has a split that holds users out"), "{message}");
    assert!(
        message.contains("as its network scores vectors that training alone gives users; take another model, such as ease"),
        "{message}"
    );
}

#[test]
fn the_ridge_is_for_vectors_of_held_out_users() {
    let with =
        |split: &str, ridge: &str| Sandbox::new(&on(split).replace("select_by: ndcg@5", &format!("select_by: ndcg@5, ridge: {ridge}")));
    assert!(with(RANDOM, "5").run().complaint(2).contains("no split holds users out from a model that does so"));
    assert!(with(USERS, "0").run().complaint(2).contains("training.ridge: 0 weighs nothing (expected a number above 0)"));
    let trials = |sandbox: &Sandbox| {
        sandbox.run_well();
        let text = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap();
        sandbox.stored("trial.json").iter().map(text).filter(|text| text.contains("\"ridge\": 5.0")).count()
    };
    let sandbox = with(USERS, "500");
    assert_eq!(trials(&with(USERS, "5")), 2, "bpr and softmax on mf");
    // Who comes later is served as the held-out users were measured.
    sandbox.run_well();
    sandbox.write("new.csv", "user_id,item_id\nnew,i9\nnew,i12\nnew,i0\n");
    let mf = sandbox.timeless_rows().0.into_iter().find(|trial| trial.backbone.starts_with("mf")).unwrap();
    let lists = |more: &[&str]| {
        let arguments = ["recommend", "s.yaml", "--trial", &mf.trial, "--histories", "new.csv", "--out", "new.csv.parquet"];
        let ended = sandbox.ended(&mut sandbox.command(&[&arguments, more].concat()));
        assert_eq!(ended.code, Some(0), "{}", ended.error);
        std::fs::read(sandbox.path("new.csv.parquet")).unwrap()
    };
    assert_eq!(lists(&[]), lists(&["--ridge", "500"]));
    assert_ne!(lists(&[]), lists(&["--ridge", "10"]));
}

#[test]
fn users_join_the_graph_of_models_that_have_one() {
    let with = |split: &str, backbone: &str, how: &str| {
        let sweep = on(split).replace("{kind: mf, dim: 4}", backbone);
        Sandbox::new(&sweep.replace("select_by: ndcg@5", &format!("select_by: ndcg@5, fold_in: {how}")))
    };
    const GRAPH: &str = "{kind: light-gcn, dim: 4, layers: 1}";
    for (split, backbone) in [(RANDOM, GRAPH), (USERS, "{kind: mf, dim: 4}")] {
        let message = with(split, backbone, "joint").run().complaint(2).to_owned();
        assert!(
            message.contains("training.fold_in: `fold_in` says how") && message.contains("no split holds users out from a model over it"),
            "{message}"
        );
    }
    let message = with(USERS, GRAPH, "both").run().complaint(2).to_owned();
    assert!(message.contains("training.fold_in: unknown name `both`: expected one of `attach`, `joint`"), "{message}");
    let trials = |how: &str| {
        let sandbox = with(USERS, GRAPH, how);
        sandbox.run_well();
        let text = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap();
        sandbox.stored("trial.json").iter().map(text).filter(|text| text.contains("\"fold_in\": \"joint\"")).count()
    };
    assert_eq!((trials("attach"), trials("joint")), (0, 2), "bpr and softmax on light-gcn");
}

#[test]
fn several_seeds_hold_several_users_out() {
    let sandbox = Sandbox::new(&on(&USERS.replace("seed: 3", "seed: [3, 4]")));
    let ended = sandbox.run_well();
    assert!(ended.out.contains("2 splits of users, with the seeds 3 and 4"), "{}", ended.out);
}
