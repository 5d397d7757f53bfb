//! `calibration simulate`: one row for each scenario.

use crate::{
    simulated::{
        Form, Interaction, Population, Rate, Scenario, Variances,
        family::{FamilyRates, family},
        pair::{PairRates, bootstrap, pair},
    },
    table::{Target, cell, head, row},
};
use clap::Args;
use std::io::Write;

/// How many sets of methods are drawn for each scenario.
#[derive(Args)]
pub(crate) struct Sets {
    /// Sets whose first two methods are compared.
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Sets whose pairs are all compared, with the correction; as many with equal methods and with three better ones.
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..))]
    families: u32,
    /// Sets whose first two methods are compared by the bootstrap.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    bootstraps: u32,
    /// Only rows of so many methods.
    #[arg(long)]
    methods: Option<usize>,
    /// Only rows of so many seeds.
    #[arg(long)]
    seeds: Option<usize>,
    /// Only rows with such variances over seeds.
    #[arg(long)]
    variances: Option<Variances>,
}

impl Sets {
    fn has(&self, scenario: &Scenario) -> bool {
        self.methods.is_none_or(|methods| methods == scenario.methods)
            && self.seeds.is_none_or(|seeds| seeds == scenario.seeds)
            && self.variances.is_none_or(|variances| variances == scenario.variances)
    }
}

/// The targets.
const FALSE_POSITIVES: Target = Target { low: 0.03, high: 0.06 };
const FAMILY_WISE: Target = Target { low: 0.0, high: 0.055 };
const COVERAGE: Target = Target { low: 0.93, high: 0.97 };

const COLUMNS: [&str; 16] = [
    "metric",
    "methods",
    "seeds",
    "seeds' part",
    "interaction",
    "seeds' variances",
    "false positives",
    "users only",
    "bootstrap",
    "coverage, pair",
    "coverage, mean",
    "family-wise",
    "family-wise, 3 of 6 better",
    "simultaneous coverage",
    "power",
    "power, users only",
];

/// Prints the rates of all scenarios, and their standard errors.
pub(crate) fn simulate(sets: &Sets, out: &mut impl Write) -> anyhow::Result<()> {
    head(&COLUMNS, out)?;
    for scenario in scenarios().into_iter().filter(|scenario| sets.has(scenario)) {
        row(&measured(scenario, sets)?, out)?;
    }
    let errors = [(sets.pairs, "pairs"), (sets.families, "families"), (sets.bootstraps, "bootstrap")].map(|(sets, of)| {
        let never = Rate::of((0..sets).map(|_| false));
        format!("{:.4} at 0.05 and {:.4} at 0.5 over {sets} sets ({of})", never.standard_error_at(0.05), never.standard_error_at(0.5))
    });
    writeln!(out, "\nStandard errors: {}.", errors.join(", "))?;
    Ok(())
}

/// Every number of seeds with every part of theirs; without interaction, or with unequal variances, where seeds and users are alike.
fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for form in [Form::Normal, Form::Sparse] {
        for methods in [2, 6] {
            for seeds in [2, 3, 5, 10] {
                let usual = Scenario { form, methods, seeds, share: 0.5, interaction: Interaction::Some, variances: Variances::Equal };
                scenarios.extend([0.0, 0.25, 0.5, 0.8].map(|share| Scenario { share, ..usual }));
                scenarios.push(Scenario { interaction: Interaction::None, ..usual });
                scenarios.push(Scenario { variances: Variances::Unequal, ..usual });
            }
        }
    }
    scenarios
}

fn measured(scenario: Scenario, sets: &Sets) -> anyhow::Result<Vec<String>> {
    let population = Population::new(scenario);
    let of_pair = pair(&population, sets.pairs as usize);
    let resampled = bootstrap(&population, sets.bootstraps as usize);
    let mut cells = named(&scenario).to_vec();
    cells.extend(of_tests(&of_pair, resampled));
    cells.extend(if scenario.methods > 2 {
        let of = |better: usize| family(&population, better, sets.families as usize);
        of_families(&of(0)?, &of(scenario.methods / 2)?)
    } else {
        [const { String::new() }; 3]
    });
    cells.extend([cell(of_pair.power), cell(of_pair.power_users)]);
    Ok(cells)
}

fn named(scenario: &Scenario) -> [String; 6] {
    let interaction = if scenario.interaction == Interaction::Some { "some" } else { "none" };
    let variances = if scenario.variances == Variances::Equal { "equal" } else { "unequal" };
    [
        scenario.form.name().to_owned(),
        scenario.methods.to_string(),
        scenario.seeds.to_string(),
        format!("{:.0}%", 100.0 * scenario.share),
        interaction.to_owned(),
        variances.to_owned(),
    ]
}

fn of_tests(pair: &PairRates, bootstrap: Rate) -> [String; 5] {
    [
        FALSE_POSITIVES.cell(pair.false_positives),
        cell(pair.false_positives_users),
        cell(bootstrap),
        COVERAGE.cell(pair.coverage),
        COVERAGE.cell(pair.coverage_of_means),
    ]
}

fn of_families(equal: &FamilyRates, half_better: &FamilyRates) -> [String; 3] {
    [FAMILY_WISE.cell(equal.false_positives), FAMILY_WISE.cell(half_better.false_positives), COVERAGE.cell(half_better.coverage)]
}
