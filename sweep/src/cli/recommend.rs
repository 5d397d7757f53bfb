//! `ranksweep recommend SWEEP.yaml`

use super::{Ending, Global, Usage, output};
use crate::{
    recommend::{self, Request, Seen},
    runner::{self, Session},
    tables::{self, TrialRow},
};
use anyhow::{Context, Result, bail};
use clap::Args;
use dataset::{Dataset, Location};
use evaluator::Scorer;

/// Top-K lists with the users' and items' own ids, as Parquet.
#[derive(Debug, Args)]
pub struct Recommend {
    /// The sweep file
    sweep: String,
    /// The dataset; may be left out where the sweep has one
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// The trial whose model ranks; the first picked one of the leaderboard's winner when left out
    #[arg(long, value_name = "ID")]
    trial: Option<String>,
    /// Items for each user
    #[arg(short, long, value_name = "K", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    k: u32,
    /// A file with one user id per line; all users when left out
    #[arg(long, value_name = "FILE")]
    users: Option<String>,
    /// Whether items that the user already has may appear
    #[arg(long, value_enum, default_value_t = Seen::Exclude)]
    seen: Seen,
    /// Where the lists go
    #[arg(short, long, value_name = "URL", default_value = "recommendations.parquet")]
    out: String,
}

impl Recommend {
    /// Ranks and writes.
    ///
    /// # Errors
    /// A sweep that has not run, a dataset, trial or user that does not exist, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let out = Location::parse(&self.out).map_err(|error| Usage(format!("--out: {error}")))?;
        let name = self.dataset(&session)?;
        runner::check_plan(&session)?;
        let trial = self.trial(&session, name)?;
        let dataset = Dataset::read(&session.dataset(name)).with_context(|| format!("dataset `{name}`"))?;
        let scorer = Scorer::read(&session.trial(&trial.trial).join("checkpoint"))?;
        let users = self.users.as_deref().map(|file| recommend::read_users(&Location::parse(file)?)).transpose()?;
        let request = Request { k: self.k as usize, users: users.as_deref(), seen: self.seen, memory: global.memory };
        let written = recommend::write(&out, &dataset, &scorer, &request)?;
        output::print(&format!(
            "{out}: lists of up to {} items for {written} users, by {} (trial {})\n",
            self.k, trial.method, trial.trial
        ))?;
        Ok(Ending::Done)
    }

    fn dataset<'a>(&self, session: &'a Session) -> Result<&'a str, Usage> {
        let names: Vec<&str> = session.plan.datasets.iter().map(|dataset| dataset.preparation.name.as_str()).collect();
        match &self.dataset {
            Some(name) => {
                let found = names.iter().find(|other| *other == name);
                found.copied().ok_or_else(|| Usage(format!("the sweep has no dataset `{name}`; it has {}", names.join(", "))))
            }
            None if names.len() > 1 => {
                Err(Usage(format!("the sweep has several datasets ({}); pick one with --dataset", names.join(", "))))
            }
            None => Ok(names[0]),
        }
    }

    fn trial(&self, session: &Session, dataset: &str) -> Result<TrialRow> {
        let missing = "the sweep has no tables yet; run `ranksweep run` first";
        let trials = tables::trials::read(&session.folder().join("trials.parquet")).context(missing)?;
        let found = match &self.trial {
            Some(id) => trials.iter().find(|row| row.trial == *id && row.dataset == dataset),
            None => {
                let rows = tables::leaderboard::read(&session.folder().join("leaderboard.parquet")).context(missing)?;
                recommend::best(&rows, &trials, dataset)
            }
        };
        match (found, &self.trial) {
            (Some(row), _) => Ok(row.clone()),
            (None, Some(id)) => Err(Usage(format!("no trial of the sweep on `{dataset}` has the id `{id}`")).into()),
            (None, None) => bail!("no method has a result on `{dataset}`"),
        }
    }
}
