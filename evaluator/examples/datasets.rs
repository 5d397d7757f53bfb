//! Reads `{"comparisons": [[[…], …], …], "tails": [[q, values], …], "quantiles": [[tail, values], …], "alpha"}` from standard input, where a
//! comparison has the values of each method on all datasets, and prints all that is computed over datasets as JSON.
//! `tests/compare_datasets.py` holds it against SciPy, statsmodels and scikit-posthocs.

use evaluator::significance::datasets::{
    AverageRanks, CompleteBlocks, critical_difference, friedman, nemenyi, studentized_range_quantile, studentized_range_tail, z_tests,
};
use serde_json::{Value, json};
use std::io;

#[derive(serde::Deserialize)]
struct Input {
    comparisons: Vec<Vec<Vec<f64>>>,
    tails: Vec<(f64, usize)>,
    quantiles: Vec<(f64, usize)>,
    alpha: f64,
}

fn main() -> anyhow::Result<()> {
    let Input { comparisons, tails, quantiles, alpha } = serde_json::from_reader(io::stdin().lock())?;
    let compared = comparisons.into_iter().map(|methods| compared(methods, alpha)).collect::<anyhow::Result<Vec<Value>>>()?;
    let tails: Vec<f64> = tails.into_iter().map(|(q, values)| studentized_range_tail(q, values)).collect();
    let quantiles: Vec<f64> = quantiles.into_iter().map(|(tail, values)| studentized_range_quantile(tail, values)).collect();
    serde_json::to_writer(io::stdout().lock(), &json!({"comparisons": compared, "tails": tails, "quantiles": quantiles}))?;
    Ok(())
}

fn compared(methods: Vec<Vec<f64>>, alpha: f64) -> anyhow::Result<Value> {
    let ranks = AverageRanks::new(&CompleteBlocks::new(methods)?);
    let found = friedman(&ranks);
    let methods = ranks.ranks.len();
    let pairs: Vec<(usize, usize)> = (0..methods).flat_map(|one| (one + 1..methods).map(move |other| (one, other))).collect();
    let tests = z_tests(&ranks, &pairs);
    let against_first = z_tests(&ranks, &(1..methods).map(|other| (0, other)).collect::<Vec<_>>());
    Ok(json!({
        "ranks": ranks.ranks,
        "chi_square": [found.chi_square, found.chi_square_p],
        "f": [if found.f.is_finite() { json!(found.f) } else { Value::Null }, json!(found.f_p)],
        "exact_p": found.exact_p,
        "nemenyi": pairs.iter().map(|&(one, other)| nemenyi(&ranks, one, other)).collect::<Vec<_>>(),
        "z": tests.iter().map(|test| [test.z, test.p_value, test.p_adjusted]).collect::<Vec<_>>(),
        "against_first": against_first.iter().map(|test| test.p_adjusted).collect::<Vec<_>>(),
        "critical_difference": critical_difference(methods, ranks.datasets, alpha),
    }))
}
