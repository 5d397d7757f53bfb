//! The data of the comparison: the values of methods on datasets, joined by the methods' keys.

use super::{
    super::{Input, method::methods, number},
    Ranked,
};
use crate::{
    plan::title::{MethodName, MethodNames},
    tables::TrialRow,
};
use dataset::Manifest;
use evaluator::{
    MetricAt, TrialValues,
    findings::counted,
    settings::Significance,
    significance::{Comparison, datasets::Record},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// All that a comparison over datasets is made from.
pub(crate) struct Data<'a> {
    /// The metric that is compared.
    pub(crate) at: MetricAt,
    /// The level, and the resamples of the bootstrap.
    pub(crate) significance: &'a Significance,
    /// The datasets' names, in the order in which they are shown.
    pub(crate) datasets: Vec<&'a str>,
    /// What each of them was prepared from, by [`source_of`].
    pub(crate) sources: Vec<String>,
    /// The trials of all datasets, in the order of their plan.
    pub(crate) trials: &'a [TrialRow],
    /// Test values by user of the selected trials.
    pub(crate) values: &'a [TrialValues],
    /// The deciding test of each pair of methods on each dataset, by the metric that is compared.
    pub(crate) deciding: Vec<&'a Comparison>,
}

impl<'a> Data<'a> {
    /// The values of a sweep on all of its datasets.
    pub(crate) fn of(input: &Input<'a>, at: MetricAt) -> Self {
        Self {
            at,
            significance: &input.evaluation.significance,
            datasets: input.manifests.iter().map(|manifest| manifest.name.as_str()).collect(),
            sources: input.manifests.iter().map(source_of).collect(),
            trials: input.trials,
            values: input.values,
            deciding: deciding(input.comparisons, &input.evaluation.significance, at).collect(),
        }
    }
}

/// What a dataset was prepared from: the checksums of its source files, or the settings of a source without files; its name where nothing is known.
pub(crate) fn source_of(manifest: &Manifest) -> String {
    fn checksums(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(entries) => {
                found.extend(entries.get("blake3").and_then(Value::as_str).map(str::to_owned));
                entries.values().for_each(|entry| checksums(entry, found));
            }
            Value::Array(entries) => entries.iter().for_each(|entry| checksums(entry, found)),
            _ => {}
        }
    }
    let (source, mut found) = (&manifest.settings["source"], Vec::new());
    checksums(source, &mut found);
    match (source, found.is_empty()) {
        (Value::Null, _) => manifest.name.clone(),
        (_, true) => source.to_string(),
        (_, false) => found.join(" "),
    }
}

/// The rows of the test that decides, by one metric.
pub(crate) fn deciding<'a>(rows: &'a [Comparison], settings: &Significance, at: MetricAt) -> impl Iterator<Item = &'a Comparison> {
    let test = settings.tests.first().copied();
    rows.iter().filter(move |row| row.metric == at && Some(row.test) == test)
}

/// The methods that have a result on all datasets, not yet ranked, and those that lack one.
pub(super) struct Joined {
    pub(super) methods: Vec<Ranked>,
    pub(super) left_out: Vec<String>,
}

impl Joined {
    /// Joins the methods by their key, in the order of the first dataset's plan, then of the others'.
    ///
    /// # Errors
    /// A sentence, where there are fewer than two datasets, or two methods that have a result on all of them.
    pub(super) fn new(data: &Data) -> Result<Self, String> {
        let found = number::counted(data.datasets.len(), "dataset");
        if data.datasets.len() < 2 {
            return Err(format!("methods are compared over 2 datasets or more, here is {found} ({})", data.datasets.join(", ")));
        }
        let means = means(data);
        let mut joined = Self { methods: Vec::new(), left_out: Vec::new() };
        // One that lacks on a dataset is not to be taken for another that is there.
        let mut found: Vec<MethodName<'_>> = Vec::new();
        for method in data.datasets.iter().flat_map(|dataset| methods(data.trials, dataset)) {
            if !found.iter().any(|known| known.key == method.key) {
                found.push(method.trials[0].into());
            }
        }
        let names = MethodNames::new(found);
        for (place, title) in names.titles().iter().enumerate() {
            joined.add(data, &means, names.key(place), title.clone());
        }
        match joined.methods.len() {
            count @ (0 | 1) => Err(format!(
                "methods with a result of {} on all of {}: {count}, at least 2 are needed{}",
                data.at,
                data.datasets.join(", "),
                joined.left_out.iter().map(|line| format!("; {line}")).collect::<String>()
            )),
            _ => Ok(joined),
        }
    }

