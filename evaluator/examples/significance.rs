//! Reads `{"pairs": [{"a": […], "b": […]}], "p_values": […], "resamples", "level"}` from standard input and prints all tests of each pair
//! and all corrections of the p-values as JSON. `tests/compare_significance.py` holds them against SciPy.

use evaluator::settings::Correction;
use evaluator::significance::{
    Differences, Interval, Tested, adjust, bootstrap::bootstrap, interval, mann_whitney::mann_whitney, paired_t::paired_t,
    randomization::randomization, wilcoxon::wilcoxon,
};
use serde_json::{Value, json};
use std::io;

#[derive(serde::Deserialize)]
struct Input {
    pairs: Vec<Pair>,
    p_values: Vec<f64>,
    resamples: u32,
    level: f64,
}

#[derive(serde::Deserialize)]
struct Pair {
    a: Vec<f64>,
    b: Vec<f64>,
}

fn main() -> anyhow::Result<()> {
    let input: Input = serde_json::from_reader(io::stdin().lock())?;
    let pairs: Vec<Value> = input.pairs.iter().map(|pair| tests(pair, input.resamples, input.level)).collect();
    let corrections = json!({
        "bonferroni": adjust(Correction::Bonferroni, &input.p_values),
        "holm": adjust(Correction::Holm, &input.p_values),
        "benjamini-hochberg": adjust(Correction::BenjaminiHochberg, &input.p_values),
    });
    serde_json::to_writer(io::stdout().lock(), &json!({"pairs": pairs, "corrections": corrections}))?;
    Ok(())
}

fn tests(pair: &Pair, resamples: u32, level: f64) -> Value {
    let differences = Differences::new(&pair.a, &pair.b);
    let methods = [pair.a.as_slice(), pair.b.as_slice()];
    json!({
        "paired-t": tested(paired_t(&differences)),
        "wilcoxon": tested(wilcoxon(&differences)),
        "randomization": tested(randomization(&methods, &[(0, 1)], resamples, 1)[0]),
        "mann-whitney": tested(mann_whitney(&pair.a, &pair.b)),
        "t-interval": ends(interval(differences.values(), level)),
        "bootstrap": ends(bootstrap(&methods, &[(0, 1)], level, resamples, 1)[0]),
    })
}

fn tested(tested: Tested) -> Value {
    json!({"statistic": tested.statistic, "p_value": tested.p_value, "effect_size": tested.effect_size})
}

fn ends(interval: Interval) -> Value {
    json!([interval.low, interval.high])
}
