//! `ranksweep export SWEEP.yaml --format FORMAT --out DIR`

use super::{Ending, Global, Usage, output};
use crate::{
    export::{ExportFormat, write_splits, write_vectors},
    model,
    plan::PlannedDataset,
    runner::{self, Session},
};
use anyhow::{Context, Result, bail};
use clap::Args;
use dataset::Location;
use std::collections::HashSet;

/// The splits of datasets, or the vectors of a trial, for other programs.
#[derive(Debug, Args)]
pub struct Export {
    /// The sweep file
    sweep: String,
    /// The dataset; when left out all of them, or that of the trial
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// The format: of splits, or of the vectors of a trial
    #[arg(long, value_enum)]
    format: ExportFormat,
    /// The method whose vectors are written, as the leaderboard calls it; its winner when left out
    #[arg(long, value_name = "NAME", conflicts_with = "trial")]
    method: Option<String>,
    /// The trial whose vectors are written; when left out the first picked one of the method, on the first split
    #[arg(long, value_name = "ID")]
    trial: Option<String>,
    /// The folder that the files go into; splits into a folder of each dataset's name in it, with the split's seed where it has several
    #[arg(short, long, value_name = "URL")]
    out: String,
}

impl Export {
    /// Writes. Datasets that are not prepared are prepared; for splits, files of models that other programs train need not be there yet.
    ///
    /// # Errors
    /// A format that does not fit, a dataset or a trial that does not exist, a model without vectors, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let out = Location::parse(&self.out).map_err(|error| Usage(format!("--out: {error}")))?;
        let text = if self.format.is_of_vectors() { self.vectors(&out, global) } else { self.splits(&out, global) }?;
        output::print(&text)?;
        Ok(Ending::Done)
    }

    fn vectors(&self, out: &Location, global: &Global) -> Result<String> {
        let session = Session::ran(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let model = model::read(&session, self.dataset.as_deref(), self.method.as_deref(), self.trial.as_deref())?;
        let similarity = write_vectors(out, &model, self.format, &|files| runner::check_out(&session, &self.sweep, files))?;
        let similarity = serde_json::to_value(similarity)?;
        let (trial, users, items) = (&model.trial, model.dataset.users(), model.dataset.items());
        Ok(format!(
            "{out}: vectors of {users} users and {items} items, by {} (trial {}); similarity: {}\n",
            trial.method,
            trial.trial,
            similarity.as_str().unwrap_or_default()
        ))
    }

    fn splits(&self, out: &Location, global: &Global) -> Result<String> {
        let flags = [("--trial", &self.trial), ("--method", &self.method)];
        if let Some((flag, _)) = flags.into_iter().find(|(_, given)| given.is_some()) {
            return Err(
                Usage(format!("{flag} is for the vectors of a trial: the format is one of npy, safetensors and parquet then")).into()
            );
        }
        let session = Session::of_datasets(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let names = session.plan.dataset_names();
        if let Some(name) = self.dataset.as_deref().filter(|name| !names.contains(name)) {
            return Err(Usage(format!("the sweep has no dataset `{name}`; it has {}", names.join(", "))).into());
        }
        runner::prepare(&session)?;
        let is_asked = |planned: &&PlannedDataset| self.dataset.as_deref().is_none_or(|name| planned.name() == name);
        let folder = |planned: &PlannedDataset| {
            planned.split_seed.map_or_else(|| planned.name().to_owned(), |seed| format!("{}-{seed}", planned.name()))
        };
        let mut folders = HashSet::new();
        if let Some(planned) = session.plan.datasets.iter().filter(is_asked).find(|planned| !folders.insert(folder(planned))) {
            let folder = folder(planned);
            bail!("two datasets would be written into the folder `{folder}`: export one at a time, by `--dataset`, or rename one");
        }
        let mut text = String::new();
        for planned in session.plan.datasets.iter().filter(is_asked) {
            let dataset = session.read_dataset(planned, true).with_context(|| format!("dataset {}", planned.quoted()))?;
            let check = |files: &[Location]| runner::check_out(&session, &self.sweep, files);
            let folder = write_splits(out, &folder(planned), &dataset, self.format, &check)?;
            let [train, validation, test] = [&dataset.train, &dataset.validation, &dataset.test].map(dataset::Interactions::len);
            let fold_in = dataset.fold_in.as_ref().map_or_else(String::new, |folded| format!(" {} fold-in,", folded.len()));
            text += &format!(
                "{folder}: {train} train,{fold_in} {validation} validation and {test} test interactions of {} users and {} items\n",
                dataset.users(),
                dataset.items()
            );
        }
        Ok(text)
    }
}
