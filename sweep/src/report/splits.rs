//! Datasets with several splits: what is said of the splits, and which of them a trial is of.

use super::{
    Input,
    method::{MethodTrials, methods},
    number,
};
use crate::tables::TrialRow;
use dataset::Manifest;
use evaluator::TrialValues;
use std::collections::BTreeSet;

/// One of several splits of a dataset, as it was prepared.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedSplit {
    /// The seed of the split, or its fold.
    pub seed: u64,
    /// The content of the split, under the dataset's name.
    pub manifest: Manifest,
}

/// The splits of a dataset, in the order of the sweep file; none where it has a single one.
pub(super) fn splits<'a>(input: &Input<'a>, dataset: &str) -> Vec<&'a RepeatedSplit> {
    input.splits.iter().filter(|split| split.manifest.name == dataset).collect()
}

/// How often the dataset was split, and what was repeated on the splits; `None` where it has a single one.
pub(super) fn remark(input: &Input, dataset: &str) -> Option<String> {
    let splits = splits(input, dataset);
    let seeds: Vec<String> = splits.iter().map(|split| split.seed.to_string()).collect();
    let (count, seeds) = (splits.len(), number::listed(&seeds));
    let what = match kind(&splits.first()?.manifest)? {
        "cross-validation" => format!("{count} folds"),
        "given" => format!("{count} draws of the validation part, with the seeds {seeds}"),
        "users" => format!("{count} splits of users, with the seeds {seeds}"),
        kind => format!("{count} {kind} splits, with the seeds {seeds}"),
    };
    let methods: Vec<MethodTrials> = methods(input.trials, dataset);
    let incomplete = left_out(input, dataset, &methods);
    if incomplete.is_empty() {
        return Some(format!("{what}: every method is trained and ranked on each of them."));
    }
    let counted = match counted(input, dataset) {
        1 => "one counts".to_owned(),
        counted => format!("{counted} count"),
    };
    Some(format!("{what}, of which {counted}: those that all methods of the table have results on; {}.", number::listed(&incomplete)))
}

/// How many splits of a dataset count; 1 where it has a single one.
pub(super) fn counted(input: &Input, dataset: &str) -> usize {
    input.components.iter().filter(|row| row.dataset == dataset).map(|row| row.splits).max().unwrap_or(1)
}

/// Whether the replicates of a dataset are splits: where several of them count, however many the sweep file has.
pub(super) fn are_replicates(input: &Input, dataset: &str) -> bool {
    counted(input, dataset) > 1
}

/// What methods that were ranked lack, in words; empty where every method has every split.
fn left_out(input: &Input, dataset: &str, methods: &[MethodTrials]) -> Vec<String> {
    let all = splits(input, dataset).len();
    let of_method = |method: &MethodTrials| {
        let is_of = |values: &&TrialValues| values.dataset == dataset && values.method == method.key;
        let has: BTreeSet<Option<u64>> = input.values.iter().filter(is_of).map(|values| values.split_seed).collect();
        (!has.is_empty() && has.len() < all).then(|| format!("{} has {} of {all}", method.title, has.len()))
    };
    methods.iter().filter_map(of_method).collect()
}

/// The kind of the split, by its name in the sweep file.
fn kind(manifest: &Manifest) -> Option<&str> {
    manifest.settings["split"].as_object()?.keys().next().map(String::as_str)
}

