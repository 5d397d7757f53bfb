//! Where things stand in a picture. Lines are drawn in a square of 1000 units that the page stretches; all else is placed in percent.

use serde::Serialize;

/// A labelled place on an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Tick {
    /// Percent from the axis' low end.
    pub(super) at: f64,
    /// What stands there.
    pub(super) label: String,
}

/// A range of values, with round numbers to mark it by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    /// From the least to the largest value, with a margin of this share on both sides, marked at about `marks` places.
    /// None where there is no finite value.
    pub(super) fn around(values: impl Iterator<Item = f64>, margin: f64, marks: u32) -> Option<Self> {
        let (least, largest) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if least > largest {
            return None;
        }
        let span = if largest > least { largest - least } else { largest.abs().max(1e-3) };
        let (low, high) = (least - margin * span, largest + margin * span + if largest > least { 0.0 } else { span });
        Some(Self { low, high, step: round_up((high - low) / f64::from(marks)) })
    }

    /// Percent from the low end.
    pub(super) fn percent(&self, value: f64) -> f64 {
        tenth(100.0 * (value - self.low) / (self.high - self.low))
    }

    /// Its marks.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        let first = (self.low / self.step).ceil() as i64;
        let marks = (first..).map(|mark| mark as f64 * self.step).take_while(|&mark| mark <= self.high);
        marks.map(|mark| Tick { at: self.percent(mark), label: format!("{mark:.decimals$}") }).collect()
    }
}

/// The smallest of 1, 2, 5, 10, 20, ... that is not below four fifths.
fn round_up(step: f64) -> f64 {
    let unit = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * unit).find(|&round| round >= 0.8 * step).unwrap_or(step)
}

/// The points of a line, in the square of 1000 units with its origin at the top left.
pub(super) fn line(points: impl Iterator<Item = (f64, f64)>, x: &Axis, y: &Axis) -> String {
    let place = |(across, up): (f64, f64)| format!("{},{}", tenth(10.0 * x.percent(across)), tenth(1000.0 - 10.0 * y.percent(up)));
    points.filter(|(_, up)| up.is_finite()).map(place).collect::<Vec<_>>().join(" ")
}

/// Moves labels apart to at least `gap` percent, in their order, within 0 to 100.
pub(super) fn apart(places: &mut [f64], gap: f64) {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&one, &other| places[one].total_cmp(&places[other]));
    let mut least: f64 = 0.0;
    for &label in &order {
        places[label] = places[label].max(least);
        least = places[label] + gap;
    }
    let mut most: f64 = 100.0;
    for &label in order.iter().rev() {
        places[label] = tenth(places[label].min(most));
        most = places[label] - gap;
    }
}

fn tenth(value: f64) -> f64 {
    (10.0 * value).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round() {
        let axis = Axis::around([0.0571, 0.0603].into_iter(), 0.1, 5).unwrap();
        let labels: Vec<String> = axis.ticks().into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0.057", "0.058", "0.059", "0.060"]);
        let epochs = Axis::around([0.0, 200.0].into_iter(), 0.0, 5).unwrap();
        assert_eq!(epochs.ticks().last().unwrap(), &Tick { at: 100.0, label: "200".into() });
        assert_eq!(epochs.ticks().len(), 5);
    }

    #[test]
    fn a_single_value_has_an_axis_and_none_has_not() {
        assert_eq!(Axis::around([0.5].into_iter(), 0.1, 4).unwrap().percent(0.5), 8.3);
        assert_eq!(Axis::around([f64::NAN].into_iter(), 0.1, 4), None);
    }

    #[test]
    fn lines_run_from_the_top_left() {
        let (x, y) = (Axis::around([0.0, 10.0].into_iter(), 0.0, 5).unwrap(), Axis::around([0.0, 1.0].into_iter(), 0.0, 5).unwrap());
        assert_eq!(line([(0.0, 0.0), (5.0, 1.0), (6.0, f64::NAN), (10.0, 0.25)].into_iter(), &x, &y), "0,1000 500,0 1000,750");
    }

    #[test]
    fn labels_stand_apart_in_their_order() {
        let mut places = [50.0, 49.0, 99.0, 98.0];
        apart(&mut places, 5.0);
        assert_eq!(places, [54.0, 49.0, 100.0, 95.0]);
    }
}
