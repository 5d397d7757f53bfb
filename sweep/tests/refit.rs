//! `refit`, by the binary: what it learns from, where it stands, and what it leaves as it was.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use arrow::array::{Float32Array, StringArray};
use std::collections::{BTreeMap, BTreeSet};
use support::{SWEEP, Sandbox, changed, ratings, signal, work_until};

fn does_well(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ended = sandbox.ended(&mut sandbox.command(arguments));
    assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.error);
    ended.out
}

/// Scores by the users' and the items' own ids.
fn scores(sandbox: &Sandbox, arguments: &[&str]) -> BTreeMap<(String, String), f32> {
    does_well(sandbox, &[&["recommend", "s.yaml", "-k", "20", "--seen", "include", "--out", "lists.parquet"], arguments].concat());
    let at = sandbox.location("lists.parquet");
    let table = dataset::table::read(&at).unwrap();
    let text = |column: &str| dataset::table::column::<StringArray>(&table, column, &at).unwrap();
    let (users, items) = (text("user_id"), text("item_id"));
    let scores = dataset::table::column::<Float32Array>(&table, "score", &at).unwrap();
    (0..table.num_rows()).map(|row| ((users.value(row).to_owned(), items.value(row).to_owned()), scores.value(row))).collect()
}

/// The users and items of the source, row by row.
fn pairs() -> Vec<(String, String)> {
    let pair = |row: &str| {
        let mut fields = row.split(',').map(str::to_owned);
        (fields.next().unwrap(), fields.next().unwrap())
    };
    ratings().lines().skip(1).map(pair).collect()
}

#[test]
fn popularity_counts_every_interaction_and_tables_stay_as_they_are() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let before = sandbox.results();
    let popularity = sandbox.timeless_rows().0.into_iter().find(|trial| trial.backbone == "popularity").unwrap().trial;
    let early = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "--refit", "--trial", &popularity]));
    assert!(early.complaint(2).contains("was not trained on all interactions yet; `ranksweep refit`"), "{}", early.error);
    let judged = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "--refit", "--seen", "evaluate"]));
    assert!(judged.complaint(2).contains("--seen evaluate: with --refit a model has learned the test part"), "{}", judged.error);

    let said = does_well(&sandbox, &["refit", "s.yaml", "--method", "popularity"]);
    assert!(
        said.contains(&format!("popularity (trial {popularity}) on all 120 interactions of the prepared dataset; nothing is left")),
        "{said}"
    );
    let mut counts: BTreeMap<String, f32> = BTreeMap::new();
    pairs().into_iter().for_each(|(_, item)| *counts.entry(item).or_default() += 1.0);
    let found = scores(&sandbox, &["--refit", "--trial", &popularity]);
    assert_eq!(found.len(), 12 * 20);
    assert!(found.iter().all(|((_, item), score)| *score == counts[item]), "{found:?}");

    does_well(&sandbox, &["evaluate", "s.yaml", "--report"]);
    does_well(&sandbox, &["gc", "s.yaml", "--min-age", "0", "--unreferenced", "--yes"]);
    let after = sandbox.results();
    let refits = |path: &std::path::Path| path.to_string_lossy().contains("refits/");
    assert!(after.keys().any(|path| refits(path)), "{:?}", after.keys());
    let others: BTreeMap<_, _> = after.into_iter().filter(|(path, _)| !refits(path)).collect();
    assert!(others == before, "a refit is in no table");
}

