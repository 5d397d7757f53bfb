//! The names of a plan's methods for a reader: the leaderboard's.

use super::{Method, Plan, title::MethodNames};
use std::collections::{HashMap, HashSet};

/// The titles of the methods of a plan: the same in progress, plans, states and leaderboards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Titles(HashMap<String, HashMap<String, String>>);

impl Titles {
    /// The titles of all methods.
    pub(crate) fn new(plan: &Plan) -> Self {
        let of_dataset = |dataset: &str| {
            let names = plan.names_on(dataset);
            names.titles().iter().enumerate().map(|(place, title)| (names.key(place).to_owned(), title.clone())).collect()
        };
        Self(plan.dataset_names().into_iter().map(|dataset| (dataset.to_owned(), of_dataset(dataset))).collect())
    }

    /// The titles of the methods of two plans together, so that none is taken for another of either.
    pub(crate) fn of_both(plans: [&Plan; 2]) -> Self {
        let of_dataset = |dataset: &str| {
            let mut seen = HashSet::new();
            let methods = plans.iter().flat_map(|plan| &plan.methods).filter(|method| method.dataset == dataset);
            let once = methods.filter(|method| seen.insert(method.label.as_str())).map(Method::named).collect();
            let names = MethodNames::new(once);
            names.titles().iter().enumerate().map(|(place, title)| (names.key(place).to_owned(), title.clone())).collect()
        };
        let datasets = plans.iter().flat_map(|plan| plan.dataset_names());
        Self(datasets.map(|dataset| (dataset.to_owned(), of_dataset(dataset))).collect())
    }

    /// The title of a method, as short as it can be without being taken for another of its dataset.
    pub(crate) fn of<'a>(&'a self, method: &'a Method) -> &'a str {
        self.by_key(&method.dataset, &method.label)
    }

    /// The title of a method by its key; the key itself where the plan has none of it.
    pub(crate) fn by_key<'a>(&'a self, dataset: &str, key: &'a str) -> &'a str {
        self.0.get(dataset).and_then(|titles| titles.get(key)).map_or(key, String::as_str)
    }
}
