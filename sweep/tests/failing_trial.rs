//! A trial whose numbers become none fails alone: its tables say where, the others finish, and the exit code tells.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::process::Command;
use support::{SWEEP, Sandbox, changed};
use sweep::tables::{LeaderboardRow, Status, TrialRow, leaderboard, trials};

/// One value of two explodes in both methods that learn; popularity has none.
fn half_exploding() -> Sandbox {
    Sandbox::new(
        &changed("dim: 4}", "dim: 4, init: {kind: normal, std: 0.1}}").replace("learning_rate: 0.05", "learning_rate: [0.05, 1.0e+38]"),
    )
}

fn trial_rows(sandbox: &Sandbox) -> Vec<TrialRow> {
    trials::read(&sandbox.location("runs/sweeps/tiny/trials.parquet")).unwrap()
}

fn leaderboard_rows(sandbox: &Sandbox) -> Vec<LeaderboardRow> {
    leaderboard::read(&sandbox.location("runs/sweeps/tiny/leaderboard.parquet")).unwrap()
}

#[test]
fn the_step_and_the_tensor_stand_in_the_table_and_the_others_finish() {
    let sandbox = half_exploding();
    let ended = sandbox.run();
    assert_eq!(ended.complaint(1), "2 trials failed; everything else was done");

    let rows = trial_rows(&sandbox);
    let status: Vec<(&str, f64, Status, bool)> = rows
        .iter()
        .map(|row| {
            let rate = row.parameters["optimizer.learning_rate"].as_f64().unwrap_or_default();
            (row.loss.as_deref().unwrap_or_default(), rate, row.status, row.selected)
        })
        .collect();
    let expected = [
        ("bpr", 0.05, Status::Done, true),
        ("bpr", 1e38, Status::Failed, false),
        ("softmax", 0.05, Status::Done, true),
        ("softmax", 1e38, Status::Failed, false),
        ("", 0.0, Status::Done, true),
    ];
    assert_eq!(status, expected);
    for row in rows.iter().filter(|row| row.status == Status::Failed) {
        // The first step moves every touched value to 1e38; the second one's products are beyond what a number holds.
        let error = row.error.as_deref().unwrap();
        assert!(error.starts_with("epoch 1, step 2: the parameter `users` (row "), "{error}");
        assert!(error.ends_with("is not finite; a smaller learning rate or a larger temperature may help"), "{error}");
        assert_eq!((row.epochs, row.validation), (None, None));
        assert!(ended.out.contains(&format!("({}): {error}", row.trial)), "{}", ended.out);
        let page = std::fs::read_to_string(sandbox.path("runs/sweeps/tiny/report.html")).unwrap();
        assert!(page.contains("epoch 1, step 2: the parameter `users` (row "));
    }
    assert!(ended.out.contains("2 trials failed:"), "{}", ended.out);
    let reported = sandbox.ended(&mut sandbox.command(&["report", "s.yaml"]));
    assert!(
        reported.code == Some(0) && reported.out.contains("2 trials failed:"),
        "all that `report` was asked for was done: {}",
        reported.error
    );
    let failed: Vec<(u32, u32, bool)> = leaderboard_rows(&sandbox).iter().map(|row| (row.seeds, row.failed, row.mean.is_some())).collect();
    assert!(failed.contains(&(1, 1, true)) && failed.contains(&(1, 0, true)), "{failed:?}");
}

#[test]
fn a_failure_that_would_repeat_is_not_tried_again_and_a_mended_sweep_ends_well() {
    let sandbox = half_exploding();
    let first = sandbox.run();
    let again = sandbox.run();
    assert_eq!((again.complaint(1), &again.out), (first.complaint(1), &first.out));
    assert!(first.error.contains(" training trial=") && !again.error.contains(" training trial="), "{}", again.error);
    sandbox.write("s.yaml", changed("dim: 4}", "dim: 4, init: {kind: normal, std: 0.1}}"));
    let mended = sandbox.run_well();
    assert!(!mended.out.contains("failed") && !mended.error.contains(" training trial="), "{}\n{}", mended.out, mended.error);
}

