//! Whole trainings on a small dataset with planted tastes.
#![allow(clippy::unwrap_used)]

mod support;

use dataset::{Dataset, Interactions};
use evaluator::Scorer;
use support::{RESOURCES, Snapshot, folder, result, tastes, trial};
use trainer::{EpochReport, Error, Loss, Observer, Resources, Trial, train};

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
    let ease = Trial { backbone: serde_json::from_str(r#"{"ease": {"regularization": 10.0}}"#).unwrap(), ..popularity };
    assert!(run("ease", &ease) > 2.0 * floor);
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

/// All items are scored without ids, by the formula as by the twin.
#[test]
fn rules_over_all_items_serve_losses_without_a_twin() {
    let floor = 1.5 * run("rules floor", &serde_json::from_str(POPULARITY).unwrap());
    for (loss, rule) in
        [("bce", r#""dns-mn": {"negatives": 5,"#), ("bce", r#""pris": {"#), ("cce", r#""softmax": {"negatives": 5, "temperature": 1,"#)]
    {
        let sampler = format!(r#"{{{rule} "pool": {{"all": {{}}}}}}}}"#);
        let value = run(&format!("rules {loss} {sampler}"), &trial(MF, &format!(r#"{{"{loss}": {{}}}}"#), &sampler, ADAM));
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
    let scorer = Scorer::read(&folder.join("checkpoint")).unwrap();
    let data = tastes();
    let rankings =
        evaluator::rank::rank(&scorer, &data.train, &[&data.train], &data.validation, evaluator::settings::Ties::Pessimistic, 1 << 24)
            .unwrap();
    let values = evaluator::metric::values(&rankings, trial.select_by, evaluator::settings::Recall::Standard);
    assert_eq!(Some(values.iter().sum::<f64>() / values.len() as f64), fit.validation);
}

#[test]
fn numbers_that_are_none_fail_the_trial_for_good() {
    let trial = trial(MF, r#"{"bpr": {}}"#, UNIFORM, r#"{"adam": {"learning_rate": 1e38}}"#);
    let folder = folder("not-finite");
    let error = train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap_err();
    assert!(matches!(error, Error::NotFinite { epoch: 1, .. }), "{error}");
    assert!(error.to_string().contains("user table"), "{error}");
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
    let error = train(&ease, &tastes(), &folder, &Resources { memory: 1000, cache: None }, &mut ()).unwrap_err();
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
