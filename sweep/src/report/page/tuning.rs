//! The best validation value to be expected of each method, by how many configurations are tried.

use super::{
    super::{Report, number},
    MethodTrials, Palette,
    chart::{Dot, Label, LineChart, Polyline, SQUARE},
};
use crate::{
    figure::{Axis, line},
    tables::TuningRow,
};

/// One line for each method; none where no method has two configurations.
pub(super) fn tuning(report: &Report, dataset: &str, methods: &[MethodTrials], palette: &Palette) -> Option<LineChart> {
    let rows: Vec<&TuningRow> = report.tuning.iter().filter(|row| row.dataset == dataset).collect();
    let most = rows.iter().map(|row| row.best.budget).max().filter(|&most| most > 1)?;
    let x = Axis::counting(most);
    let y = Axis::around(rows.iter().map(|row| row.best.mean), 0.03, 6)?;
    let mut chart = LineChart::new(rows[0].select_by.to_string(), &x, &y);
    for method in methods {
        let own: Vec<&TuningRow> = rows.iter().copied().filter(|row| row.method == method.key).collect();
        let Some(last) = own.last() else { continue };
        let (color, top) = (palette.color(method.key), 100.0 - y.percent(last.best.mean));
        let points = own.iter().map(|row| (f64::from(row.best.budget), row.best.mean));
        chart.lines.push(Polyline { color, points: line(points, &x, &y, SQUARE), level: false });
        chart.dots.push(Dot { color, left: x.percent(last.best.budget.into()), top, said: said(method, last) });
        chart.labels.push(Label { color, top, title: method.title.clone() });
    }
    Some(chart.with_labels_apart())
}

fn said(method: &MethodTrials, last: &TuningRow) -> String {
    let (configurations, best) = (number::counted(last.best.budget as usize, "configuration"), number::value(last.best.mean));
    format!("{}: {best} expected of {configurations}, standard deviation {}", method.title, number::value(last.best.std))
}
