//! The plan as `ranksweep plan` prints it.

use super::{DrawnFrom, Estimate, Method, PROGRAM, Plan, PlannedDataset, PlannedTrial, Titles, check::has_validation, estimate, scaling};
use crate::file::{AskedDevice, Search};
use cluster::Resources;
use dataset::Manifest;
use pipeline::{Engine, MemoryEstimate, Noise, TrainShare};
use std::{collections::BTreeSet, fmt::Write as _};

/// A dataset as the plan finds it.
pub enum Found {
    /// The dataset is prepared.
    Prepared(Manifest),
    /// The dataset is not prepared; the memory that preparing it takes beside the program.
    Raw(MemoryEstimate),
}

#[cfg(test)]
impl Found {
    /// A source that takes so many bytes in memory.
    pub(super) fn raw(bytes: u64) -> Self {
        Self::Raw(MemoryEstimate { engine: Engine::Memory, bytes, in_memory: bytes })
    }
}

/// Datasets, methods, trials and estimates in words. `found` holds one entry per dataset; `memory` is what ranking may use; `resources` is
/// what the sweep asks of a cluster, `device` where its trials are trained.
pub fn show(plan: &Plan, found: &[Found], memory: usize, resources: &Resources, device: AskedDevice) -> String {
    let picks = match plan.datasets.iter().any(|dataset| has_validation(&dataset.preparation)) {
        true => format!("select by validation {}", plan.select_by),
        false => "no validation part, so that the last model of each training is kept".to_owned(),
    };
    let mut text = format!("sweep {}: {picks}{}\n\n", plan.name, search(&plan.search));
    for (dataset, found) in plan.datasets.iter().zip(found) {
        text += &dataset_line(dataset, found);
    }
    let (titles, mut index) = (Titles::new(plan), 0);
    for method in &plan.methods {
        let count: usize = method.configurations.iter().map(|configuration| configuration.trials.len()).sum();
        let _ = writeln!(
            text,
            "\n{} on {}: {}, {}{}{}",
            titles.of(method),
            method.dataset,
            configurations(method, &plan.search),
            splits(plan, &method.dataset),
            count_of(count, "trial"),
            steps(plan, method, found)
        );
        for configuration in &method.configurations {
            let values = configuration.words();
            for trial in &configuration.trials {
                let line = format!("  {index:>5}  {}  {:<8}  {}", trial.id, seed(trial), values);
                text = text + line.trim_end() + "\n";
                index += 1;
            }
        }
    }
    text + &paper(plan)
        + &totals(plan, found, memory, resources.trials_per_gpu)
        + &scaling::advice(plan, found, resources, device)
        + &rungs(plan)
}

/// The printed numbers and the claims that are to be judged.
fn paper(plan: &Plan) -> String {
    let numbers = plan.printed.as_ref().map(|printed| {
        let (count, lines) = (printed.values.len(), printed.lines);
        let first = printed.other.as_ref().map_or_else(String::new, |other| format!(", the first: {other}"));
        let others = if count < lines {
            format!(", of {lines} in the table; the others name what this sweep has not{first}")
        } else {
            String::new()
        };
        let spread = if plan.methods.iter().any(|method| method.repeats() > 1) {
            ""
        } else {
            "\nwith one seed nothing tells how far seeds spread, and no number is judged: give `seeds` two at least"
        };
        format!("\n{} (margin {}){others}{spread}\n", count_of(count, "printed number"), printed.margin)
    });
    let claims = (!plan.claims.is_empty()).then(|| format!("{}\n", count_of(plan.claims.len(), "claim")));
    numbers.into_iter().chain(claims).collect()
}

fn search(search: &Search) -> String {
    let drawn = search.draws().map(|(trials, seed)| format!("; {trials} configurations of each method, drawn with seed {seed}"));
    let halved = search.halving().map(|halving| match halving.asynchronous {
        true => format!("; halved by {} as they come", halving.factor),
        false => format!("; halved by {} at each rung", halving.factor),
    });
    let tuned = search.tuning_seeds().map(|seeds| format!("; picked by {}, and repeated with the others", of_first(seeds)));
    [drawn, halved, tuned].into_iter().flatten().collect()
}

fn configurations(method: &Method, search: &Search) -> String {
    let count = method.configurations.len();
    match (method.drawn_from, search.draws()) {
        (Some(DrawnFrom::Combinations(all)), _) => format!("{count} of {all} configurations"),
        (Some(DrawnFrom::Ranges), _) => format!("{} drawn from ranges", count_of(count, "configuration")),
        (None, Some((trials, _))) if (2..trials as usize).contains(&count) => {
            format!("all {} that there are", count_of(count, "configuration"))
        }
        (None, _) => count_of(count, "configuration"),
    }
}

/// The steps of an epoch, where the dataset is prepared and the method learns from a loss; of the first split and configuration. Nothing of models that
/// read histories, whose steps hold as many of these as have so many items.
fn steps(plan: &Plan, method: &Method, found: &[Found]) -> String {
    let trial = method.configurations.first().and_then(|configuration| configuration.trials.first());
    let of = |trial: &PlannedTrial| {
        let learning = trial.trial.learning.as_ref().filter(|_| !trial.trial.backbone.reads_order())?;
        let (_, found) = plan.datasets.iter().zip(found).find(|(dataset, _)| dataset.is_of(trial))?;
        match found {
            Found::Prepared(manifest) => Some(estimate::steps(learning, manifest.users as u64, manifest.train as u64)),
            Found::Raw(_) => None,
        }
    };
    trial.and_then(of).map(|steps| format!(", {} an epoch", count_of(steps as usize, "step"))).unwrap_or_default()
}