#[test]
fn what_failed_is_tried_again_where_that_is_asked_for_and_nothing_else_is() {
    let sandbox = half_exploding();
    let first = sandbox.run();
    let failed: Vec<String> = trial_rows(&sandbox).into_iter().filter(|row| row.status == Status::Failed).map(|row| row.trial).collect();
    let again = sandbox.ended(&mut sandbox.command(&["run", "s.yaml", "--retry-failed"]));
    assert_eq!(again.complaint(1), first.complaint(1));
    assert_eq!(again.error.matches(" training trial=").count(), failed.len(), "{}", again.error);
    assert!(failed.iter().all(|trial| again.error.contains(trial)), "{}", again.error);
    let once_more = sandbox.run();
    assert!(!once_more.error.contains(" training trial="), "{}", once_more.error);
    for command in ["recommend", "refit"] {
        let refused = sandbox.ended(&mut sandbox.command(&[command, "s.yaml", "--trial", &failed[0]]));
        let words = format!("trial {} failed, and has no model: ", failed[0]);
        assert!(refused.complaint(2).starts_with(&words) && refused.error.contains("--retry-failed"), "{}", refused.error);
    }
}

#[test]
fn a_method_without_any_model_stays_on_the_leaderboard() {
    let sandbox = Sandbox::new(&changed("learning_rate: 0.05", "learning_rate: 1.0e+38").replace("training:", "seeds: [1, 2]\ntraining:"));
    assert_eq!(sandbox.run().complaint(1), "4 trials failed; everything else was done");
    let rows: Vec<LeaderboardRow> = leaderboard_rows(&sandbox).into_iter().filter(|row| row.loss.is_some()).collect();
    assert_eq!(rows.len(), 4, "two methods by two metrics");
    assert!(rows.iter().all(|row| (row.rank, row.failed, row.mean) == (None, 2, None)), "{rows:?}");
}

#[test]
fn a_model_that_tells_no_item_from_another_is_not_ranked() {
    let sandbox = Sandbox::new(&changed("[{kind: popularity}]", "[{kind: popularity}, {kind: ease, regularization: 1.0e+30}]"));
    let ended = sandbox.run();
    assert_eq!(ended.complaint(1), "1 trial failed; everything else was done");
    let rows = trial_rows(&sandbox);
    let ease = rows.iter().find(|row| row.backbone == "ease").unwrap();
    assert_eq!((ease.status, ease.selected), (Status::Constant, false));
    let error = ease.error.as_deref().unwrap();
    assert!(
        error.starts_with("all items have the same score for each of 12 users") && error.contains("backbone.regularization=1e+30"),
        "{error}"
    );
    let rows: Vec<LeaderboardRow> = leaderboard_rows(&sandbox).into_iter().filter(|row| row.backbone == "ease").collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| (row.rank, row.failed, row.mean) == (None, 1, None)), "{rows:?}");
    assert!(ended.out.contains("there is nothing to rank"), "{}", ended.out);
    let again = sandbox.run();
    assert_eq!((again.complaint(1), &again.out), ("1 trial failed; everything else was done", &ended.out));
}

/// Vectors that a step takes too far, or that are too small for their products: some users have no other candidates than held-out items, and no ties.
#[test]
fn values_that_are_too_extreme_leave_no_model() {
    let data = "{format: synthetic, users: 60, items: 40, interactions: 900}";
    let text = format!(
        "name: tiny
datasets: [{{name: small, source: {data}, split: {{kind: random, test: 0.2, validation: 0.1, seed: 7}}}}]
grid:
  - backbones: [{{kind: mf, dim: 4}}]
    losses: [{{kind: cml, margin: 0.5}}]
    samplers: [{{kind: uniform, negatives: 5}}]
    optimizer: {{kind: adam, learning_rate: 1.0e+30}}
  - backbones: [{{kind: mf, dim: 4, init: {{kind: normal, std: 1.0e-30}}}}]
    losses: [{{kind: bpr}}]
    samplers: [{{kind: uniform, negatives: 5}}]
    optimizer: {{kind: adam, learning_rate: 1.0e-30}}
  - backbones: [{{kind: popularity}}]
training: {{epochs: 2, batch_size: 64, evaluate_every: 1, select_by: ndcg@5}}
evaluation: {{metrics: [ndcg], cutoffs: [5], significance: {{resamples: 1000}}}}
"
    );
    let sandbox = Sandbox::new(&text);
    assert_eq!(sandbox.run().complaint(1), "2 trials failed; everything else was done");
    let rows = trial_rows(&sandbox);
    let statuses: Vec<Status> = rows.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [Status::Constant, Status::Constant, Status::Done]);
    let errors = rows.iter().filter_map(|row| row.error.as_deref()).collect::<Vec<_>>();
    assert!(errors[0].contains("optimizer.learning_rate=1e+30"), "{errors:?}");
}

