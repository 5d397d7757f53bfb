//! Ranks stored checkpoints on one part of a dataset and keeps every user's values.

use crate::{
    Error, Evaluation, MetricAt, Rankings, Result, Scorer, TrialValues,
    groups::{self, GroupValue},
    metric::{self, Given},
    part::RankedPart,
    rank,
    settings::Mask,
};
use dataset::{Dataset, FileEntry, Interactions, Location, Split, quote};
use std::sync::Arc;

/// A checkpoint to rank.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The trial's id.
    pub trial: String,
    /// The method that the trial is a seed of.
    pub method: String,
    /// The dataset's name.
    pub dataset: String,
    /// The trial's seed; `None` where the model fits at once.
    pub seed: Option<u64>,
    /// The seed of the split that it was trained on, where its dataset has repeated splits.
    pub split_seed: Option<u64>,
    /// The folder with the scorer.
    pub checkpoint: Location,
    /// What the scorer's description is, where the trial has a marker that says so.
    pub description: Option<FileEntry>,
}

impl Candidate {
    /// The stored model.
    ///
    /// # Errors
    /// As for [`Scorer::read`] and [`Scorer::read_marked`].
    pub fn scorer(&self) -> Result<Scorer> {
        match &self.description {
            Some(description) => Scorer::read_marked(&self.checkpoint, description),
            None => Scorer::read(&self.checkpoint),
        }
    }
}

/// Ranks every candidate on a part of the dataset, one after the other, each with all threads. `progress` hears of each one that is done.
///
/// On test, train items and histories to fold in are masked, and validation items unless `mask` is `train-only`; on validation, train items and
/// histories to fold in.
///
/// # Errors
/// [`Error::Settings`] for settings out of range; [`Error::Ranking`] for a part without a user to rank, or train. Of a single candidate
/// [`Error::Trial`], with the cause, for a checkpoint that cannot be read or does not fit the dataset, or a score that is not finite.
pub fn evaluate(
    dataset: &Dataset,
    split: Split,
    candidates: &[Candidate],
    settings: &Evaluation,
    memory: usize,
    progress: &mut dyn FnMut(&Candidate),
) -> Result<Vec<Result<TrialValues>>> {
    settings.check().map_err(|reason| Error::Settings { reason })?;
    let known = dataset.known();
    let own = dataset.own_nodes();
    let masked = masked(dataset, &known, own.as_ref(), split, settings.mask)?;
    let part = RankedPart::new(dataset, split, settings.users)?;
    let given = Given::new(settings.recall, &known, dataset.items());
    let task = EvaluationTask { dataset, known: &known, given, split, part, masked, settings, memory };
    let mut ids: Arc<[String]> = Arc::new([]);
    let values = candidates.iter().map(|candidate| {
        let mut values =
            task.values(candidate).map_err(|error| Error::Trial { trial: candidate.trial.clone(), source: Box::new(error) })?;
        // All trials of a dataset have the same users: their ids are kept once.
        if values.user_ids == ids {
            values.user_ids = Arc::clone(&ids);
        }
        ids = Arc::clone(&values.user_ids);
        progress(candidate);
        Ok(values)
    });
    Ok(values.collect())
}

/// The places of the test items of a model among all items, by the settings' users, mask and ties; metrics and sampled candidates are not looked at.
///
/// # Errors
/// [`Error::Ranking`] for a model and a dataset that do not fit, or no user to rank; [`Error::NotFinite`] for a score that is NaN or infinite.
pub fn rank_test(dataset: &Dataset, scorer: &Scorer, settings: &Evaluation, memory: usize) -> Result<Rankings> {
    let known = dataset.known();
    let own = dataset.own_nodes();
    let masked = masked(dataset, &known, own.as_ref(), Split::Test, settings.mask)?;
    let part = RankedPart::new(dataset, Split::Test, settings.users)?;
    rank::rank(&scorer.of_part(Split::Test), &known, &masked, &part.interactions, settings.ties, memory)
}

