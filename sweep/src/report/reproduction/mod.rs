//! The numbers and claims of a paper, beside what the sweep found.

mod claims;
mod convergence;
mod numbers;
mod page;
mod terminal;
mod words;

use super::{Input, method::methods};
use crate::tables::{ClaimRow, ReproductionRow};
use evaluator::{
    MetricAt,
    findings::{MethodsAt, methods_at},
};
use std::collections::HashMap;

pub(super) use page::ReproductionSection;

/// The printed numbers and the claims of a sweep, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// The numbers, in the order of the table that the sweep file names.
    pub numbers: Vec<ReproductionRow>,
    /// The claims, in the order of the sweep file.
    pub claims: Vec<ClaimRow>,
}

impl Reproduction {
    /// The verdicts on a paper's numbers and claims; none where the sweep file has neither.
    pub(super) fn new(input: &Input) -> Option<Self> {
        if input.printed.is_none() && input.claims.is_empty() {
            return None;
        }
        let mut measured = MethodsByMetric { input, known: HashMap::new() };
        let titles = TitlesByDataset::new(input);
        let numbers = numbers::numbers(input, &titles, &mut measured);
        Some(Self { numbers, claims: claims::claims(input, &titles, &mut measured) })
    }
}

/// The methods' names for a reader on each dataset, by their keys.
struct TitlesByDataset(HashMap<String, HashMap<String, String>>);

impl TitlesByDataset {
    fn new(input: &Input) -> Self {
        let of = |dataset: &str| methods(input.trials, dataset).into_iter().map(|method| (method.key.to_owned(), method.title)).collect();
        Self(input.manifests.iter().map(|manifest| (manifest.name.clone(), of(&manifest.name))).collect())
    }

    /// The title of a method; its key where there is none of that key.
    fn of(&self, dataset: &str, key: &str) -> String {
        self.0.get(dataset).and_then(|titles| titles.get(key)).map_or_else(|| key.to_owned(), Clone::clone)
    }
}

/// The methods by the metrics that were asked for, each found once.
struct MethodsByMetric<'a> {
    input: &'a Input<'a>,
    known: HashMap<(String, MetricAt), Option<MethodsAt<'a>>>,
}

impl<'a> MethodsByMetric<'a> {
    /// The methods of a dataset by a metric; none where no trial has a result, or where the results cannot be compared.
    fn of(&mut self, dataset: &str, at: MetricAt) -> Option<&MethodsAt<'a>> {
        let values = self.input.values;
        let find = || methods_at(values, dataset, at).ok().flatten();
        self.known.entry((dataset.to_owned(), at)).or_insert_with(find).as_ref()
    }
}
