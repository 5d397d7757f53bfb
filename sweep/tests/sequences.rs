//! Models that read histories in order, from timestamps to ranks and lists.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use arrow::{array::AsArray, datatypes::UInt32Type};
use evaluator::tables::read_metrics;
use std::fmt::Write;
use support::Sandbox;

const SWEEP: &str = "\
name: rounds
storage: runs
datasets:
  - name: rounds
    source: {format: delimited, path: rounds.csv, columns: COLUMNS}
    split: SPLIT
grid:
  - backbones: [{kind: random}]
  - backbones:
      - {kind: sas-rec, dim: 16, layers: 1, hidden: 32, dropout: 0.1, max_length: 6, init: {kind: normal, std: 0.3}}
      - {kind: gru4rec, dim: 16, hidden: 24, dropout: 0.1, max_length: 6}
    losses: [{kind: cce}]
    samplers: [{kind: uniform, negatives: 10}]
    optimizer: {kind: adam, learning_rate: 0.02}
training: {epochs: 20, batch_size: 64, evaluate_every: 5, select_by: ndcg@5}
seeds: [1]
evaluation: {metrics: [hit-rate, ndcg], cutoffs: [1, 5], significance: {resamples: 1000}}
";
const TIMED: &str = "{user: user, item: item, timestamp: time}";

/// 80 users go around a circle of 20 items, each from a place of its own, 12 items far: what comes next follows from the last one alone, and all items
/// are as popular. Rows stand in another order.
fn rounds() -> String {
    let rows = (0..12).rev().flat_map(|step| (0..80).map(move |user| (user, (7 * user + step) % 20, 1_000 * (user % 3) + step)));
    let mut text = "user,item,time\n".to_owned();
    rows.for_each(|(user, item, time)| writeln!(text, "u{user},i{item},{time}").unwrap());
    text
}

fn sandbox(columns: &str, split: &str) -> Sandbox {
    let sandbox = Sandbox::new(&SWEEP.replace("COLUMNS", columns).replace("SPLIT", split));
    sandbox.write("rounds.csv", rounds());
    sandbox
}

/// An item's place is the step at which its user came to it, over all parts; what has no order has no such column.
#[test]
fn splits_are_exported_with_their_order() {
    let exported = |sandbox: Sandbox| {
        for format in ["csv", "recbole", "elliot", "lenskit"] {
            let ended = sandbox.ended(&mut sandbox.command(&["export", "s.yaml", "--format", format, "--out", format]));
            assert_eq!(ended.code, Some(0), "{}", ended.error);
        }
        let rows = |file: &str, separator: char| {
            let text = std::fs::read_to_string(sandbox.path(file)).unwrap();
            text.lines().map(|line| line.split(separator).map(str::to_owned).collect()).collect::<Vec<Vec<String>>>()
        };
        let [csv, recbole, elliot] =
            [("csv", "csv", ','), ("recbole", "inter", '\t'), ("elliot", "tsv", '\t')].map(|(format, suffix, separator)| {
                let names =
                    if format == "recbole" { ["rounds.train", "rounds.valid", "rounds.test"] } else { ["train", "validation", "test"] };
                names.map(|name| rows(&format!("{format}/rounds/{name}.{suffix}"), separator))
            });
        let lenskit = ["train", "validation", "test"].map(|name| {
            let at = sandbox.location(&format!("lenskit/rounds/{name}.parquet"));
            let table = dataset::table::read(&at).unwrap();
            table.column_by_name("timestamp").map(|column| column.as_primitive::<UInt32Type>().values().to_vec())
        });
        (csv, recbole, elliot, lenskit)
    };
    let (csv, recbole, elliot, lenskit) = exported(sandbox(TIMED, "{kind: leave-last, validation: true}"));
    let mut count = 0;
    for part in 0..3 {
        assert_eq!(
            (csv[part][0].join(","), recbole[part][0].join(" ")),
            ("user_id,item_id,position".to_owned(), "user_id:token item_id:token timestamp:float".to_owned())
        );
        let places = lenskit[part].as_ref().unwrap();
        for (at, row) in csv[part][1..].iter().enumerate() {
            let [user, item, place]: [u32; 3] = [0, 1, 2].map(|column| row[column].trim_start_matches(['u', 'i']).parse().unwrap());
            assert_eq!(place, (item + 20 * 560 - 7 * user) % 20, "{row:?}");
            assert_eq!((&recbole[part][1 + at][2], &elliot[part][at][3], places[at]), (&row[2], &row[2], place));
            count += 1;
        }
    }
    assert_eq!(count, 80 * 12);
    // Without times, and without the models that read them.
    let learned = SWEEP.find("  - backbones:\n").unwrap()..SWEEP.find("training:").unwrap();
    let text = SWEEP.replace(&SWEEP[learned], "").replace("COLUMNS", "{user: user, item: item}");
    let untimed = Sandbox::new(&text.replace("SPLIT", "{kind: random, test: 0.2, validation: 0.1, seed: 1}"));
    untimed.write("rounds.csv", rounds());
    let (csv, recbole, elliot, lenskit) = exported(untimed);
    assert_eq!((csv[0][0].len(), recbole[0][0].len(), elliot[0][0].len(), &lenskit[0]), (2, 2, 3, &None));
}

/// The test item follows on the validation item, so that only who has seen that can know it.
#[test]
fn the_next_item_is_found_by_those_that_read_the_order() {
    let sandbox = sandbox(TIMED, "{kind: leave-last, validation: true}");
    let ended = sandbox.run_well();
    let rows = read_metrics(&sandbox.location("runs/sweeps/rounds/metrics.parquet")).unwrap();
    let first = |method: &str| {
        let row = rows.iter().find(|row| row.method.starts_with(method) && row.metric.to_string() == "hit-rate@1");
        row.unwrap_or_else(|| panic!("{method}: {rows:?}")).value
    };
    assert!(first("sas-rec") > 0.95 && first("gru4rec") > 0.95 && first("random") < 0.3, "{}", ended.out);
    let recommended = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "--k", "1"]));
    assert!(recommended.code == Some(0) && recommended.out.contains("for 80 users"), "{}\n{}", recommended.out, recommended.error);
}

/// With the model's line, before anything is read.
#[test]
fn data_without_times_is_refused_before_training() {
    let sandbox = sandbox("{user: user, item: item}", "{kind: random, test: 0.2, validation: 0.1}");
    let ended = sandbox.run();
    assert_eq!(ended.code, Some(2), "{}", ended.error);
    let expected = "s.yaml:10:9: grid[1].backbones[0]: sas-rec-16x1 reads histories in order, and dataset `rounds` (line 4) has none: its source has no timestamps";
    assert!(ended.error.contains(expected), "{}", ended.error);
}

/// The adversary has a vector for each user, of whom there are fewer than a batch has rows.
#[test]
fn an_adversary_knows_users_by_their_rows() {
    let loss = "{kind: adv-info-nce, temperature: 0.2, schedule: {kind: instead, every: 3}}";
    let text = SWEEP.replace("COLUMNS", TIMED).replace("SPLIT", "{kind: leave-last, validation: true}").replace("{kind: cce}", loss);
    let sandbox =
        Sandbox::new(&text.replace("epochs: 20, batch_size: 64, evaluate_every: 5", "epochs: 6, batch_size: 512, evaluate_every: 3"));
    sandbox.write("rounds.csv", rounds());
    let ended = sandbox.run_well();
    assert!(ended.out.contains("adv-info-nce on sas-rec") && ended.out.contains("adv-info-nce on gru4rec"), "{}", ended.out);
}
