//! The flags and the work of `ranksweep-evaluator` and of `ranksweep evaluate --checkpoints`.

mod checkpoints;
mod size;
mod summary;

pub use size::parse as parse_size;
pub use summary::Summary;

use crate::{
    Error, Evaluation, Metric, MetricAt, Result, TrialValues,
    evaluate::{Candidate, evaluate},
    findings::{self, Findings},
    settings::{Correction, Margin, Mask, Over, RecallDenominator, SampledCandidates, Significance, Test, Ties, Users},
    tables,
};
use dataset::{Dataset, Location, Split};
use serde::de::{DeserializeOwned, value::StrDeserializer};
use std::collections::HashSet;

/// Ranks the full catalogue with stored checkpoints and writes metrics, per-user values and tests as Parquet tables.
#[derive(Clone, Debug, clap::Args)]
pub struct Evaluate {
    /// The prepared dataset: a folder or URL with a manifest.json
    #[arg(long, value_name = "URL")]
    pub dataset: String,
    /// A folder of trials (`<id>/checkpoint`, `<id>/trial.json`), or one trial or checkpoint
    #[arg(long, value_name = "URL")]
    pub checkpoints: String,
    /// Where metrics.parquet, per_user/, significance.parquet and checkpoints.parquet are written; those of an earlier evaluation there are removed
    #[arg(long, value_name = "URL")]
    pub out: String,
    /// The part to rank: test or validation
    #[arg(long, default_value = "test", value_parser = split)]
    pub split: Split,
    /// The metrics by name
    #[arg(long, help = help_of_metrics(), value_delimiter = ',', default_value = "ndcg,recall,precision,mrr", value_parser = metric)]
    pub metrics: Vec<Metric>,
    /// Lengths at which lists are cut
    #[arg(long, value_delimiter = ',', default_value = "20")]
    pub cutoffs: Vec<u32>,
    /// Users with held-out items that are ranked: known (those with train interactions) or all
    #[arg(long, default_value = "known", value_parser = named::<Users>)]
    pub users: Users,
    /// So many drawn items of each user that held-out ones are ranked among, to be set beside printed values of sampled candidates; the full catalogue
    /// unless given
    #[arg(long, value_name = "N")]
    pub sampled_candidates: Option<u32>,
    /// Known items left out of the test ranking: train-and-validation or train-only
    #[arg(long, default_value = "train-and-validation", value_parser = named::<Mask>)]
    pub mask: Mask,
    /// The denominator of recall: standard (all held-out items) or capped (at most the cutoff)
    #[arg(long, default_value = "standard", value_parser = named::<RecallDenominator>)]
    pub recall: RecallDenominator,
    /// Where a held-out item stands among equal scores: pessimistic or optimistic
    #[arg(long, default_value = "pessimistic", value_parser = named::<Ties>)]
    pub ties: Ties,
    /// Tests between all pairs of trials
    #[arg(long, help = help_of_tests(), value_delimiter = ',', value_parser = named::<Test>)]
    pub tests: Vec<Test>,
    /// What a difference should hold for: users-and-seeds, users or seeds; users-and-seeds unless the first test is of users alone
    #[arg(long, requires = "tests", value_parser = named::<Over>)]
    pub over: Option<Over>,
    /// Adjustment for many comparisons
    #[arg(long, help = help_of_corrections(), requires = "tests", default_value = "romano-wolf", value_parser = named::<Correction>)]
    pub correction: Correction,
    /// Differences that do not matter, of the mean (1%) or in units of the metric (0.002): where an interval lies within, trials are equivalent
    #[arg(long, requires = "tests", value_parser = Margin::parse)]
    pub margin: Option<Margin>,
    /// The level below which an adjusted p-value is called significant
    #[arg(long, default_value_t = 0.05)]
    pub alpha: f64,
}

