//! The tests of a sweep on users' values.

use crate::{
    arrays::{parsed, values},
    refused,
    threads::shared_out,
};
use dataset::{Location, Split};
use evaluator::{Evaluation, MetricAt, Result, TrialValues, findings, tables::write_significance};
use pyo3::{Bound, PyResult, Python, pyfunction, types::PyBytes};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// A metric's name does not matter to its tests.
const METRIC: &str = "ndcg@1";

/// The comparisons of methods, as the bytes of `significance.parquet`. A method is its name, its users' values for each seed, and whether
/// it has seeds; settings are the `significance` of a sweep file, as JSON.
#[pyfunction]
pub(crate) fn compare<'py>(py: Python<'py>, methods: Vec<(String, Vec<Vec<u8>>, bool)>, settings: &str) -> PyResult<Bound<'py, PyBytes>> {
    let metric: MetricAt = METRIC.parse().map_err(refused)?;
    let evaluation = Evaluation { significance: parsed("settings", settings)?, primary: Some(metric), ..Evaluation::default() };
    let table = py.detach(|| shared_out(|| table(&trials(&methods, metric), &evaluation)))?.map_err(refused)?;
    Ok(PyBytes::new(py, &table))
}

/// A trial for each seed of each method.
fn trials(methods: &[(String, Vec<Vec<u8>>, bool)], metric: MetricAt) -> Vec<TrialValues> {
    let of_method = |(method, replicates, has_seeds): &(String, Vec<Vec<u8>>, bool)| {
        let of_seed = |(seed, bytes): (u64, &Vec<u8>)| {
            let values: Vec<f64> = values(bytes);
            TrialValues {
                trial: format!("{method} {seed}"),
                method: method.clone(),
                dataset: "values".to_owned(),
                seed: has_seeds.then_some(seed),
                split_seed: None,
                split: Split::Test,
                users: (0..values.len() as u32).collect(),
                user_ids: Arc::new([]),
                values: vec![(metric, values)],
                tied_users: 0,
                unknown_users: 0,
                sampled_candidates: None,
                listed: None,
                groups: Vec::new(),
            }
        };
        (1..).zip(replicates).map(of_seed).collect::<Vec<_>>()
    };
    methods.iter().flat_map(of_method).collect()
}

fn table(trials: &[TrialValues], evaluation: &Evaluation) -> Result<Vec<u8>> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let found = findings::compare(trials, evaluation, &mut |_, _| ())?;
    let at = Location::parse(&format!("memory:///significance-{}", CALLS.fetch_add(1, Ordering::Relaxed)))?;
    write_significance(&at, &found.comparisons)?;
    let table = at.read()?.to_vec();
    at.delete()?;
    Ok(table)
}
