//! Users whom a temporal split leaves without train interactions: left out of the ranking unless they are asked for, and always said.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use evaluator::tables::{MetricRow, read_metrics};
use std::{collections::BTreeMap, fmt::Write};
use support::{Sandbox, changed};
use sweep::tables::leaderboard;

const TEMPORAL: &str = "{kind: temporal, test: 0.2, validation: 0.1}";

/// Two that are known, and two that are not.
const LATE: [&str; 4] = ["u0", "u1", "late1", "late2"];

/// Twelve users, `u0` and so on, have 8 items each at times up to 95, then these have 6 each: a fifth of 120.
fn ratings(late: [&str; 4]) -> String {
    let early = (0..12).flat_map(|user| (0..8).map(move |place| (format!("u{user}"), (3 * user + place) % 20, 12 * place + user)));
    let late =
        (0..6).flat_map(|place| late.into_iter().enumerate().map(move |(at, user)| (user.to_owned(), 12 + place, 100 + 4 * place + at)));
    let mut text = "user,item,rating,time\n".to_owned();
    early.chain(late).for_each(|(user, item, time)| writeln!(text, "{user},i{item},5,{time}").unwrap());
    text
}

/// The sweep with a block of the evaluation.
fn sweep(users: &str) -> String {
    let sweep = changed("{kind: random, test: 0.2, validation: 0.1, seed: 7}", TEMPORAL);
    sweep.replace("evaluation: {", &format!("evaluation: {{{users}"))
}

fn metrics(sandbox: &Sandbox) -> Vec<MetricRow> {
    read_metrics(&sandbox.location("runs/sweeps/tiny/metrics.parquet")).unwrap()
}

/// The numbers of users, which are the same in all rows.
fn users(sandbox: &Sandbox) -> (usize, usize) {
    let rows = metrics(sandbox);
    let users = |row: &MetricRow| (row.users, row.unknown_users);
    assert!(rows.iter().all(|row| users(row) == users(&rows[0])));
    users(&rows[0])
}

#[test]
fn they_are_left_out_unless_all_are_asked_for_and_counted_in_both() {
    let sandbox = Sandbox::new(&sweep(""));
    sandbox.write("ratings.csv", ratings(LATE));
    let ended = sandbox.run_well();
    assert_eq!(users(&sandbox), (2, 2));
    assert!(ended.out.contains("2 of 4 test users have no train interaction and do not count."), "{}", ended.out);
    assert!(ended.out.contains("they are left out (evaluation.users: known)."), "{}", ended.out);
    let recommended = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml"]));
    assert!(
        recommended.out.contains("for 14 users") && recommended.out.contains("; 2 of them have no train interaction"),
        "{}",
        recommended.out
    );

    let trials = sandbox.stored("done.json").len();
    sandbox.write("s.yaml", sweep("users: all, "));
    let ended = sandbox.run_well();
    assert_eq!((users(&sandbox), sandbox.stored("done.json").len()), ((4, 2), trials), "no trial is another one");
    assert!(ended.out.contains("2 of 4 test users have no train interaction and count."), "{}", ended.out);
    let page = std::fs::read_to_string(&sandbox.stored("report.html")[0]).unwrap();
    assert!(page.contains("also those without train interactions (users: all)"));
}

#[test]
fn the_flag_of_stored_checkpoints_is_the_same() {
    let sandbox = Sandbox::new(&sweep(""));
    sandbox.write("ratings.csv", ratings(LATE));
    sandbox.run_well();
    let dataset = sandbox.stored("manifest.json")[0].parent().unwrap().to_str().unwrap().to_owned();
    for (more, said) in
        [(&[][..], "2 users (and 2 without train interactions, left out)"), (&["--users", "all"], "4 users (2 of them without")]
    {
        let stored = ["evaluate", "--checkpoints", "runs/trials", "--dataset", &dataset, "--out", "again"];
        let ended = sandbox.ended(&mut sandbox.command(&[&stored, more].concat()));
        assert!(ended.code == Some(0) && ended.out.contains(said), "{}\n{}", ended.out, ended.error);
    }
}

#[test]
fn a_test_part_of_unknown_users_alone_is_an_error() {
    let sandbox = Sandbox::new(&sweep(""));
    sandbox.write("ratings.csv", ratings(["late1", "late2", "late3", "late4"]));
    let error = sandbox.run();
    let expected = "none of the 4 users with test interactions in dataset `small` has a train interaction";
    assert!(error.complaint(1).contains(expected), "{}", error.error);
}

/// The figures of a session on the real data: with all users popularity looked best, with those that models know the order is the reverse.
#[test]
fn unknown_users_of_movielens_do_not_make_popularity_the_best() {
    let Some(path) = testing::real_data("ml-100k/ml-100k.inter.gz") else { return };
    let text = |users: &str| {
        format!(
            "name: tiny\ndatasets:\n  - name: ml\n    source: {{format: recbole, path: {}}}\n    k_core: 5\n    split: {TEMPORAL}\ngrid:\n  \
             - backbones: [{{kind: mf, dim: 32}}]\n    losses: [{{kind: bpr}}, {{kind: softmax, temperature: 0.2}}]\n    \
             samplers: [{{kind: uniform, negatives: 10}}]\n    optimizer: {{kind: adam, learning_rate: 0.01}}\n  \
             - backbones: [{{kind: popularity}}, {{kind: ease, regularization: 200}}]\n\
             training: {{epochs: 10, batch_size: 1024, evaluate_every: 2, select_by: ndcg@20}}\n\
             evaluation: {{{users}metrics: [ndcg], cutoffs: [20], significance: {{resamples: 1000}}}}\n",
            path
        )
    };
    let order = |sandbox: &Sandbox| {
        let rows = leaderboard::read(&sandbox.location("runs/sweeps/tiny/leaderboard.parquet")).unwrap();
        rows.into_iter().map(|row| (row.title, row.mean.unwrap())).collect::<BTreeMap<String, f64>>()
    };
    let sandbox = Sandbox::new(&text(""));
    sandbox.run_well();
    assert_eq!(users(&sandbox), (103, 200));
    let known = order(&sandbox);
    assert!(known.values().all(|mean| *mean >= known["popularity"]), "{known:?}");
    sandbox.write("s.yaml", text("users: all, "));
    sandbox.run_well();
    assert_eq!(users(&sandbox), (303, 200));
    let all = order(&sandbox);
    assert!(all.values().all(|mean| *mean <= all["popularity"]), "{all:?}");
}
