//! The methods over all datasets of a sweep, or of several: average ranks, Friedman's test, and which pairs it tells apart.

mod data;
mod outcomes;
mod page;
mod terminal;
mod words;

use super::{Input, Style};
use data::Joined;
pub(crate) use data::{Data, deciding, source_of};
use evaluator::{
    MetricAt,
    settings::Significance,
    significance::datasets::{
        AverageRanks, CompleteBlocks, Friedman, Improvement, Record, Resampling, ZTest, critical_difference, friedman, groups, improvement,
        nemenyi, z_tests,
    },
};
use outcomes::Outcomes;
pub(super) use page::ComparisonSection;
pub(crate) use page::{diagram, render};
use rayon::prelude::*;
use std::collections::BTreeMap;
pub(crate) use words::against;

/// The comparison over all datasets of the methods that have a result on each of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AcrossDatasets {
    /// The metric that is compared.
    pub(crate) at: MetricAt,
    /// The datasets' names.
    pub(crate) datasets: Vec<String>,
    /// The methods, the best average rank first.
    pub(crate) methods: Vec<Ranked>,
    /// The methods that lack a dataset, in words.
    pub(crate) left_out: Vec<String>,
    /// The names of datasets that were prepared from one source, of each source that several have.
    pub(crate) of_one_source: Vec<Vec<String>>,
    /// Whether the methods differ at all.
    pub(crate) friedman: Friedman,
    /// How far apart average ranks must be for Nemenyi's test.
    pub(crate) critical_difference: f64,
    /// Methods that Nemenyi's test does not tell apart, by their places in `methods`: all of them where Friedman's test does not reject.
    pub(crate) groups: Vec<Vec<usize>>,
    /// Every pair of methods; the one has the better rank, or the same.
    pub(crate) pairs: Vec<RankedPair>,
    ranks: AverageRanks,
    significance: Significance,
}

/// A method over the datasets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranked {
    /// The method's key.
    pub(crate) key: String,
    /// The method as a reader sees it.
    pub(crate) title: String,
    /// The mean of its ranks over the datasets, 1 for the best.
    pub(crate) average_rank: f64,
    /// Its verdicts against all other methods on all datasets.
    pub(crate) record: Record,
    /// The mean over users of each of its trainings, by dataset and split.
    pub(crate) seeds: Vec<Vec<Vec<f64>>>,
    /// Whether no training of it has a seed.
    pub(crate) fits_at_once: bool,
    /// The mean over users, trainings and splits, by dataset.
    pub(crate) means: Vec<f64>,
}

/// The names of datasets by their source, of each source that several have.
fn of_one_source(data: &Data) -> Vec<Vec<String>> {
    let mut by_source: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (source, name) in data.sources.iter().zip(&data.datasets) {
        by_source.entry(source).or_default().push((*name).to_owned());
    }
    by_source.into_values().filter(|names| names.len() > 1).collect()
}

/// Two methods over the datasets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RankedPair {
    /// The place of the one method.
    pub(crate) one: usize,
    /// The place of the other.
    pub(crate) other: usize,
    /// The p-value of Nemenyi's test, adjusted for all pairs.
    pub(crate) nemenyi: f64,
    /// The test of their average ranks, adjusted after Holm for all pairs.
    pub(crate) z_test: ZTest,
    /// Datasets by the verdict there.
    pub(crate) record: Record,
    /// Datasets by the means alone.
    pub(crate) by_mean: Record,
}

/// The methods against one of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Control {
    /// The place of the method that all others are compared with.
    pub(crate) method: usize,
    /// The place of each other method, and the test of their average ranks, adjusted after Holm for these pairs alone.
    pub(crate) tests: Vec<(usize, ZTest)>,
}

impl Control {
    /// The adjusted p-value of a pair, where the control is one of the two.
    pub(crate) fn p(&self, one: usize, other: usize) -> Option<f64> {
        let opponent = if one == self.method { other } else { one };
        let is_pair = one == self.method || other == self.method;
        self.tests.iter().find(|(method, _)| is_pair && *method == opponent).map(|(_, test)| test.p_adjusted)
    }
}

impl AcrossDatasets {
    /// Compares the methods of a sweep by its primary metric; none where fewer than two datasets have two methods in common.
    pub(super) fn of_sweep(input: &Input) -> Option<Self> {
        Self::new(&Data::of(input, input.primary())).ok()
    }

