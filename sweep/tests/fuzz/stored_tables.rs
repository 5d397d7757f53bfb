//! Damaged files of a finished sweep, and damaged Parquet sources: each read by what reads it.
//!
//! Checksums that cover a damaged file are made anew where that is possible, so that what they keep out is read all the same.

use crate::{
    harness::Reader,
    mutation::{Draws, bytes},
};
use arrow::array::{ArrayRef, Float64Array, StringArray};
use dataset::{Dataset, FileEntry, Location, marker, table};
use evaluator::{Scorer, tables as measured};
use pipeline::{Limits, Preparation};
use serde_json::{Map, Value};
use std::sync::Arc;
use sweep::{
    plan::Plan,
    runner::{Machine, Progress, Session, evaluate, prepare, report, train},
    tables,
};
use trainer::Ended;

const SWEEP: &str = "\
name: tiny
datasets:
  - name: small
    source: {format: synthetic, users: 40, items: 30, interactions: 400}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 7}
grid:
  - backbones: [{kind: mf, dim: 4}]
    losses: [{kind: bpr}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: [0.05, 0.01]}
  - backbones: [{kind: popularity}, {kind: ease, regularization: 10}]
training: {epochs: 2, batch_size: 64, evaluate_every: 1, select_by: ndcg@5}
evaluation: {metrics: [ndcg, recall], cutoffs: [5], significance: {resamples: 1000}}
";

/// Reads the damaged file of each number.
pub(crate) fn reader() -> Reader {
    let storage = Location::parse("memory:///fuzz/runs").unwrap();
    finish(&storage);
    let mut files: Vec<(Location, Vec<u8>)> =
        storage.list().unwrap().into_iter().map(|at| (at.clone(), at.read().unwrap().to_vec())).collect();
    let raw = Location::parse("memory:///fuzz/raw.parquet").unwrap();
    let source = source();
    // The raw file comes as often as the tables of the sweep together.
    files.extend((0..files.len() / 3).map(|_| (raw.clone(), source.clone())));
    Box::new(move |input| {
        let mut draws = Draws::of(input);
        let (at, whole) = draws.pick(&files);
        at.write(bytes(whole, &mut draws)).unwrap();
        read(at);
        if is_signed_again(at) {
            read(at);
        }
        at.write(whole.clone()).unwrap();
    })
}

/// Runs a small sweep to its end.
fn finish(storage: &Location) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    std::fs::write(&file, SWEEP).unwrap();
    let connect: pipeline::Connect = |_, _| Err("there is no cluster".to_owned());
    let patience = std::time::Duration::ZERO;
    let machine = Machine { threads: 1, memory: 64 << 20, cache: None, engine: None, connect, patience };
    let session = Session::open(file.to_str().unwrap(), Some(&storage.to_string()), machine, Progress::lines()).unwrap();
    prepare(&session).unwrap();
    let standings = train(&session).unwrap();
    let results = evaluate(&session, &standings).unwrap();
    report(&session, &results).unwrap();
}

/// Whether a file is a marker that can still be read as JSON; it then has a checksum that fits.
fn is_signed_again(at: &Location) -> bool {
    let is_marker = ["manifest.json", "scorer.json", "done.json", "tables.json"].contains(&at.name()) || at.to_string().contains("/rungs/");
    let content = serde_json::from_slice::<Map<String, Value>>(&at.read().unwrap());
    let Some(mut content) = content.ok().filter(|content| is_marker && content.len() > 1) else { return false };
    content.remove("sha256");
    at.write(marker::text(&content)).unwrap();
    true
}

/// A raw file of interactions.
fn source() -> Vec<u8> {
    let texts = |prefix: char, of: fn(usize) -> usize| StringArray::from_iter_values((0..600).map(|row| format!("{prefix}{}", of(row))));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("user", Arc::new(texts('u', |row| row / 15))),
        ("item", Arc::new(texts('i', |row| row * 7 % 31))),
        ("stars", Arc::new(Float64Array::from_iter_values((0..600).map(|row| f64::from(row % 5))))),
    ];
    table::encode(&arrow::array::RecordBatch::try_from_iter(columns).unwrap()).unwrap()
}

