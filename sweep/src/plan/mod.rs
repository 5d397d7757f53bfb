//! The sweep resolved: datasets with fingerprints, methods, and trials with ids. Stored as `plan.json`.

mod batches;
mod check;
mod draft;
mod draw;
mod estimate;
mod label;
pub(crate) mod model_files;
mod origin;
mod part;
mod planned;
mod reproduction;
mod rungs;
mod scaling;
mod search;
mod show;
mod significance;
mod space;
pub(crate) mod title;
mod titles;

pub use batches::{Batches, batches};
pub use estimate::{Estimate, PROGRAM};
pub use part::plain;
pub use planned::PlannedDataset;
pub use reproduction::{PlannedClaim, Printed, PrintedValue};
pub use rungs::{Rung, promoted};
pub use show::{Found, show};
pub use significance::{PairError, Pilot, tests as show_tests};
pub use space::Spaces;
pub(crate) use titles::Titles;

use crate::file::{DatasetEntry, Result, Search, SweepFile, environment, printed};
use anyhow::Context;
use dataset::{FileEntry, Location};
use draft::{Choice, Draft};
use evaluator::{Evaluation, MetricAt, settings::Family};
use models::{FoldIn, NewNodes};
use pipeline::Preparation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use trainer::{Backbone, Iterations, Learning, ModelFiles, Trial, trial::TRAINER_VERSION};

/// All that a sweep will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The sweep's name.
    pub name: String,
    /// The datasets, in the order of the sweep file; of one with several splits each of them, one after the other.
    pub datasets: Vec<PlannedDataset>,
    /// The methods: by dataset, then in the order of the grid.
    pub methods: Vec<Method>,
    /// The validation metric that picks values.
    pub select_by: MetricAt,
    /// The metrics and the tests.
    pub evaluation: Evaluation,
    /// Which configurations are trained, and how far.
    #[serde(default, skip_serializing_if = "Search::is_default")]
    pub search: Search,
    /// The epochs of the search's rungs, the last of which are all of a training's; none where every trial is trained to its end at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rung_epochs: Vec<u32>,
    /// The numbers that a paper prints of the methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Printed>,
    /// The claims of a paper about the methods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<PlannedClaim>,
}

/// One row of the leaderboard: kinds and fixed values on one dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// The name in tables, unique on a dataset: `mf-64 / softmax-at-k(20) / uniform-1000`.
    pub label: String,
    /// The dataset's name.
    pub dataset: String,
    /// The backbone's part of the label.
    pub backbone: String,
    /// The loss's part of the label.
    pub loss: Option<String>,
    /// The sampler's part of the label.
    pub sampler: Option<String>,
    /// The combinations of tuned values that the search takes: all of a grid, some of it, or values drawn from ranges. One where nothing
    /// is tuned.
    pub configurations: Vec<Configuration>,
    /// The values that the configurations were drawn from; `None` where they are the whole grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn_from: Option<DrawnFrom>,
}

/// The values that configurations are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawnFrom {
    /// This many combinations of listed values.
    Combinations(u64),
    /// Ranges, and values listed beside them.
    Ranges,
}

/// A method with every value fixed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The tuned values: those that differ between the combinations that the sweep file has of the method.
    pub values: Map<String, Value>,
    /// All values, by name: `backbone.dim`, `loss.temperature`, `optimizer.learning_rate`.
    pub parameters: Map<String, Value>,
    /// One trial for each split of the dataset and each seed; of a split one after the other.
    pub trials: Vec<PlannedTrial>,
}

impl Configuration {
    /// The tuned values in words: `loss.temperature=0.1 optimizer.learning_rate=0.01`.
    pub fn words(&self) -> String {
        part::listed(&self.values, " ")
    }
}

/// A trial and its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedTrial {
    /// The folder under `trials/`.
    pub id: String,
    /// The seed of its split, where its dataset has several splits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_seed: Option<u64>,
    /// The trial, which is all that determines the result.
    pub trial: Trial,
}

