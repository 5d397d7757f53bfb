//! Printed numbers, each held against the mean of its method.

use super::{Input, MethodsByMetric, TitlesByDataset};
use crate::{
    plan::{Printed, PrintedValue},
    tables::{Ours, ReproductionRow},
};
use evaluator::{
    findings::MethodsAt,
    settings::Over,
    significance::{PrintedMean, VarianceOfMean},
};

/// The numbers of the sweep, in the order of the table.
pub(super) fn numbers(input: &Input, titles: &TitlesByDataset, measured: &mut MethodsByMetric<'_>) -> Vec<ReproductionRow> {
    let Some(printed) = input.printed else { return Vec::new() };
    printed.values.iter().map(|value| row(input, printed, value, titles, measured)).collect()
}

fn row(
    input: &Input,
    printed: &Printed,
    value: &PrintedValue,
    titles: &TitlesByDataset,
    measured: &mut MethodsByMetric<'_>,
) -> ReproductionRow {
    let margin = printed.margin.of(value.value, value.value);
    let found = measured.of(&value.dataset, value.at).and_then(|found| Some((found, found.place(&value.method)?)));
    ReproductionRow {
        place: value.place.clone(),
        dataset: value.dataset.clone(),
        at: value.at,
        name: value.name.clone(),
        method: value.method.clone(),
        title: titles.of(&value.dataset, &value.method),
        printed: value.value,
        unit: value.unit,
        same_users: value.same_users,
        margin,
        ours: found.map(|(found, place)| ours(input, printed, value, margin, found, place)),
    }
}

fn ours(input: &Input, printed: &Printed, value: &PrintedValue, margin: f64, found: &MethodsAt<'_>, place: usize) -> Ours {
    let (method, spread) = (&found.methods[place], found.spreads.alone(place));
    let number = PrintedMean { value: value.value, unit: value.unit, runs: printed.runs, same_users: value.same_users };
    let variance = found.spreads.of_mean(place, &method.values, Over::Users).users;
    let users = VarianceOfMean { variance, users: method.users.len() };
    let mean = method.mean();
    let beside = number.beside(mean, users, spread, margin, input.evaluation.significance.alpha);
    let finite = beside.interval.filter(|interval| interval.low.is_finite());
    Ours {
        mean,
        difference: beside.difference,
        ci_low: finite.map(|interval| interval.low),
        ci_high: finite.map(|interval| interval.high),
        p_value: beside.p_value,
        p_equivalence: beside.p_equivalence,
        replicates: method.replicates.len() as u32,
        spread: spread.source,
        agreement: beside.agreement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Report, Style, example, reproduction::Reproduction};
    use evaluator::{settings::Margin, significance::Spread};

    fn printed(values: &[(&str, f64)], same_users: bool) -> Printed {
        let value = |&(loss, value): &(&str, f64)| PrintedValue {
            place: "Table 1".into(),
            dataset: "books".into(),
            name: loss.into(),
            method: example::trial("books", "mf-64", Some(loss)).method,
            at: "ndcg@20".parse().unwrap(),
            value,
            unit: 1e-4,
            same_users,
        };
        Printed { margin: Margin::Relative(0.05), runs: 1, lines: 9, other: None, values: values.iter().map(value).collect() }
    }

    fn judged(printed: &Printed) -> Vec<ReproductionRow> {
        let sweep = example::sweep();
        Reproduction::new(&Input { printed: Some(printed), ..sweep.input() }).unwrap().numbers
    }

    /// A number is set beside the method's own mean, with the spread of its seeds: on users of the paper's own split these alone are counted.
    #[test]
    fn numbers_are_reproduced_contradicted_or_lack_a_result() {
        let sweep = example::sweep();
        let component = sweep.components.iter().find(|row| row.method.contains("softmax-at-k(20)") && row.dataset == "books").unwrap();
        let rows = judged(&printed(&[("softmax-at-k(20)", component.mean * 1.001), ("softmax", 0.2), ("nobody", 0.1)], true));
        assert_eq!(rows.iter().map(ReproductionRow::verdict).collect::<Vec<_>>(), ["reproduced", "contradicted", "missing"]);
        let ours = rows[0].ours.as_ref().unwrap();
        assert!((ours.mean - component.mean).abs() < 1e-12 && (ours.difference + component.mean * 0.001).abs() < 1e-12);
        assert_eq!((ours.replicates, ours.spread, rows[0].title.as_str()), (3, Spread::Own, "softmax-at-k(20) on mf-64"));
        let width = |same: bool| {
            let row = judged(&printed(&[("softmax", 0.1)], same)).remove(0);
            row.ours.and_then(|ours| Some(ours.ci_high? - ours.ci_low?)).unwrap()
        };
        assert!(width(false) > 3.0 * width(true), "users of another split are counted");
    }

    #[test]
    fn page_and_terminal_say_how_many_are_met() {
        let (sweep, printed) = (example::sweep(), printed(&[("softmax", 0.2), ("nobody", 0.1)], true));
        let input = Input { printed: Some(&printed), ..sweep.input() };
        let report = Report::new(&input);
        let text = report.terminal(&input, Style::default());
        let verdict = "0 of 2 printed numbers are reproduced within 5%, 1 is contradicted, 1 without a result.";
        assert!(
            text.contains(verdict)
                && text.contains("softmax on mf-64 on books, ndcg@20")
                && text.contains("so that seeds alone are counted"),
            "{text}"
        );
        let page = crate::report::page::render(&input, &report).unwrap();
        assert!(page.contains(verdict) && page.contains("id=\"paper\"") && page.contains("said contradicted"));
        let one = Printed { values: printed.values[..1].to_vec(), ..printed.clone() };
        let input = Input { printed: Some(&one), ..sweep.input() };
        let text = Report::new(&input).terminal(&input, Style::default());
        assert!(text.contains("0 of 1 printed number is reproduced within 5%, 1 is contradicted."), "{text}");
        let without = sweep.input();
        assert!(!crate::report::page::render(&without, &Report::new(&without)).unwrap().contains("id=\"paper\""));
    }
}
