//! `ranksweep theory bounds|dro|opauc|quantiles|rg`

use super::{Ending, Global, Usage, output};
use crate::{
    model::{self, Model},
    report::Style,
    runner::Session,
    study::{self, Study, opauc::Lists, quantiles},
};
use anyhow::Result;
use clap::{Args, Subcommand};
use dataset::Location;
use evaluator::{evaluate::rank_test, settings::Evaluation};
use std::collections::BTreeSet;
use theory::{bounds::Grid, opauc};

/// The statements of the papers about losses and metrics, recomputed.
#[derive(Debug, Args)]
pub struct Theory {
    #[command(subcommand)]
    question: Question,
    /// The folder for the tables and the picture
    #[arg(short, long, global = true, value_name = "URL", default_value = "theory")]
    out: String,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// The probability that a loss of sampled negatives bounds -log NDCG and -log RR (paper 000, Theorem 2, Figure 6)
    Bounds(Bounds),
    /// Whether hard negative sampling is distributionally robust optimisation, and which negatives it trains on (paper 003, Lemma 1,
    /// Theorems 1 and 2, Figure 7)
    Dro(Dro),
    /// How closely partial areas under the ROC curve follow metrics of the list's head (paper 003, Theorem 3, Figure 6)
    Opauc(Opauc),
    /// What softmax-at-k bounds, and how well its quantile is estimated, of a trained model or of normal scores (paper 001, Theorems 3.1 and 3.2)
    Quantiles(Quantiles),
    /// Whether the quadratic forms of the softmax loss are upper bounds (paper 004, Proposition 7)
    Rg(Rg),
}

#[derive(Debug, Args)]
struct Bounds {
    /// Ranks of the positive
    #[arg(long, value_delimiter = ',', default_value = "1,2,3,5,10,50,100,500")]
    ranks: Vec<u64>,
    /// Numbers of sampled negatives
    #[arg(long, value_delimiter = ',', default_value = "1,10,100,500")]
    negatives: Vec<u64>,
    /// All negatives of the user
    #[arg(long, default_value_t = 1_000)]
    population: u64,
    /// Those of them that score at least 0, for BCE; two in five when left out
    #[arg(long)]
    nonnegative: Option<u64>,
}

