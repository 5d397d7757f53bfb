//! Where values stand along the side of a picture, in percent.

use crate::number;
use serde::Serialize;

/// A labelled place on an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Tick {
    /// Percent from the axis' low end.
    pub(crate) at: f64,
    /// The text at the tick.
    pub(crate) label: String,
}

/// The size of a picture, or of a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Size {
    /// From left to right.
    pub(crate) width: f64,
    /// From top to bottom.
    pub(crate) height: f64,
}

/// A range of values, with round numbers to mark it by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// The ends: values, or their decimal logarithms.
    low: f64,
    high: f64,
    scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// Marked at multiples of a step.
    Linear { step: f64 },
    /// Marked at powers of 10 and, where they are few, at 2 and 5 times these.
    Logarithmic,
}

/// Values that are nearer to each other, as a share of them, are one value.
const ROUNDING: f64 = 1e-9;
/// Marks of an axis, about, where powers of 10 and their multiples give fewer than two.
const MARKS: f64 = 6.0;
/// Powers of 10 beyond which only they are marked.
const DECADES: f64 = 2.5;

impl Axis {
    /// The axis from the least to the largest value, with a margin of this share on both sides, marked at about `marks` places.
    /// None where there is no finite value.
    pub(crate) fn around(values: impl Iterator<Item = f64>, margin: f64, marks: u32) -> Option<Self> {
        let (least, largest) = ends(values)?;
        let is_range = largest - least > ROUNDING * largest.abs().max(least.abs());
        let span = if is_range { largest - least } else { largest.abs().max(1e-3) };
        let (low, high) = (least - margin * span, largest + margin * span + if is_range { 0.0 } else { span });
        Some(Self { low, high, scale: Scale::Linear { step: round_up((high - low) / f64::from(marks)) } })
    }

    /// The axis from 1 to a number, marked at whole numbers only.
    pub(crate) fn counting(most: u32) -> Self {
        let high = f64::from(most.max(2));
        Self { low: 1.0, high, scale: Scale::Linear { step: round_up((high - 1.0) / 6.0).max(1.0) } }
    }

    /// The axis from the least to the largest value as [`around`](Self::around) has it, in logarithms. Values that are not above 0 do not count.
    pub(crate) fn logarithmic(values: impl Iterator<Item = f64>, margin: f64) -> Option<Self> {
        let (least, largest) = ends(values.map(f64::log10))?;
        let span = if largest > least { largest - least } else { 1.0 };
        let above = if largest > least { 0.0 } else { span };
        Some(Self { low: least - margin * span, high: largest + margin * span + above, scale: Scale::Logarithmic })
    }

    /// Percent from the low end.
    pub(crate) fn percent(&self, value: f64) -> f64 {
        let value = if self.scale == Scale::Logarithmic { value.log10() } else { value };
        tenth(100.0 * (value - self.low) / (self.high - self.low))
    }

    /// Its marks.
    pub(crate) fn ticks(&self) -> Vec<Tick> {
        match self.scale {
            Scale::Linear { step } => {
                let first = (self.low / step).ceil() as i64;
                let marks = (first..).map(|mark| mark as f64 * step).take_while(|&mark| mark <= self.high);
                marks.map(|mark| Tick { at: self.percent(mark), label: with_decimals(mark, step).replace('-', "\u{2212}") }).collect()
            }
            Scale::Logarithmic => {
                let times: &[f64] = if self.high - self.low > DECADES { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let powers = self.low.floor() as i32..=self.high.ceil() as i32;
                let marks = powers.flat_map(|power| times.iter().map(move |times| times * 10_f64.powi(power)));
                let is_within = |mark: &f64| (self.low..=self.high).contains(&mark.log10());
                let within: Vec<f64> = marks.filter(is_within).collect();
                if within.len() < 2 {
                    let (low, high) = (10_f64.powf(self.low), 10_f64.powf(self.high));
                    let step = round_up((high - low) / MARKS);
                    let marks = ((low / step).ceil() as i64..).map(|mark| mark as f64 * step).take_while(|mark| *mark <= high);
                    return marks.map(|mark| Tick { at: self.percent(mark), label: with_decimals(mark, step) }).collect();
                }
                within.into_iter().map(|mark| Tick { at: self.percent(mark), label: plain(mark) }).collect()
            }
        }
    }
}

/// The least and the largest finite value.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (least, largest) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    (least <= largest).then_some((least, largest))
}

/// A multiple of a step, with the step's decimals.
fn with_decimals(mark: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    format!("{mark:.decimals$}")
}