#[test]
fn one_failed_trial_alone_ends_with_42_and_is_not_to_be_tried_again() {
    let sandbox = Sandbox::new(&changed("learning_rate: 0.05", "learning_rate: 1.0e+38"));
    let prepared = sandbox.ended(&mut sandbox.command(&["prepare", "s.yaml"]));
    assert_eq!(prepared.code, Some(0), "{}", prepared.error);
    let train = |index: &str| sandbox.ended(&mut sandbox.command(&["train", "s.yaml", "--index", index]));
    let first = train("0").complaint(42).to_owned();
    assert!(first.starts_with("the trial failed, and would again: epoch 1, step 2: the parameter `users` (row "), "{first}");
    assert_eq!(train("0").complaint(42), first);
    assert_eq!(train("2").code, Some(0));
}

/// One step takes the vectors to where their products are beyond what a number holds; without a validation part nothing is ranked before test.
#[test]
fn scores_that_overflow_on_test_fail_their_trial_alone() {
    let once = changed("epochs: 2, batch_size: 64", "epochs: 1, batch_size: 1024").replace("validation: 0.1, ", "");
    let sandbox = Sandbox::new(&once.replace("learning_rate: 0.05", "learning_rate: 1.0e+25"));
    for _ in 0..2 {
        let ended = sandbox.run();
        assert!(ended.complaint(1).ends_with("failed; everything else was done") && ended.out.contains("popularity"), "{}", ended.out);
        let failed = trial_rows(&sandbox).into_iter().filter(|row| row.status == Status::Failed);
        let errors: Vec<String> = failed.filter_map(|row| row.error).collect();
        assert!(errors.iter().any(|error| error.contains("cannot rank: the score of user `u")), "{errors:?}");
    }
}

/// 20,000 items take EASE 6 GB. It would end the process, and all other trials with it, where the system gives no more.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the limit is read from /proc")]
fn a_trial_that_exceeds_memory_fails_beside_the_others() {
    let start = SWEEP.find("{format: delimited").unwrap();
    let end = SWEEP[start..].find('\n').unwrap() + start;
    let text = changed("[{kind: popularity}]", "[{kind: ease, regularization: 10}, {kind: popularity}]");
    let data = "{format: synthetic, users: 400, items: 25000, interactions: 120000}";
    let sandbox = Sandbox::new(&text.replace(&SWEEP[start..end], data));
    for _ in 0..2 {
        let script = format!("ulimit -v 3000000; exec {} run s.yaml --threads 2 --memory 64GiB", env!("CARGO_BIN_EXE_ranksweep"));
        let ended = sandbox.ended(Command::new("sh").args(["-c", &script]).current_dir(sandbox.path("")));
        assert_eq!(ended.complaint(1), "1 trial failed; everything else was done");
        let rows = trial_rows(&sandbox);
        let (failed, others): (Vec<&TrialRow>, Vec<&TrialRow>) = rows.iter().partition(|row| row.backbone == "ease");
        assert!(others.len() == 3 && others.iter().all(|row| row.status == Status::Done), "{rows:?}");
        let error = failed[0].error.as_deref().unwrap();
        assert!(
            failed[0].status == Status::Failed && error.starts_with("its training needs about ") && error.contains("may have 2.86 GiB"),
            "{error}"
        );
    }
}
