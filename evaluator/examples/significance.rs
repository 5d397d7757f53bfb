//! Reads pairs of methods, sets of methods with replicates, and p-values from standard input, and prints what the tests say of them as JSON.
//! `tests/compare_significance.py` holds it against SciPy, statsmodels and limma's published formulas.
//!
//! ```text
//! {"pairs": [{"a": […], "b": […]}], "sets": [[[replicate, …], …methods], …], "p_values": […], "resamples", "level"}
//! ```

use evaluator::settings::{Correction, Over};
use evaluator::significance::{
    Crossed, Differences, Interval, MethodValues, Replication, Spreads, Tested, adjust, bootstrap::BootstrapDistribution, interval,
    mann_whitney::mann_whitney, over_users, randomization::randomization, wilcoxon::wilcoxon,
};
use serde_json::{Value, json};
use std::{borrow::Cow, io};

#[derive(serde::Deserialize)]
struct Input {
    pairs: Vec<Pair>,
    sets: Vec<Vec<Vec<Vec<f64>>>>,
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
    let sets: Vec<Value> = input.sets.iter().map(|methods| crossed(methods, 1.0 - input.level)).collect();
    let corrections = json!({
        "bonferroni": adjust(Correction::Bonferroni, &input.p_values),
        "holm": adjust(Correction::Holm, &input.p_values),
        "benjamini-hochberg": adjust(Correction::BenjaminiHochberg, &input.p_values),
    });
    serde_json::to_writer(io::stdout().lock(), &json!({"pairs": pairs, "sets": sets, "corrections": corrections}))?;
    Ok(())
}

fn tests(pair: &Pair, resamples: u32, level: f64) -> Value {
    let differences = Differences::new(&pair.a, &pair.b);
    let methods = [pair.a.as_slice(), pair.b.as_slice()];
    let fixed = methods.map(|values| MethodValues::from_replicates("m", Replication::None, vec![Cow::Borrowed(values)]));
    let bootstrap = BootstrapDistribution::new(&fixed, Over::UsersAndSeeds, resamples, 1);
    let mean = differences.mean();
    json!({
        "paired-t": {"p_value": over_users(&differences).p_value(mean), "statistic": mean / over_users(&differences).standard_error()},
        "wilcoxon": tested(wilcoxon(&differences)),
        "randomization": tested(randomization(&methods, &[(0, 1)], resamples, 1)[0]),
        "mann-whitney": tested(mann_whitney(&pair.a, &pair.b)),
        "t-interval": ends(interval(differences.values(), level)),
        "bootstrap": ends(bootstrap.interval(0, 1, mean, 1.0 - level)),
    })
}

/// The prior of a set of methods, the spread of each, and the test of its first two.
fn crossed(methods: &[Vec<Vec<f64>>], alpha: f64) -> Value {
    let rows = |replicates: &Vec<Vec<f64>>| replicates.iter().map(|values| Cow::Owned(values.clone())).collect();
    let methods: Vec<MethodValues<'_>> =
        methods.iter().map(|replicates| MethodValues::from_replicates("m", Replication::Seeds, rows(replicates))).collect();
    let spreads = Spreads::new(&methods);
    let differences = Differences::new(&methods[0].values, &methods[1].values);
    let test = |over: Over| {
        let crossed: Crossed = spreads.of_pair(0, 1, &differences, over);
        json!({"p_value": crossed.p_value(differences.mean()), "half": crossed.half_width(alpha), "error": crossed.standard_error()})
    };
    json!({
        "prior": spreads.prior.map(|prior| [prior.degrees, prior.variance]),
        "variances": spreads.methods.iter().map(|spread| spread.variance).collect::<Vec<f64>>(),
        "degrees": spreads.methods.iter().map(|spread| spread.degrees).collect::<Vec<f64>>(),
        "users-and-seeds": test(Over::UsersAndSeeds),
        "users": test(Over::Users),
        "seeds": test(Over::Seeds),
    })
}

fn tested(tested: Tested) -> Value {
    json!({"statistic": tested.statistic, "p_value": tested.p_value, "effect_size": tested.effect_size})
}

fn ends(interval: Interval) -> Value {
    json!([interval.low, interval.high])
}
