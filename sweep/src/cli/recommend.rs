//! `ranksweep recommend SWEEP.yaml`

use super::{Ending, Global, Usage, output};
use crate::{
    histories::Histories,
    model::{self, Model},
    number,
    recommend::{self, ListFormat, Request, Seen, Written},
    runner::{self, Session},
};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use dataset::Location;
use models::{FoldIn, FoldInSettings, NewNodes, NewUsers, RIDGE, Trained};

/// Top-K lists with the users' and items' own ids.
#[derive(Debug, Args)]
pub struct Recommend {
    /// The sweep file
    sweep: String,
    /// The dataset; may be left out where the sweep has one, or a trial is named
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// The method whose model ranks, as the leaderboard calls it; its winner when left out
    #[arg(long, value_name = "NAME", conflicts_with = "trial")]
    method: Option<String>,
    /// The trial whose model ranks; when left out the first picked one of the method, on the first split
    #[arg(long, value_name = "ID")]
    trial: Option<String>,
    /// Items for each user
    #[arg(short, long, value_name = "K", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    k: u32,
    /// A file with one user id per line; all users when left out
    #[arg(long, value_name = "FILE")]
    users: Option<String>,
    /// Lists for new users instead, from their histories: a CSV or Parquet table with the columns `user_id` and `item_id`, own ids; models of sequences read a user's rows in
    /// their order, of an item that comes again its last
    #[arg(long, value_name = "FILE", conflicts_with = "users")]
    histories: Option<String>,
    /// Weight of the penalty on a new user's vector, where a model folds histories in by ridge regression (docs/kinds.md); when left out the trial's own, by which it was
    /// validated, 10 where it has none
    #[arg(long, value_name = "WEIGHT", requires = "histories", value_parser = positive)]
    ridge: Option<f64>,
    /// How new users come to the graph of a model over the train graph: `joint` lets them change the vectors of items and of each other; when left out the trial's own,
    /// `attach` where it has none
    #[arg(long, value_enum, requires = "histories")]
    fold_in: Option<GraphFoldIn>,
    /// Whether items that the user already has may appear
    #[arg(long, value_enum, default_value_t = Seen::Exclude)]
    seen: Seen,
    /// The model that `refit` trained on all interactions, in place of the trial's own
    #[arg(long)]
    refit: bool,
    /// Where the lists go, as the suffix says: .parquet, .csv or .jsonl; a link is followed, and a pipe or /dev/stdout is written into, as Parquet
    #[arg(short, long, value_name = "URL", default_value = "recommendations.parquet")]
    out: String,
}

impl Recommend {
    /// Ranks and writes.
    ///
    /// # Errors
    /// An unknown suffix, a sweep that has not run, a dataset, trial or user that does not exist, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let out = Location::parse(&self.out).map_err(|error| Usage(format!("--out: {error}")))?;
        let format = ListFormat::of(out.name()).map_err(|error| Usage(format!("--out: {error}")))?;
        if self.refit && self.seen == Seen::Evaluate {
            return Err(Usage("--seen evaluate: with --refit a model has learned the test part, so that its lists cannot be judged against it: leave one of the two out".to_owned()).into());
        }
        let session = Session::ran(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        runner::check_out(&session, &self.sweep, std::slice::from_ref(&out))?;
        let mut model = model::read(&session, self.dataset.as_deref(), self.method.as_deref(), self.trial.as_deref())?;
        if self.refit {
            (model.dataset, model.stored) = runner::refitted(&session, &model.trial.trial, model.dataset)?;
            model.scorer = model.stored.0.scorer(&model.stored.1)?;
        }
        let (Model { trial, dataset, scorer, .. }, Folded { users, left_out }) = self.folded(&session, model)?;
        let users = match &self.users {
            Some(file) => Some(recommend::read_users(&Location::parse(file)?)?),
            None => users,
        };
        let request = Request { k: self.k as usize, users: users.as_deref(), seen: self.seen, format, memory: global.memory };
        let is_stdout = output::is_stdout(&out);
        let Written { users, without, unknown } = recommend::write(&out, &dataset, &scorer, &request)?;
        let unknown = match unknown {
            0 => String::new(),
            1 => "; 1 of them has no train interaction, so that the model knows nothing of it".to_owned(),
            unknown => format!("; {unknown} of them have no train interaction, so that the model knows nothing of them"),
        };
        let without = match without {
            0 => String::new(),
            1 => "; 1 user has no list, as nothing is left to recommend to it".to_owned(),
            without => format!("; {without} users have no list, as nothing is left to recommend to them"),
        };
        let planned = session.plan.dataset_of(session.plan.trial_named(&trial.trial)?.2);
        let split = planned.repetition().map_or_else(String::new, |which| format!(", {which}"));
        let (method, trial) = (trial.method, trial.trial);
        let everything = if self.refit { ", trained on all interactions of the prepared dataset" } else { "" };
        let text = format!(
            "{out}: lists of up to {} for {}, by {method} (trial {trial}{split}{everything}){without}{unknown}{left_out}\n",
            number::counted(self.k as usize, "item"),
            number::counted(users, "user")
        );
        if is_stdout { output::print_aside(&text) } else { output::print(&text) }?;
        Ok(Ending::Done)
    }

