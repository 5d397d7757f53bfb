//! How well groups are served: the primary metric by the length of users' histories, and what of items is found and shown by their popularity.

use super::{
    super::{Input, number},
    MethodTrials, Palette,
    chart::{Dot, Label, LineChart, Polyline, SQUARE},
    spread::counted_of,
};
use crate::figure::{Axis, line};
use evaluator::groups::{GroupValue, Grouping};
use serde::Serialize;
use std::collections::BTreeMap;

/// A picture each for users and for items; none where there are not two groups.
#[derive(Serialize)]
pub(super) struct Groups {
    pub(super) users: Option<LineChart>,
    /// The recall of items' held-out interactions.
    pub(super) found: Option<LineChart>,
    /// The items' share of the places in lists.
    pub(super) shown: Option<LineChart>,
}

/// What is drawn of the groups.
struct Drawn {
    of: Grouping,
    metric: &'static str,
    cutoff: Option<u32>,
}

impl Drawn {
    fn has(&self, row: &GroupValue) -> bool {
        row.of == self.of && row.metric == self.metric && row.cutoff == self.cutoff
    }

    fn name(&self) -> String {
        self.cutoff.map_or_else(|| self.metric.to_owned(), |cutoff| format!("{}@{cutoff}", self.metric))
    }
}

/// A group of one method: means over its trials, and the members' smallest and largest numbers in any of them.
struct Point {
    low: u32,
    high: u32,
    values: Vec<f64>,
}

impl Point {
    fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }
}

/// The groups of a dataset by the primary metric; of items where lists were kept.
pub(super) fn groups(input: &Input, dataset: &str, methods: &[MethodTrials], palette: &Palette) -> Groups {
    let primary = input.primary();
    let cutoff = primary.cutoff.or_else(|| input.evaluation.cutoffs.first().copied());
    let of_items = |metric| chart(input, dataset, methods, palette, &Drawn { of: Grouping::Items, metric, cutoff });
    let of_users = Drawn { of: Grouping::Users, metric: primary.metric.name(), cutoff: primary.cutoff };
    Groups { users: chart(input, dataset, methods, palette, &of_users), found: of_items("recall"), shown: of_items("exposure") }
}

fn chart(input: &Input, dataset: &str, methods: &[MethodTrials], palette: &Palette, drawn: &Drawn) -> Option<LineChart> {
    let all: Vec<(&MethodTrials, BTreeMap<u32, Point>)> =
        methods.iter().map(|method| (method, points(input, dataset, method, drawn))).filter(|(_, points)| !points.is_empty()).collect();
    let last = all.iter().filter_map(|(_, points)| points.keys().last().copied()).max().filter(|&last| last > 1)?;
    let (x, y) = (Axis::counting(last), Axis::around(all.iter().flat_map(|(_, points)| points.values().map(Point::mean)), 0.03, 6)?);
    let mut chart = LineChart::new(drawn.name(), &x, &y);
    for (method, points) in &all {
        let color = palette.color(method.key);
        let values = points.iter().map(|(&group, point)| (f64::from(group), point.mean()));
        chart.lines.push(Polyline { color, points: line(values, &x, &y, SQUARE), level: false });
        chart.dots.extend(points.iter().map(|(&group, point)| Dot {
            color,
            left: x.percent(group.into()),
            top: 100.0 - y.percent(point.mean()),
            said: said(method, drawn, point),
        }));
        let end = points.values().last().map_or(0.0, Point::mean);
        chart.labels.push(Label { color, top: 100.0 - y.percent(end), title: method.title.clone() });
    }
    Some(chart.with_labels_apart())
}

/// The groups of a method by number, over its ranked trials.
fn points(input: &Input, dataset: &str, method: &MethodTrials, drawn: &Drawn) -> BTreeMap<u32, Point> {
    let mut points: BTreeMap<u32, Point> = BTreeMap::new();
    for trial in counted_of(input, dataset, method.key) {
        for row in trial.groups.iter().filter(|row| drawn.has(row)) {
            let point = points.entry(row.group).or_insert(Point { low: row.low, high: row.high, values: Vec::new() });
            (point.low, point.high) = (point.low.min(row.low), point.high.max(row.high));
            point.values.push(row.value);
        }
    }
    points
}

fn said(method: &MethodTrials, drawn: &Drawn, point: &Point) -> String {
    let range = if point.low == point.high { point.low.to_string() } else { format!("{} to {}", point.low, point.high) };
    let members = match drawn.of {
        Grouping::Users => format!("users who have {range} items"),
        Grouping::Items => format!("items that {range} users have"),
    };
    format!("{}, {members}: {} {}", method.title, drawn.name(), number::value(point.mean()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Report, example, method::methods};

    #[test]
    fn a_point_is_the_mean_over_the_trials_of_a_method() {
        let mut sweep = example::sweep();
        let key = "mf-64 / bpr / uniform-1";
        let mut seeds = 0.0;
        for trial in sweep.values.iter_mut().filter(|trial| trial.dataset == "books" && trial.method == key) {
            let row = |group: u32, value: f64| GroupValue {
                of: Grouping::Users,
                group,
                low: 5 * group,
                high: 5 * group + 4,
                size: 200,
                metric: "ndcg".into(),
                cutoff: Some(20),
                value,
            };
            trial.groups = vec![row(1, 0.25 + seeds), row(2, 0.5)];
            seeds += 0.125;
        }
        let input = sweep.input();
        let methods = methods(input.trials, "books");
        let found = groups(&input, "books", &methods, &Palette::new(&input, &Report::new(&input)));
        let chart = found.users.unwrap();
        assert_eq!((chart.metric.as_str(), chart.lines.len(), chart.dots.len()), ("ndcg@20", 1, 2));
        assert_eq!(chart.dots[0].said, "bpr on mf-64, users who have 5 to 9 items: ndcg@20 0.3750");
        assert!(found.found.is_none() && found.shown.is_none());
    }
}