/// A mark of a logarithmic axis: whole from 1 on, with all its decimals below.
fn plain(mark: f64) -> String {
    let decimals = (-mark.log10().floor()).max(0.0) as usize;
    if decimals == 0 { number::count(mark.round() as usize) } else { format!("{mark:.decimals$}") }
}

/// The smallest of 1, 2, 5, 10, 20, ... that is not below four fifths.
fn round_up(step: f64) -> f64 {
    let unit = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * unit).find(|&round| round >= 0.8 * step).unwrap_or(step)
}

/// The points of a line in a picture of this size, with its origin at the top left.
pub(crate) fn line(points: impl Iterator<Item = (f64, f64)>, x: &Axis, y: &Axis, size: Size) -> String {
    let Size { width, height } = size;
    let place = |(across, up): (f64, f64)| {
        format!("{},{}", tenth(width / 100.0 * x.percent(across)), tenth(height - height / 100.0 * y.percent(up)))
    };
    points.filter(|(_, up)| up.is_finite()).map(place).collect::<Vec<_>>().join(" ")
}

/// Moves labels apart to at least `gap` percent, in their order, within 0 to 100; to less where so many have no room.
pub(crate) fn apart(places: &mut [f64], gap: f64) {
    let gap = gap.min(100.0 / places.len().saturating_sub(1).max(1) as f64);
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&one, &other| places[one].total_cmp(&places[other]));
    let mut least: f64 = 0.0;
    for &label in &order {
        places[label] = places[label].max(least);
        least = places[label] + gap;
    }
    let mut most: f64 = 100.0;
    for &label in order.iter().rev() {
        let place = places[label].min(most);
        most = place - gap;
        places[label] = tenth(place);
    }
}

pub(super) fn tenth(value: f64) -> f64 {
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
        let nearly = Axis::around([0.5, 0.5 + 1e-16].into_iter(), 0.1, 4).unwrap();
        assert_eq!(nearly.percent(0.5), 8.3, "what rounding sets apart is one value");
    }

    #[test]
    fn counts_are_marked_at_whole_numbers() {
        let labels = |most: u32| Axis::counting(most).ticks().into_iter().map(|tick| tick.label).collect::<Vec<_>>();
        assert_eq!(labels(2), ["1", "2"]);
        assert_eq!(labels(4), ["1", "2", "3", "4"]);
        assert_eq!(labels(30), ["5", "10", "15", "20", "25", "30"]);
        assert_eq!(Axis::counting(5).percent(2.0), 25.0);
    }

    #[test]
    fn lines_run_from_the_top_left() {
        let (x, y) = (Axis::around([0.0, 10.0].into_iter(), 0.0, 5).unwrap(), Axis::around([0.0, 1.0].into_iter(), 0.0, 5).unwrap());
        let points = [(0.0, 0.0), (5.0, 1.0), (6.0, f64::NAN), (10.0, 0.25)].into_iter();
        assert_eq!(line(points, &x, &y, Size { width: 1000.0, height: 1000.0 }), "0,1000 500,0 1000,750");
    }

    #[test]
    fn logarithms_are_marked_at_powers_of_10_and_few_of_them_between() {
        let labels = |least: f64, largest: f64| {
            let axis = Axis::logarithmic([0.0, least, largest].into_iter(), 0.0).unwrap();
            axis.ticks().into_iter().map(|tick| (tick.at, tick.label)).collect::<Vec<_>>()
        };
        let marks: Vec<String> = labels(1.0, 100.0).into_iter().map(|(_, label)| label).collect();
        assert_eq!(marks, ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(0.01, 1_000.0)[..2], [(0.0, "0.01".to_owned()), (20.0, "0.1".to_owned())]);
        assert_eq!(labels(0.01, 1_000.0)[5], (100.0, "1,000".to_owned()));
        assert_eq!(Axis::logarithmic([0.0, -1.0].into_iter(), 0.0), None);
        let between: Vec<String> = labels(6.0, 9.0).into_iter().map(|(_, label)| label).collect();
        assert_eq!(between, ["6.0", "6.5", "7.0", "7.5", "8.0", "8.5", "9.0"], "where none of them is within");
        assert_eq!(labels(310.0, 390.0).into_iter().map(|(_, label)| label).collect::<Vec<_>>(), ["320", "340", "360", "380"]);
    }

    #[test]
    fn labels_stand_apart_in_their_order() {
        let mut places = [50.0, 49.0, 99.0, 98.0];
        apart(&mut places, 5.0);
        assert_eq!(places, [54.0, 49.0, 100.0, 95.0]);
        let mut many: Vec<f64> = (0..31).map(|place| 50.0 + f64::from(place) / 10.0).collect();
        apart(&mut many, 5.4);
        assert_eq!((many[0], many[15], many[30]), (0.0, 50.0, 100.0));
    }
}
