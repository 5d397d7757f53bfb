//! Whole trainings on a small dataset with planted tastes.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)] // this file uses parts of it
mod support;

use dataset::{Dataset, Interactions, marker};
use evaluator::{Factors, Scorer, Similarity};
use serde_json::json;
use std::{sync::atomic::AtomicBool, time::Duration};
use support::{RESOURCES, Snapshot, ended, folder, result, tastes, train_with_stops, trial};
use trainer::{EpochReport, Error, Fit, Loss, Observer, Outcome, Resources, Trial, curve, stored, train};

/// Batches so small that a step touches few rows of the tables.
fn small_batches(trial: Trial) -> Trial {
    let mut trial = trial;
    let learning = trial.learning.as_mut().unwrap();
    (learning.training.batch_size, learning.sampler) = (6, serde_json::from_str(ONE_NEGATIVE).unwrap());
    trial
}

const POPULARITY: &str = r#"{"version": 1, "dataset": "tastes", "backbone": {"popularity": {}}, "learning": null, "select_by": "ndcg@10"}"#;
const MF: &str = r#"{"mf": {"dim": 16}}"#;
const LIGHT_GCN: &str = r#"{"light-gcn": {"dim": 16, "layers": 2}}"#;
const SOFTMAX_AT_K: &str = r#"{"softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 3}}"#;
const GBCE: &str = r#"{"gbce": {"calibration": 0.75}}"#;
const UIB: &str = r#"{"uib": {}}"#;
const SML: &str = r#"{"sml": {}}"#;
const DIRECT_AU: &str = r#"{"direct-au": {"uniformity": 0.5}}"#;
const SAMPLED_SOFTMAX: &str = r#"{"sampled-softmax": {}}"#;
const UNIFORM: &str = r#"{"uniform": {"negatives": 20}}"#;
const ONE_NEGATIVE: &str = r#"{"uniform": {"negatives": 1}}"#;
/// Without weight decay and with a short memory of the second moment, so that rows are left behind from early steps on.
const LEFT_BEHIND: &str = r#"{"adam": {"learning_rate": 0.05, "beta1": 0.5}}"#;
const ADAM: &str = r#"{"adam": {"learning_rate": 0.05, "weight_decay": 1e-6}}"#;

fn run(name: &str, trial: &Trial) -> f64 {
    train(trial, &tastes(), &folder(name), &RESOURCES, &mut ()).unwrap().validation.unwrap()
}

