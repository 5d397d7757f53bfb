//! Steps in candle's operations alone against the faster ways: the loss and the gradients of the first step, and the model after an epoch.
//!
//! The gradients are read from the first moments of the state after a step, which are a tenth of them: of tables, weights, numbers of the loss and of its adversary.

use super::{BACKBONES, LIGHT_GCN, LOSSES, MF, OF_MODELS, OF_NETWORKS, OF_SEQUENCES, SAMPLERS};
use crate::support::{RESOURCES, Stops, ended, folder, tastes};
use dataset::Location;
use safetensors::SafeTensors;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};
use trainer::{Backbone, Device, Error, Loss, Operations, Ranks, Resources, Result, Sampler, Trial, train};

/// Adam divides a gradient by its size, which makes much of the rounding of one that is nearly zero: not so with a large epsilon.
const ADAM: &str = r#"{"adam": {"learning_rate": 0.01, "weight_decay": 1e-3, "epsilon": 1e-3}}"#;
/// Rows without a gradient stay.
const LAZY: &str = r#"{"lazy-adam": {"learning_rate": 0.01, "epsilon": 1e-3}}"#;
const DRAWN_TO_ZERO: &str = r#"{"adam": {"learning_rate": 0.01, "batch_l2": 0.1, "epsilon": 1e-3}}"#;
const UNIFORM: &str = r#"{"uniform": {"negatives": 20}}"#;

/// Largest differences: of the loss and the gradients of a step, in the size of their largest numbers, and of the model after an epoch.
const OF_STEP: f64 = 1e-5;
const OF_EPOCH: f64 = 2e-4;
/// How many times as large they may be on a GPU, which adds up in another order (an H200: 5 and 2 times).
#[cfg(feature = "cuda")]
const ON_A_GPU: f64 = 10.0;
/// Of a loss that brings a matrix to sums of one again and again, which rounds as often.
const OF_SINKHORN: f64 = 1e-3;
/// Gradients of this size are those of vectors of zeros under a cosine, which have no direction: what they lead to is rounding's.
const WITHOUT_DIRECTION: f64 = 1e3;

/// Where, by what, and by how many ranks.
#[derive(Clone, Copy, Debug)]
struct Way {
    device: Device,
    operations: Operations,
    ranks: u32,
    /// How many times as far as on the CPU it may be from what it is held against.
    tolerance: f64,
}

/// What all ways are held against.
const FASTEST_ON_CPU: Way = Way { device: Device::Cpu, operations: Operations::Fastest, ranks: 1, tolerance: 1.0 };

const fn candle_on_cpu(ranks: u32) -> Way {
    Way { operations: Operations::Candle, ranks, ..FASTEST_ON_CPU }
}

/// A trial of one epoch, where it can be had; the loss is made for as many negatives as the sampler gives.
fn trial(backbone: &str, loss: &str, sampler: &str, optimizer: &str) -> Option<Trial> {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (mut loss, sampler) = (read(loss), read(sampler));
    let given = serde_json::from_value::<Sampler>(sampler.clone()).unwrap().negatives(64);
    if let (Some(_), Some(given)) = (serde_json::from_value::<Loss>(loss.clone()).unwrap().negatives(), given) {
        loss.as_object_mut().unwrap().values_mut().for_each(|settings| settings["negatives"] = given.into());
    }
    let trial = json!({
        "version": 1, "dataset": "tastes", "backbone": read(backbone), "select_by": "ndcg@10",
        "learning": {
            "loss": loss, "sampler": sampler, "optimizer": read(optimizer), "seed": 3,
            "training": {"epochs": 1, "batch_size": 64, "evaluate_every": 1}
        }
    });
    let trial: Trial = serde_json::from_value(trial).unwrap();
    trial.check().is_ok().then_some(trial)
}

fn object(inside: &str) -> String {
    format!("{{{inside}}}")
}