    /// Compares the methods that have a result on all datasets.
    ///
    /// # Errors
    /// A sentence that says which there are, where there are fewer than two datasets or methods.
    pub(crate) fn new(data: &Data) -> Result<Self, String> {
        let Joined { mut methods, left_out } = Joined::new(data)?;
        let order = AverageRanks::new(&blocks(&methods)?).order();
        methods = order.into_iter().map(|place| methods[place].clone()).collect();
        let blocks = blocks(&methods)?;
        let ranks = AverageRanks::new(&blocks);
        let critical_difference = critical_difference(methods.len(), ranks.datasets, data.significance.alpha);
        let pairs = pairs(data, &methods, &blocks, &ranks);
        let friedman = friedman(&ranks);
        let apart = if friedman.p_value() < data.significance.alpha { critical_difference } else { f64::INFINITY };
        Ok(Self {
            at: data.at,
            datasets: data.datasets.iter().map(|&name| name.to_owned()).collect(),
            left_out,
            of_one_source: of_one_source(data),
            friedman,
            critical_difference,
            groups: groups(&ranks.ranks, apart),
            methods: recorded(methods, &ranks, &pairs),
            pairs,
            ranks,
            significance: data.significance.clone(),
        })
    }

    /// The level below which a p-value is called significant.
    pub(crate) fn alpha(&self) -> f64 {
        self.significance.alpha
    }

    /// Whether Friedman's test says that the methods differ.
    pub(crate) fn differs(&self) -> bool {
        self.friedman.p_value() < self.alpha()
    }

    /// How surely a training of the one method beats a training of the other.
    pub(crate) fn improvement(&self, one: usize, other: usize) -> Improvement {
        let Significance { alpha, bootstrap_resamples, seed, .. } = self.significance;
        let resampling = Resampling { level: 1.0 - alpha, resamples: bootstrap_resamples, seed };
        let [one, other] = [one, other].map(|place| &self.methods[place]);
        improvement(&one.seeds, &other.seeds, [one.fits_at_once, other.fits_at_once], resampling)
    }

    /// Compares all methods with the one of this key or title; none where there is no such method.
    pub(crate) fn against(&self, name: &str) -> Option<Control> {
        let method = self.methods.iter().position(|method| method.key == name || method.title == name)?;
        let others: Vec<usize> = (0..self.methods.len()).filter(|&other| other != method).collect();
        let tests = z_tests(&self.ranks, &others.iter().map(|&other| (method, other)).collect::<Vec<_>>());
        Some(Control { method, tests: others.into_iter().zip(tests).collect() })
    }

    /// The findings for whoever reads standard output.
    pub(crate) fn terminal(&self, style: Style) -> String {
        terminal::terminal(self, style)
    }
}

fn blocks(methods: &[Ranked]) -> Result<CompleteBlocks, String> {
    CompleteBlocks::new(methods.iter().map(|method| method.means.clone()).collect()).map_err(|error| error.to_string())
}

fn pairs(data: &Data, methods: &[Ranked], blocks: &CompleteBlocks, ranks: &AverageRanks) -> Vec<RankedPair> {
    let outcomes = Outcomes::new(data);
    let places: Vec<(usize, usize)> = (0..methods.len()).flat_map(|one| (one + 1..methods.len()).map(move |other| (one, other))).collect();
    let pair = |((one, other), z_test): ((usize, usize), ZTest)| RankedPair {
        one,
        other,
        nemenyi: nemenyi(ranks, one, other),
        z_test,
        record: Record::of(data.datasets.iter().filter_map(|dataset| outcomes.of(dataset, &methods[one].key, &methods[other].key))),
        by_mean: Record::of_values(blocks.values(one), blocks.values(other)),
    };
    let tests = z_tests(ranks, &places);
    places.into_par_iter().zip(tests).map(pair).collect()
}

/// The methods with their ranks and their records against all others.
fn recorded(mut methods: Vec<Ranked>, ranks: &AverageRanks, pairs: &[RankedPair]) -> Vec<Ranked> {
    for (method, rank) in methods.iter_mut().zip(&ranks.ranks) {
        method.average_rank = *rank;
    }
    for pair in pairs {
        methods[pair.one].record = methods[pair.one].record.plus(pair.record);
        methods[pair.other].record = methods[pair.other].record.plus(pair.record.reversed());
    }
    methods
}
