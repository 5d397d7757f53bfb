//! The numbers and claims that a paper prints of a sweep's methods, bound to the plan's methods.

use super::{
    Method, Plan,
    title::{Meant, MethodNames, several},
};
use crate::file::{ClaimEntry, Hypothesis, Placed, PrintedLine, PrintedTable, Result, SweepFile, nearest};
use evaluator::{Metric, MetricAt, settings::Margin};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The printed numbers that are of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// A number is reproduced where the difference is within it.
    pub margin: Margin,
    /// Trainings that each number is the mean of.
    pub runs: u32,
    /// Lines of the table, those of other sweeps included; 0 of a stored plan, which does not change with them.
    #[serde(default, skip_serializing)]
    pub lines: usize,
    /// Why the first of those others is none of this sweep; none of a stored plan.
    #[serde(default, skip_serializing)]
    pub other: Option<String>,
    /// The numbers of this sweep, in the order of the table.
    pub values: Vec<PrintedValue>,
}

/// A printed number of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedValue {
    /// The place of the number in the paper.
    pub place: String,
    /// The dataset's name.
    pub dataset: String,
    /// The method as the table names it.
    pub name: String,
    /// The method's label.
    pub method: String,
    /// The metric and where lists are cut.
    pub at: MetricAt,
    /// The number.
    pub value: f64,
    /// One unit of its last printed digit.
    pub unit: f64,
    /// Whether the dataset's split is the paper's own, so that users and their test items are the same.
    pub same_users: bool,
}

/// A claim on one dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedClaim {
    /// The place in the paper that claims it.
    pub place: String,
    /// The dataset's name.
    pub dataset: String,
    /// The metric and where lists are cut.
    pub at: MetricAt,
    /// The hypothesis, about methods by their labels.
    pub hypothesis: Hypothesis,
}

impl Plan {
    /// The plan with the printed numbers that are of its datasets, methods and metrics.
    ///
    /// # Errors
    /// A name that several methods have, and a table without any number of this sweep.
    pub(crate) fn with_printed(mut self, table: &Placed<PrintedTable>, lines: &[PrintedLine]) -> Result<Self> {
        let names: HashMap<&str, MethodNames<'_>> =
            self.dataset_names().into_iter().map(|dataset| (dataset, self.names_on(dataset))).collect();
        let value = |line| self.printed_value(table, line, names.get(line.dataset.as_str())?).transpose();
        let values = lines.iter().filter_map(value).collect::<Result<Vec<_>>>()?;
        if values.is_empty() {
            return Err(table.place().error(self.no_number(lines)));
        }
        let PrintedTable { margin, runs, .. } = table.value;
        let names_nothing = |line: &&PrintedLine| {
            let value = names.get(line.dataset.as_str()).map(|names| self.printed_value(table, line, names));
            value.is_none_or(|value| value.is_ok_and(|value| value.is_none()))
        };
        // What there is instead may be long, and tables of papers name many methods that a sweep has not.
        let other = lines.iter().find(names_nothing).map(|line| nearest::without_list(&self.why_not(line)).to_owned());
        self.printed = Some(Printed { margin, runs, lines: lines.len(), other, values });
        Ok(self)
    }

