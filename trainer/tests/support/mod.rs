//! A small dataset with planted tastes, and what trainings on it leave.
#![allow(clippy::unwrap_used)]

use arrow::array::{Array, Float64Array};
use dataset::{Dataset, Interactions, Location, Order, table};
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
};
use trainer::{Ended, EpochReport, Error, Fit, Observer, Outcome, Resources, Trial, train};

pub(crate) const RESOURCES: Resources<'_> = Resources::new(1 << 28);

/// 90 users and 60 items in three groups: a user has 8 of the 20 items of its group in train, 2 in validation, which
/// it took in an order of its own.
pub(crate) fn tastes() -> Dataset {
    let mut state = 7u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    let (mut of_train, mut of_validation) = (Vec::new(), Vec::new());
    for user in 0..90usize {
        let mut items: Vec<usize> = (0..20).collect();
        for at in 0..10 {
            items.swap(at, at + random(20 - at));
        }
        let pair = |item: &usize| (user as u32, (user % 3 * 20 + item) as u32);
        train.extend(items[..8].iter().map(pair));
        validation.extend(items[8..10].iter().map(pair));
        for (part, places) in [(0..8, &mut of_train), (8..10, &mut of_validation)] {
            let mut sorted: Vec<usize> = part.collect();
            sorted.sort_by_key(|&place| items[place]);
            places.extend(sorted.into_iter().map(|place| place as u32));
        }
    }
    Dataset {
        name: "tastes".into(),
        fingerprint: "tastes".into(),
        user_ids: (0..90).map(|user| format!("u{user}")).collect(),
        item_ids: (0..60).map(|item| format!("i{item}")).collect(),
        train: Interactions::from_pairs(90, train.into_iter()),
        validation: Interactions::from_pairs(90, validation.into_iter()),
        one_node_set: false,
        test: Interactions::empty(90),
        fold_in: None,
        order: Some(Order { train: of_train, fold_in: Vec::new(), validation: of_validation, test: Vec::new() }),
        steps: vec![],
        settings: serde_json::Value::Null,
    }
}

/// The names of all losses, samplers or models: serde knows every variant.
pub(crate) fn kinds<T: DeserializeOwned>() -> BTreeSet<String> {
    let Err(error) = serde_json::from_str::<T>(r#"{"?": {}}"#) else { panic!("`?` is no kind") };
    error.to_string().split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

pub(crate) fn trial(backbone: &str, loss: &str, sampler: &str, optimizer: &str) -> Trial {
    let text = format!(
        r#"{{"version": 1, "dataset": "tastes", "backbone": {backbone}, "select_by": "ndcg@10",
            "learning": {{"loss": {loss}, "sampler": {sampler}, "optimizer": {optimizer}, "seed": 3,
                "training": {{"epochs": 12, "batch_size": 64, "evaluate_every": 2, "patience": 20}}}}}}"#
    );
    let trial: Trial = serde_json::from_str(&text).unwrap();
    trial.check().unwrap();
    trial
}

pub(crate) fn folder(name: &str) -> Location {
    Location::parse(&format!("memory:///training/{name}")).unwrap()
}

/// All that must be the same however a training went: the model, its validation values, its fit and its curve without the clock.
pub(crate) fn result(folder: &Location) -> (Vec<u8>, Vec<u8>, Fit, Vec<Option<u64>>) {
    let ended = ended(folder).unwrap();
    let read = |name: &str| ended.checkpoint(folder).unwrap().0.join(name).read().unwrap().to_vec();
    let Outcome::Done(fit) = &ended.outcome else { panic!("not done") };
    (read("scorer.safetensors"), read("per_user.parquet"), Fit { seconds: 0.0, ..fit.clone() }, curve(&ended.curve(folder).unwrap()))
}

/// The marker of a folder, of whichever trial.
pub(crate) fn ended(folder: &Location) -> Option<Ended> {
    let trial = folder.join("trial.json").read().ok()?;
    let trial: Trial = serde_json::from_slice(&trial).unwrap();
    Ended::read(folder, &trial.id()).unwrap()
}

/// The bits of the losses and of the validation values.
fn curve(at: &Location) -> Vec<Option<u64>> {
    let batch = table::read(at).unwrap();
    let columns = ["loss", "value"].map(|name| table::column::<Float64Array>(&batch, name, at).unwrap());
    let bits = |column: &Float64Array, row: usize| column.is_valid(row).then(|| column.value(row).to_bits());
    columns.iter().flat_map(|column| (0..batch.num_rows()).map(|row| bits(column, row))).collect()
}

/// Asks the training to stop after these steps, and after these epochs (step 0).
pub(crate) struct Stops<'a> {
    pub(crate) at: &'a [(u32, u32)],
    pub(crate) flag: &'a AtomicBool,
}

impl Observer for Stops<'_> {
    fn epoch(&mut self, report: &EpochReport) {
        self.step(report.epoch, 0);
    }

    fn step(&mut self, epoch: u32, step: u32) {
        if self.at.contains(&(epoch, step)) {
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}

/// Trains with stops, going on after each; returns how many there were.
pub(crate) fn train_with_stops(trial: &Trial, folder: &Location, at: &[(u32, u32)]) -> usize {
    let (data, mut stopped) = (tastes(), 0);
    loop {
        let flag = AtomicBool::new(false);
        let resources = Resources { interrupt: Some(&flag), ..RESOURCES };
        match train(trial, &data, folder, &resources, &mut Stops { at, flag: &flag }) {
            Ok(_) => return stopped,
            Err(Error::Interrupted { .. }) => stopped += 1,
            Err(error) => panic!("{error}"),
        }
        assert_eq!(ended(folder), None);
    }
}

/// Copies all files of a folder into another.
pub(crate) fn copy(from: &Location, to: &Location) {
    let root = format!("{from}/");
    for file in from.list().unwrap() {
        to.join(file.to_string().strip_prefix(&root).unwrap()).write(file.read().unwrap()).unwrap();
    }
}

/// Copies the folder as it stands after an epoch, as if the process had been killed there.
pub(crate) struct Snapshot<'a> {
    pub(crate) epoch: u32,
    pub(crate) from: &'a Location,
    pub(crate) to: &'a Location,
}

impl Observer for Snapshot<'_> {
    fn epoch(&mut self, report: &EpochReport) {
        if report.epoch == self.epoch {
            copy(self.from, self.to);
        }
    }
}
