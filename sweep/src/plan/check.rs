//! Rules between the parts of a sweep file.

use super::{
    attaches,
    draft::{Choice, Draft, Names},
    folds_in_by_ridge, model_files, resolve, search,
    title::{Meant, MethodName, MethodNames, several},
};
use crate::file::{AskedDevice, DatasetEntry, Error, Place, Placed, Result, SweepFile, TrainingAxes, dataset::SEED};
use dataset::{quote, redact::is_secret};
use evaluator::settings::Family;
use models::{FoldIn, Stored};
use pipeline::Preparation;
use std::collections::{HashMap, HashSet};

/// Trials of one sweep.
const MOST_TRIALS: f64 = 1e5;

/// Methods of one sweep: each is compared with each.
const MOST_METHODS: usize = 1_000;

/// Values of all methods together.
const MOST_VALUES: usize = 1_000_000;

/// Combinations of a method that are checked beyond those that a search takes.
const MOST_CHECKED: usize = 10_000;

/// That no more methods come of the grid than a report can compare.
pub(super) fn methods(file: &SweepFile) -> Result<()> {
    let (mut methods, mut values) = (0usize, 0usize);
    for block in &file.grid {
        let of_ways = |ways: &TrainingAxes| {
            let pairs = ways.losses.len().saturating_mul(ways.samplers.len());
            let of_losses = ways.losses.iter().map(|loss| loss.values.len()).sum::<usize>().saturating_mul(ways.samplers.len());
            let of_samplers = ways.samplers.iter().map(|sampler| sampler.values.len()).sum::<usize>().saturating_mul(ways.losses.len());
            (pairs, of_losses + of_samplers + pairs.saturating_mul(ways.optimizer.values.len()))
        };
        let (ways, listed) = block.ways.as_ref().map_or((1, 0), of_ways);
        let of_backbones: usize = block.backbones.iter().map(|backbone| backbone.values.len()).sum();
        methods = methods.saturating_add(block.backbones.len().saturating_mul(ways));
        values = values.saturating_add(of_backbones.saturating_mul(ways)).saturating_add(listed.saturating_mul(block.backbones.len()));
        let place = &block.backbones[0].node.place;
        if methods > MOST_METHODS {
            return Err(place.error(format!("more than {MOST_METHODS} methods; list fewer backbones, losses or samplers")));
        }
        if values > MOST_VALUES {
            return Err(place.error(format!("more than {MOST_VALUES} values listed over all methods; list fewer")));
        }
    }
    Ok(())
}

/// Checks a whole sweep file.
pub(super) fn whole(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    folder_name("the sweep", &file.name)?;
    datasets(file)?;
    seeds(&file.seeds)?;
    file.evaluation.value.check().map_err(|reason| file.evaluation.complain(reason))?;
    resources(file)?;
    search::check(file, drafts)?;
    size(file, drafts)?;
    validation(file, drafts)?;
    new_users(file, drafts)?;
    order(file, drafts)?;
    lists(file, drafts)?;
    each_trial(file, drafts)?;
    drafts.iter().try_for_each(|draft| model_files::check(file, draft))?;
    no_trial_twice(file, drafts)?;
    no_name_twice(drafts)?;
    significance(file, drafts)
}

/// The names of the methods of every dataset.
pub(super) fn method_names<'a>(drafts: &'a [Draft<'_>]) -> MethodNames<'a> {
    let name = |draft: &'a Draft<'_>| {
        let Names { method, backbone, loss, sampler } = &draft.names;
        MethodName { key: method, backbone, loss: loss.as_deref(), sampler: sampler.as_deref() }
    };
    MethodNames::new(drafts.iter().map(name).collect())
}

/// The method that others are compared with must be there, and resamples must be able to decide as many comparisons.
fn significance(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let settings = &file.evaluation.value.significance;
    if let Family::Against(method) = &settings.family {
        let complain = |words: &str| file.evaluation.complain(format!("`family` is against another method: {words}"));
        match method_names(drafts).find(method) {
            Meant::One(_) => {}
            Meant::Several(titles) => return Err(complain(&several(method, &titles))),
            Meant::Unknown(words) => return Err(complain(&words)),
        }
    }
    let comparisons = settings.family.adjusted_for(drafts.len());
    let Some((key, needed)) = settings.resamples_needed(comparisons) else { return Ok(()) };
    let correction = settings.correction.name();
    let is_multiplied = needed as f64 > (1.0 / settings.alpha).ceil();
    let or = if is_multiplied { ", or `correction: romano-wolf` with paired-t and bootstrap alone" } else { ", or a larger `alpha`" };
    Err(file.evaluation.complain(format!(
        "`{key}` is too small: {comparisons} comparisons adjusted by {correction} leave no p-value below alpha; give {needed} or more{or}"
    )))
}

/// A name that becomes a folder on any store.
fn folder_name(what: &str, name: &Placed<String>) -> Result<()> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.value.is_empty() && name.value.chars().all(fine) && !name.value.starts_with('.') && name.value.len() <= 100 {
        return Ok(());
    }
    let rule = "expected at most 100 letters, digits, `-`, `_` and `.`, not starting with `.`";
    Err(name.place().error(format!("`{}` cannot name {what}'s folder: {rule}", quote::value(&name.value))))
}