/// How many splits a dataset has, where it has several.
fn splits(plan: &Plan, dataset: &str) -> String {
    match plan.datasets.iter().filter(|split| split.name() == dataset).count() {
        1 => String::new(),
        splits => format!("{splits} splits, "),
    }
}

/// The rungs of the search, and what they leave of the work.
fn rungs(plan: &Plan) -> String {
    let rungs = plan.rungs();
    if rungs.is_empty() {
        return String::new();
    }
    let mut text = "\n".to_owned();
    let ends: BTreeSet<u32> = plan.methods.iter().filter_map(Method::epochs).collect();
    for (index, rung) in rungs.into_iter().enumerate() {
        let what = if rung.repeats { ", of the picked configurations with the other seeds" } else { "" };
        let to = match ends.first().filter(|&&first| first < rung.epochs) {
            Some(first) => format!("their ends, {first} to {} epochs", rung.epochs),
            None => count_of(rung.epochs as usize, "epoch"),
        };
        let _ = writeln!(text, "rung {index}: {} to {to}{what}", count_of(rung.trials, "trial"));
    }
    let (searched, all) = plan.searched_epochs();
    let saved = 100.0 * (1.0 - searched as f64 / all.max(1) as f64);
    let is_asynchronous = plan.search.halving().is_some_and(|halving| halving.asynchronous);
    let least = if is_asynchronous { "at least " } else { "" };
    let beyond = if is_asynchronous { ", and more where an early one is overtaken after it went on" } else { "" };
    let searched = count_of(searched as usize, "epoch");
    let _ = writeln!(text, "{least}{searched} in all{beyond}; all trials to the end take {all} ({saved:.0} % saved)");
    text
}

/// `the first seed`, `the first 2 seeds`.
fn of_first(seeds: u32) -> String {
    if seeds == 1 { "the first seed".to_owned() } else { format!("the first {seeds} seeds") }
}

fn dataset_line(dataset: &PlannedDataset, found: &Found) -> String {
    let of_train = dataset.preparation.train_share.filter(|share| !share.is_off()).map(TrainShare::step);
    let step = of_train.or_else(|| dataset.preparation.noise.filter(|noise| !noise.is_off()).map(Noise::step)); // there is one of the two
    let size = match found {
        Found::Prepared(m) => {
            let found = m.steps.iter().find(|counts| Some(&counts.step) == step.as_ref());
            let found = found.map_or_else(String::new, |counts| format!("; {} {}", counts.interactions, counts.step));
            let fold_in = m.fold_in.map_or_else(String::new, |folded| format!("{folded} fold-in, "));
            format!("{} users, {} items, {} train, {fold_in}{} validation, {} test{found}", m.users, m.items, m.train, m.validation, m.test)
        }
        Found::Raw(_) => format!("sizes known after prepare{}", step.map_or_else(String::new, |step| format!("; {step}"))),
    };
    let which = dataset.repetition().map_or_else(String::new, |which| format!(", {which}"));
    format!("dataset {} ({}{which}): {size}\n", dataset.name(), dataset.fingerprint)
}

fn seed(trial: &PlannedTrial) -> String {
    let split = trial.split_seed.map_or_else(String::new, |seed| format!("split {seed}, "));
    split + &trial.seed().map_or_else(|| "no seed".to_owned(), |seed| format!("seed {seed}"))
}

fn totals(plan: &Plan, found: &[Found], memory: usize, sharing: u32) -> String {
    let mut text = format!("\n{}, {}\n", count_of(plan.methods.len(), "method"), count_of(plan.trials().count(), "trial"));
    for (dataset, found) in plan.datasets.iter().zip(found) {
        let name = dataset.label();
        let manifest = match found {
            Found::Prepared(manifest) => manifest,
            Found::Raw(preparing) => {
                let by = match &preparing.engine {
                    Engine::Memory => String::new(),
                    Engine::Datafusion => {
                        format!(" by DataFusion, which spills to disk (in memory: {})", bytes(PROGRAM + preparing.in_memory))
                    }
                    Engine::Ballista(cluster) => {
                        format!(" by the cluster {} (in memory: {})", cluster.url, bytes(PROGRAM + preparing.in_memory))
                    }
                };
                let preparing = bytes(PROGRAM + preparing.bytes);
                let _ = writeln!(
                    text,
                    "{name}: {preparing} of memory to prepare{by}; of trials memory and steps are known then (`ranksweep prepare`)"
                );
                continue;
            }
        };
        let metrics = plan.evaluation.metric_ats();
        let trials = plan.trials().filter(|(.., trial)| dataset.is_of(trial));
        let estimates: Vec<Estimate> = trials.map(|(.., trial)| Estimate::of(&trial.trial, manifest, &metrics, memory)).collect();
        let most = |of: fn(&Estimate) -> u64| estimates.iter().map(of).max().unwrap_or_default();
        let (largest, ranking) = (most(|estimate| estimate.training), bytes(most(|estimate| estimate.ranking)));
        // The program is there once.
        let together = PROGRAM + u64::from(sharing).saturating_mul(largest.saturating_sub(PROGRAM));
        let together = if sharing > 1 { format!(", {} to train {sharing} at once", bytes(together)) } else { String::new() };
        let all = |of: fn(&Estimate) -> u64| -> u64 { plan.searched(dataset, &estimates.iter().map(of).collect::<Vec<_>>()) };
        let (steps, scores) = (all(|estimate| estimate.steps), all(|estimate| estimate.scores));
        let _ = writeln!(
            text,
            "{name}: {training} of memory to train its largest trial{together}, {ranking} to rank it; at most {steps} steps and {scores:.2e} scores in all",
            training = bytes(largest),
            scores = scores as f64
        );
    }
    text
}

pub(super) fn count_of(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", units[unit])
}