/// Every loss and every sampler with the other that its example has.
fn examples(backbone: &str) -> Vec<Trial> {
    let losses = LOSSES.iter().map(|(loss, sampler)| (object(loss), (*sampler).to_owned()));
    let samplers = SAMPLERS.iter().map(|(sampler, loss)| ((*loss).to_owned(), object(sampler)));
    losses.chain(samplers).filter_map(|(loss, sampler)| trial(backbone, &loss, &sampler, ADAM)).collect()
}

/// Every model that learns by a loss.
fn models() -> impl Iterator<Item = String> {
    let learns = |backbone: &String| !serde_json::from_str::<Backbone>(backbone).unwrap().fits_without_sampling();
    BACKBONES.iter().map(|(backbone, _)| object(backbone)).filter(learns)
}

/// The losses and samplers that a model's examples have.
fn pairs_of(backbone: &str) -> &'static [(&'static str, &'static str)] {
    let model: Backbone = serde_json::from_str(backbone).unwrap();
    match (model.has_network(), model.reads_order()) {
        (true, _) => OF_NETWORKS,
        (_, true) => OF_SEQUENCES,
        _ => OF_MODELS,
    }
}

/// A folder of its own for each training.
fn fresh() -> Location {
    static TRAININGS: AtomicUsize = AtomicUsize::new(0);
    folder(&format!("by-candle-{}", TRAININGS.fetch_add(1, Ordering::Relaxed)))
}

/// What a training leaves: the loss and the state after its first step, and the model after its epoch.
struct Left {
    loss: f64,
    state: BTreeMap<String, Vec<f32>>,
    model: Vec<f32>,
}

fn left(trial: &Trial, Way { device, operations, ranks, .. }: Way) -> Result<Left> {
    let (folder, flag) = (fresh(), AtomicBool::new(false));
    let whole = Resources { device, operations, ranks: Ranks::threads(ranks), ..RESOURCES };
    let resources = Resources { interrupt: Some(&flag), ..whole.clone() };
    let mut stops = Stops { at: &[(1, 1)], flag: &flag };
    match train(trial, &tastes(), &folder, &resources, &mut stops) {
        Err(Error::Interrupted { .. }) => {}
        Err(error) => return Err(error),
        Ok(_) => panic!("{trial:?} has one step"),
    }
    let bytes = folder.join("resume/state.safetensors").read().unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let position: Value = serde_json::from_str(&header.metadata().as_ref().unwrap()["position"]).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let state = tensors.iter().filter(|(name, _)| !name.ends_with(".left")).map(|(name, view)| {
        let values = view.data().chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        (name.to_owned(), values)
    });
    let (state, so_far) = (state.collect(), &position["so_far"]);
    let loss = so_far["total"].as_f64().unwrap() + so_far["part"].as_f64().unwrap();
    train(trial, &tastes(), &folder, &whole, &mut ())?;
    Ok(Left { loss, state, model: ended(&folder).unwrap().scorer(&folder).unwrap().values() })
}

/// The largest of numbers.
fn largest(numbers: &[f32]) -> f64 {
    numbers.iter().fold(0.0, |largest, &value| largest.max(f64::from(value).abs()))
}

/// What is wrong with numbers that ought to be the others, by so much of a size.
fn apart(what: &str, found: &[f32], expected: &[f32], (allowed, size): (f64, f64)) -> Option<String> {
    let apart = found.iter().zip(expected).map(|(found, expected)| (f64::from(*found) - f64::from(*expected)).abs()).fold(0.0, f64::max);
    // Not so of what is no number.
    let close = found.len() == expected.len() && apart <= allowed * size && found.iter().all(|value| value.is_finite());
    (!close).then(|| format!("{what}: {apart:e} apart, of {size}"))
}

