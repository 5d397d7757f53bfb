//! `calibration seeds`: trainings that differ in nothing but their seeds, compared as if they were of two methods.
//!
//! For a method with enough seeds, many times two disjoint sets of them are drawn at random. A test at 0.05 should call few of these pairs
//! different. Pairs share seeds and users, so that rates of one method vary more than those of as many independent pairs.

use crate::{
    simulated::{ALPHA, Rate, draws::stream},
    table::{Target, cell, head, row},
};
use anyhow::{Context, ensure};
use dataset::Location;
use evaluator::{
    TrialValues,
    settings::Over,
    significance::{Differences, MethodValues, Replication, Spreads, over_users},
    tables::read_values,
};
use rand::Rng;
use rayon::prelude::*;
use std::{borrow::Cow, io::Write};

/// How many seeds each set has.
const SEEDS: [usize; 3] = [2, 3, 5];
/// At most so many may be called different.
const CALLED_DIFFERENT: Target = Target { low: 0.0, high: 0.06 };

const COLUMNS: [&str; 9] = [
    "dataset",
    "method",
    "trained seeds",
    "metric",
    "seeds of each",
    "called different",
    "median p",
    "users only: called different",
    "median p",
];

/// Prints the rates, over so many pairs, of every method of the sweeps that has seeds for two sets.
pub(crate) fn seeds(sweeps: &[String], pairs: usize, out: &mut impl Write) -> anyhow::Result<()> {
    head(&COLUMNS, out)?;
    for sweep in sweeps {
        let folder = Location::parse(sweep)?;
        let mut values =
            read_values(&folder.join("metrics.parquet"), &folder.join("per_user")).with_context(|| format!("reading {sweep}"))?;
        values.sort_by(|one, other| (&one.dataset, &one.method).cmp(&(&other.dataset, &other.method)));
        let mut rows = 0;
        for trials in values.chunk_by(|one, other| (&one.dataset, &one.method) == (&other.dataset, &other.method)) {
            rows += of_method(trials, pairs, out)?;
        }
        ensure!(rows > 0, "no method of {sweep} has {} seeds, which two sets of {} need", 2 * SEEDS[0], SEEDS[0]);
    }
    Ok(())
}

/// Writes the rows of a method's trials, and says how many there are.
fn of_method(trials: &[TrialValues], pairs: usize, out: &mut impl Write) -> anyhow::Result<usize> {
    let first = &trials[0];
    let same = |trial: &TrialValues| trial.split_seed.is_none() && trial.users == first.users;
    ensure!(trials.iter().all(same), "the trials of `{}` on {} are of several splits; give sweeps of one", first.method, first.dataset);
    let mut rows = 0;
    for (place, (metric, _)) in first.values.iter().enumerate() {
        let values: Vec<&[f64]> = trials.iter().map(|trial| trial.values[place].1.as_slice()).collect();
        for seeds in SEEDS.into_iter().filter(|seeds| 2 * seeds <= trials.len()) {
            let named = [first.dataset.clone(), first.method.clone(), trials.len().to_string(), metric.to_string(), seeds.to_string()];
            let drawn = |pair: usize| drawn(&values, 2 * seeds, &mut stream(&named.join(" "), pair));
            let p_values: Vec<[f64; 2]> = (0..pairs).into_par_iter().map(|pair| p_values(&drawn(pair))).collect();
            row(&[named.as_slice(), &cells(&p_values)].concat(), out)?;
            rows += 1;
        }
    }
    Ok(rows)
}

/// The rates and the median p-values, by the default test and over users alone.
fn cells(pairs: &[[f64; 2]]) -> [String; 4] {
    let [default, users] = [0, 1].map(|test| pairs.iter().map(|p_values| p_values[test]).collect::<Vec<f64>>());
    let rate = |p_values: &[f64]| Rate::of(p_values.iter().map(|p_value| *p_value < ALPHA));
    let (default_rate, users_rate) = (rate(&default), rate(&users));
    [CALLED_DIFFERENT.cell(default_rate), median(default), cell(users_rate), median(users)]
}

/// So many of the rows at random, none twice.
fn drawn<'a>(rows: &[&'a [f64]], count: usize, words: &mut impl Rng) -> Vec<&'a [f64]> {
    let mut rows = rows.to_vec();
    for place in 0..count {
        let left = (rows.len() - place) as u64;
        rows.swap(place, place + (((words.next_u64() >> 32) * left) >> 32) as usize);
    }
    rows.truncate(count);
    rows
}

/// The p-values of the first half of the rows against the second, by the default test and over users alone.
fn p_values(rows: &[&[f64]]) -> [f64; 2] {
    let (first, second) = rows.split_at(rows.len() / 2);
    let methods = [first, second]
        .map(|rows| MethodValues::from_replicates("seeds", Replication::Seeds, rows.iter().map(|values| Cow::Borrowed(*values)).collect()));
    let differences = Differences::new(&methods[0].values, &methods[1].values);
    let default = Spreads::new(&methods).of_pair(0, 1, &differences, Over::UsersAndSeeds);
    [default, over_users(&differences)].map(|crossed| crossed.p_value(differences.mean()))
}

fn median(mut values: Vec<f64>) -> String {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    format!("{:.3}", (values[middle] + values[values.len() - 1 - middle]) / 2.0)
}