    /// The number that a line has of this sweep; none where it is of another.
    fn printed_value(&self, table: &Placed<PrintedTable>, line: &PrintedLine, names: &MethodNames<'_>) -> Result<Option<PrintedValue>> {
        if !self.evaluation.metric_ats().contains(&line.at) {
            return Ok(None);
        }
        match names.find(&line.method) {
            Meant::Unknown(_) => Ok(None),
            Meant::One(_) if line.value == 0.0 && matches!(table.value.margin, Margin::Relative(_)) => {
                let PrintedLine { at, method, dataset, .. } = line;
                let words = format!("{at} of {method} on {dataset} is printed as 0, and {} of it is 0 too", table.value.margin);
                let remedy = "so that nothing could reproduce it; give `printed.margin` in units of the metric, such as 0.0005, or leave the number out";
                Err(table.place().error(format!("{words}, {remedy}")))
            }
            Meant::One(_) if line.value > 1.0 && line.at.metric.decides() => {
                let PrintedLine { at, method, dataset, value, .. } = line;
                let words = format!("{at} of {method} on {dataset} is printed as {value}, and is at most 1");
                Err(table.place().error(format!("{words}; divide percentages by 100")))
            }
            Meant::Several(titles) => Err(table.place().error(several(&line.method, &titles))),
            Meant::One(place) => Ok(Some(PrintedValue {
                place: line.place.clone(),
                dataset: line.dataset.clone(),
                name: line.method.clone(),
                method: names.key(place).to_owned(),
                at: line.at,
                value: line.value,
                unit: line.unit,
                same_users: table.value.same_split.unwrap_or_else(|| self.is_given(&line.dataset)),
            })),
        }
    }

    /// Whether a dataset comes split, as those of papers do.
    fn is_given(&self, dataset: &str) -> bool {
        self.datasets.iter().any(|planned| planned.name() == dataset && planned.preparation.split.takes_given_parts())
    }

    /// Why no line is of this sweep, by the first one.
    fn no_number(&self, lines: &[PrintedLine]) -> String {
        let Some(first) = lines.first() else { return "the table has no number".to_owned() };
        format!("none of {} is of this sweep; of the first: {}", super::show::count_of(lines.len(), "line"), self.why_not(first))
    }

    /// Why a line is none of this sweep.
    fn why_not(&self, line: &PrintedLine) -> String {
        let names = self.dataset_names();
        let measured: Vec<String> = self.evaluation.metric_ats().iter().map(ToString::to_string).collect();
        if !names.contains(&line.dataset.as_str()) {
            nearest::unknown("dataset", &line.dataset, &names)
        } else if let Meant::Unknown(words) = self.names_on(&line.dataset).find(&line.method) {
            words
        } else {
            nearest::unknown("metric", &line.at.to_string(), &measured.iter().map(String::as_str).collect::<Vec<_>>())
        }
    }

    /// The claims of a sweep file, each on each dataset that it is about.
    ///
    /// # Errors
    /// A method, a metric or a dataset that the sweep does not have.
    pub(super) fn with_claims(mut self, file: &SweepFile) -> Result<Self> {
        for claim in &file.claims {
            let names = self.dataset_names();
            let about: Vec<String> = match &claim.dataset {
                Some(name) if names.contains(&name.as_str()) => vec![name.clone()],
                Some(name) => return Err(claim.node.at("dataset").place.error(nearest::unknown("dataset", name, &names))),
                None => names.into_iter().map(str::to_owned).collect(),
            };
            for dataset in about {
                self.claims.extend(self.claims_on(claim, &dataset)?);
            }
        }
        Ok(self)
    }

    /// The claims on a dataset: one for each metric and hypothesis.
    fn claims_on(&self, claim: &ClaimEntry, dataset: &str) -> Result<Vec<PlannedClaim>> {
        let names = self.names_on(dataset);
        let label = |name: &str| match names.find(name) {
            Meant::One(place) => Ok(names.key(place).to_owned()),
            Meant::Several(titles) => Err(claim.node.place.error(several(name, &titles))),
            Meant::Unknown(words) => Err(claim.node.place.error(words)),
        };
        let hypotheses = claim.hypotheses.iter().map(|hypothesis| hypothesis.with_names(label)).collect::<Result<Vec<_>>>()?;
        if let Some(name) = hypotheses.iter().find_map(twice) {
            return Err(claim.node.place.error(format!("`{name}` stands twice in one claim")));
        }
        if hypotheses.iter().any(|hypothesis| matches!(hypothesis, Hypothesis::Equal(..))) && self.evaluation.significance.margin.is_none()
        {
            let words = "`equal` is judged by a margin, and there is none: give `evaluation.significance.margin`, such as 1%";
            return Err(claim.node.at("equal").place.error(words));
        }
        let metrics = match hypotheses.iter().any(Hypothesis::is_of_epochs) {
            true => self.of_epochs(claim, dataset, &hypotheses)?,
            false => self.measured(claim)?,
        };
        let planned = |at: MetricAt, hypothesis: &Hypothesis| PlannedClaim {
            place: claim.place.clone(),
            dataset: dataset.to_owned(),
            at,
            hypothesis: hypothesis.clone(),
        };
        Ok(metrics.into_iter().flat_map(|at| hypotheses.iter().map(move |hypothesis| planned(at, hypothesis))).collect())
    }

