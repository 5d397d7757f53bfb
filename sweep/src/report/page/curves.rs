//! Training curves of the picked trials: validation of all methods in one picture, the loss of each method in its own.

use super::{
    super::{Input, number, splits},
    MethodTrials, Palette,
    chart::{Dot, Label, LineChart, Polyline, SQUARE},
};
use crate::{
    figure::{Axis, line},
    tables::{CurveRow, TrialRow},
};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Curves {
    pub(super) validation: Option<LineChart>,
    losses: Vec<Loss>,
}

#[derive(Serialize)]
struct Loss {
    color: usize,
    title: String,
    lines: Vec<String>,
    highest: String,
    lowest: String,
    epochs: u32,
}

/// A picked trial and its curve.
struct Course<'a> {
    trial: &'a TrialRow,
    rows: Vec<&'a CurveRow>,
}

impl Course<'_> {
    fn validation(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let selected = |row: &&&CurveRow| row.at == Some(self.trial.select_by);
        self.rows.iter().filter(selected).filter_map(|row| Some((f64::from(row.epoch), row.value?)))
    }

    fn loss(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let first_of_epoch = |place: &usize| *place == 0 || self.rows[place - 1].epoch != self.rows[*place].epoch;
        (0..self.rows.len()).filter(first_of_epoch).filter_map(|place| Some((f64::from(self.rows[place].epoch), self.rows[place].loss?)))
    }
}

/// The curves of the picked trials of each method.
pub(super) fn curves<'a>(input: &Input<'a>, methods: &[MethodTrials<'a>], palette: &Palette) -> Curves {
    let all: Vec<(&MethodTrials, Vec<Course>)> = methods.iter().map(|method| (method, courses(input, method))).collect();
    Curves {
        validation: validation(&all, palette),
        losses: all.iter().filter_map(|(method, courses)| loss(method, courses, palette)).collect(),
    }
}

fn courses<'a>(input: &Input<'a>, method: &MethodTrials<'a>) -> Vec<Course<'a>> {
    let rows = |trial: &TrialRow| input.curves.iter().filter(|row| row.trial == trial.trial).collect();
    method.trials.iter().filter(|trial| trial.selected).map(|trial| Course { trial, rows: rows(trial) }).collect()
}

fn validation(all: &[(&MethodTrials, Vec<Course>)], palette: &Palette) -> Option<LineChart> {
    let courses = || all.iter().flat_map(|(_, courses)| courses);
    let levels = courses().filter_map(|course| course.trial.validation);
    let x = Axis::around(courses().flat_map(|course| course.validation().map(|(epoch, _)| epoch)).chain([0.0]), 0.0, 6)?;
    let y = Axis::around(courses().flat_map(|course| course.validation().map(|(_, value)| value)).chain(levels), 0.03, 6)?;
    courses().find(|course| course.validation().next().is_some())?;
    let mut chart = LineChart::new(courses().next()?.trial.select_by.to_string(), &x, &y);
    for (method, courses) in all {
        let color = palette.color(method.key);
        for course in courses {
            chart.lines.extend(drawn(course, color, &x, &y));
            chart.dots.extend(kept(method, course, color, &x, &y));
        }
        let ends: Vec<f64> =
            courses.iter().filter_map(|course| course.validation().last().map(|(_, value)| value).or(course.trial.validation)).collect();
        if !ends.is_empty() {
            let end = ends.iter().sum::<f64>() / ends.len() as f64;
            chart.labels.push(Label { color, top: 100.0 - y.percent(end), title: method.title.clone() });
        }
    }
    Some(chart.with_labels_apart())
}

/// A trial's line: its curve, or a level where it fits without sampling.
fn drawn(course: &Course, color: usize, x: &Axis, y: &Axis) -> Option<Polyline> {
    if course.validation().next().is_some() {
        return Some(Polyline { color, points: line(course.validation(), x, y, SQUARE), level: false });
    }
    let height = 1000.0 - 10.0 * y.percent(course.trial.validation?);
    Some(Polyline { color, points: format!("0,{height:.1} 1000,{height:.1}"), level: true })
}

/// The epoch whose checkpoint was kept.
fn kept(method: &MethodTrials, course: &Course, color: usize, x: &Axis, y: &Axis) -> Option<Dot> {
    let best = f64::from(course.trial.best_epoch?);
    let (epoch, value) = course.validation().find(|&(epoch, _)| epoch == best)?;
    let which = splits::repetition(course.trial).map_or_else(String::new, |which| format!(", {which}"));
    let said = format!("{}{which}: best at epoch {epoch}, {}", method.title, number::value(value));
    Some(Dot { color, left: x.percent(epoch), top: 100.0 - y.percent(value), said })
}

fn loss(method: &MethodTrials, courses: &[Course], palette: &Palette) -> Option<Loss> {
    let points = || courses.iter().flat_map(Course::loss);
    let x = Axis::around(points().map(|(epoch, _)| epoch), 0.0, 4)?;
    let y = Axis::around(points().map(|(_, loss)| loss), 0.02, 4)?;
    let lines: Vec<String> = courses.iter().map(|course| line(course.loss(), &x, &y, SQUARE)).filter(|points| !points.is_empty()).collect();
    let (low, high) = points().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, loss)| (low.min(loss), high.max(loss)));
    let epochs = points().map(|(epoch, _)| epoch as u32).max()?;
    Some(Loss {
        color: palette.color(method.key),
        title: method.title.clone(),
        lines,
        highest: number::short(high),
        lowest: number::short(low),
        epochs,
    })
}
