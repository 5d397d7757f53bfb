//! Whole trainings: the tables that a device leaves, beside those of the CPU.

use super::{Comparison, Sizes, interactions};
use crate::{Device, Error, Ranks, Resources, Result, Trial, fit, trial::TRAINER_VERSION};
use dataset::{Dataset, Interactions, Location};
use evaluator::Scorer;

/// Backbone, loss, sampler and optimizer of each. Rates are small: what rounding has parted, steps part further.
const TRIALS: [[&str; 4]; 7] = [
    [r#""mf": {"dim": 12}"#, r#""bpr": {}"#, r#""uniform": {"negatives": 1}"#, "adam"],
    [r#""mf": {"dim": 16}"#, AT_K, r#""uniform": {"negatives": 20}"#, "adam"],
    [r#""mf": {"dim": 5}"#, r#""mse": {}"#, r#""popularity": {"negatives": 7}"#, "lazy-adam"],
    [
        r#""mf": {"dim": 8}"#,
        r#""bpr": {"similarity": "negative-squared-distance"}"#,
        r#""popularity": {"negatives": 3, "exponent": 0.5}"#,
        "adam",
    ],
    [r#""light-gcn": {"dim": 8, "layers": 2}"#, r#""softmax": {"temperature": 0.2}"#, r#""uniform": {"negatives": 9}"#, "adam"],
    [r#""light-gcn": {"dim": 20, "layers": 3}"#, r#""bpr": {}"#, r#""uniform": {"negatives": 2}"#, "adam"],
    [r#""mf": {"dim": 16}"#, r#""bce": {}"#, r#""uniform": {"negatives": 4}"#, "adam"],
];
const AT_K: &str = r#""softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.5, "quantile_every": 1}"#;

/// Trains each trial on the device, with so many ranks, and on the CPU.
pub(super) fn check(device: Device, ranks: u32, sizes: Sizes) -> Result<Vec<Comparison>> {
    let dataset = dataset(sizes);
    let each = TRIALS.iter().enumerate().map(|(at, [backbone, loss, sampler, optimizer])| {
        let trial = trial(backbone, loss, sampler, optimizer);
        let what = format!("a training by {ranks} ranks: {backbone}, {loss}, {sampler}, {optimizer}").replace('"', "");
        let train =
            |name: &str, device: Device, ranks: Ranks| tables(&trial, &dataset, &format!("{name}-{at}-{}", ranks.local), device, ranks);
        let (found, expected) = (train("device", device, Ranks::threads(ranks))?, train("cpu", Device::Cpu, Ranks::default())?);
        Ok(Comparison::new(what, &found, &expected, 2e-4))
    });
    each.collect()
}

fn dataset(sizes: Sizes) -> Dataset {
    Dataset {
        name: "check".into(),
        fingerprint: "check".into(),
        user_ids: (0..sizes.users).map(|user| user.to_string()).collect(),
        item_ids: (0..sizes.items).map(|item| item.to_string()).collect(),
        train: interactions(sizes),
        validation: Interactions::empty(sizes.users),
        test: Interactions::empty(sizes.users),
        steps: vec![],
        settings: serde_json::Value::Null,
    }
}

fn trial(backbone: &str, loss: &str, sampler: &str, optimizer: &str) -> Trial {
    let text = format!(
        r#"{{"version": {TRAINER_VERSION}, "dataset": "check", "select_by": "ndcg@20", "backbone": {{{backbone}}}, "learning": {{"loss": {{{loss}}},
        "sampler": {{{sampler}}}, "optimizer": {{"{optimizer}": {{"learning_rate": 0.01, "weight_decay": 0.001}}}}, "seed": 4,
        "training": {{"epochs": 2, "batch_size": 64, "evaluate_every": 2}}}}}}"#
    );
    serde_json::from_str(&text).expect("a trial")
}

/// Users' and items' vectors after a training in memory.
fn tables(trial: &Trial, dataset: &Dataset, name: &str, device: Device, ranks: Ranks) -> Result<Vec<f32>> {
    let folder = Location::parse(&format!("memory:///check-{}-{name}", std::process::id())).map_err(Error::Dataset)?;
    let resources = Resources { device, ranks, ..Resources::new(1 << 30) };
    fit::train(trial, dataset, &folder, &resources, &mut ())?;
    match Scorer::read(&folder.join("checkpoint"))? {
        Scorer::Factors { users, items, .. } => Ok([users.values, items.values].concat()),
        Scorer::ItemWeights { .. } => Ok(Vec::new()),
    }
}
