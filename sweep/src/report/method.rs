//! A method of a dataset: its trials, and what it is called.

use crate::{
    plan::title::{MethodName, MethodNames},
    tables::TrialRow,
};

/// One row of the leaderboard, and the trials behind it.
#[derive(Clone, Debug)]
pub(super) struct MethodTrials<'a> {
    /// The key: the same in every table.
    pub(super) key: &'a str,
    /// The name, as short as it can be without being taken for another method of the dataset: `softmax-at-k(20) on mf-64`.
    pub(super) title: String,
    /// Its trials, in the order of the plan. Never empty.
    pub(super) trials: Vec<&'a TrialRow>,
}

/// The methods of a dataset, in the order of the plan.
pub(super) fn methods<'a>(trials: &'a [TrialRow], dataset: &str) -> Vec<MethodTrials<'a>> {
    let mut methods: Vec<MethodTrials<'a>> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.dataset == dataset) {
        match methods.iter_mut().find(|method| method.key == trial.method) {
            Some(method) => method.trials.push(trial),
            None => methods.push(MethodTrials { key: &trial.method, title: String::new(), trials: vec![trial] }),
        }
    }
    let names = MethodNames::new(methods.iter().map(|method| method.trials[0].into()).collect());
    for (method, title) in methods.iter_mut().zip(names.titles()) {
        method.title.clone_from(title);
    }
    methods
}

impl<'a> From<&'a TrialRow> for MethodName<'a> {
    fn from(trial: &'a TrialRow) -> Self {
        Self { key: &trial.method, backbone: &trial.backbone, loss: trial.loss.as_deref(), sampler: trial.sampler.as_deref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn method(key: &str, sampler: &str) -> TrialRow {
        TrialRow { method: key.into(), sampler: Some(sampler.into()), ..example::trial("d", "mf-64", Some("bpr")) }
    }

    fn titles(trials: &[TrialRow]) -> Vec<String> {
        methods(trials, "d").into_iter().map(|method| method.title).collect()
    }

    #[test]
    fn the_sampler_is_said_only_where_it_is_needed() {
        let trials = [method("u", "uniform-1"), method("p", "popularity-1"), example::trial("d", "ease", None)];
        assert_eq!(titles(&trials), ["bpr on mf-64 with uniform-1", "bpr on mf-64 with popularity-1", "ease"]);
    }

    #[test]
    fn another_dataset_is_no_other_method() {
        let elsewhere = TrialRow { dataset: "e".into(), ..method("p", "popularity-1") };
        assert_eq!(titles(&[method("u", "uniform-1"), method("u", "uniform-1"), elsewhere]), ["bpr on mf-64"]);
    }
}