/// Which repetition of its configuration a trial is: `split 2, seed 1`; `None` for one that has neither.
pub(super) fn repetition(trial: &TrialRow) -> Option<String> {
    let parts = [trial.split_seed.map(|seed| format!("split {seed}")), trial.seed.map(|seed| format!("seed {seed}"))];
    parts.into_iter().flatten().reduce(|split, seed| format!("{split}, {seed}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        file::Hypothesis,
        plan::PlannedClaim,
        report::{Report, ReportFormat, Style, example},
    };
    use evaluator::significance::{Comparison, Verdict};
    use serde_json::json;

    /// A sweep whose file has two splits, the seeds 3 and 1, of which one counts.
    fn on_one(split: &serde_json::Value) -> example::Sweep {
        let mut sweep = example::sweep();
        sweep.splits = [3, 1].map(|seed| RepeatedSplit { seed, manifest: sweep.manifests[0].clone() }).to_vec();
        sweep.splits.iter_mut().for_each(|repeated| repeated.manifest.settings = json!({"split": split}));
        sweep
    }

    /// A sweep whose trials were ranked on both splits, the seeds 3 and 1.
    fn on_both(split: &serde_json::Value) -> example::Sweep {
        let mut sweep = on_one(split);
        let on = |seed| move |trial: &TrialValues| TrialValues { split_seed: Some(seed), ..trial.clone() };
        sweep.values = [3, 1].into_iter().flat_map(|seed| sweep.values.iter().map(on(seed)).collect::<Vec<_>>()).collect();
        sweep.components.iter_mut().for_each(|row| row.splits = 2);
        sweep
    }

    fn said(split: &serde_json::Value) -> Option<String> {
        remark(&on_both(split).input(), "books")
    }

    #[test]
    fn splits_that_do_not_count_are_said_with_what_lacks_them() {
        let mut sweep = on_both(&json!({"random": {"test": 0.2}}));
        sweep.values.retain(|trial| trial.split_seed == Some(3) || !trial.method.starts_with("mf-64 / bpr"));
        sweep.components.iter_mut().for_each(|row| row.splits = 1);
        let words = "2 random splits, with the seeds 3 and 1, of which one counts: those that all methods of the table have results on; bpr on mf-64 has 1 of 2.";
        assert_eq!(remark(&sweep.input(), "books").unwrap(), words);
        assert_eq!(counted(&sweep.input(), "books"), 1);
    }

    #[test]
    fn the_remark_names_the_kind_and_the_seeds() {
        let random = said(&json!({"random": {"test": 0.2}})).unwrap();
        assert_eq!(random, "2 random splits, with the seeds 3 and 1: every method is trained and ranked on each of them.");
        assert!(
            said(&json!({"given": {"validation": 0.1}})).unwrap().starts_with("2 draws of the validation part, with the seeds 3 and 1:")
        );
        assert!(said(&json!({"users": {}})).unwrap().starts_with("2 splits of users, with the seeds 3 and 1:"));
        assert!(said(&json!({"cross-validation": {"folds": 2}})).unwrap().starts_with("2 folds: every method"));
        assert_eq!(remark(&example::sweep().input(), "books"), None);
    }

    /// What is said of a sweep with a claim: on its page, in its tables, in the terminal.
    fn report(sweep: &example::Sweep) -> [String; 3] {
        let [better, worse] = ["softmax", "bpr"].map(|loss| example::trial("books", "mf-64", Some(loss)).method);
        let hypothesis = Hypothesis::Better(better, worse);
        let claims = [PlannedClaim { place: "Table 1".into(), dataset: "books".into(), at: "ndcg@20".parse().unwrap(), hypothesis }];
        let input = Input { claims: &claims, ..sweep.input() };
        let report = Report::new(&input);
        let exported = |format: ReportFormat| report.export(&input, format).unwrap();
        [exported(ReportFormat::Html), exported(ReportFormat::Latex), report.terminal(&input, Style::default())]
    }

    #[test]
    fn splits_are_counted_where_several_count_whatever_the_file_has() {
        let (one, both) = (on_one(&json!({"random": {}})), on_both(&json!({"random": {}})));
        assert!(!are_replicates(&one.input(), "books") && are_replicates(&both.input(), "books"));
        for (of_one, of_both) in report(&one).into_iter().zip(report(&both)) {
            assert!(of_one.contains("t-test over users and seeds") && !of_one.contains("users and splits"), "{of_one}");
            assert!(of_both.contains("t-test over users and splits"), "{of_both}");
        }
    }

    #[test]
    fn splits_would_decide_where_several_count_else_seeds() {
        let said = |mut sweep: example::Sweep| {
            let leave_open = |row: &mut Comparison| {
                (row.significant, row.verdict) = (false, Verdict::Undecided);
                (row.needed_seeds, row.needed_users) = (Some(9), None);
            };
            sweep.comparisons.iter_mut().for_each(leave_open);
            Report::new(&sweep.input()).verdicts[0].clone()
        };
        let (one, both) = (said(on_one(&json!({"random": {}}))), said(on_both(&json!({"random": {}}))));
        assert!(one.contains("; about 9 seeds of each would decide)"), "{one}");
        assert!(both.contains("; about 9 splits would decide)"), "{both}");
    }

    #[test]
    fn a_trial_is_of_a_split_and_a_seed() {
        let trial = |split_seed, seed| repetition(&TrialRow { split_seed, seed, ..example::trial("d", "mf-64", Some("bpr")) });
        assert_eq!(trial(Some(2), Some(1)).unwrap(), "split 2, seed 1");
        assert_eq!([trial(None, Some(1)).unwrap(), trial(Some(2), None).unwrap()], ["seed 1", "split 2"]);
        assert_eq!(trial(None, None), None);
    }
}