/// What is wrong with a training in some way.
fn complaints(trial: &Trial, way: Way) -> Vec<String> {
    let learning = trial.learning.as_ref().unwrap();
    let words = |complaint| format!("{:?}, {:?}, {:?}, {way:?}: {complaint}", trial.backbone, learning.loss, learning.sampler);
    let found = match left(trial, way) {
        Ok(found) => found,
        Err(error) => return vec![words(format!("{error:?}"))],
    };
    let expected = left(trial, FASTEST_ON_CPU).unwrap();
    let mut complaints = Vec::new();
    complaints.extend(apart(
        "the loss",
        &[found.loss as f32],
        &[expected.loss as f32],
        (way.tolerance * OF_STEP, expected.loss.abs().max(1.0)),
    ));
    if found.state.keys().ne(expected.state.keys()) {
        complaints.push(format!("a state of {:?} where {:?} is expected", found.state.keys(), expected.state.keys()));
    }
    // Of some weights, as a bias that moves all scores alike, the gradient is zero but for rounding: it is measured by those of the others.
    let gradients = expected.state.iter().filter(|(name, _)| name.ends_with(".first"));
    let of_all = gradients.map(|(_, values)| largest(values)).fold(0.0, f64::max);
    // Second moments are squares of what the first ones hold, and parameters have moved by these.
    let is_moved = |name: &str| found.state.contains_key(&format!("{name}.first"));
    for (name, found) in found.state.iter().filter(|(name, _)| !name.ends_with(".second") && !is_moved(name)) {
        let Some(expected) = expected.state.get(name) else { continue };
        let size = largest(expected).max(if name.ends_with(".first") { of_all / 10.0 } else { 1e-3 });
        let allowed = if matches!(learning.loss, Loss::NeuralNdcg(_)) { OF_SINKHORN } else { OF_STEP };
        complaints.extend(apart(&format!("{name} after a step"), found, expected, (way.tolerance * allowed, size)));
    }
    if of_all < WITHOUT_DIRECTION {
        complaints.extend(apart(
            "the model after an epoch",
            &found.model,
            &expected.model,
            (way.tolerance * OF_EPOCH, largest(&expected.model)),
        ));
    }
    complaints.into_iter().map(words).collect()
}

#[track_caller]
fn assert_agree(trials: impl IntoIterator<Item = Trial>, way: Way) -> usize {
    let fits = |trial: &Trial| way.ranks == 1 || trial.learning.as_ref().unwrap().splits().is_ok();
    let trials: Vec<Trial> = trials.into_iter().filter(fits).collect();
    let complaints: Vec<String> = trials.iter().flat_map(|trial| complaints(trial, way)).collect();
    assert!(complaints.is_empty(), "{} of {} trials:\n{}", complaints.len(), trials.len(), complaints.join("\n"));
    trials.len()
}

#[test]
fn every_loss_and_every_sampler_trains_by_candle_as_it_does_fast() {
    assert_eq!(assert_agree(examples(MF), candle_on_cpu(1)), LOSSES.len() + SAMPLERS.len());
}

/// All losses but those of lists, and all samplers but those that mix layers, which a trial's check refuses.
#[test]
fn every_loss_and_every_sampler_trains_a_model_of_sequences_by_candle_as_it_does_fast() {
    let losses = LOSSES.iter().filter(|(loss, _)| serde_json::from_str::<Loss>(&object(loss)).unwrap().list().is_none());
    let samplers = SAMPLERS.iter().filter(|(sampler, _)| !serde_json::from_str::<Sampler>(&object(sampler)).unwrap().mixes());
    let gru4rec = r#"{"gru4rec": {"dim": 8, "hidden": 8, "max_length": 4}}"#;
    assert_eq!(assert_agree(examples(gru4rec), candle_on_cpu(1)), losses.count() + samplers.count());
}

/// Every model with one of the pairs that its examples have.
fn models_with_pairs() -> impl Iterator<Item = Trial> {
    models().enumerate().filter_map(|(at, backbone)| {
        let pairs = pairs_of(&backbone);
        let (loss, sampler) = pairs[at % pairs.len()];
        trial(&backbone, loss, sampler, ADAM)
    })
}

#[test]
fn every_model_trains_by_candle_as_it_does_fast() {
    assert_eq!(assert_agree(models_with_pairs(), candle_on_cpu(1)), models().count());
}