    /// The model with the users of `--histories` in place of its own, or beside them, where they are asked for.
    fn folded(&self, session: &Session, model: Model) -> Result<(Model, Folded)> {
        let Some(file) = &self.histories else { return Ok((model, Folded::default())) };
        let Model { trial, dataset, scorer, stored } = model;
        let histories = Histories::read(&Location::parse(file).map_err(|error| Usage(format!("--histories: {error}")))?, &dataset)?;
        let trained = &session.plan.trial_named(&trial.trial)?.2.trial;
        let backbone = &trained.backbone;
        let how = backbone.how_to_fold_in();
        let unused = [
            ("--ridge", self.ridge.is_some() && !matches!(how, FoldIn::Ridge | FoldIn::Unknown(_)), "weighs a ridge regression"),
            (
                "--fold-in",
                self.fold_in.is_some() && !matches!(how, FoldIn::Attached | FoldIn::Unknown(_)),
                "says how users come to a train graph",
            ),
        ];
        if let Some((flag, _, what)) = unused.into_iter().find(|(_, is_unused, _)| *is_unused) {
            let words = format!("{flag} {what}, and {} (trial {}) folds histories in another way", trial.method, trial.trial);
            return Err(Usage(format!("{words}; leave it out")).into());
        }
        let parameters = stored.0.parameters(&stored.1)?;
        let named = parameters.iter().map(|(name, matrix)| (&name[..], matrix)).collect();
        let left_out = histories.left_out();
        let Histories { user_ids, items, places, .. } = histories;
        let users = NewUsers::beside(dataset, user_ids.clone(), &items, places);
        let settings = FoldInSettings {
            ridge: self.ridge.or(trained.ridge).unwrap_or(RIDGE),
            nodes: self.fold_in.map(NewNodes::from).or(trained.fold_in).unwrap_or_default(),
        };
        let scorer = backbone
            .fold_in(Trained { scorer, parameters: named }, &users, settings)
            .with_context(|| format!("{} (trial {})", trial.method, trial.trial))?;
        // Whoever is scored by neighbours needs theirs beside them.
        let is_among = matches!(how, FoldIn::Neighbours(_));
        let dataset = if is_among { users.into_dataset() } else { users.alone() };
        Ok((Model { trial, dataset, scorer, stored }, Folded { users: is_among.then_some(user_ids), left_out }))
    }
}

/// `--fold-in`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum GraphFoldIn {
    Attach,
    Joint,
}

impl From<GraphFoldIn> for NewNodes {
    fn from(asked: GraphFoldIn) -> Self {
        match asked {
            GraphFoldIn::Attach => Self::Attach,
            GraphFoldIn::Joint => Self::Joint,
        }
    }
}

/// What is to be known of users from `--histories`.
#[derive(Default)]
struct Folded {
    /// Their own ids, where the model has other users too.
    users: Option<Vec<String>>,
    /// What was left out of their histories, in words.
    left_out: String,
}

/// A number above 0.
fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|value: &f64| *value > 0.0 && value.is_finite()).ok_or_else(|| "expected a number above 0".to_owned())
}