impl Method {
    /// The parts of the method's titles.
    fn named(&self) -> title::MethodName<'_> {
        title::MethodName { key: &self.label, backbone: &self.backbone, loss: self.loss.as_deref(), sampler: self.sampler.as_deref() }
    }
}

impl PlannedTrial {
    /// The seed; `None` for backbones that fit at once.
    pub fn seed(&self) -> Option<u64> {
        self.trial.seed()
    }
}

/// A trial with the method and the configuration it belongs to.
pub type PlannedRef<'a> = (&'a Method, &'a Configuration, &'a PlannedTrial);

/// A sweep file that holds together, not yet bound to the content of its datasets.
pub struct Checked<'a> {
    file: &'a SweepFile,
    drafts: Vec<Draft<'a>>,
}

/// Spreads the grid out and checks all that can be checked without reading data.
///
/// # Errors
/// Values out of range, combinations that cannot be, and methods or trials that stand twice, each with its place.
pub fn check(file: &SweepFile) -> Result<Checked<'_>> {
    check::methods(file)?;
    let drafts = draft::drafts(file);
    check::whole(file, &drafts)?;
    Ok(Checked { file, drafts })
}

impl Checked<'_> {
    /// How many splits there are of all datasets.
    pub(crate) fn splits(&self) -> usize {
        self.file.splits().count()
    }

    /// The plan, from the fingerprint of each split of each dataset, in the order of [`SweepFile::splits`]. The files of models that other programs
    /// trained are read.
    ///
    /// # Errors
    /// When two datasets have the same content, a claim is of what the sweep does not have, or a file cannot be read.
    pub fn plan(&self, fingerprints: &[String]) -> Result<Plan> {
        let mut known: HashMap<String, FileEntry> = HashMap::new();
        self.plan_of(fingerprints, &mut |path| match known.get(path) {
            Some(entry) => Ok(entry.clone()),
            None => Ok(known.entry(path.to_owned()).or_insert(content(path)?).clone()),
        })
    }

    /// The settings of evaluation, which know a method by its key, whatever the sweep file calls it.
    fn evaluation(&self) -> Evaluation {
        let mut evaluation = self.file.evaluation.value.with_primary(self.file.select_by.value);
        let names = check::method_names(&self.drafts);
        if let Family::Against(method) = &mut evaluation.significance.family
            && let title::Meant::One(place) = names.find(method)
        {
            *method = names.key(place).to_owned();
        }
        evaluation
    }

    /// The plan as [`plan`](Self::plan) makes it, with what is known of the files of models that other programs trained.
    pub(crate) fn plan_of(&self, fingerprints: &[String], contents: model_files::Contents<'_>) -> Result<Plan> {
        check::different_content(self.file, fingerprints)?;
        let planned = |((entry, preparation), fingerprint): ((&DatasetEntry, &Preparation), &String)| PlannedDataset {
            fingerprint: fingerprint.clone(),
            split_seed: preparation.split.repetition().filter(|_| entry.is_repeated()),
            preparation: entry.as_typed(preparation),
        };
        let datasets: Vec<PlannedDataset> = self.file.splits().zip(fingerprints).map(planned).collect();
        let repeated = datasets.chunk_by(|one, next| one.name() == next.name());
        let mut methods = Vec::new();
        for splits in repeated {
            for draft in &self.drafts {
                methods.push(method(self.file, draft, splits, contents)?);
            }
        }
        let epochs: Vec<u32> = draft::trainings(self.file, &self.drafts).into_iter().map(|training| training.epochs).collect();
        let plan = Plan {
            name: self.file.name.value.clone(),
            datasets,
            methods,
            select_by: self.file.select_by.value,
            evaluation: self.evaluation(),
            search: self.file.search.value.clone(),
            rung_epochs: rungs::epochs(&self.file.search.value, &epochs),
            printed: None,
            claims: Vec::new(),
        };
        plan.with_claims(self.file)
    }
}