    /// The metrics of a claim about what the methods come to.
    fn measured(&self, claim: &ClaimEntry) -> Result<Vec<MetricAt>> {
        let primary = [self.evaluation.primary()];
        let metrics = if claim.metrics.is_empty() { primary.as_slice() } else { &claim.metrics };
        metrics.iter().try_for_each(|&at| self.is_measured(claim, at))?;
        Ok(metrics.to_vec())
    }

    /// The metric of a claim about epochs, which methods that fit at once do not have.
    fn of_epochs(&self, claim: &ClaimEntry, dataset: &str, hypotheses: &[Hypothesis]) -> Result<Vec<MetricAt>> {
        let at = self.select_by;
        if claim.metrics.iter().any(|metric| *metric != at) {
            let words = format!("epochs are counted by `select_by`, the metric that validation has: leave `metric` out, or give `{at}`");
            return Err(claim.node.at("metric").place.error(words));
        }
        let of = |label: &&str| self.methods.iter().find(|method| method.dataset == dataset && method.label == *label);
        let at_once =
            |method: &&Method| method.configurations.iter().flat_map(|found| &found.trials).any(|planned| planned.seed().is_none());
        match hypotheses.iter().flat_map(Hypothesis::methods).find(|label| of(label).filter(at_once).is_some()) {
            Some(label) => {
                Err(claim.node.place.error(format!("`{label}` fits at once, and has no epochs: claim `better` and `worse` of it")))
            }
            None => Ok(vec![at]),
        }
    }

    fn is_measured(&self, claim: &ClaimEntry, at: MetricAt) -> Result<()> {
        let measured = self.evaluation.metric_ats();
        if !at.metric.decides() {
            let words = format!("`{at}` does not say which method ranks better: claim something of one of {}", Metric::deciding());
            return Err(claim.node.at("metric").place.error(words));
        }
        if measured.contains(&at) {
            return Ok(());
        }
        let names: Vec<String> = measured.iter().map(ToString::to_string).collect();
        let words = nearest::unknown("metric", &at.to_string(), &names.iter().map(String::as_str).collect::<Vec<_>>());
        Err(claim.node.at("metric").place.error(format!("{words}; `evaluation` says what is measured")))
    }
}

