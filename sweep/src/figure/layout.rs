//! Where the parts of a chart stand, in pixels.

use super::{
    Axis, Chart, Line, Panel, PlotStyle,
    axis::{Size, Tick, line, tenth},
};
use serde::Serialize;

const WIDTH: f64 = 960.0;
/// Room around everything.
const MARGIN: f64 = 28.0;
/// Room left of a panel, for the labels of its vertical axis.
const LEFT: f64 = 46.0;
/// Room between a panel and the next one's labels.
const GAP: f64 = 22.0;
/// Room above a panel, for its title and that of the vertical axis.
const ABOVE: f64 = 52.0;
/// Room below a panel, for the labels and the title of the horizontal axis.
const BELOW: f64 = 46.0;
/// Height of a panel.
const HEIGHT: f64 = 210.0;
/// Height of a line of text.
const ROW: f64 = 20.0;
/// Width of a letter of the legend, on average, and of the sample before a name.
const LETTER: f64 = 6.4;
const SAMPLE: f64 = 58.0;

/// The values that the template draws.
#[derive(Serialize)]
pub(super) struct Drawing<'a> {
    style: &'static str,
    width: f64,
    height: f64,
    margin: f64,
    title: &'a str,
    notes: Vec<Note<'a>>,
    keys: Vec<Sample<'a>>,
    panels: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Note<'a> {
    top: f64,
    text: &'a str,
}

/// An entry of the legend.
#[derive(Serialize)]
struct Sample<'a> {
    left: f64,
    top: f64,
    name: &'a str,
    color: usize,
    dashed: bool,
}

/// A panel; what is in it has the origin at its top left.
#[derive(Serialize)]
struct Frame<'a> {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    title: &'a str,
    across: &'a str,
    up: &'a str,
    across_ticks: Vec<Tick>,
    up_ticks: Vec<Tick>,
    levels: Vec<Level<'a>>,
    lines: Vec<Stroke>,
}

#[derive(Serialize)]
struct Level<'a> {
    top: f64,
    label: &'a str,
}

#[derive(Serialize)]
struct Stroke {
    color: usize,
    dashed: bool,
    points: String,
    dots: Vec<(f64, f64)>,
}

/// Places everything.
pub(super) fn drawing(chart: &Chart) -> Drawing<'_> {
    let notes_top = MARGIN + 44.0;
    let notes: Vec<Note> = chart.notes.iter().enumerate().map(|(row, text)| Note { top: notes_top + ROW * row as f64, text }).collect();
    let keys = legend(chart, notes_top + ROW * notes.len() as f64 + 8.0);
    let panels_top = keys.last().map_or(notes_top, |key| key.top) + 14.0;
    let width = (WIDTH - 2.0 * MARGIN - LEFT * chart.columns as f64 - GAP * (chart.columns - 1) as f64) / chart.columns as f64;
    let corner = |at: usize| {
        let (row, column) = ((at / chart.columns) as f64, (at % chart.columns) as f64);
        (MARGIN + LEFT + column * (width + LEFT + GAP), panels_top + ABOVE + row * (ABOVE + HEIGHT + BELOW))
    };
    let panels = chart.panels.iter().enumerate().map(|(at, panel)| {
        let (left, top) = corner(at);
        frame(chart, panel, left, top, Size { width, height: HEIGHT })
    });
    let rows = chart.panels.len().div_ceil(chart.columns) as f64;
    Drawing {
        style: concat!(include_str!("theme.css"), include_str!("chart.css")),
        width: WIDTH,
        height: panels_top + rows * (ABOVE + HEIGHT + BELOW) + MARGIN / 2.0,
        margin: MARGIN,
        title: &chart.title,
        notes,
        keys,
        panels: panels.collect(),
    }
}