impl Checked<'_> {
    /// The plan as [`plan`](Self::plan) makes it, with the numbers of the table that the sweep file names as `printed`.
    ///
    /// # Errors
    /// Those of [`plan`](Self::plan), and a table that cannot be read, or has no number of this sweep.
    pub fn plan_with_printed(&self, fingerprints: &[String]) -> Result<Plan> {
        let plan = self.plan(fingerprints)?;
        match &self.file.printed {
            Some(table) => plan.with_printed(table, &printed::lines(table)?),
            None => Ok(plan),
        }
    }
}

impl Plan {
    /// All trials in the plan's order, each with its method and configuration. `train --index N` counts along it.
    pub fn trials(&self) -> impl Iterator<Item = PlannedRef<'_>> {
        self.methods.iter().flat_map(|method| {
            method
                .configurations
                .iter()
                .flat_map(move |configuration| configuration.trials.iter().map(move |trial| (method, configuration, trial)))
        })
    }

    /// The trial at a place of the plan, from 0.
    ///
    /// # Errors
    /// When the plan is shorter.
    pub fn trial_at(&self, index: usize) -> anyhow::Result<PlannedRef<'_>> {
        let count = self.trials().count();
        self.trials().nth(index).with_context(|| format!("there is no trial {index}: the plan has {count}, counted from 0"))
    }

    /// The trial with an id.
    ///
    /// # Errors
    /// When the plan has none.
    pub fn trial_named(&self, id: &str) -> anyhow::Result<PlannedRef<'_>> {
        self.trials()
            .find(|(.., trial)| trial.id == id)
            .with_context(|| format!("no trial of the plan has the id `{id}`; `ranksweep plan` lists them"))
    }

    /// The text of `plan.json`.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a plan is plain data") + "\n"
    }

    /// The first digits of a hash of `plan.json`, by which a stored plan is named.
    pub fn hash(&self) -> String {
        hex::encode(&Sha256::digest(self.to_json())[..8])
    }

    /// Whether another plan is this one but for how paths of source files are written: the fingerprints say what they hold.
    pub(crate) fn is_same_content(&self, other: &Self) -> bool {
        let mut other = other.clone();
        for (other, own) in other.datasets.iter_mut().zip(&self.datasets) {
            if other.fingerprint == own.fingerprint {
                other.preparation.source = own.preparation.source.clone();
            }
        }
        *self == other
    }

    /// The names of the methods of a dataset.
    pub(crate) fn names_on(&self, dataset: &str) -> title::MethodNames<'_> {
        title::MethodNames::new(self.methods.iter().filter(|method| method.dataset == dataset).map(Method::named).collect())
    }

    /// The dataset, or the split of it, that a trial of the plan is trained on.
    ///
    /// # Panics
    /// When the trial is of another plan.
    pub fn dataset_of(&self, trial: &PlannedTrial) -> &PlannedDataset {
        self.datasets.iter().find(|dataset| dataset.is_of(trial)).expect("a trial's dataset is in its plan")
    }

    /// The names of the datasets, each once.
    pub fn dataset_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.datasets.iter().map(PlannedDataset::name).collect();
        names.dedup();
        names
    }
}