impl Evaluate {
    /// Ranks, tests and writes. `memory` in bytes bounds the working space of the ranking.
    ///
    /// # Errors
    /// [`Error::Settings`] for flags out of range; others when something cannot be read, does not fit the dataset or cannot be written.
    pub fn run(&self, memory: usize) -> Result<Summary> {
        let settings = self.settings();
        settings.check().map_err(|reason| Error::Settings { reason })?;
        let (folder, out) = (Location::parse(&self.checkpoints)?, Location::parse(&self.out)?);
        let at = Location::parse(&self.dataset)?;
        for place in [&at, &folder, &out] {
            place.reach()?;
        }
        check_out(&out)?;
        let dataset = Dataset::read(&at)?;
        let found = checkpoints::find(&folder, &dataset)?;
        if !self.tests.is_empty() {
            check_resamples(&settings.significance, &found.candidates)?;
        }
        let mut progress = |candidate: &Candidate| tracing::info!(trial = %candidate.trial, "ranked");
        let values = evaluate(&dataset, self.split, &found.candidates, &settings, memory, &mut progress)?;
        let values = values.into_iter().collect::<Result<Vec<TrialValues>>>()?;
        let mut tested = settings;
        tested.significance.tests = self.tests.clone();
        let findings = findings::compare(&values, &tested, &mut |_, _| ())?;
        let checkpoints = || tables::write_checkpoints(&out.join("checkpoints.parquet"), &found.candidates, &dataset, &at);
        write(&out, &values, &findings, checkpoints)?;
        let (comparisons, users, sampled_candidates) = (findings.comparisons, self.users, self.sampled_candidates);
        Ok(Summary { values, comparisons, users, sampled_candidates, other_datasets: found.other_datasets, unfinished: found.unfinished })
    }

    fn settings(&self) -> Evaluation {
        let of_users = self.tests.first().is_some_and(|test| !test.counts_seeds());
        let over = self.over.unwrap_or(if of_users { Over::Users } else { Over::UsersAndSeeds });
        let (correction, alpha, margin) = (self.correction, self.alpha, self.margin);
        let mut significance = Significance { over, correction, alpha, margin, ..Significance::default() };
        if !self.tests.is_empty() {
            significance.tests = self.tests.clone();
        }
        let (metrics, cutoffs) = (self.metrics.clone(), self.cutoffs.clone());
        let (users, mask, recall, ties) = (self.users, self.mask, self.recall, self.ties);
        let sampled_candidates = self.sampled_candidates.map(|negatives| SampledCandidates { negatives, seed: 1 });
        Evaluation { metrics, cutoffs, primary: None, users, sampled_candidates, mask, recall, ties, significance }
    }
}

/// Refuses a folder whose marker speaks for tables of its own.
fn check_out(out: &Location) -> Result<()> {
    for (marker, what) in [("tables.json", "the tables of a sweep"), ("manifest.json", "a prepared dataset"), ("done.json", "a trial")] {
        if out.join(marker).exists()? {
            let reason = format!("--out {out}: the folder holds {what}, which other tables there would damage; name another folder");
            return Err(Error::Settings { reason });
        }
    }
    Ok(())
}

/// Refuses tests whose resamples leave no adjusted p-value below the level.
fn check_resamples(significance: &Significance, candidates: &[Candidate]) -> Result<()> {
    let methods: HashSet<&str> = candidates.iter().map(|candidate| candidate.method.as_str()).collect();
    let comparisons = significance.family.adjusted_for(methods.len());
    let Some((_, needed)) = significance.resamples_needed(comparisons) else { return Ok(()) };
    let tests: Vec<&str> = significance.tests.iter().map(|test| test.name()).collect();
    let reason = format!(
        "--tests {}: {comparisons} of them, adjusted by {}, leave no p-value below {}, as that takes {needed} resamples; use --tests paired-t, --correction romano-wolf with paired-t and bootstrap alone, or a larger --alpha",
        tests.join(","),
        significance.correction.name(),
        significance.alpha
    );
    Err(Error::Settings { reason })
}