/// The legend's entries from left to right, in as many rows as they need.
fn legend(chart: &Chart, top: f64) -> Vec<Sample<'_>> {
    let (mut left, mut top) = (MARGIN, top);
    let mut samples = Vec::new();
    let lines = || chart.panels.iter().flat_map(|panel| &panel.lines);
    let has_points = |at: usize| lines().any(|line| line.key == at && !line.points.is_empty());
    for (_, key) in chart.keys.iter().enumerate().filter(|(at, _)| has_points(*at)) {
        let width = SAMPLE + LETTER * key.name.chars().count() as f64;
        if left > MARGIN && left + width > WIDTH - MARGIN {
            (left, top) = (MARGIN, top + ROW);
        }
        samples.push(Sample { left: tenth(left), top, name: &key.name, color: key.color, dashed: key.dashed });
        left += width;
    }
    samples
}

fn frame<'a>(chart: &'a Chart, panel: &'a Panel, left: f64, top: f64, size: Size) -> Frame<'a> {
    let Size { width, height } = size;
    let pixels = |ticks: Vec<Tick>, length: f64, reversed: bool| {
        let place = |at: f64| tenth(if reversed { length - length / 100.0 * at } else { length / 100.0 * at });
        ticks.into_iter().map(|tick| Tick { at: place(tick.at), label: tick.label }).collect()
    };
    Frame {
        left: tenth(left),
        top: tenth(top),
        width: tenth(width),
        height,
        title: &panel.title,
        across: &panel.across,
        up: &panel.up,
        across_ticks: pixels(panel.x.ticks(), width, false),
        up_ticks: pixels(panel.y.ticks(), height, true),
        levels: panel.levels.iter().map(|(value, label)| Level { top: place_up(&panel.y, *value, height), label }).collect(),
        lines: panel.lines.iter().rev().map(|line| stroke(chart, panel, line, size)).collect(),
    }
}

fn stroke(chart: &Chart, panel: &Panel, drawn: &Line, size: Size) -> Stroke {
    let Size { width, height } = size;
    let key = &chart.keys[drawn.key];
    let dot = |&(across, up): &(f64, f64)| (tenth(width / 100.0 * panel.x.percent(across)), place_up(&panel.y, up, height));
    let dots = drawn.points.iter().filter(|(_, up)| up.is_finite() && drawn.mark != PlotStyle::Line).map(dot);
    let joined = drawn.points.iter().copied().filter(|_| drawn.mark != PlotStyle::Dots);
    let points = line(joined, &panel.x, &panel.y, size);
    Stroke { color: key.color, dashed: key.dashed, points, dots: dots.collect() }
}

fn place_up(y: &Axis, value: f64, height: f64) -> f64 {
    tenth(height - height / 100.0 * y.percent(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::chart::tests::example;

    #[test]
    fn panels_fill_rows_and_do_not_overlap() {
        let chart = example();
        let drawing = drawing(&chart);
        let [first, second, third] = &drawing.panels[..] else { panic!("three panels") };
        assert!(first.left + first.width + LEFT <= second.left && second.left + second.width <= WIDTH - MARGIN + 0.1);
        assert_eq!((first.top, first.left), (second.top, third.left));
        assert!(third.top >= first.top + HEIGHT + BELOW && third.top + HEIGHT + BELOW <= drawing.height);
    }

    #[test]
    fn points_stand_where_their_axes_say() {
        let chart = example();
        let drawing = drawing(&chart);
        let panel = &drawing.panels[0];
        // The first line is drawn last, on top.
        assert_eq!(panel.lines[2].dots, [(0.0, HEIGHT), (tenth(panel.width / 2.0), 0.0)]);
        assert_eq!(panel.levels[0].top, HEIGHT / 2.0);
    }

    #[test]
    fn a_long_legend_has_several_rows() {
        let mut chart = example();
        chart.keys = vec![chart.keys[0].clone(); 30];
        chart.panels[0].lines = (0..30).map(|key| Line { key, ..chart.panels[0].lines[0].clone() }).collect();
        let rows: std::collections::BTreeSet<u64> = legend(&chart, 0.0).iter().map(|key| key.top as u64).collect();
        assert_eq!(legend(&chart, 0.0).len(), 30);
        assert!(rows.len() > 1 && legend(&chart, 0.0).iter().all(|key| key.left < WIDTH - MARGIN));
    }
}
