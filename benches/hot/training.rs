//! One epoch of training on 2,048 users, with its start, its end and the storing of the model in memory. Compared with the peers'
//! `torch_mf.py` and `torch_lightgcn.py`; whole epochs of real data are in docs/performance.md.
//!
//! Floors: for a score with d = 64, three products of 2 * 64 flops (forward, and for either gradient), which many negatives are bound by;
//! for few negatives the bytes of the touched rows, 3 * 256 for each pair with two moments, read and written; for propagation 2 * 64 flops
//! for each edge, direction and layer, forward and back, and a pass of Adam over both tables in every step.

use benches::random_dataset;
use dataset::{Dataset, Location};
use divan::{Bencher, counter::ItemsCount};
use serde_json::{Value, json};
use trainer::{Resources, Trial, train, trial::TRAINER_VERSION};

const USERS: usize = 2_048;

/// A trial of one epoch.
pub(crate) fn trial(backbone: &Value, loss: &Value, sampler: &Value) -> Trial {
    let trial = json!({
        "version": TRAINER_VERSION,
        "dataset": "random",
        "backbone": backbone,
        "select_by": "ndcg@20",
        "learning": {
            "loss": loss,
            "sampler": sampler,
            "optimizer": {"adam": {"learning_rate": 0.01}},
            "training": {"epochs": 1, "batch_size": 1024, "evaluate_every": 1},
            "seed": 1,
        },
    });
    serde_json::from_value(trial).expect("a trial")
}

/// Times it; the figure per item is that of one of so many scores of each pair.
pub(crate) fn epoch(bencher: Bencher, dataset: &Dataset, trial: &Trial, scores: usize) {
    let folder = Location::parse("memory:///hot").expect("a location");
    bencher
        .counter(ItemsCount::new(dataset.train.len() * scores))
        .with_inputs(|| folder.join("done.json").delete().expect("memory forgets"))
        .bench_local_values(|()| train(trial, dataset, &folder, &Resources::new(1 << 28), &mut ()).expect("a training"));
}

fn uniform(negatives: u32) -> Value {
    json!({"uniform": {"negatives": negatives}})
}

/// Scores per second of sampled softmax.
#[divan::bench(args = [8_000, 40_000], sample_count = 10)]
fn mf_softmax_1000(bencher: Bencher, items: usize) {
    let trial = trial(&json!({"mf": {"dim": 64}}), &json!({"softmax": {"temperature": 0.2}}), &uniform(1_000));
    epoch(bencher, &random_dataset(USERS, items, 10), &trial, 1_001);
}

/// Pairs per second of BPR: drawing, three rows, and Adam on few rows of large tables.
#[divan::bench(args = [8_000, 40_000], sample_count = 10)]
fn mf_bpr(bencher: Bencher, items: usize) {
    let trial = trial(&json!({"mf": {"dim": 64}}), &json!({"bpr": {}}), &uniform(1));
    epoch(bencher, &random_dataset(USERS, items, 30), &trial, 1);
}

/// Pairs per second of BPR through three propagations and dense Adam.
#[divan::bench(args = [8_000], sample_count = 10)]
fn light_gcn_bpr(bencher: Bencher, items: usize) {
    let trial = trial(&json!({"light-gcn": {"dim": 64, "layers": 3}}), &json!({"bpr": {}}), &uniform(1));
    epoch(bencher, &random_dataset(USERS, items, 30), &trial, 1);
}