#[test]
fn every_kind_learns_the_tastes_that_popularity_cannot() {
    let popularity: Trial = serde_json::from_str(POPULARITY).unwrap();
    let floor = run("popularity", &popularity);
    for backbone in
        [r#"{"ease": {"regularization": 10.0}}"#, r#"{"item-knn": {}}"#, r#"{"user-knn": {"neighbours": 20}}"#, r#"{"slim": {}}"#]
    {
        let trial = Trial { backbone: serde_json::from_str(backbone).unwrap(), ..popularity.clone() };
        let value = run(backbone, &trial);
        assert!(value > 2.0 * floor, "{backbone}: {value} is not far above {floor}");
    }
    let losses = [
        r#"{"bce": {}}"#,
        r#"{"bpr": {}}"#,
        r#"{"cce": {}}"#,
        r#"{"softmax": {"temperature": 0.2}}"#,
        SOFTMAX_AT_K,
        r#"{"bsl": {"positive_temperature": 0.2, "negative_temperature": 0.2}}"#,
        r#"{"psl": {"temperature": 0.1}}"#,
        r#"{"psl": {"temperature": 0.1, "surrogate": "relu"}}"#,
        r#"{"ccl": {"margin": 0.4, "negative_weight": 10}}"#,
        r#"{"sparsemax": {}}"#,
        r#"{"mse": {"positive_weight": 5}}"#,
        GBCE,
        SAMPLED_SOFTMAX,
        r#"{"psl": {"temperature": 0.1, "whole_batch": true}}"#,
        UIB,
        r#"{"uib": {"negative_weight": 0.3, "penalty": "hinge"}}"#,
        r#"{"cml": {"margin": 0.5}}"#,
        SML,
    ];
    let samplers =
        [UNIFORM, r#"{"uniform": {"negatives": 20, "replacement": false}}"#, r#"{"popularity": {"negatives": 20}}"#, r#"{"all": {}}"#];
    for (backbone, optimizer) in [(MF, ADAM), (LIGHT_GCN, ADAM), (MF, r#"{"lazy-adam": {"learning_rate": 0.05}}"#)] {
        for loss in losses {
            for sampler in samplers {
                let kind: Loss = serde_json::from_str(loss).unwrap();
                if kind.needs_draws().is_some() && sampler == r#"{"all": {}}"# {
                    continue; // refused
                }
                let name = format!("learns {backbone} {loss} {sampler} {optimizer}");
                let value = run(&name.replace('/', " "), &trial(backbone, loss, sampler, optimizer));
                assert!(value > 1.5 * floor, "{name}: {value} is not far above {floor}");
            }
        }
    }
}

/// All items are scored without ids, by the formula as by the fused form.
#[test]
fn rules_over_all_items_serve_losses_without_a_twin() {
    let floor = 1.5 * run("rules floor", &serde_json::from_str(POPULARITY).unwrap());
    for (loss, rule) in [
        (r#"{"cml": {"margin": 0.5}}"#, r#""dns-mn": {"negatives": 5,"#),
        (r#"{"mse": {}}"#, r#""pris": {"#), // without a twin that takes weights
        (r#"{"cce": {}}"#, r#""softmax": {"negatives": 5, "temperature": 1,"#),
    ] {
        let sampler = format!(r#"{{{rule} "pool": {{"all": {{}}}}}}}}"#);
        let value = run(&format!("rules {loss} {sampler}"), &trial(MF, loss, &sampler, ADAM));
        assert!(value > floor, "{loss} {sampler}: {value} is not far above {floor}");
    }
}

#[test]
fn small_batches_learn_the_tastes() {
    let floor = 1.5 * run("small floor", &serde_json::from_str(POPULARITY).unwrap());
    for loss in [r#"{"bce": {}}"#, r#"{"bpr": {}}"#, r#"{"bpr": {"similarity": "cosine"}}"#, r#"{"softmax": {"temperature": 0.2}}"#] {
        for optimizer in [r#"{"adam": {"learning_rate": 0.05}}"#, ADAM, r#"{"lazy-adam": {"learning_rate": 0.05}}"#] {
            let name = format!("small {loss} {optimizer}");
            let value = run(&name.replace('/', " "), &small_batches(trial(MF, loss, ONE_NEGATIVE, optimizer)));
            assert!(value > floor, "{name}: {value} is not far above {floor}");
        }
    }
}

/// Quantiles of all items need no draws: those that are set before epoch 2 are those that are set after epoch 1.
#[test]
fn quantiles_are_set_before_or_after_the_steps_of_a_due_epoch() {
    let model = |every: u32, update: &str| {
        let loss = format!(
            r#"{{"softmax-at-k": {{"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": {every},
                "quantile_update": "{update}"}}}}"#
        );
        let mut trial = trial(MF, &loss, r#"{"uniform": {"negatives": 500}}"#, ADAM);
        trial.learning.as_mut().unwrap().training.epochs = 2;
        let folder = folder(&format!("quantiles {every} {update}"));
        train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap();
        ended(&folder).unwrap().scorer(&folder).unwrap()
    };
    let after_each = model(1, "after-epoch");
    assert!(model(2, "before-epoch") == after_each);
    assert!(model(2, "after-epoch") != after_each && model(1, "before-epoch") != after_each);
}

#[test]
fn a_resumed_training_has_the_bits_of_an_uninterrupted_one() {
    let bpr = small_batches(trial(MF, r#"{"bpr": {}}"#, ONE_NEGATIVE, LEFT_BEHIND));
    let softmax_at_k = |backbone| trial(backbone, SOFTMAX_AT_K, UNIFORM, ADAM);
    let [uib, sml] = [UIB, SML].map(|loss| trial(MF, loss, UNIFORM, ADAM));
    for (kind, trial) in [("mf", softmax_at_k(MF)), ("light-gcn", softmax_at_k(LIGHT_GCN)), ("small", bpr), ("uib", uib), ("sml", sml)] {
        for epoch in [2, 7, 11] {
            let (whole, killed) = (folder(&format!("{kind}-{epoch}")), folder(&format!("{kind}-{epoch}-killed")));
            train(&trial, &tastes(), &whole, &RESOURCES, &mut Snapshot { epoch, from: &whole, to: &killed }).unwrap();
            let mut epochs = Epochs::default();
            train(&trial, &tastes(), &killed, &RESOURCES, &mut epochs).unwrap();
            assert_eq!(epochs.0.first(), Some(&(epoch / 2 * 2 + 1)), "resumes after the last evaluation");
            assert!(result(&whole) == result(&killed), "{kind} killed after epoch {epoch}");
            assert!(!killed.join("resume/state.safetensors").exists().unwrap());
        }
    }
}

/// Steps of few rows are planned 16 at once, and leave rows behind: from early steps on, or from step 190, which is in epoch 2, on.
#[test]
fn steps_of_few_rows_stop_anywhere() {
    for (name, optimizer) in [("early", LEFT_BEHIND), ("late", r#"{"adam": {"learning_rate": 0.05}}"#), ("decay", ADAM)] {
        for loss in [r#"{"bpr": {}}"#, r#"{"bpr": {"similarity": "cosine"}}"#] {
            let trial = small_batches(trial(MF, loss, ONE_NEGATIVE, optimizer));
            let (whole, stopped) = (folder(&format!("few-{name}-{}", trial.id())), folder(&format!("few-{name}-stops-{}", trial.id())));
            train(&trial, &tastes(), &whole, &RESOURCES, &mut ()).unwrap();
            let stops =
                [(1, 1), (1, 15), (1, 16), (1, 17), (2, 33), (2, 69), (2, 70), (2, 71), (2, 119), (2, 120), (3, 0), (5, 64), (12, 48)];
            assert_eq!(train_with_stops(&trial, &stopped, &stops), stops.len());
            assert!(result(&whole) == result(&stopped), "{name} {loss}");
        }
    }
}

/// Copies the folder as it stands at a step, as if the process had been killed there.
struct Kill<'a> {
    at: (u32, u32),
    from: &'a dataset::Location,
    to: &'a dataset::Location,
}

impl Observer for Kill<'_> {
    fn step(&mut self, epoch: u32, step: u32) {
        if (epoch, step) == self.at {
            for file in self.from.list().unwrap() {
                let name = file.to_string().replace(&format!("{}/", self.from), "");
                self.to.join(&name).write(file.read().unwrap()).unwrap();
            }
        }
    }
}

#[derive(Default)]
struct FirstStep(Option<(u32, u32)>);

impl Observer for FirstStep {
    fn step(&mut self, epoch: u32, step: u32) {
        self.0.get_or_insert((epoch, step));
    }
}

#[test]
fn checkpoints_are_written_between_evaluations() {
    let trial = trial(MF, SOFTMAX_AT_K, UNIFORM, ADAM);
    let resources = Resources { checkpoint_every: Some(Duration::ZERO), ..RESOURCES };
    for at in [(1, 1), (1, 2), (3, 1), (3, 7), (4, 12), (5, 1)] {
        let (whole, killed) = (folder(&format!("every {at:?}")), folder(&format!("every {at:?} killed")));
        train(&trial, &tastes(), &whole, &resources, &mut Kill { at, from: &whole, to: &killed }).unwrap();
        let mut first = FirstStep::default();
        train(&trial, &tastes(), &killed, &RESOURCES, &mut first).unwrap();
        assert_eq!(first.0, Some(at), "the state of the step before is there");
        assert!(result(&whole) == result(&killed), "{at:?}");
        assert!(!killed.join("resume/state.safetensors").exists().unwrap());
    }
}

#[test]
fn a_time_limit_is_not_remembered() {
    let trial = trial(MF, SOFTMAX_AT_K, UNIFORM, ADAM);
    let (whole, limited) = (folder("limit-none"), folder("limit-short"));
    train(&trial, &tastes(), &whole, &RESOURCES, &mut ()).unwrap();
    train_until(&trial, &limited, 3);
    let resources = Resources { time_limit: Some(Duration::from_nanos(1)), ..RESOURCES };
    for _ in 0..2 {
        let error = train(&trial, &tastes(), &limited, &resources, &mut Never).unwrap_err();
        assert!(matches!(error, Error::TimeLimit { epoch: 4, .. }), "{error}");
        assert_eq!(ended(&limited), None);
    }
    train(&trial, &tastes(), &limited, &RESOURCES, &mut ()).unwrap();
    assert!(result(&whole) == result(&limited));
}

/// Sees no step.
struct Never;

impl Observer for Never {
    fn step(&mut self, epoch: u32, step: u32) {
        panic!("epoch {epoch}, step {step}");
    }
}

fn train_until(trial: &Trial, folder: &dataset::Location, until: u32) -> Fit {
    train(trial, &tastes(), folder, &Resources { until: Some(until), ..RESOURCES }, &mut ()).unwrap()
}

#[test]
fn a_training_that_is_asked_to_stop_goes_on_when_it_is_asked_to() {
    let trial = trial(MF, SOFTMAX_AT_K, UNIFORM, ADAM);
    let (whole, rungs) = (folder("until-whole"), folder("until-rungs"));
    train(&trial, &tastes(), &whole, &RESOURCES, &mut ()).unwrap();
    assert_eq!(stored(&rungs, &trial.id(), Some(2)).unwrap(), None);
    for until in [2, 5, 8] {
        let fit = train_until(&trial, &rungs, until);
        assert_eq!(fit.epochs, until);
        assert_eq!(ended(&rungs), None);
        assert!(rungs.join(&format!("rungs/{until}.json")).exists().unwrap() && curve(&rungs, &trial.id()).unwrap().is_some());
        // What is said later, of the finished training and of this one, is the same but for the clock.
        let without_clock = |outcome: Option<Outcome>| outcome.and_then(|outcome| Some(Fit { seconds: 0.0, ..outcome.fit()?.clone() }));
        assert_eq!(without_clock(stored(&whole, &trial.id(), Some(until)).unwrap()), Some(Fit { seconds: 0.0, ..fit.clone() }));
        let resources = Resources { until: Some(until), ..RESOURCES };
        assert_eq!(train(&trial, &tastes(), &rungs, &resources, &mut Never).unwrap(), fit);
    }
    // One that was passed without a stop is told from the state.
    assert_eq!(train(&trial, &tastes(), &rungs, &Resources { until: Some(3), ..RESOURCES }, &mut Never).unwrap().epochs, 3);
    assert_eq!(train_until(&trial, &rungs, 50).epochs, 12);
    assert!(result(&whole) == result(&rungs));
    assert_eq!(stored(&rungs, &trial.id(), Some(5)).unwrap().unwrap().fit().unwrap().epochs, 5);
}

#[test]
fn what_fails_later_had_come_so_far() {
    let (trial, folder) = (trial(MF, r#"{"bpr": {}}"#, UNIFORM, ADAM), folder("until-failed"));
    let fit = train_until(&trial, &folder, 4);
    let failed = json!({"trial": trial.id(), "status": "failed", "detail": "NaN", "checkpoint": null, "curve": null, "files": {}});
    folder.join("done.json").write(marker::text(&failed)).unwrap();
    assert_eq!(stored(&folder, &trial.id(), Some(4)).unwrap(), Some(Outcome::Done(fit)));
    assert_eq!(stored(&folder, &trial.id(), Some(8)).unwrap(), Some(Outcome::Failed("NaN".to_owned())));
}

#[test]
fn patience_ends_a_training_before_it_is_asked_to_stop() {
    let mut trial = trial(MF, SOFTMAX_AT_K, UNIFORM, r#"{"adam": {"learning_rate": 0.5}}"#);
    let training = &mut trial.learning.as_mut().unwrap().training;
    (training.epochs, training.patience, training.evaluate_every) = (400, Some(3), 1);
    let folder = folder("until-patience");
    let fit = train_until(&trial, &folder, 399);
    assert_eq!((fit.epochs, stored(&folder, &trial.id(), None).unwrap()), (fit.best_epoch + 3, Some(Outcome::Done(fit))));
}

#[test]
fn an_interrupt_before_the_first_step_leaves_nothing_to_go_on_from() {
    let flag = AtomicBool::new(true);
    let resources = Resources { interrupt: Some(&flag), ..RESOURCES };
    let popularity: Trial = serde_json::from_str(POPULARITY).unwrap();
    for (name, trial) in [("learned", trial(MF, r#"{"bpr": {}}"#, UNIFORM, ADAM)), ("closed", popularity)] {
        let folder = folder(&format!("flag-{name}"));
        let error = train(&trial, &tastes(), &folder, &resources, &mut Never).unwrap_err();
        assert!(matches!(error, Error::Interrupted { .. }) && !error.repeats(), "{error}");
        assert!(!folder.join("resume/state.safetensors").exists().unwrap());
    }
}

#[derive(Default)]
struct Losses(Vec<f64>);

impl Observer for Losses {
    fn epoch(&mut self, report: &EpochReport) {
        self.0.push(report.loss);
    }
}

/// The correction cancels for uniform draws, and for no others; also in batches that touch few rows.
#[test]
fn corrected_softmax_of_uniform_draws_trains_as_cce() {
    let losses = |batch_size: u32, loss: &str, sampler: &str| {
        let (mut trial, mut losses) = (trial(MF, loss, sampler, ADAM), Losses::default());
        trial.learning.as_mut().unwrap().training.batch_size = batch_size;
        let folder = folder(&format!("corrected {batch_size} {loss} {sampler}"));
        train(&trial, &tastes(), &folder, &RESOURCES, &mut losses).unwrap();
        losses.0
    };
    let largest_difference = |batch_size: u32, sampler: &str| {
        let [corrected, plain] = [SAMPLED_SOFTMAX, r#"{"cce": {}}"#].map(|loss| losses(batch_size, loss, sampler));
        corrected.iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    for (batch_size, uniform, popularity) in
        [(64, UNIFORM, r#"{"popularity": {"negatives": 20}}"#), (6, ONE_NEGATIVE, r#"{"popularity": {"negatives": 1}}"#)]
    {
        assert!(largest_difference(batch_size, uniform) < 1e-3, "{batch_size}");
        assert!(largest_difference(batch_size, popularity) > 1e-2, "{batch_size}");
    }
}

#[derive(Default)]
struct Epochs(Vec<u32>);

impl Observer for Epochs {
    fn epoch(&mut self, report: &EpochReport) {
        self.0.push(report.epoch);
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let softmax_at_k = |backbone, sampler| trial(backbone, SOFTMAX_AT_K, sampler, ADAM);
    let bpr = small_batches(trial(MF, r#"{"bpr": {}}"#, ONE_NEGATIVE, LEFT_BEHIND));
    let trials = [
        ("mf", softmax_at_k(MF, UNIFORM)),
        ("light-gcn", softmax_at_k(LIGHT_GCN, UNIFORM)),
        ("all", softmax_at_k(MF, r#"{"all": {}}"#)),
        ("small", bpr),
        ("sml", trial(LIGHT_GCN, SML, UNIFORM, ADAM)),
        ("direct-au", trial(MF, DIRECT_AU, r#"{"in-batch": {"negatives": 1}}"#, ADAM)),
        ("draws", trial(MF, SAMPLED_SOFTMAX, r#"{"popularity": {"negatives": 20}}"#, ADAM)),
    ];
    for (kind, trial) in trials {
        let results = [1, 3].map(|threads| {
            let folder = folder(&format!("{kind}-threads-{threads}"));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap());
            result(&folder)
        });
        assert!(results[0] == results[1], "{kind}");
    }
}

/// DirectAU trains directions, and its release ranks by dot products. The same training ranked in two ways has the same vectors.
#[test]
fn items_are_ranked_by_the_similarity_that_the_loss_names() {
    let rankings = [("", Similarity::Dot), (r#", "ranking": "cosine""#, Similarity::Cosine)];
    let [by_dot, by_cosine] = rankings.map(|(key, expected)| {
        let loss = format!(r#"{{"direct-au": {{"uniformity": 0.5{key}}}}}"#);
        let mut trial = trial(MF, &loss, r#"{"in-batch": {"negatives": 1}}"#, ADAM);
        trial.learning.as_mut().unwrap().training.evaluate_every = trial.epochs().unwrap();
        let folder = folder(&format!("ranked by {expected:?}"));
        let fit = train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap();
        let Scorer::Factors(Factors { users, items, similarity }) = ended(&folder).unwrap().scorer(&folder).unwrap() else {
            panic!("no vectors")
        };
        assert_eq!(similarity, expected);
        (users, items, fit.validation.unwrap())
    });
    assert!(by_dot.0 == by_cosine.0 && by_dot.1 == by_cosine.1);
    assert!((by_dot.2 - by_cosine.2).abs() > 1e-9, "they rank alike: {} and {}", by_dot.2, by_cosine.2);
}

#[test]
fn a_finished_trial_is_not_trained_again() {
    let (trial, folder, mut epochs) = (trial(MF, r#"{"bpr": {}}"#, UNIFORM, ADAM), folder("twice"), Epochs::default());
    let first = train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap();
    assert_eq!(train(&trial, &tastes(), &folder, &RESOURCES, &mut epochs).unwrap(), first);
    assert!(epochs.0.is_empty());
}

#[test]
fn patience_stops_and_the_best_model_stays() {
    let mut trial = trial(MF, SOFTMAX_AT_K, UNIFORM, r#"{"adam": {"learning_rate": 0.5}}"#);
    let training = &mut trial.learning.as_mut().unwrap().training;
    (training.epochs, training.patience, training.evaluate_every) = (400, Some(3), 1);
    let folder = folder("patience");
    let fit = train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap();
    assert_eq!(fit.epochs, fit.best_epoch + 3);
    let scorer = ended(&folder).unwrap().scorer(&folder).unwrap();
    let data = tastes();
    let rankings =
        evaluator::rank::rank(&scorer, &data.train, &[&data.train], &data.validation, evaluator::settings::Ties::Pessimistic, 1 << 24)
            .unwrap();
    let given = evaluator::metric::Given::new(evaluator::settings::RecallDenominator::Standard, &data.train, data.items());
    let values = evaluator::metric::values(&rankings, trial.select_by, &given);
    assert_eq!(Some(values.iter().sum::<f64>() / values.len() as f64), fit.validation);
}

#[test]
fn numbers_that_are_none_fail_the_trial_for_good() {
    let trial = trial(MF, r#"{"bpr": {}}"#, UNIFORM, r#"{"adam": {"learning_rate": 1e38}}"#);
    let folder = folder("not-finite");
    let error = train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap_err();
    assert!(matches!(error, Error::Model(models::Error::NotFinite { epoch: 1, .. })), "{error}");
    assert!(error.to_string().contains("the parameter `users` (row "), "{error}");
    let again = train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap_err();
    assert_eq!((again.to_string(), matches!(again, Error::FailedBefore(_))), (error.to_string(), true));
}

#[test]
fn without_a_validation_part_the_last_model_is_kept() {
    let data = Dataset { validation: Interactions::empty(90), ..tastes() };
    let fit = train(&trial(MF, r#"{"bpr": {}}"#, UNIFORM, ADAM), &data, &folder("no-validation"), &RESOURCES, &mut ()).unwrap();
    assert_eq!((fit.epochs, fit.best_epoch, fit.validation), (12, 12, None));
}

#[test]
fn a_network_of_other_negatives_than_are_drawn_is_refused() {
    let text = serde_json::to_string(&trial(MF, r#"{"guided-rec": {"negatives": 20}}"#, UNIFORM, ADAM)).unwrap();
    let trial: Trial = serde_json::from_str(&text.replace(r#""guided-rec":{"negatives":20"#, r#""guided-rec":{"negatives":9"#)).unwrap();
    let error = trial.check().unwrap_err();
    assert!(error.starts_with("the loss `guided-rec` is made for 9 negatives and the sampler `uniform` gives 20:"), "{error}");
}

#[test]
fn a_limit_of_this_machine_is_not_remembered() {
    let ease: Trial = serde_json::from_str(
        r#"{"version": 1, "dataset": "tastes", "backbone": {"ease": {"regularization": 10.0}}, "learning": null, "select_by": "ndcg@10"}"#,
    )
    .unwrap();
    let folder = folder("limit");
    let error = train(&ease, &tastes(), &folder, &Resources::new(1000), &mut ()).unwrap_err();
    // 60 items: 60 * 60 * 16 bytes.
    assert!(error.to_string().starts_with("ease on 60 items needs 0.1 MiB and the limit is 0.0 MiB"), "{error}");
    assert!(train(&ease, &tastes(), &folder, &RESOURCES, &mut ()).unwrap().validation > Some(0.0));
}

#[test]
fn an_epsilon_of_zero_is_refused() {
    let text = serde_json::to_string(&trial(MF, r#"{"bpr": {}}"#, UNIFORM, ADAM)).unwrap().replace("1e-8", "0.0");
    let trial: Trial = serde_json::from_str(&text).unwrap();
    assert!(trial.check().unwrap_err().starts_with("epsilon is 0, expected a number above 0"));
}

#[test]
fn the_loss_warp_needs_the_sampler_warp_by_the_same_margin() {
    let warp = trial(MF, r#"{"warp": {"margin": 0.5}}"#, r#"{"warp": {"candidates": 20, "margin": 0.5}}"#, ADAM);
    let refused = |sampler: &str| {
        let mut trial = warp.clone();
        trial.learning.as_mut().unwrap().sampler = serde_json::from_str(sampler).unwrap();
        trial.check().unwrap_err()
    };
    assert!(refused(UNIFORM).ends_with("it needs the sampler `warp`"));
    assert!(refused(r#"{"warp": {"candidates": 20}}"#).starts_with("margin is 0.5 of the loss and 1 of the sampler"));
}