fn datasets(file: &SweepFile) -> Result<()> {
    for (index, entry) in file.datasets.iter().enumerate() {
        let (node, name) = (&entry.node, entry.name());
        entry.splits.iter().try_for_each(Preparation::check).map_err(|error| match &error {
            pipeline::Error::Setting { key, reason } => node.at(key).place.error(format!("dataset `{name}`: {reason}")),
            other => node.place.error(format!("dataset `{name}`: {other}")),
        })?;
        splits(entry)?;
        folder_name("the dataset", &Placed { node: node.at("name").clone(), value: name.to_owned() })?;
        if let Some(first) = file.datasets[..index].iter().find(|other| other.name() == name) {
            let line = first.node.at("name").place.line;
            return Err(node.at("name").place.error(format!("a second dataset is named `{name}`, the first in line {line}")));
        }
    }
    Ok(())
}

/// Splits that do not differ would count the same trials several times.
fn splits(entry: &DatasetEntry) -> Result<()> {
    if entry.is_repeated() && entry.splits[0].split.repetition().is_none() {
        let (name, count) = (entry.name(), entry.splits.len());
        let reason =
            format!("dataset `{name}`: {count} seeds, and with these settings nothing is drawn: keep one seed, or have the split draw");
        return Err(entry.node.at(SEED).place.error(reason));
    }
    Ok(())
}

/// Two names for the same content would show every method twice.
pub(super) fn different_content(file: &SweepFile, fingerprints: &[String]) -> Result<()> {
    let mut seen: HashMap<&str, (&DatasetEntry, &Preparation)> = HashMap::new();
    for ((entry, split), fingerprint) in file.splits().zip(fingerprints) {
        if let Some((first, of_first)) = seen.insert(fingerprint, (entry, split)) {
            let (name, other, line) = (entry.name(), first.name(), first.node.place.line);
            let split = &of_first.split;
            let repetition = split.repetition().filter(|_| first.is_repeated() || entry.is_repeated());
            let which = repetition.map_or_else(String::new, |number| format!(", with {} {number}", split.repeats_by()));
            let complaint = format!("`{name}` has the same source and settings as `{other}` in line {line}{which}; keep one");
            return Err(entry.node.place.error(complaint));
        }
    }
    Ok(())
}

fn seeds(seeds: &Placed<Vec<u64>>) -> Result<()> {
    let mut seen = HashSet::new();
    let twice = seeds.value.iter().find(|seed| !seen.insert(**seed));
    match (seeds.value.is_empty(), twice) {
        (true, _) => Err(seeds.place().error("no seed; give at least one")),
        (_, Some(seed)) => Err(seeds.place().error(format!("the seed {seed} stands twice"))),
        _ => Ok(()),
    }
}

/// GPUs are for trials that are trained on them, and nodes meet by their GPUs.
fn resources(file: &SweepFile) -> Result<()> {
    let asked = &file.resources.value;
    asked.check().map_err(|reason| file.resources.complain(reason))?;
    if let Some(name) = asked.environment.keys().find(|name| is_secret(name)) {
        let reason = "a secret would stand readable in every Job: put it into the Secret that `secret` names";
        return Err(file.resources.complain(format!("environment has `{name}`: {reason}")));
    }
    let complaint = match (file.device.value, asked.gpus, asked.nodes) {
        (AskedDevice::Cpu, 1.., _) => {
            format!("gpus is {}, and `device` is cpu, which would leave them idle: leave one of the two out", asked.gpus)
        }
        (AskedDevice::Cpu, 0, 1) if asked.trials_per_gpu > 1 => {
            format!("trials_per_gpu is {}, and `device` is cpu, which has no GPU to share: leave one of the two out", asked.trials_per_gpu)
        }
        (_, 0, 2..) => {
            format!("nodes is {} and gpus is 0: nodes train a trial together by their GPUs; give each at least one", asked.nodes)
        }
        _ => return Ok(()),
    };
    Err(file.resources.complain(complaint))
}