/// Writes all tables. `metrics.parquet` is taken away first and written last: where it stands, the tables are of one evaluation.
fn write(out: &Location, values: &[TrialValues], findings: &Findings, checkpoints: impl FnOnce() -> Result<()>) -> Result<()> {
    let (metrics, per_user) = (out.join("metrics.parquet"), out.join("per_user"));
    metrics.delete()?;
    tables::write_per_user(&per_user, values)?;
    tables::write_groups(&out.join("groups.parquet"), values)?;
    tables::drop_other_trials(&per_user, values)?;
    tables::write_significance(&out.join("significance.parquet"), &findings.comparisons)?;
    tables::write_components(&out.join("variance_components.parquet"), &findings.methods)?;
    checkpoints()?;
    tables::write_metrics(&metrics, values)?;
    Ok(())
}

/// A metric without its cutoff.
fn metric(text: &str) -> Result<Metric, String> {
    match text.parse() {
        Ok(MetricAt { metric, cutoff: Some(cutoff) }) => Err(format!("write `{}` here, and {cutoff} under `--cutoffs`", metric.name())),
        Err(error) if text.contains('@') => Err(error.to_string()),
        _ => Metric::named(text).map_err(|reason| format!("unknown metric `{text}`: {reason}")),
    }
}

fn help_of_metrics() -> String {
    let of_lists: Vec<&str> = Metric::ALL.into_iter().filter(|metric| !metric.decides()).map(Metric::name).collect();
    format!("{}; and of what lists are like: {}", Metric::deciding(), of_lists.join(", "))
}

fn help_of_tests() -> String {
    format!("Tests between all pairs of trials: {}; none unless given", Test::ALL.map(Test::name).join(", "))
}

fn help_of_corrections() -> String {
    format!("Adjustment for many comparisons: {}", Correction::ALL.map(Correction::name).join(", "))
}

/// A kind by its name in sweep files.
fn named<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    T::deserialize(StrDeserializer::<serde::de::value::Error>::new(name)).map_err(|error| error.to_string())
}

fn split(name: &str) -> Result<Split, String> {
    let split = [Split::Test, Split::Validation].into_iter().find(|split| split.name() == name);
    split.ok_or_else(|| "expected `test` or `validation`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Flags {
        #[command(flatten)]
        evaluate: Evaluate,
    }

    fn parse(more: &[&str]) -> Result<Evaluate, String> {
        let needed = ["x", "--dataset", "d", "--checkpoints", "c", "--out", "o"];
        Flags::try_parse_from(needed.iter().chain(more)).map(|flags| flags.evaluate).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_a_sweep_file() {
        assert_eq!(parse(&[]).unwrap().settings(), Evaluation::default());
    }

    #[test]
    fn what_tests_are_told_needs_tests() {
        for flags in [["--over", "users"], ["--margin", "1%"]] {
            assert!(parse(&flags).unwrap_err().contains("--tests"), "{flags:?}");
        }
    }

    #[test]
    fn lists_are_split_at_commas() {
        let flags = parse(&["--metrics", "map,hit-rate", "--cutoffs", "5,50", "--tests", "wilcoxon", "--recall", "capped"]).unwrap();
        let settings = flags.settings();
        assert_eq!((settings.metrics, settings.cutoffs), (vec![Metric::Map, Metric::HitRate], vec![5, 50]));
        assert_eq!((settings.significance.tests, settings.recall), (vec![Test::Wilcoxon], RecallDenominator::Capped));
        assert_eq!(settings.significance.over, Over::Users);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let message = parse(&["--metrics", "ndgc"]).unwrap_err();
        assert!(message.contains("unknown metric `ndgc`: expected one of ndcg, recall"), "{message}");
        let message = parse(&["--metrics", "HR"]).unwrap_err();
        assert!(message.contains("unknown metric `HR`: did you mean `hit-rate`? (expected one of ndcg"), "{message}");
        let message = parse(&["--metrics", "ndcg@10"]).unwrap_err();
        assert!(message.contains("write `ndcg` here, and 10 under `--cutoffs`"), "{message}");
        for (name, expected) in [("HR@10", "did you mean `hit-rate`?"), ("auc@10", "auc has no cutoff; write `auc`")] {
            let message = parse(&["--metrics", name]).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
        assert!(parse(&["--split", "train"]).unwrap_err().contains("expected `test` or `validation`"));
    }
}