#[derive(Debug, Args)]
struct Dro {
    /// Negatives of a user
    #[arg(long, default_value_t = 1_000)]
    negatives: u32,
    /// The seed of the random users
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct Opauc {
    #[command(flatten)]
    stored: TrainedModelArguments,
    /// Positives of a permuted list
    #[arg(long, default_value_t = 200)]
    positives: u32,
    /// Negatives of a permuted list
    #[arg(long, default_value_t = 800)]
    negatives: u32,
    /// Permuted lists
    #[arg(long, default_value_t = 100_000)]
    permutations: u32,
    /// Where metrics cut
    #[arg(long, value_delimiter = ',', default_value = "5,10,20,50,100")]
    cutoffs: Vec<u32>,
    /// The seed of the permutations
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct Quantiles {
    #[command(flatten)]
    stored: TrainedModelArguments,
    /// Without a sweep file: how many normal scores
    #[arg(long, default_value_t = 8_360, conflicts_with = "sweep")]
    items: u32,
    /// K: the quantile is the K-th largest score, of Theorem 3.2 the next one below it
    #[arg(long, default_value_t = 20)]
    cutoff: u32,
    /// Numbers of items that an estimate draws
    #[arg(long, value_delimiter = ',', default_value = "50,100,200,500,1000,2000,5000")]
    negatives: Vec<u32>,
    /// How far off an estimate may be, for Theorem 3.2
    #[arg(long, default_value_t = 0.2)]
    error: f64,
    /// The seed of all draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct Rg {
    /// Items of a list
    #[arg(long, default_value_t = 10)]
    items: u32,
    /// The seed of the random scores
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A trained model to look at.
#[derive(Debug, Args)]
struct TrainedModelArguments {
    /// A sweep that has run: one of its models is looked at too
    sweep: Option<String>,
    /// The dataset; may be left out where the sweep has one, or a trial is named
    #[arg(long, value_name = "NAME", requires = "sweep")]
    dataset: Option<String>,
    /// The trial; the first picked one of the leaderboard's winner when left out
    #[arg(long, value_name = "ID", requires = "sweep")]
    trial: Option<String>,
}

impl Theory {
    /// Computes, writes and prints.
    ///
    /// # Errors
    /// Values out of range, a sweep that has not run, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let folder = Location::parse(&self.out).map_err(|error| Usage(format!("--out: {error}")))?;
        let study = match &self.question {
            Question::Bounds(question) => question.study()?,
            Question::Dro(question) => question.study()?,
            Question::Opauc(question) => question.study(global)?,
            Question::Quantiles(question) => question.study(global)?,
            Question::Rg(question) => question.study()?,
        };
        let written = study.write(&folder)?;
        let style = Style { width: output::width(), color: output::is_colored() };
        output::print(&format!("{}{folder}: {}\n", study.text(style), written.join(", ")))?;
        Ok(Ending::Done)
    }
}

impl Bounds {
    fn study(&self) -> Result<Study> {
        let nonnegative = self.nonnegative.unwrap_or(self.population.saturating_mul(2) / 5);
        let grid = Grid { ranks: ascending(&self.ranks), negatives: ascending(&self.negatives), population: self.population, nonnegative };
        grid.check()?;
        study::bounds::study(&grid)
    }
}

/// The numbers in order, each once.
fn ascending(numbers: &[u64]) -> Vec<u64> {
    numbers.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

impl Dro {
    fn study(&self) -> Result<Study> {
        theory::within("negatives", self.negatives.into(), study::dro::LEAST, study::dro::MOST, "")?;
        study::dro::study(self.negatives, self.seed)
    }
}

impl Opauc {
    fn study(&self, global: &Global) -> Result<Study> {
        let Self { positives, negatives, permutations, ref cutoffs, seed, .. } = *self;
        let settings = opauc::Study { positives, negatives, permutations, cutoffs: cutoffs.clone() };
        settings.check()?;
        let model = self.stored.read(global)?;
        let lists = model.map(|(session, model)| lists(&session.plan.evaluation, model, global.memory)).transpose()?;
        study::opauc::study(&settings, seed, lists.as_ref())
    }
}

/// The ranks of the test items among the whole catalogue, by the sweep's users, mask and ties.
fn lists(evaluation: &Evaluation, model: Model, memory: usize) -> Result<Lists> {
    let Model { trial, dataset, scorer, .. } = model;
    Ok(Lists {
        title: format!("{} on {}", trial.method, trial.dataset),
        trial: trial.trial,
        rankings: rank_test(&dataset, &scorer, evaluation, memory)?,
    })
}

impl Quantiles {
    fn study(&self, global: &Global) -> Result<Study> {
        let settings =
            quantiles::QuantileSettings { cutoff: self.cutoff, negatives: self.negatives.clone(), error: self.error, seed: self.seed };
        let model = self.stored.read(global)?;
        settings.check(model.as_ref().map_or(self.items, |(_, model)| model.scorer.items() as u32))?;
        let (subject, rows) = match &model {
            Some((_, model)) => (quantiles::model::subject(model), quantiles::model::rows(model, &settings, global.memory)?),
            None => (quantiles::normal::subject(self.items), quantiles::normal::rows(self.items, &settings)),
        };
        quantiles::study(&subject, &settings, &rows)
    }
}

impl Rg {
    fn study(&self) -> Result<Study> {
        theory::within("items", self.items.into(), 2, 10_000, "")?;
        study::rg::study(self.items, self.seed)
    }
}

impl TrainedModelArguments {
    fn read(&self, global: &Global) -> Result<Option<(Session, Model)>> {
        let Some(sweep) = &self.sweep else { return Ok(None) };
        let session = Session::open(sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let model = model::read(&session, self.dataset.as_deref(), None, self.trial.as_deref())?;
        Ok(Some((session, model)))
    }
}