/// No machine trains more; a plan of more would not fit in memory.
fn size(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let repeats = (file.splits().count() as f64) * (file.seeds.value.len() as f64);
    let trials = repeats * drafts.iter().map(|draft| draft.count(&file.search.value) as f64).sum::<f64>();
    if trials > MOST_TRIALS {
        let place = drafts.first().map_or(file.name.place(), |draft| draft.tuned_place());
        return Err(place.error(format!("about {trials:.0} trials; at most {MOST_TRIALS:.0} are planned: list fewer values")));
    }
    Ok(())
}

/// Tuning and early stopping need validation interactions.
fn validation(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let without = |entry: &&DatasetEntry| !has_validation(&entry.splits[0]);
    let Some(entry) = file.datasets.iter().find(without) else { return Ok(()) };
    let (name, line) = (entry.name(), entry.node.place.line);
    let key = entry.splits[0].split.validation_key();
    let remedy = format!("dataset `{name}` (line {line}) has no validation part: give its `split` one (`{key}`)");
    if let Some(draft) = drafts.iter().find(|draft| draft.count(&file.search.value) > 1) {
        let message = format!("listed values are tuned on validation, but {remedy}, or give one value");
        return Err(draft.tuned_place().error(message));
    }
    if file.search.value.halving().is_some() {
        return Err(file.search.complain(format!("halving stops trials by validation, but {remedy}, or leave `search` out")));
    }
    for training in drafts.iter().map(|draft| draft.training_in(file)).chain([&file.training]) {
        if let Some(patience) = training.value.patience {
            return Err(training.complain(format!("patience {patience} stops on validation, but {remedy}, or leave `patience` out")));
        }
    }
    Ok(())
}

/// Where a split holds users out, each model has to score users whom no training sees; and what weighs a ridge regression needs one.
fn new_users(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let holds_out = |entry: &&DatasetEntry| entry.splits[0].split.holds_users_out();
    let entries: Vec<&DatasetEntry> = file.datasets.iter().filter(holds_out).collect();
    if let Some(entry) = entries.first() {
        let (name, line) = (entry.name(), entry.node.place.line);
        for draft in drafts.iter().filter(|draft| !draft.backbone.values[0].is_pretrained()) {
            if let FoldIn::Unknown(reason) = draft.backbone.values[0].how_to_fold_in() {
                let split = format!("dataset `{name}` (line {line}) has a split that holds users out");
                let message = format!("{}: {}; {split}", draft.names.backbone, FoldIn::refusal(reason));
                return Err(draft.backbone.node.place.error(message));
            }
        }
    }
    let ridge = file.ridge.value;
    if !(ridge > 0.0 && ridge.is_finite()) {
        return Err(file.ridge.place().error(format!("{ridge} weighs nothing (expected a number above 0)")));
    }
    let is_used = |draft: &Draft<'_>| entries.iter().any(|entry| folds_in_by_ridge(&draft.backbone.values[0], &entry.splits[0]));
    if file.training.node.get("ridge").is_some() && !drafts.iter().any(is_used) {
        let reason = "`ridge` weighs how vectors are given to users whom no training sees, and no split holds users out from a model that does so \
                      (leave it out)";
        return Err(file.ridge.place().error(reason));
    }
    let is_used = |draft: &Draft<'_>| entries.iter().any(|entry| attaches(&draft.backbone.values[0], &entry.splits[0]));
    if file.training.node.get("fold_in").is_some() && !drafts.iter().any(is_used) {
        let reason = "`fold_in` says how users whom no training sees come to the train graph, and no split holds users out from a model over it \
                      (leave it out)";
        return Err(file.fold_in.place().error(reason));
    }
    Ok(())
}

/// A model that reads histories in order needs data that has one.
fn order(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let Some(entry) = file.datasets.iter().find(|entry| !entry.splits[0].may_have_order()) else { return Ok(()) };
    let Some(draft) = drafts.iter().find(|draft| draft.backbone.values[0].reads_order()) else { return Ok(()) };
    let remedy = match entry.splits[0].source.is_split() {
        true => {
            "files that come split are read without timestamps; give them as one file with a timestamp, and split it by `leave-n` or `temporal`"
        }
        false => "its source has no timestamps, or noise is added to it; name the column in `columns.timestamp` and leave `noise` out",
    };
    let message = format!(
        "{} reads histories in order, and dataset `{}` (line {}) has none: {}, or take another model",
        draft.names.backbone,
        entry.name(),
        entry.node.place.line,
        remedy
    );
    Err(draft.backbone.node.place.error(message))
}

