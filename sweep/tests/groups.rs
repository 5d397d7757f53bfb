//! `ranksweep groups` from outside: methods on groups of users by a column that somebody else has.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use arrow::array::{Array, Float64Array, StringArray, UInt32Array};
use dataset::{Location, table};
use evaluator::tables::{read_metrics, read_per_user};
use std::collections::BTreeMap;
use support::{Ended, SWEEP, Sandbox, assert_holm, changed};

/// u0 to u8 in three countries, u9 alone in a fourth; u10 has none, and u11 is not named.
fn users() -> String {
    let country = |user: usize| if user == 9 { "SE" } else { ["DE", "FR", "IT"][user % 3] };
    let rows: Vec<String> = (0..10).map(|user| format!("u{user},{user},{}", country(user))).collect();
    format!("user_id,age,country\n{}\nu10,10, \n", rows.join("\n"))
}

fn groups(sandbox: &Sandbox, arguments: &[&str]) -> Ended {
    sandbox.ended(&mut sandbox.command(&[&["groups", "s.yaml"], arguments].concat()))
}

/// Mean NDCG@5 of each method's one trial over the users of a country.
fn expected(sandbox: &Sandbox) -> BTreeMap<(String, String), f64> {
    let at = |name: &str| sandbox.location(&format!("runs/sweeps/tiny/{name}.parquet"));
    let mut sums: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for row in read_metrics(&at("metrics")).unwrap().into_iter().filter(|row| row.metric.to_string() == "ndcg@5") {
        let (_, ids, values) = read_per_user(&at(&format!("per_user/{}", row.trial))).unwrap();
        let (_, values) = values.into_iter().find(|(at, _)| at.to_string() == "ndcg@5").unwrap();
        for (id, value) in ids.iter().zip(values) {
            let user: usize = id[1..].parse().unwrap();
            if user < 9 {
                sums.entry((["DE", "FR", "IT"][user % 3].to_owned(), row.method.clone())).or_default().push(value);
            }
        }
    }
    sums.into_iter().map(|(key, values)| (key, values.iter().sum::<f64>() / values.len() as f64)).collect()
}

#[test]
fn each_group_has_its_means_and_is_compared_with_the_best_overall() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    sandbox.write("users.csv", users());
    let ended = groups(&sandbox, &["--users", "users.csv", "--column", "country", "--out", "g.parquet"]);
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    let out = ended.out.replace('\n', " ");
    for part in [
        "small by ndcg@5, groups of country",
        "ranks best over all users",
        "of 3 groups",
        "2 ranked users without a group in the file",
        "1 user alone in a group",
    ] {
        assert!(out.contains(part), "{part}\n{}", ended.out);
    }
    let at = sandbox.location("g.parquet");
    let rows = table::read(&at).unwrap();
    let text = |name: &str| table::column::<StringArray>(&rows, name, &at).unwrap();
    let number = |name: &str| table::column::<Float64Array>(&rows, name, &at).unwrap();
    let (group, method, mean, difference) = (text("group"), text("method"), number("mean"), number("difference"));
    let users: &UInt32Array = table::column(&rows, "users", &at).unwrap();
    let expected = expected(&sandbox);
    assert_eq!((rows.num_rows(), expected.len()), (9, 9));
    let mut control = BTreeMap::new();
    for row in 0..9 {
        let key = (group.value(row).to_owned(), method.value(row).to_owned());
        assert!((mean.value(row) - expected[&key]).abs() < 1e-12 && users.value(row) == 3, "{key:?}");
        if difference.is_null(row) {
            assert_eq!(control.insert(key.0, expected[&(group.value(row).to_owned(), method.value(row).to_owned())]), None);
        }
    }
    assert_eq!(control.len(), 3, "the best overall stands in each group");
    let (p, adjusted) = (number("p_value"), number("p_adjusted"));
    let tested: Vec<usize> = (0..9).filter(|&row| !difference.is_null(row)).collect();
    assert!(tested.iter().all(|&row| (difference.value(row) - (mean.value(row) - control[group.value(row)])).abs() < 1e-12));
    assert_eq!(tested.len(), 6, "all groups are one family");
    assert_holm(tested.into_iter().map(|row| (p.value(row), adjusted.value(row))).collect());
    let board =
        sweep::tables::leaderboard::read(&Location::parse(sandbox.path("runs/sweeps/tiny/leaderboard.parquet").to_str().unwrap()).unwrap())
            .unwrap();
    let best = board.iter().find(|row| row.at.to_string() == "ndcg@5" && row.rank == Some(1)).unwrap();
    assert!((0..9).filter(|&row| difference.is_null(row)).all(|row| method.value(row) == best.method));
}

#[test]
fn each_mistake_has_one_message() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    sandbox.write("users.csv", users());
    sandbox.write("twice.csv", "user,country\nu1,DE\nu1,FR\n");
    sandbox.write("others.csv", "user,country\nx1,DE\nx2,DE\n");
    for (arguments, code, expected) in [
        (&["--users", "users.csv", "--column", "land"][..], 2, "users.csv: no column `land` (found `user_id`, `age`, `country`)"),
        (&["--users", "nowhere.csv", "--column", "country"], 1, "nowhere.csv"),
        (
            &["--users", "twice.csv", "--column", "country"],
            1,
            "twice.csv: user `u1` is in two groups, `DE` and `FR`; expected one row for each user",
        ),
        (
            &["--users", "others.csv", "--column", "country"],
            1,
            "no group of the column `country` has 2 users who were ranked (expected the users' own ids)",
        ),
        (
            &["--users", "users.csv", "--column", "country", "--metric", "ndcg@9"],
            2,
            "--metric: the sweep has no ndcg@9 that says who ranks better; expected one of ndcg@5, recall@5",
        ),
    ] {
        let ended = groups(&sandbox, arguments);
        assert!(ended.complaint(code).contains(expected), "{arguments:?}\n{}", ended.error);
        assert!(
            !expected.starts_with("--metric") || ended.complaint(code).starts_with("--metric"),
            "the file is not to blame: {}",
            ended.error
        );
    }
    sandbox.write("s.yaml", changed("epochs: 2", "epochs: 3"));
    let ended = groups(&sandbox, &["--users", "users.csv", "--column", "country"]);
    assert!(ended.complaint(1).contains("are of another plan"), "{}", ended.error);
}