/// On the first GPU, in a build for GPUs, where CUDA's libraries are:
/// `cargo test --workspace --locked --features sweep/nccl --test kinds -- --ignored on_a_gpu`.
#[cfg(feature = "cuda")]
mod on_a_gpu {
    use super::*;

    const FASTEST: Way = Way { device: Device::Cuda { ordinal: 0 }, tolerance: ON_A_GPU, ..FASTEST_ON_CPU };

    #[test]
    #[ignore = "needs a GPU"]
    fn every_loss_and_every_sampler_trains_as_on_the_cpu() {
        assert_eq!(assert_agree(examples(MF), FASTEST), LOSSES.len() + SAMPLERS.len());
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn every_model_trains_as_on_the_cpu() {
        assert_eq!(assert_agree(models_with_pairs(), FASTEST), models().count());
    }
}

/// Vectors, layers and pairs of rows, of all items, of windows, with what the loss keeps of its own.
const OF_RANKS: &[(&str, &str, &str)] = &[
    (MF, r#"{"bpr": {}}"#, r#"{"dns": {"candidates": 8}}"#),
    (MF, r#"{"softmax": {"temperature": 0.2}}"#, r#"{"all": {}}"#),
    (MF, r#"{"bpr": {}}"#, r#"{"uniform": {"negatives": 1}}"#),
    (MF, r#"{"sml": {}}"#, UNIFORM),
    (LIGHT_GCN, r#"{"smooth-ndcg": {"temperature": 1.0}}"#, UNIFORM),
    (LIGHT_GCN, r#"{"cce": {}}"#, r#"{"mix-gcf": {"candidates": 8, "negatives": 3}}"#),
    (LIGHT_GCN, r#"{"adv-info-nce": {"temperature": 0.2, "adversary_dim": 4, "schedule": {"beside": {"every": 1}}}}"#, UNIFORM),
    (r#"{"ngcf": {"dim": 8, "layers": 2}}"#, r#"{"llpauc": {"true_positive_rate": 0.7, "false_positive_rate": 0.1}}"#, UNIFORM),
    (r#"{"xsim-gcl": {"dim": 16, "layers": 2}}"#, r#"{"uib": {}}"#, UNIFORM),
    (r#"{"neu-mf": {"dim": 8, "hidden": [16, 8], "init": {"xavier-normal": {}}}}"#, r#"{"bpr": {}}"#, UNIFORM),
    (r#"{"sas-rec": {"dim": 16, "hidden": 32, "init": {"normal": {"std": 0.3}}}}"#, r#"{"bpr": {}}"#, UNIFORM),
    (r#"{"two-tower": {"dim": 16}}"#, r#"{"bpr": {}}"#, r#"{"uniform": {"negatives": 1}}"#),
];

#[test]
fn ranks_train_by_candle_as_one_does() {
    for (ranks, optimizer) in [(2, ADAM), (4, LAZY)] {
        let trials = OF_RANKS.iter().map(|(backbone, loss, sampler)| trial(backbone, loss, sampler, optimizer).unwrap());
        // Ranks cannot share out the batches that `sml` sees as a whole.
        assert_eq!(assert_agree(trials, candle_on_cpu(ranks)), OF_RANKS.len() - 1);
    }
}

/// Rows that have no gradient, and rows that are drawn to zero.
#[test]
fn every_optimizer_moves_the_same_rows() {
    let few = r#"{"uniform": {"negatives": 1}}"#;
    let (hinge, dns) = (r#"{"cml": {"margin": 0.5}}"#, r#"{"dns-mn": {"candidates": 20, "negatives": 5}}"#);
    let models = [r#"{"gcn": {"dim": 8, "layers": 2}}"#, r#"{"two-tower": {"dim": 16}}"#, OF_RANKS[9].0, OF_RANKS[10].0];
    let lazy = [MF, LIGHT_GCN]
        .into_iter()
        .chain(models)
        .flat_map(|model| [few, UNIFORM].map(|sampler| trial(model, r#"{"bpr": {}}"#, sampler, LAZY)));
    let lazy =
        lazy.chain([trial(MF, hinge, UNIFORM, LAZY), trial(MF, hinge, dns, LAZY), trial(MF, r#"{"bpr": {}}"#, r#"{"all": {}}"#, LAZY)]);
    let one = r#"{"dns": {"candidates": 8}}"#;
    let simplex = r#"{"simplex": {"dim": 8}}"#;
    let lazy = lazy.chain(
        [MF, OF_RANKS[9].0, simplex].into_iter().flat_map(|model| [one, dns].map(|sampler| trial(model, r#"{"bpr": {}}"#, sampler, LAZY))),
    );
    let mixed = r#"{"mix-gcf": {"candidates": 8, "negatives": 3}}"#;
    let drawn = [MF, LIGHT_GCN].into_iter().flat_map(|model| {
        [few, UNIFORM, r#"{"in-batch": {}}"#, mixed].map(|sampler| trial(model, r#"{"cce": {}}"#, sampler, DRAWN_TO_ZERO))
    });
    let list = trial(LIGHT_GCN, r#"{"smooth-ndcg": {"temperature": 1.0}}"#, UNIFORM, DRAWN_TO_ZERO);
    let others = [
        r#"{"adam-w": {"learning_rate": 0.01, "epsilon": 1e-3}}"#,
        r#"{"sgd": {"learning_rate": 1.0}}"#,
        r#"{"adagrad": {"learning_rate": 0.1, "epsilon": 1e-3}}"#,
    ];
    let others = others.into_iter().flat_map(|optimizer| {
        [(MF, few), (MF, dns), (LIGHT_GCN, UNIFORM)].map(|(model, sampler)| trial(model, r#"{"bpr": {}}"#, sampler, optimizer))
    });
    assert_agree(lazy.chain(drawn).chain([list]).chain(others).map(Option::unwrap), candle_on_cpu(1));
}

/// A training that goes from one way to the other at each stop ends where one does that never stops.
#[test]
fn a_stopped_training_goes_on_by_the_other_way() {
    for (backbone, loss, sampler) in OF_RANKS {
        let trial = trial(backbone, loss, sampler, ADAM).unwrap();
        let folder = fresh();
        for stops in 0.. {
            let flag = AtomicBool::new(false);
            let operations = if stops % 2 == 0 { Operations::Candle } else { Operations::Fastest };
            let resources = Resources { operations, interrupt: Some(&flag), ..RESOURCES };
            match train(&trial, &tastes(), &folder, &resources, &mut Stops { at: &[(1, 1), (1, 2), (1, 5)], flag: &flag }) {
                Err(Error::Interrupted { .. }) => {}
                ended => {
                    ended.unwrap();
                    assert!(stops >= 1, "{loss}");
                    break;
                }
            }
        }
        let found = ended(&folder).unwrap().scorer(&folder).unwrap().values();
        let expected = left(&trial, FASTEST_ON_CPU).unwrap().model;
        assert_eq!(apart(loss, &found, &expected, (OF_EPOCH, largest(&expected))), None);
    }
}

/// Every loss with every sampler that it can have, on matrix factorisation and on a graph; every model with every pair of its examples. It takes a while:
/// `cargo test --workspace --locked --test kinds -- --ignored by_candle`.
#[test]
#[ignore = "takes minutes: a sample of the pairs is in the other tests"]
fn every_pair_trains_by_candle_as_it_does_fast() {
    let of_pairs = [MF, LIGHT_GCN].into_iter().flat_map(|backbone| {
        LOSSES.iter().flat_map(move |(loss, _)| {
            SAMPLERS.iter().filter_map(move |(sampler, _)| trial(backbone, &object(loss), &object(sampler), ADAM))
        })
    });
    let of_models = models().collect::<Vec<_>>().into_iter().flat_map(|backbone| {
        let of = |(loss, sampler): &(&str, &str)| trial(&backbone, loss, sampler, ADAM);
        pairs_of(&backbone).iter().filter_map(of).collect::<Vec<_>>()
    });
    assert!(assert_agree(of_pairs.chain(of_models), candle_on_cpu(1)) > 1_000);
}