    fn add(&mut self, data: &Data, means: &Means, key: &str, title: String) {
        let found: Vec<Option<&BySplit>> = data.datasets.iter().map(|&dataset| means.get(&(dataset, key))).collect();
        let lacking = data.datasets.iter().zip(&found).filter(|(_, splits)| splits.is_none()).map(|(&name, _)| name.to_owned());
        let lacking: Vec<String> = lacking.collect();
        if lacking.is_empty() {
            let found: Vec<&BySplit> = found.into_iter().flatten().collect();
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            // Trainings meet on their own split: what is easy on one split is so for all methods.
            let trainings =
                |splits: &BySplit| splits.values().map(|seeds| seeds.values().copied().collect::<Vec<f64>>()).collect::<Vec<_>>();
            let of_split = |seeds: &Trainings| mean(&seeds.values().copied().collect::<Vec<_>>());
            let of_dataset = |splits: &BySplit| mean(&splits.values().map(of_split).collect::<Vec<_>>());
            let (seeds, means) =
                (found.iter().map(|splits| trainings(splits)).collect(), found.iter().map(|splits| of_dataset(splits)).collect());
            let fits_at_once =
                found.iter().flat_map(|splits| splits.values()).flat_map(|seeds| seeds.keys()).all(|(seed, _)| seed.is_none());
            let (key, record) = (key.to_owned(), Record::default());
            self.methods.push(Ranked { key, title, average_rank: 0.0, record, seeds, fits_at_once, means });
        } else {
            self.left_out.push(format!("{title} has no result on {}", number::listed(&lacking)));
        }
    }
}

/// By seed and id each training's mean over users: sums have the same bits however trainings come, and methods of the same values the same sums.
type Trainings<'a> = BTreeMap<(Option<u64>, &'a str), f64>;

/// The trainings of each split.
type BySplit<'a> = BTreeMap<Option<u64>, Trainings<'a>>;

/// By dataset and method, of the trials that the verdicts are of.
type Means<'a> = BTreeMap<(&'a str, &'a str), BySplit<'a>>;

fn means<'a>(data: &Data<'a>) -> Means<'a> {
    let mut means = Means::new();
    for &dataset in &data.datasets {
        let of_metric = |trial: &'a TrialValues| {
            let (_, values) = trial.values.iter().find(|(at, values)| *at == data.at && !values.is_empty())?;
            Some((trial, values.iter().sum::<f64>() / values.len() as f64))
        };
        let trials: Vec<_> = data.values.iter().filter(|trial| trial.dataset == dataset).filter_map(of_metric).collect();
        let counted = counted(&trials.iter().map(|(trial, _)| *trial).collect::<Vec<_>>());
        let ids: BTreeSet<&str> = counted.iter().map(|trial| trial.trial.as_str()).collect();
        for (trial, mean) in trials.into_iter().filter(|(trial, _)| ids.contains(&*trial.trial)) {
            means
                .entry((dataset, &trial.method))
                .or_default()
                .entry(trial.split_seed)
                .or_default()
                .insert((trial.seed, &trial.trial), mean);
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn methods_are_joined_by_key_and_what_lacks_a_dataset_is_named() {
        let mut sweep = example::sweep();
        let key = "mf-64 / bpr / uniform-1";
        sweep.values.retain(|trial| trial.dataset == "films" || trial.method != key);
        let input = sweep.input();
        let joined = Joined::new(&Data::of(&input, input.primary())).unwrap();
        assert_eq!(joined.left_out, ["bpr on mf-64 has no result on books"]);
        assert_eq!(joined.methods.len(), 6);
        let seeds: Vec<usize> = joined.methods[1].seeds.iter().flatten().map(Vec::len).collect();
        assert_eq!((joined.methods[1].title.as_str(), seeds), ("softmax on mf-64", vec![3, 3]));
    }

    #[test]
    fn too_few_are_said_with_what_there_is() {
        let mut sweep = example::sweep();
        sweep.values.retain(|trial| trial.dataset == "books" || trial.method == "popularity");
        let input = sweep.input();
        let message = Joined::new(&Data::of(&input, input.primary())).err().unwrap();
        assert!(message.starts_with("methods with a result of ndcg@20 on all of books, films: 1, at least 2 are needed; "), "{message}");
        assert!(message.contains("; bpr on mf-64 has no result on films; softmax on mf-64 has"), "{message}");
        let one = Input { manifests: &sweep.manifests[..1], ..input };
        let message = Joined::new(&Data::of(&one, one.primary())).err().unwrap();
        assert_eq!(message, "methods are compared over 2 datasets or more, here is 1 dataset (books)");
    }
    /// Of the splits 1, 2 and 3 the methods have 1 and 3 in common, of which the one has two trainings on split 3.
    #[test]
    fn means_are_those_of_the_splits_that_all_methods_have() {
        let mut sweep = example::sweep();
        let keys = ["mf-64 / bpr / uniform-1", "popularity"];
        let example = sweep.values.iter().find(|trial| trial.dataset == "books").unwrap().clone();
        let trials = [(0, 1, 0.3), (0, 3, 0.2), (0, 3, 0.4), (1, 1, 0.1), (1, 2, 0.9), (1, 3, 0.2)];
        sweep.values = (0..)
            .zip(trials)
            .map(|(number, (method, split, mean))| TrialValues {
                trial: format!("{number}"),
                method: keys[method].to_owned(),
                split_seed: Some(split),
                values: example.values.iter().map(|(at, values)| (*at, vec![mean; values.len()])).collect(),
                ..example.clone()
            })
            .collect();
        let input = sweep.input();
        let means = means(&Data::of(&input, input.primary()));
        let found = |key: &str| means[&("books", key)].iter().map(|(split, seeds)| (split.unwrap(), seeds.len())).collect::<Vec<_>>();
        assert_eq!((found(keys[0]), found(keys[1])), (vec![(1, 1), (3, 2)], vec![(1, 1), (3, 1)]));
    }
}
