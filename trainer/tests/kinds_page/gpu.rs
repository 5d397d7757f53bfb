//! How a GPU trains each kind, by what it says of a trial in which all else has kernels.

use serde_json::{Value, json};
use trainer::{Backbone, Loss, Sampler, Trial, fits_gpu, has_kernels};

/// A trial whose parts have kernels.
fn trial() -> Trial {
    let trial = json!({
        "version": 1, "dataset": "any", "backbone": {"mf": {"dim": 16}}, "select_by": "ndcg@10",
        "learning": {
            "loss": {"bpr": {}}, "sampler": {"uniform": {"negatives": 20}}, "optimizer": {"adam": {"learning_rate": 0.05}}, "seed": 1,
            "training": {"epochs": 1, "batch_size": 64, "evaluate_every": 1}
        }
    });
    serde_json::from_value(trial).unwrap()
}

fn with(key: &str, value: Value) -> Trial {
    let mut whole = serde_json::to_value(trial()).unwrap();
    whole["learning"][key] = value;
    serde_json::from_value(whole).unwrap()
}

fn of(trial: &Trial) -> String {
    if has_kernels(trial).is_ok() { "kernels".to_owned() } else { "candle".to_owned() }
}

pub(super) fn of_loss(loss: &Loss) -> String {
    let way = of(&with("loss", serde_json::to_value(loss).unwrap()));
    if way == "kernels" && loss.kernel().is_none() { "kernels, its formula by candle".to_owned() } else { way }
}

pub(super) fn of_sampler(sampler: &Sampler) -> String {
    of(&with("sampler", serde_json::to_value(sampler).unwrap()))
}

pub(super) fn of_model(model: &Backbone) -> String {
    let learning = trial().learning.filter(|_| !model.fits_without_sampling());
    let trial = Trial { backbone: model.clone(), learning, ..trial() };
    match fits_gpu(&trial) {
        Ok(()) => of(&trial),
        Err(reason) => {
            let (_, reason) = reason.split_once("` ").unwrap();
            format!("not: it {reason}")
        }
    }
}
