//! `theory rg`: whether the quadratic forms of the softmax loss bound it.

use super::{Study, fractions};
use crate::text_table::TextTable;
use crate::{
    figure::{Axis, Chart, LegendEntry, Line, Panel, PlotStyle},
    tables::{numbers, texts},
};
use anyhow::{Context, Result};
use arrow::{
    array::BooleanArray,
    datatypes::{Float64Type, UInt32Type},
};
use dataset::table::Column;
use std::sync::Arc;
use theory::Statement;
use theory::quadratic::{Curvature, LossForm, curvature, examples, led, statements};

/// Steps of the pictures' lines.
const STEPS: u32 = 120;
/// The one negative's score goes from minus this to this.
const FURTHEST: f64 = 6.0;

/// A distribution over items and the curvature there.
struct DistributionCurvature {
    name: &'static str,
    lead: f64,
    curvature: Curvature,
}

/// The forms of one user's loss where one negative has this score and all else is 0.
struct Values {
    score: f64,
    values: [f64; 4],
}

/// Computes for so many items.
///
/// # Errors
/// When a picture has no axis.
pub(crate) fn study(items: u32, seed: u64) -> Result<Study> {
    let examples: Vec<DistributionCurvature> = examples(items as usize).into_iter().map(|(name, pi)| place(name, &pi)).collect();
    let limit = 1.0 / f64::from(items);
    let led = |step: f64| place("one leads", &led(items as usize, limit + (1.0 - limit) * step));
    let leads: Vec<DistributionCurvature> = steps().map(led).collect();
    let values: Vec<Values> = steps().map(|share| values(items, FURTHEST * (2.0 * share - 1.0))).collect();
    let statements = statements(items as usize, &mut fractions(seed));
    let is_bound = statements.iter().all(Statement::holds);
    Ok(Study {
        name: "rg",
        heading: format!(
            "Are the quadratic forms of the softmax loss upper bounds? {items} items (paper 004, Proposition 7, Theorems 10 to 12)"
        ),
        tables: vec![("", place_columns(items, &examples, &leads)), ("_losses", value_columns(items, &values))],
        statements,
        chart: chart(items, limit, &leads, &values)?,
        rows: rows(limit, &examples),
        remarks: remarks(items, is_bound),
    })
}

fn steps() -> impl Iterator<Item = f64> {
    (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS))
}

fn place(name: &'static str, pi: &[f64]) -> DistributionCurvature {
    DistributionCurvature { name, lead: pi.iter().copied().fold(0.0, f64::max), curvature: curvature(pi) }
}

fn values(items: u32, score: f64) -> Values {
    let mut scores = vec![0.0; items as usize];
    scores[1] = score;
    Values { score, values: LossForm::ALL.map(|form| form.value(&scores, &[0])) }
}

fn place_columns(items: u32, examples: &[DistributionCurvature], leads: &[DistributionCurvature]) -> Vec<Column> {
    let all = || examples.iter().chain(leads);
    let limit = 1.0 / f64::from(items);
    let number = |name, field: fn(&DistributionCurvature) -> f64| numbers::<Float64Type>(name, all().map(field));
    let holds: BooleanArray = all().map(|place| Some(holds(&place.curvature, limit))).collect();
    vec![
        texts("distribution", all().map(|place| place.name)),
        numbers::<UInt32Type>("items", all().map(|_| items)),
        number("lead", |place| place.lead),
        number("curvature", |place| place.curvature.largest),
        numbers::<Float64Type>("limit", all().map(|_| limit)),
        ("holds", Arc::new(holds), false),
        number("along_pi", |place| place.curvature.along_pi),
        number("gershgorin", |place| place.curvature.gershgorin),
    ]
}

fn value_columns(items: u32, values: &[Values]) -> Vec<Column> {
    let all = || values.iter().flat_map(|at| LossForm::ALL.into_iter().zip(at.values).map(|(form, value)| (at.score, form, value)));
    vec![
        numbers::<UInt32Type>("items", all().map(|_| items)),
        numbers::<Float64Type>("score", all().map(|(score, _, _)| score)),
        texts("form", all().map(|(_, form, _)| form.name())),
        numbers::<Float64Type>("value", all().map(|(_, _, value)| value)),
    ]
}

fn holds(curvature: &Curvature, limit: f64) -> bool {
    curvature.largest <= limit + 1e-12
}

