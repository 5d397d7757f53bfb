//! The content of a dataset, and what was left of it after each step.

use super::super::{
    RepeatedSplit,
    number::{count, counted},
};
use dataset::{Counts, Manifest};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Facts<'a> {
    size: String,
    steps: Vec<Step<'a>>,
    parts: Vec<(&'static str, String)>,
    /// A line for each split, where the dataset has several.
    splits: Vec<SplitLine<'a>>,
    density: String,
    fingerprint: &'a str,
    settings: String,
}

#[derive(Serialize)]
struct SplitLine<'a> {
    seed: u64,
    sizes: String,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct Step<'a> {
    step: &'a str,
    users: String,
    items: String,
    interactions: String,
    /// Percent of the first step's interactions.
    left: f64,
}

/// Sizes, counts by step, and the parts of the split; steps and parts are those of the first split, where there are several.
pub(super) fn facts<'a>(manifest: &'a Manifest, splits: &[&'a RepeatedSplit]) -> Facts<'a> {
    let all = manifest.interactions();
    let first = manifest.steps.first().map_or(0, |step| step.interactions).max(1);
    let sizes = [(manifest.users, "user"), (manifest.items, "item"), (all, "interaction")];
    let step = |counts: &'a Counts| Step {
        step: &counts.step,
        users: count(counts.users),
        items: count(counts.items),
        interactions: count(counts.interactions),
        left: (1000.0 * counts.interactions as f64 / first as f64).round() / 10.0,
    };
    Facts {
        size: sizes.map(|(size, noun)| counted(size, noun)).join(" · "),
        steps: manifest.steps.iter().map(step).collect(),
        parts: parts(manifest).map(|(part, size)| (part, count(size))).collect(),
        splits: splits.iter().map(|split| of_split(split)).collect(),
        density: format!("{:.3}%", 100.0 * all as f64 / (manifest.users.max(1) as f64 * manifest.items.max(1) as f64)),
        fingerprint: &manifest.fingerprint,
        settings: serde_json::to_string_pretty(&manifest.settings).unwrap_or_default(),
    }
}

/// The parts of a dataset with their interactions.
fn parts(manifest: &Manifest) -> impl Iterator<Item = (&'static str, usize)> {
    let fold_in = manifest.fold_in.map(|folded| ("fold-in", folded));
    [("train", manifest.train)].into_iter().chain(fold_in).chain([("validation", manifest.validation), ("test", manifest.test)])
}

fn of_split(split: &RepeatedSplit) -> SplitLine<'_> {
    let RepeatedSplit { seed, manifest } = split;
    let sizes: Vec<String> = parts(manifest).map(|(part, size)| format!("{} {part}", count(size))).collect();
    let sizes = sizes.join(", ");
    SplitLine { seed: *seed, sizes, fingerprint: &manifest.fingerprint }
}