/// Top-N lists have no scores of the candidates that are drawn.
fn lists(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let of_lists = |draft: &&Draft<'_>| matches!(draft.backbone.values[0].stored(), Stored::Lists { .. });
    match drafts.iter().find(of_lists).filter(|_| file.evaluation.value.sampled_candidates.is_some()) {
        Some(draft) => Err(draft.backbone.node.place.error(format!(
            "{}: top-N lists have no scores of items that they do not name, and `evaluation.sampled_candidates` ranks drawn ones: leave one of the two out",
            draft.names.method
        ))),
        None => Ok(()),
    }
}

pub(super) fn has_validation(preparation: &Preparation) -> bool {
    preparation.split.has_validation() || preparation.source.parts().contains(&dataset::Split::Validation)
}

/// Every configuration, and what a method lists beside those that are drawn: another seed is no reason for another complaint.
fn each_trial(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let search = &file.search.value;
    let beside = if search.draws().is_some() { MOST_CHECKED } else { 0 };
    for draft in drafts {
        for choice in draft.every().take(beside).chain(draft.choices(search)) {
            for trial in resolve(file, &choice, "").take(1) {
                trial.check().map_err(|reason| blame(file, draft, &reason).error(format!("{}: {reason}", draft.names.method)))?;
            }
        }
    }
    Ok(())
}

/// The value that a trial's complaint names first, else the entry whose kind it names first, else the method's first entry.
fn blame<'a>(file: &'a SweepFile, draft: &Draft<'a>, complaint: &str) -> &'a Place {
    // A part whose own values cannot be is meant before others that have the same key.
    let at_fault = draft.fails_alone(complaint).and_then(|node| node.named_in(complaint));
    if let Some((_, place)) = at_fault {
        return place;
    }
    let nodes = draft.nodes().into_iter().chain([&file.training.node]);
    let named = nodes.filter_map(|node| node.named_in(complaint)).min_by_key(|(at, _)| *at);
    let by_kind = || draft.nodes().into_iter().filter_map(|node| Some((complaint.find(&format!("`{}`", node.kind()?))?, &node.place)));
    named.or_else(|| by_kind().min_by_key(|(at, _)| *at)).map_or(&draft.nodes()[0].place, |(_, place)| place)
}

/// Overlapping blocks would train, compare and count the same thing twice.
fn no_trial_twice(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let mut seen: HashMap<String, &Draft<'_>> = HashMap::new();
    for draft in drafts {
        for choice in draft.choices(&file.search.value) {
            if let Some(first) = seen.insert(choice.key(), draft) {
                return Err(twice(first, draft, &choice));
            }
        }
    }
    Ok(())
}

/// The name of a method tells it from the others in tables.
fn no_name_twice(drafts: &[Draft<'_>]) -> Result<()> {
    let mut seen: HashMap<&str, &Draft<'_>> = HashMap::new();
    for draft in drafts {
        if let Some(first) = seen.insert(&draft.names.method, draft) {
            let (here, there) = places_of_difference(draft, first);
            return Err(here.error(format!(
                "two methods would be called `{}`, first in line {}: what is searched differs, and their names do not; write them as one method",
                draft.names.method, there.line
            )));
        }
    }
    Ok(())
}

/// Where two methods stand: the first parts that are not at the same place.
fn places_of_difference<'a>(here: &Draft<'a>, there: &Draft<'a>) -> (&'a Place, &'a Place) {
    let mut pairs = here.nodes().into_iter().zip(there.nodes()).map(|(here, there)| (&here.place, &there.place));
    pairs.find(|(here, there)| here != there).unwrap_or((&here.nodes()[0].place, &there.nodes()[0].place))
}

fn twice(first: &Draft<'_>, second: &Draft<'_>, choice: &Choice) -> Error {
    let (here, there) = places_of_difference(second, first);
    let values = super::part::listed(&choice.parameters(), ", ");
    let line = there.line;
    let with = if values.is_empty() { String::new() } else { format!(" with {values}") };
    here.error(format!("`{}`{with} stands twice, first in line {line}; keep one", second.names.method))
}