/// Has a file read by what reads it. Whether that is an error or not, nothing else may come of it.
fn read(at: &Location) {
    let parent = |steps: usize| {
        let path = at.to_string();
        let folder = (0..steps).fold(path.as_str(), |path, _| path.rsplit_once('/').unwrap().0);
        Location::parse(folder).unwrap()
    };
    let path = at.to_string();
    let is_in = |folder: &str| path.contains(folder);
    match at.name() {
        "raw.parquet" => drop(prepared(at)),
        _ if is_in("/datasets/") => dataset(&parent(1), at),
        "scorer.safetensors" | "scorer.json" => scorer(&parent(1), at),
        "done.json" => drop(Ended::read(&parent(1), parent(1).name())),
        _ if is_in("/curve/") => drop(tables::curves::of_trial("t", at)),
        "trials.parquet" => drop(tables::trials::read(at)),
        "curves.parquet" => drop(tables::curves::read(at)),
        "leaderboard.parquet" => drop(tables::leaderboard::read(at)),
        "metrics.parquet" => drop(measured::read_metrics(at)),
        "groups.parquet" => drop(measured::read_groups(at, &mut [])),
        "significance.parquet" => drop(measured::read_significance(at)),
        "variance_components.parquet" => drop(measured::read_components(at)),
        "plan.json" => drop(serde_json::from_slice::<Plan>(&at.read().unwrap())),
        name if name.ends_with(".parquet") => {
            drop(table::read(at));
            drop(measured::read_per_user(at));
        }
        _ => drop(table::read(at)),
    }
}

/// A dataset one of whose files is damaged: with the checksum that the manifest has, and with the file's own.
fn dataset(folder: &Location, damaged: &Location) {
    let readable = |dataset: &Dataset| dataset.train.users() == dataset.users() && dataset.check_disjoint().is_ok();
    assert!(Dataset::read(folder).as_ref().map_or(true, readable));
    let Ok(mut manifest) = Dataset::read_manifest(folder) else { return };
    assert!(manifest.memory() > 0 && manifest.reading_memory() > 0);
    let at = folder.join("manifest.json");
    let stored = at.read().unwrap();
    let Some(entry) = manifest.files.get_mut(damaged.name()) else { return };
    *entry = FileEntry::of(&damaged.read().unwrap());
    at.write(marker::text(&manifest)).unwrap();
    assert!(Dataset::read(folder).as_ref().map_or(true, readable));
    at.write(stored).unwrap();
}

/// A scorer one of whose files is damaged: with the checksum that its description has, and with its own.
fn scorer(folder: &Location, damaged: &Location) {
    drop(Scorer::read(folder));
    let at = folder.join("scorer.json");
    if damaged.name() == at.name() {
        return;
    }
    let stored = at.read().unwrap();
    let mut description: Value = serde_json::from_str(&marker::covered(&stored).unwrap()).unwrap();
    description["tensors"] = serde_json::to_value(FileEntry::of(&damaged.read().unwrap())).unwrap();
    at.write(marker::text(&description)).unwrap();
    drop(Scorer::read(folder));
    at.write(stored).unwrap();
}

/// Prepares a raw file, and deletes the dataset again.
fn prepared(at: &Location) -> pipeline::Result<()> {
    let columns = serde_json::json!({"user": "user", "item": "item", "rating": "stars"});
    let source = serde_json::json!({"parquet": {"path": at.to_string(), "columns": columns}});
    let settings = serde_json::json!({"name": "d", "source": source, "split": {"random": {"test": 0.2}}});
    let preparation: Preparation = serde_json::from_value(settings).unwrap();
    let limits = Limits { threads: 1, memory: Some(64 << 20), engine: None, scratch: None };
    pipeline::memory_estimate(&preparation, &limits)?;
    let prepared = pipeline::prepare(&preparation, &Location::parse("memory:///fuzz/datasets").unwrap(), &limits, &mut |_| ())?;
    prepared.folder.list()?.iter().try_for_each(Location::delete)?;
    Ok(())
}
