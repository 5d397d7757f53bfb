//! A small dataset with planted tastes, and what trainings on it leave.
#![allow(clippy::unwrap_used)]

use dataset::{Dataset, Interactions, Location};
use trainer::{EpochReport, Fit, Observer, Outcome, Resources, Trial};

pub(crate) const RESOURCES: Resources<'_> = Resources { memory: 1 << 28, cache: None };

/// 90 users and 60 items in three groups: a user has 8 of the 20 items of its group in train, 2 in validation.
pub(crate) fn tastes() -> Dataset {
    let mut state = 7u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    for user in 0..90usize {
        let mut items: Vec<usize> = (0..20).collect();
        for at in 0..10 {
            items.swap(at, at + random(20 - at));
        }
        let pair = |item: &usize| (user as u32, (user % 3 * 20 + item) as u32);
        train.extend(items[..8].iter().map(pair));
        validation.extend(items[8..10].iter().map(pair));
    }
    Dataset {
        name: "tastes".into(),
        fingerprint: "tastes".into(),
        user_ids: (0..90).map(|user| format!("u{user}")).collect(),
        item_ids: (0..60).map(|item| format!("i{item}")).collect(),
        train: Interactions::from_pairs(90, train.into_iter()),
        validation: Interactions::from_pairs(90, validation.into_iter()),
        test: Interactions::empty(90),
        steps: vec![],
        settings: serde_json::Value::Null,
    }
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

/// All that must be the same however a training went: the model, its validation values, its fit without the clock.
pub(crate) fn result(folder: &Location) -> (Vec<u8>, Vec<u8>, Fit) {
    let Some(Outcome::Done(fit)) = Outcome::read(folder).unwrap() else { panic!("not done") };
    let read = |name: &str| folder.join(name).read().unwrap().to_vec();
    (read("checkpoint/scorer.safetensors"), read("per_user.parquet"), Fit { seconds: 0.0, ..fit })
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
            for name in
                ["trial.json", "resume/state.safetensors", "checkpoint/scorer.safetensors", "checkpoint/scorer.json", "per_user.parquet"]
            {
                self.to.join(name).write(self.from.join(name).read().unwrap()).unwrap();
            }
        }
    }
}
