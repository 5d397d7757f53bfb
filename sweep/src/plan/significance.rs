//! Facts about the tests before a sweep: how many comparisons there are, and which differences its seeds can tell apart.

use super::{
    Found, PROGRAM, Plan, PlannedDataset,
    show::{bytes, count_of},
};
use evaluator::{
    MetricAt,
    significance::{MethodComponents, power::Variances, tests_memory},
};
use std::fmt::Write as _;

/// Numbers of seeds that the advice is about, beside the sweep's own.
const SEEDS: [u32; 4] = [3, 5, 10, 20];

/// Measurements of an earlier sweep on the same data: the advice follows from its variances.
#[derive(Clone)]
pub struct Pilot {
    /// The sweep's name.
    pub sweep: String,
    /// Its methods by all metrics.
    pub components: Vec<MethodComponents>,
    /// The standard errors of its comparisons.
    pub errors: Vec<PairError>,
}

/// How well an earlier sweep knew the difference of two methods that learn.
#[derive(Clone)]
pub struct PairError {
    /// The dataset's name.
    pub dataset: String,
    /// The metric.
    pub at: MetricAt,
    /// The standard error of the difference over users and seeds.
    pub standard_error: f64,
    /// Seeds of each method, of the one with fewer.
    pub seeds: usize,
}

/// The tests of a plan, and for each dataset the smallest difference that they tell apart. `pilots` holds one entry per dataset name, in the
/// plan's order; none where nothing was measured on it.
pub fn tests(plan: &Plan, found: &[Found], pilots: &[(String, Option<Pilot>)]) -> String {
    let evaluation = &plan.evaluation;
    let methods = |dataset: &str| plan.methods.iter().filter(|method| method.dataset == dataset).count();
    let comparisons = |dataset: &str| evaluation.significance.family.comparisons(methods(dataset));
    let all: usize = pilots.iter().map(|(dataset, _)| comparisons(dataset)).sum();
    let each = evaluation.metric_ats().len() * evaluation.significance.tests.len();
    let mut text = format!(
        "\n{} of methods, each by {} of {}",
        count_of(all, "comparison"),
        count_of(each, "test"),
        count_of(evaluation.metric_ats().len(), "metric")
    );
    let memory = memory(plan, found)
        .map_or_else(String::new, |most| format!("; {} of memory for the values of all users and the tests", bytes(most)));
    let _ = writeln!(text, "; verdicts are about {}{memory}", evaluation.primary());
    for (dataset, pilot) in pilots {
        let advice =
            pilot.as_ref().and_then(|pilot| advice(plan, dataset, pilot, evaluation.significance.family.adjusted_for(methods(dataset))));
        let unknown = || {
            let seeds = plan.methods.iter().filter(|method| method.dataset == *dataset).map(super::Method::repeats).max().unwrap_or(1);
            let single = if seeds < 2 { "; with one seed verdicts are about the trained models alone" } else { "" };
            format!(
                "no sweep on this storage has measured how far users and seeds spread here, between two methods with several seeds{single}"
            )
        };
        let _ = writeln!(text, "{dataset}: {}", advice.unwrap_or_else(unknown));
    }
    text
}

/// Bytes for the values and the tests of the largest of the prepared datasets; none where none is prepared.
fn memory(plan: &Plan, found: &[Found]) -> Option<u64> {
    let of = |(planned, found): (&PlannedDataset, &Found)| {
        let Found::Prepared(manifest) = found else { return None };
        let methods: Vec<&super::Method> = plan.methods.iter().filter(|method| method.dataset == planned.name()).collect();
        let trials = methods.iter().map(|method| method.repeats()).sum();
        let metrics = plan.evaluation.metric_ats().len();
        Some(PROGRAM + tests_memory(&plan.evaluation.significance, metrics, manifest.users, methods.len(), trials))
    };
    plan.datasets.iter().zip(found).filter_map(of).max()
}

