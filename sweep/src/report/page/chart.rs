//! A picture of lines, one or more for each method, with the method's title beside its end.

use crate::figure::{Axis, Size, Tick, apart};
use serde::Serialize;

/// The square that lines are drawn in; the page stretches it.
pub(super) const SQUARE: Size = Size { width: 1000.0, height: 1000.0 };
/// Percent between two labels, at least.
const GAP: f64 = 5.4;

#[derive(Serialize)]
pub(super) struct LineChart {
    /// The metric of the vertical axis.
    pub(super) metric: String,
    pub(super) across: Vec<Tick>,
    pub(super) up: Vec<Tick>,
    pub(super) lines: Vec<Polyline>,
    pub(super) dots: Vec<Dot>,
    pub(super) labels: Vec<Label>,
}

#[derive(Serialize)]
pub(super) struct Polyline {
    pub(super) color: usize,
    pub(super) points: String,
    pub(super) level: bool,
}

/// A point of a line that says something.
#[derive(Serialize)]
pub(super) struct Dot {
    pub(super) color: usize,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) said: String,
}

#[derive(Serialize)]
pub(super) struct Label {
    pub(super) color: usize,
    pub(super) top: f64,
    pub(super) title: String,
}

impl LineChart {
    /// Axes without lines.
    pub(super) fn new(metric: String, x: &Axis, y: &Axis) -> Self {
        Self { metric, across: x.ticks(), up: y.ticks(), lines: Vec::new(), dots: Vec::new(), labels: Vec::new() }
    }

    /// The chart with labels that do not overlap.
    pub(super) fn with_labels_apart(mut self) -> Self {
        let mut tops: Vec<f64> = self.labels.iter().map(|label| label.top).collect();
        apart(&mut tops, GAP);
        self.labels.iter_mut().zip(tops).for_each(|(label, top)| label.top = top);
        self
    }
}