/// A method that a claim names more than once.
fn twice(hypothesis: &Hypothesis) -> Option<&str> {
    let methods = hypothesis.methods();
    methods.iter().enumerate().find(|(place, method)| methods[..*place].contains(method)).map(|(_, method)| *method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;

    const SWEEP: &str = "\
name: s
datasets:
  - {name: d, source: {format: synthetic}, split: {kind: random, test: 0.2, validation: 0.1, seed: 1}}
  - {name: e, source: {format: synthetic, users: 5000}, split: {kind: random, test: 0.2, validation: 0.1, seed: 1}}
grid:
  - backbones: [{kind: mf, dim: 8}]
    losses: [{kind: bpr}, {kind: softmax, temperature: 0.1}, {kind: softmax, temperature: 0.2}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: 0.1}
  - backbones: [{kind: popularity}]
evaluation: {metrics: [ndcg], cutoffs: [20]}
printed: v.csv
";

    fn planned(claims: &str, lines: &[PrintedLine]) -> Result<Plan> {
        let file = SweepFile::parse(&format!("{SWEEP}{claims}"), "s.yaml")?;
        let plan = plan::check(&file)?.plan(&["d".to_owned(), "e".to_owned()])?;
        if lines.is_empty() { Ok(plan) } else { plan.with_printed(file.printed.as_ref().unwrap(), lines) }
    }

    fn line(dataset: &str, method: &str, at: &str) -> PrintedLine {
        let (dataset, method, at) = (dataset.to_owned(), method.to_owned(), at.parse().unwrap());
        PrintedLine { place: "T".into(), dataset, method, at, value: 0.1, unit: 0.01 }
    }

    #[test]
    fn lines_of_other_sweeps_are_counted_and_left() {
        let lines = [
            line("d", "bpr on mf-8", "ndcg@20"),
            line("books", "bpr on mf-8", "ndcg@20"),
            line("d", "ease", "ndcg@20"),
            line("d", "popularity", "ndcg@5"),
            line("e", "softmax(temperature=0.2) on mf-8", "ndcg@20"),
        ];
        let printed = planned("", &lines).unwrap().printed.unwrap();
        let found: Vec<(&str, &str, bool)> =
            printed.values.iter().map(|value| (value.dataset.as_str(), value.method.as_str(), value.same_users)).collect();
        assert_eq!(found, [("d", "mf-8 / bpr / uniform-5", false), ("e", "mf-8 / softmax(temperature=0.2) / uniform-5", false)]);
        assert_eq!(printed.lines, 5);
        assert!(printed.other.unwrap().starts_with("unknown dataset `books`"), "the first that is not of this sweep");
    }

    #[test]
    fn a_table_of_nothing_here_says_why() {
        let message = |lines: &[PrintedLine]| planned("", lines).unwrap_err().to_string();
        assert!(
            message(&[line("dd", "bpr on mf-8", "ndcg@20")])
                .contains("none of 1 line is of this sweep; of the first: unknown dataset `dd`")
        );
        assert!(message(&[line("d", "brp on mf-8", "ndcg@20")]).contains("did you mean `bpr on mf-8`?"));
        assert!(message(&[line("d", "bpr on mf-8", "ndcg@5")]).contains("unknown metric `ndcg@5`: did you mean `ndcg@20`?"));
        let several = message(&[line("d", "softmax on mf-8", "ndcg@20")]);
        assert!(several.starts_with("s.yaml:12:10: printed: `softmax on mf-8` is the name of several methods; give one of"), "{several}");
    }

    #[test]
    fn a_share_of_a_printed_zero_is_refused() {
        let zero = || vec![PrintedLine { value: 0.0, ..line("d", "popularity", "ndcg@20") }];
        let message = planned("", &zero()).unwrap_err().to_string();
        let words =
            "s.yaml:12:10: printed: ndcg@20 of popularity on d is printed as 0, and 5% of it is 0 too, so that nothing could reproduce it";
        assert!(message.contains(words), "{message}");
        let absolute = SWEEP.replace("printed: v.csv", "printed: {values: v.csv, margin: 0.001}");
        let file = SweepFile::parse(&absolute, "s.yaml").unwrap();
        let plan = plan::check(&file).unwrap().plan(&["d".to_owned(), "e".to_owned()]).unwrap();
        assert_eq!(plan.with_printed(file.printed.as_ref().unwrap(), &zero()).unwrap().printed.unwrap().values[0].value, 0.0);
    }

    #[test]
    fn a_percentage_is_refused_where_a_share_is_meant() {
        let percent = |value: f64| planned("", &[PrintedLine { value, ..line("d", "popularity", "ndcg@20") }]);
        let message = percent(33.55).unwrap_err().to_string();
        assert!(message.contains("is printed as 33.55, and is at most 1; divide percentages by 100"), "{message}");
        assert!(percent(1.0).is_ok());
    }

    #[test]
    fn a_claim_is_on_each_dataset_that_it_is_about() {
        let claims =
            "claims:\n  - {better: bpr on mf-8, worse: popularity}\n  - {better: popularity, worse: bpr on mf-8, dataset: e, place: T}\n";
        let found = planned(claims, &[]).unwrap().claims;
        assert_eq!(found.iter().map(|claim| claim.dataset.as_str()).collect::<Vec<_>>(), ["d", "e", "e"]);
        assert_eq!(found[2].hypothesis, Hypothesis::Better("popularity".into(), "mf-8 / bpr / uniform-5".into()));
        assert_eq!((found[0].at.to_string(), found[2].place.as_str()), ("ndcg@20".to_owned(), "T"));
    }

    #[test]
    fn a_claim_of_what_is_not_there_is_refused() {
        let message = |claim: &str| planned(&format!("claims:\n  - {{{claim}}}\n"), &[]).unwrap_err().to_string();
        assert!(message("better: bpr on mf-8, worse: ease").starts_with("s.yaml:14:5: claims[0]: unknown method `ease`"));
        let described = message("better: bpr on mf-8, worse: popularity, metric: gini@20");
        assert!(described.contains("claims[0].metric: `gini@20` does not say which method ranks better: claim something of one of ndcg,"));
        assert!(message("better: bpr on mf-8, worse: popularity, metric: ndcg@5").contains("claims[0].metric: unknown metric `ndcg@5`"));
        assert!(message("better: bpr on mf-8, worse: popularity, dataset: f").contains("claims[0].dataset: unknown dataset `f`"));
        assert!(message("better: bpr on mf-8, worse: bpr on mf-8").contains("stands twice in one claim"));
        assert!(
            message("faster: bpr on mf-8, slower: popularity").contains("claims[0]: `popularity` fits at once, and has no epochs: claim")
        );
        assert!(message("equal: [bpr on mf-8, popularity]").contains("claims[0].equal: `equal` is judged by a margin, and there is none"));
        let metric = message("faster: bpr on mf-8, slower: softmax(temperature=0.1) on mf-8, metric: ndcg@5");
        assert!(metric.contains("claims[0].metric: epochs are counted by `select_by`") && metric.contains("or give `ndcg@20`"), "{metric}");
    }

    #[test]
    fn a_claim_about_epochs_is_by_the_metric_that_picks() {
        let found = planned("claims: [{faster: bpr on mf-8, slower: softmax(temperature=0.1) on mf-8, dataset: d}]", &[]).unwrap().claims;
        let slower = "mf-8 / softmax(temperature=0.1) / uniform-5".to_owned();
        assert_eq!(found[0].hypothesis, Hypothesis::Faster("mf-8 / bpr / uniform-5".into(), slower));
        assert_eq!((found.len(), found[0].at.to_string()), (1, "ndcg@20".to_owned()));
    }

    #[test]
    fn a_plan_without_them_is_written_as_before() {
        let plan = planned("", &[]).unwrap();
        assert!(!plan.to_json().contains("printed") && !plan.to_json().contains("claims"));
        let own = line("d", "popularity", "ndcg@20");
        let with = planned("claims: [{better: bpr on mf-8, worse: popularity}]", std::slice::from_ref(&own)).unwrap();
        let read: Plan = serde_json::from_str(&with.to_json()).unwrap();
        let without_lines = Printed { lines: 0, ..with.printed.clone().unwrap() };
        assert_eq!(read, Plan { printed: Some(without_lines), ..with.clone() });
        let beside = planned("claims: [{better: bpr on mf-8, worse: popularity}]", &[own, line("books", "ease", "ndcg@20")]).unwrap();
        assert_eq!(beside.to_json(), with.to_json());
    }
}