/// A method on a dataset, all of whose splits are given.
fn method(file: &SweepFile, draft: &Draft<'_>, splits: &[PlannedDataset], contents: model_files::Contents<'_>) -> Result<Method> {
    let (tuned, defaults) = draft.tuned();
    let mut on_split = |choice: &Choice, split: &PlannedDataset| {
        let planned = |trial: Trial| {
            let ridge = folds_in_by_ridge(&trial.backbone, &split.preparation).then_some(file.ridge.value);
            let is_joint = file.fold_in.value != NewNodes::default() && attaches(&trial.backbone, &split.preparation);
            let fold_in = is_joint.then_some(file.fold_in.value);
            let trial = model_files::read(Trial { ridge, fold_in, ..trial }, draft, split, contents)?;
            Ok(PlannedTrial { id: trial.id(), split_seed: split.split_seed, trial })
        };
        resolve(file, choice, &split.fingerprint).map(planned).collect::<Result<Vec<_>>>()
    };
    let configuration = |choice: &Choice| {
        let mut parameters = defaults.clone();
        parameters.extend(choice.parameters());
        let trials = splits.iter().map(|split| on_split(choice, split)).collect::<Result<Vec<_>>>()?;
        Ok(Configuration {
            values: parameters
                .iter()
                .filter(|(name, _)| tuned.contains(*name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            parameters,
            trials: trials.concat(),
        })
    };
    let configurations: Vec<Configuration> = draft.choices(&file.search.value).iter().map(configuration).collect::<Result<_>>()?;
    let names = draft.names.clone();
    Ok(Method {
        label: names.method,
        dataset: splits[0].name().to_owned(),
        backbone: names.backbone,
        loss: names.loss,
        sampler: names.sampler,
        drawn_from: match draft.range() {
            Some(_) => Some(DrawnFrom::Ranges),
            None => Some(draft.listed()).filter(|&listed| listed > configurations.len() as u64).map(DrawnFrom::Combinations),
        },
        configurations,
    })
}

/// Whether a model is given users whom no training sees by a ridge regression.
fn folds_in_by_ridge(backbone: &Backbone, preparation: &Preparation) -> bool {
    let by_ridge = matches!(backbone.how_to_fold_in(), FoldIn::Ridge);
    preparation.split.holds_users_out() && !backbone.is_pretrained() && by_ridge
}

/// Whether users whom no training sees come to a model's train graph.
fn attaches(backbone: &Backbone, preparation: &Preparation) -> bool {
    preparation.split.holds_users_out() && matches!(backbone.how_to_fold_in(), FoldIn::Attached)
}

/// Size and checksum of a file of a model, whose path is as typed.
fn content(path: &str) -> std::result::Result<FileEntry, String> {
    let at = environment::expanded(path).and_then(|path| Location::parse(&path).map_err(|error| error.to_string()))?;
    if at.is_pipe_or_device() {
        return Err(format!("{at} is a pipe or a device, expected a file, as it is read several times"));
    }
    at.read().map(|content| FileEntry::of(&content)).map_err(|error| crate::chain::chain(&error.into()))
}

/// How a trial comes to its model: from a loss, in epochs of its own, or from files; at once where it has none of these.
type Way = (Option<Learning>, Option<Iterations>, Option<ModelFiles>);

/// A configuration's trials on a dataset: one for each seed, or a single one for what fits without sampling. The files of a model that another
/// program trained are not read yet.
fn resolve(file: &SweepFile, choice: &Choice, dataset: &str) -> impl Iterator<Item = Trial> {
    let (training, seeds) = (choice.training.as_ref().unwrap_or(&file.training.value), &file.seeds.value);
    let ways: Vec<Way> = match &choice.way {
        None if choice.backbone.is_pretrained() => {
            model_files::unread(&choice.backbone, seeds).into_iter().map(|files| (None, None, Some(files))).collect()
        }
        None if choice.backbone.has_epochs() => seeds.iter().map(|&seed| (None, Some(Iterations::of(training, seed)), None)).collect(),
        None => vec![(None, None, None)],
        Some((loss, sampler, optimizer)) => seeds
            .iter()
            .map(|&seed| {
                let (loss, sampler, optimizer) = (loss.clone(), sampler.clone(), optimizer.clone());
                (Some(Learning { loss, sampler, optimizer, training: training.clone(), seed }), None, None)
            })
            .collect(),
    };
    let (backbone, select_by, dataset) = (choice.backbone.clone(), file.select_by.value, dataset.to_owned());
    let trial = move |(learning, iterations, files): Way| Trial {
        version: TRAINER_VERSION,
        revision: learning.as_ref().map_or(0, |learning| learning.loss_revision(&backbone)),
        backbone_revision: backbone.revision(),
        sampler_revision: learning.as_ref().map_or(0, |learning| learning.sampler_revision(&backbone)),
        dataset: dataset.clone(),
        backbone: backbone.clone(),
        learning,
        iterations,
        files,
        ridge: None,
        fold_in: None,
        select_by,
    };
    ways.into_iter().map(trial)
}

#[cfg(test)]
mod tests;