/// The differences that some numbers of seeds tell apart, by the medians of what was measured.
fn advice(plan: &Plan, dataset: &str, pilot: &Pilot, comparisons: usize) -> Option<String> {
    let at = plan.evaluation.primary();
    let rows: Vec<&MethodComponents> = pilot.components.iter().filter(|row| row.dataset == dataset && row.metric == at).collect();
    let learned: Vec<&&MethodComponents> = rows.iter().filter(|row| row.var_replicate > 0.0 && row.var_users.is_some()).collect();
    let users = learned.first()?.users;
    let of = |part: &dyn Fn(&MethodComponents) -> f64| median(learned.iter().map(|row| part(row)).collect());
    let errors: Vec<&PairError> = pilot.errors.iter().filter(|pair| pair.dataset == dataset && pair.at == at).collect();
    let seeds = errors.iter().map(|pair| pair.seeds).min()? as f64;
    let (interaction, replicates) =
        (2.0 * of(&|row| row.var_interaction), 2.0 * of(&|row| (row.var_replicate - row.var_interaction).max(0.0)));
    let error = median(errors.iter().map(|pair| pair.standard_error).collect());
    let variances = Variances {
        users: users as f64 * (error * error - (replicates + interaction) / seeds).max(0.0),
        interaction: users as f64 * interaction,
        replicates,
    };
    let level = plan.evaluation.significance.alpha / comparisons.max(1) as f64;
    let mean = of(&|row| row.mean);
    // A seed more of a method is a degree of freedom more, beside those that the other methods lend.
    let (splits, word) = (learned.first()?.splits, if learned.first()?.splits > 1 { "splits" } else { "seeds" });
    let lent = of(&|row| (row.degrees - (if splits > 1 { splits } else { row.trials } as f64 - 1.0)).max(0.0));
    // What repeats this sweep has of its own; where they are splits, and the spread is over seeds, none of the numbers is of it.
    let own_splits = plan.datasets.iter().filter(|planned| planned.name() == dataset).count();
    let own = match (splits, own_splits) {
        (0 | 1, 0 | 1) => plan.methods.iter().filter(|method| method.dataset == dataset).map(super::Method::repeats).max(),
        (0 | 1, _) => None,
        _ => Some(own_splits),
    };
    let own = own.map(|own| own as u32);
    let mut numbers: Vec<u32> = SEEDS.into_iter().chain(own).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let told = |seeds: &u32| {
        let degrees = (lent + f64::from(*seeds) - 1.0).max(1.0);
        let difference = variances.detectable(*seeds, users, degrees, level);
        let here = if Some(*seeds) == own { " (this sweep)" } else { "" };
        format!("{:.2}% with {seeds}{here}", 100.0 * difference / mean)
    };
    let numbers: Vec<String> = numbers.iter().map(told).collect();
    Some(format!(
        "differences of {at} that at least 80% of sweeps tell apart, by the spread over users and {word} in sweep {}, in percent of {}: {} {word}",
        pilot.sweep,
        value(mean, at),
        numbers.join(", ")
    ))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = &values[values.len().saturating_sub(1) / 2..(values.len() / 2 + 1).min(values.len())];
    middle.iter().sum::<f64>() / middle.len().max(1) as f64
}

fn value(mean: f64, at: MetricAt) -> String {
    format!("{mean:.4} (the median {at})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file::SweepFile, plan};
    use evaluator::{settings::Over, significance::Spread};

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(
            [median(vec![]), median(vec![3.0]), median(vec![4.0, 1.0]), median(vec![9.0, 1.0, 4.0, 2.0]), median(vec![5.0, 1.0, 2.0])],
            [0.0, 3.0, 2.5, 3.0, 2.0]
        );
    }

    const SWEEP: &str = "
name: s
datasets: [{name: d, source: {format: synthetic}, split: {kind: random, test: 0.2, validation: 0.1, seed: 1}}]
grid:
  - backbones: [{kind: mf, dim: 8}]
    losses: [{kind: bpr}, {kind: softmax, temperature: 0.2}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: 0.01}
seeds: [1, 2]
";

    fn pilot() -> Pilot {
        let row = MethodComponents {
            dataset: "d".into(),
            metric: "ndcg@20".parse().unwrap(),
            method: "m".into(),
            users: 100_000,
            trials: 5,
            splits: 1,
            mean: 0.25,
            ci_low: None,
            ci_high: None,
            over: Over::UsersAndSeeds,
            var_users: Some(1e-5),
            var_seeds: Some(5e-6),
            var_splits: None,
            var_replicate: 5e-6,
            degrees: 1e6,
            var_interaction: 1e-6,
            spread: Spread::Own,
        };
        let error = PairError { dataset: "d".into(), at: row.metric, standard_error: 3e-3, seeds: 5 };
        Pilot { sweep: "pilot".into(), components: vec![row], errors: vec![error] }
    }

    fn said(pilot: Option<Pilot>) -> String {
        let file = SweepFile::parse(SWEEP, "s.yaml").unwrap();
        let plan = plan::check(&file).unwrap().plan(&["f".to_owned()]).unwrap();
        tests(&plan, &[Found::raw(0)], &[("d".to_owned(), pilot)])
    }

    /// By hand: users 9e-6 - (8e-6 + 2e-6) / 5 = 7e-6; with 2 seeds se² = 7e-6 + 1e-5 / 2 = 1.2e-5, times 1.96 + 0.8416, of 0.25: 3.88%.
    #[test]
    fn a_pilot_says_what_can_be_told_apart() {
        let text = said(Some(pilot()));
        assert!(text.starts_with("\n1 comparison of methods, each by 8 tests of 4 metrics; verdicts are about ndcg@20\n"), "{text}");
        assert!(
            text.contains("sweep pilot, in percent of 0.2500 (the median ndcg@20): 3.88% with 2 (this sweep), 3.60% with 3,"),
            "{text}"
        );
    }

    /// Two seeds to which no other method lends degrees of freedom tell apart what is more than twice the 3.88% of variances that are known.
    #[test]
    fn few_seeds_are_not_taken_for_many() {
        let mut pilot = pilot();
        pilot.components[0].degrees = 4.0;
        let text = said(Some(pilot));
        let (_, two) = text.split_once("(the median ndcg@20): ").unwrap();
        assert!(two.split_once('%').unwrap().0.parse::<f64>().unwrap() > 7.76, "{text}");
    }

    #[test]
    fn nothing_measured_is_said_plainly() {
        assert!(said(None).ends_with(
            "d: no sweep on this storage has measured how far users and seeds spread here, between two methods with several seeds\n"
        ));
    }
}