/// The same model comes out of a sweep whose train file has every interaction, trained for the epochs that validation had picked.
#[test]
fn a_learned_model_is_that_of_a_train_part_with_everything() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let trial = sandbox.timeless_rows().0.into_iter().find(|trial| trial.loss.as_deref() == Some("bpr")).unwrap();
    let epochs = trial.best_epoch.unwrap();
    let said = does_well(&sandbox, &["refit", "s.yaml", "--trial", &trial.trial]);
    let trained = format!("on all 120 interactions of the prepared dataset, {epochs} epoch");
    assert!(said.contains(&trained), "{said}");
    let found = scores(&sandbox, &["--refit", "--trial", &trial.trial]);
    assert_ne!(found, scores(&sandbox, &["--trial", &trial.trial]));
    assert_eq!(does_well(&sandbox, &["refit", "s.yaml", "--trial", &trial.trial]), said);

    let all: BTreeSet<(String, String)> = pairs().into_iter().collect();
    let items: BTreeSet<&String> = all.iter().map(|(_, item)| item).collect();
    let new = items.into_iter().find(|item| !all.contains(&("u0".to_owned(), (*item).clone()))).unwrap();
    let (start, end) = (SWEEP.find("{format: delimited").unwrap(), SWEEP.find("grid:").unwrap());
    let given = "{format: splits, train: train.tsv, test: test.tsv}\n    split: {kind: given}\n";
    let grid = changed("epochs: 2", &format!("epochs: {epochs}")).replace("  - backbones: [{kind: popularity}]\n", "");
    let grid = grid.replace("      - {kind: softmax, temperature: 0.2}\n", "");
    let whole = Sandbox::new(&format!("{}{given}{}", &grid[..start], &grid[end..]));
    whole.write("train.tsv", all.iter().map(|(user, item)| format!("{user}\t{item}\n")).collect::<String>());
    whole.write("test.tsv", format!("u0\t{new}\n"));
    whole.run_well();
    assert_eq!(scores(&whole, &[]), found);
}

#[test]
fn an_interrupted_refit_goes_on_to_the_same_model() {
    let long = changed("epochs: 2, batch_size: 64, evaluate_every: 1,", "epochs: 60000, batch_size: 64, evaluate_every: 60000,")
        .replace("      - {kind: softmax, temperature: 0.2}\n", "");
    let (whole, stopped) = (Sandbox::new(&long), Sandbox::new(&long));
    let arguments = |sandbox: &Sandbox| {
        sandbox.run_well();
        let trial = sandbox.timeless_rows().0.into_iter().find(|trial| trial.loss.is_some()).unwrap();
        assert_eq!(trial.best_epoch, Some(60000));
        trial.trial
    };
    let (trial, same) = (arguments(&whole), arguments(&stopped));
    assert_eq!(trial, same);
    let refit = ["refit", "s.yaml", "--trial", &trial];
    let said = does_well(&whole, &refit);

    let (mut child, lines) = work_until(stopped.command(&refit).env("RUST_LOG", "debug"), "epoch=5 ");
    signal(&child, "TERM");
    let last = lines.last().unwrap_or_default();
    assert_eq!(child.wait().unwrap().code(), Some(75), "{last}");
    let early = stopped.ended(&mut stopped.command(&["recommend", "s.yaml", "--trial", &trial, "--refit", "--out", "l.csv"]));
    assert!(early.complaint(2).contains("was not trained on all interactions yet"), "{}", early.error);
    assert_eq!(stopped.stored("resume/state.safetensors").len(), 1, "it goes on from there");
    assert_eq!(does_well(&stopped, &refit), said);
    let flags = ["--refit", "--trial", &trial];
    assert_eq!(scores(&stopped, &flags), scores(&whole, &flags));
}

#[test]
fn what_cannot_be_refit_is_said() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let refused = |arguments: &[&str]| {
        let ended = sandbox.ended(&mut sandbox.command(&[&["refit", "s.yaml"], arguments].concat()));
        ended.complaint(2).to_owned()
    };
    let method = refused(&["--method", "bpr on mf-5"]);
    assert!(method.starts_with("unknown method `bpr on mf-5`: did you mean `bpr on mf-4`?"), "{method}");
    assert_eq!(method.matches("`popularity`").count(), 1, "{method}");
    assert!(refused(&["--trial", "0123456789abcdef"]).contains("no trial of the sweep has the id `0123456789abcdef`"));
    assert!(refused(&["--dataset", "large"]).contains("the sweep has no dataset `large`; it has small"));
}