fn rows(limit: f64, examples: &[DistributionCurvature]) -> TextTable {
    let mut rows = TextTable::new(&["softmax of the scores", "curvature", "1/n", "at most 1/n", "along π"]);
    for DistributionCurvature { name, curvature, .. } in examples {
        let holds = if holds(curvature, limit) { "yes" } else { "no" };
        rows.add([
            (*name).to_owned(),
            format!("{:.6}", curvature.largest),
            format!("{limit:.6}"),
            holds.to_owned(),
            format!("{:.6}", curvature.along_pi),
        ]);
    }
    rows
}

fn remarks(items: u32, is_bound: bool) -> Vec<String> {
    let [softmax, rg2, ..] = values(items, 3.0).values;
    let outcome = if rg2 < softmax { "below it: RG2 is no upper bound" } else { "above it here" };
    let mut remarks = vec![format!("One negative at 3, all else at 0: softmax {softmax:.8}, RG2 + c {rg2:.8}, {outcome}.")];
    if !is_bound {
        remarks.push(
            "RG2 surely bounds where the curvature is at most 1/n all the way from equal scores: it is 1/n there, more at any other softmax close by, and less \
             again near one-hot. The paper's proof looks along π alone, which is not the steepest direction. Böhning's form, with 1/4 in place of \
             1/(2n), bounds everywhere."
                .into(),
        );
    }
    remarks.push("Minimisers keep the order of relevance in every case, so consistency with NDCG does not rest on the bound.".into());
    remarks.push(
        "RG2 and RGx end at the same models where items' vectors are free and regularised: RGx does not see what is added to all of a user's scores, so that \
         regularisation takes the items' mean to 0, RG2 takes it there by itself, and there the two are one function."
            .into(),
    );
    remarks
}

fn chart(items: u32, limit: f64, leads: &[DistributionCurvature], values: &[Values]) -> Result<Chart> {
    let key = |name: &str, color, dashed| LegendEntry { name: name.to_owned(), color, dashed };
    Ok(Chart {
        title: format!("Quadratic forms against the softmax loss, {items} items"),
        notes: vec!["Left: a form is an upper bound where it is above the softmax loss. Right: RG2 surely is one where the curvature is at most 1/n.".into()],
        keys: vec![
            key("softmax", 1, false),
            key("RG2 + c", 2, false),
            key("RGx + c", 4, true),
            key("Böhning", 3, false),
            key("curvature", 7, false),
            key("along π", 5, true),
        ],
        columns: 2,
        panels: vec![losses(values)?, curvatures(limit, leads)?],
    })
}

fn losses(values: &[Values]) -> Result<Panel> {
    let line = |key: usize| Line { key, points: values.iter().map(|at| (at.score, at.values[key])).collect(), mark: PlotStyle::Line };
    let softmax_and_rg2 = || values.iter().flat_map(|at| [at.values[0], at.values[1]]);
    Ok(Panel {
        title: "one negative's score, all others at 0".into(),
        across: "score of the negative".into(),
        up: "loss".into(),
        x: Axis::around(values.iter().map(|at| at.score), 0.0, 6).context("no scores")?,
        y: Axis::around(softmax_and_rg2(), 0.05, 5).context("no losses")?,
        lines: (0..LossForm::ALL.len()).map(line).collect(),
        levels: Vec::new(),
    })
}

fn curvatures(limit: f64, leads: &[DistributionCurvature]) -> Result<Panel> {
    let line = |key: usize, value: fn(&Curvature) -> f64| Line {
        key,
        points: leads.iter().map(|at| (at.lead, value(&at.curvature))).collect(),
        mark: PlotStyle::Line,
    };
    Ok(Panel {
        title: "one item's share of the softmax, the rest even".into(),
        across: "its share".into(),
        up: "largest eigenvalue of diag π − ππᵀ".into(),
        x: Axis::around(leads.iter().map(|at| at.lead), 0.0, 5).context("no shares")?,
        y: Axis::around(leads.iter().map(|at| at.curvature.largest).chain([0.0, limit]), 0.05, 5).context("no curvatures")?,
        lines: vec![line(4, |at| at.largest), line(5, |at| at.along_pi)],
        levels: vec![(limit, "1/n".into())],
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::text_of;
    use super::*;

    #[test]
    fn the_terminal_has_the_table_and_the_counterexample_of_the_reference() {
        let text = text_of(&study(10, 1).unwrap());
        for part in ["softmax 3.37024104, RG2 + c 3.05258509, below it", "0.277778", "0.080023", "no", "yes"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn two_items_have_a_picture_too() {
        let study = study(2, 1).unwrap();
        assert!(study.statements.iter().all(Statement::holds));
        assert!(study.chart.svg().is_ok());
    }
}