/// The items that are no candidates when a part is ranked: known ones, and nodes for themselves.
fn masked<'a>(
    dataset: &'a Dataset,
    known: &'a Interactions,
    own: Option<&'a Interactions>,
    split: Split,
    mask: Mask,
) -> Result<Vec<&'a Interactions>> {
    let more = match (split, mask) {
        (Split::Train, _) => {
            return Err(Error::Ranking { reason: "train is what models learn from; rank test or validation".to_owned() });
        }
        (Split::FoldIn, _) => {
            return Err(Error::Ranking { reason: "the fold-in is what models know of users; rank test or validation".to_owned() });
        }
        (Split::Test, Mask::TrainAndValidation) => Some(&dataset.validation),
        (Split::Test, Mask::TrainOnly) | (Split::Validation, _) => None,
    };
    Ok([known].into_iter().chain(more).chain(own).collect())
}

struct EvaluationTask<'a> {
    dataset: &'a Dataset,
    /// What a model may know of each user.
    known: &'a Interactions,
    given: Given<'a>,
    split: Split,
    part: RankedPart<'a>,
    masked: Vec<&'a Interactions>,
    settings: &'a Evaluation,
    memory: usize,
}

impl EvaluationTask<'_> {
    fn values(&self, candidate: &Candidate) -> Result<TrialValues> {
        let Self { dataset, known, given, split, part, masked, settings, memory } = self;
        let scorer = candidate.scorer()?;
        let scorer = scorer.of_part(*split);
        if scorer.items() != dataset.items() {
            let reason =
                format!("the scorer has {} items, the dataset {}; was it trained on another dataset?", scorer.items(), dataset.items());
            return Err(Error::Ranking { reason });
        }
        let metrics = settings.metric_ats();
        let (depth, cutoff) = (metric::depth(&metrics), metrics.iter().filter_map(|at| at.cutoff).max());
        let (held_out, ties) = (&*part.interactions, settings.ties);
        let ranked = match settings.sampled_candidates {
            Some(sample) => rank::rank_sampled(&scorer, known, masked, held_out, ties, *memory, depth.ranks, sample),
            None => rank::rank_within(&scorer, known, masked, held_out, ties, *memory, depth),
        };
        let rankings = ranked.map_err(|error| with_own_ids(error, dataset))?;
        let listed = rank::list_counts(&scorer, masked, &part.interactions, cutoff.unwrap_or(0))?;
        let values: Vec<(MetricAt, Vec<f64>)> = metrics.into_iter().map(|at| (at, metric::values(&rankings, at, given))).collect();
        Ok(TrialValues {
            trial: candidate.trial.clone(),
            method: candidate.method.clone(),
            dataset: candidate.dataset.clone(),
            seed: candidate.seed,
            split_seed: candidate.split_seed,
            split: *split,
            user_ids: rankings.users.iter().map(|&user| dataset.user_ids[user as usize].clone()).collect(),
            groups: self.groups(&rankings, &values),
            values,
            tied_users: rankings.tied_users(),
            listed,
            unknown_users: part.unknown_users,
            sampled_candidates: settings.sampled_candidates.map(|sample| sample.negatives),
            users: rankings.users,
        })
    }

    /// What was reached in groups: of items where lists were kept.
    fn groups(&self, rankings: &Rankings, values: &[(MetricAt, Vec<f64>)]) -> Vec<GroupValue> {
        let lengths: Vec<u32> = rankings.users.iter().map(|&user| self.known.row(user as usize).len() as u32).collect();
        let cutoffs = if rankings.depth().list > 0 { self.settings.cutoffs.as_slice() } else { &[] };
        let of_items = groups::of_items(rankings, &self.part.interactions, &self.given, cutoffs);
        [groups::of_users(&lengths, values), of_items].concat()
    }
}

/// The error with the dataset's own ids where it has dense ones.
fn with_own_ids(error: Error, dataset: &Dataset) -> Error {
    let Error::NotFinite { user, item } = error else { return error };
    let (user, item) = (quote::value(&dataset.user_ids[user as usize]), quote::value(&dataset.item_ids[item as usize]));
    Error::Ranking { reason: format!("the score of user `{user}` for item `{item}` is not finite") }
}
