//! A range where one value is expected is searched: `learning_rate: {log_uniform: [0.001, 0.1]}`.
//!
//! ```text
//! {uniform: [low, high]}        a number between the two; each is as likely
//! {log_uniform: [low, high]}    a number between the two whose logarithm is uniform: as often from 0.001 to 0.01 as from 0.01 to 0.1
//! {integer: [low, high]}        a whole number from low to high, both included; each is as likely
//! ```
//! In a list of values a range is one of them: `weight_decay: [0, {log_uniform: [1e-6, 1e-3]}]` is 0 half of the time.
//!
//! Numbers are rounded, to four digits of a `log_uniform` and of the width of a `uniform`: a table can show them, and a trial has the same
//! id on machines whose logarithms differ in the last bit.

use super::{
    error::{Place, Result},
    nearest,
    node::{Node, Value},
    scalar,
};
use std::fmt;
use streams::Stream;

const KINDS: [&str; 3] = ["uniform", "log_uniform", "integer"];

/// A part of a range's width that is no round number: what is there has all the digits that a draw may have.
const INSIDE: f64 = 0.381_966_011_250_105;

/// Numbers between two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Range {
    Uniform(f64, f64),
    LogUniform(f64, f64),
    Integer(i64, i64),
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.ends().join(", "))
    }
}

impl Range {
    /// The range that stands at a node; `None` where another value does.
    ///
    /// # Errors
    /// A slip in the range's name, ends that are no numbers, or numbers that are no ends of it.
    pub(crate) fn of(node: &Node) -> Result<Option<Self>> {
        let Value::Mapping(entries) = &node.value else { return Ok(None) };
        let [(key, ends)] = entries.as_slice() else { return Ok(None) };
        if !KINDS.contains(&key.name.as_str()) {
            let is_list = matches!(ends.value, Value::Sequence(_));
            let slip = is_list && nearest::is_near(&key.name, &KINDS);
            return if slip { Err(key.place.error(nearest::unknown("range", &key.name, &KINDS))) } else { Ok(None) };
        }
        let ends = if key.name == "integer" { whole(ends) } else { numbers(ends, key.name == "log_uniform") };
        ends.map(Some).map_err(|what| node.place.error(format!("`{}`: expected {what}", key.name)))
    }

    /// Its name in a sweep file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uniform(..) => KINDS[0],
            Self::LogUniform(..) => KINDS[1],
            Self::Integer(..) => KINDS[2],
        }
    }

    /// The least and the largest value.
    pub(crate) fn limits(self) -> (f64, f64) {
        match self {
            Self::Uniform(low, high) | Self::LogUniform(low, high) => (low, high),
            Self::Integer(low, high) => (low as f64, high as f64),
        }
    }

    /// Where a value stands on the scale that draws are even on: 0 at the least, 1 at the largest.
    pub(crate) fn share(self, value: f64) -> f64 {
        let (low, high) = self.limits();
        match self {
            Self::Uniform(..) | Self::Integer(..) => (value - low) / (high - low),
            Self::LogUniform(..) => (value.ln() - low.ln()) / (high.ln() - low.ln()),
        }
    }

    /// Whether there are values between the least and the largest.
    pub(crate) fn has_inside(self) -> bool {
        !matches!(self, Self::Integer(low, high) if high - low < 2)
    }

    /// The least and the largest value, as a sweep file would have them.
    pub(super) fn ends(self) -> [String; 2] {
        match self {
            Self::Uniform(low, high) | Self::LogUniform(low, high) => [low, high].map(|end| end.to_string()),
            Self::Integer(low, high) => [low, high].map(|end| end.to_string()),
        }
    }

    /// A value with a fraction, where a draw may have one.
    fn inside(self) -> String {
        match self {
            Self::Uniform(low, high) | Self::LogUniform(low, high) => (low + INSIDE * (high - low)).to_string(),
            Self::Integer(low, _) => low.to_string(),
        }
    }

    /// A value from it.
    pub(super) fn draw(self, stream: &mut Stream) -> String {
        match self {
            Self::Integer(low, high) => (low + i64::from(stream.below((high - low + 1) as u32))).to_string(),
            Self::Uniform(low, high) => {
                let drawn = low + (high - low) * stream.fraction();
                rounded(&format!("{drawn:.0$}", decimals(high - low)), low, high)
            }
            Self::LogUniform(low, high) => {
                let drawn = (low.ln() + (high.ln() - low.ln()) * stream.fraction()).exp();
                rounded(&format!("{drawn:.3e}"), low, high)
            }
        }
    }
}

fn rounded(text: &str, low: f64, high: f64) -> String {
    let value: f64 = text.parse().expect("a number that was written is one");
    value.clamp(low, high).to_string()
}

/// Decimals of the fourth digit of a width.
fn decimals(width: f64) -> usize {
    let exponent: i32 = format!("{width:e}").split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default();
    usize::try_from(3 - exponent).unwrap_or_default()
}

/// The texts of a list of two plain words.
fn ends(node: &Node) -> Option<[&str; 2]> {
    let Value::Sequence(items) = &node.value else { return None };
    match items.as_slice() {
        [Node { value: Value::Scalar { text: low, plain: true }, .. }, Node { value: Value::Scalar { text: high, plain: true }, .. }] => {
            Some([low, high])
        }
        _ => None,
    }
}

fn numbers(node: &Node, positive: bool) -> std::result::Result<Range, &'static str> {
    let ends = ends(node).and_then(|[low, high]| Some((scalar::number(low)?, scalar::number(high)?)));
    match (ends, positive) {
        (Some((low, high)), true) if 0.0 < low && low < high => Ok(Range::LogUniform(low, high)),
        (Some((low, high)), false) if low < high && (high - low).is_finite() => Ok(Range::Uniform(low, high)),
        (_, true) => Err("the least and the largest number, both above 0: `[0.001, 0.1]`"),
        (_, false) => Err("the least and the largest number: `[0.1, 0.9]`"),
    }
}

fn whole(node: &Node) -> std::result::Result<Range, &'static str> {
    let end = |text: &str| scalar::integer(text).and_then(|value| i64::try_from(value).ok());
    let ends = ends(node).and_then(|[low, high]| Some((end(low)?, end(high)?)));
    let narrow = |&(low, high): &(i64, i64)| low < high && high.checked_sub(low).is_some_and(|width| width < i64::from(u32::MAX));
    ends.filter(narrow).map(|(low, high)| Range::Integer(low, high)).ok_or("the least and the largest whole number: `[1, 4]`")
}

/// The ranges at and below a node of one combination.
pub(super) fn ranges(node: &Node) -> Vec<(&Place, Range)> {
    match Range::of(node) {
        Ok(Some(range)) => vec![(&node.place, range)],
        _ => node.keys().flat_map(|(_, value)| ranges(value)).collect(),
    }
}

/// The node with a value in place of each range.
pub(super) fn filled(node: &Node, value: &mut dyn FnMut(Range) -> String) -> Node {
    let value = match (Range::of(node), &node.value) {
        (Ok(Some(range)), _) => Value::Scalar { text: value(range), plain: true },
        (_, Value::Mapping(entries)) => Value::Mapping(entries.iter().map(|(key, below)| (key.clone(), filled(below, value))).collect()),
        (_, other) => other.clone(),
    };
    Node { place: node.place.clone(), value }
}

/// The node with every range at its least value, at its largest, and with a fraction inside.
pub(super) fn probes(node: &Node) -> [Node; 3] {
    let [low, high] = [0, 1].map(|end| filled(node, &mut |range| range.ends()[end].clone()));
    [low, high, filled(node, &mut Range::inside)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use streams::Purpose;

    fn of(text: &str) -> Result<Option<Range>> {
        Range::of(&Node::parse(text, "s").unwrap())
    }

    fn draws(range: Range) -> Vec<f64> {
        (0..10_000).map(|row| range.draw(&mut Stream::new(7, Purpose::Search, 0, 0, row)).parse().unwrap()).collect()
    }

    #[test]
    fn ranges_are_told_from_kinds_and_slips_from_both() {
        assert_eq!(of("{uniform: [-1, 2.5]}").unwrap(), Some(Range::Uniform(-1.0, 2.5)));
        assert_eq!(of("{log_uniform: [1e-3, 0.1]}").unwrap(), Some(Range::LogUniform(0.001, 0.1)));
        assert_eq!(of("{integer: [1, 4]}").unwrap(), Some(Range::Integer(1, 4)));
        assert_eq!(of("{kind: uniform, negatives: 5}").unwrap(), None);
        assert_eq!(of("{kind: all}").unwrap(), None);
        assert_eq!(of("0.1").unwrap(), None);
        let message = |text: &str| of(text).unwrap_err().to_string();
        assert!(
            message("{loguniform: [0.001, 0.1]}")
                .ends_with("unknown range `loguniform`: did you mean `log_uniform`? (expected one of `uniform`, `log_uniform`, `integer`)")
        );
        assert!(
            message("{log_uniform: [0, 0.1]}")
                .ends_with("`log_uniform`: expected the least and the largest number, both above 0: `[0.001, 0.1]`")
        );
        for text in ["{uniform: [2, 1]}", "{uniform: [1]}", "{uniform: 1}", "{uniform: [a, 2]}", "{integer: [1, 2.5]}", "{integer: [3, 3]}"]
        {
            assert!(message(text).contains(": expected the least and the largest"), "{text}");
        }
    }

    /// Shares of ten parts of the range, each of which holds a tenth of the draws: chi-square with 9 degrees of freedom, at 0.999.
    fn is_even(shares: [usize; 10]) {
        let statistic: f64 = shares.iter().map(|&share| (share as f64 - 1000.0).powi(2) / 1000.0).sum();
        assert!(statistic < 27.88, "{statistic}: {shares:?}");
    }

    #[test]
    fn draws_are_as_likely_everywhere() {
        let mut shares = [0; 10];
        draws(Range::Uniform(2.0, 4.0)).iter().for_each(|draw| shares[((draw - 2.0) * 4.999) as usize] += 1);
        is_even(shares);
        let mut shares = [0; 10];
        draws(Range::LogUniform(0.001, 10.0)).iter().for_each(|draw| shares[((draw.log10() + 3.0) * 2.4999) as usize] += 1);
        is_even(shares);
        let mut shares = [0; 10];
        draws(Range::Integer(-4, 5)).iter().for_each(|draw| shares[(draw + 4.0) as usize] += 1);
        is_even(shares);
    }

    #[test]
    fn a_logarithmic_range_is_measured_in_logarithms() {
        let close = |range: Range, value: f64, share: f64| assert!((range.share(value) - share).abs() < 1e-12, "{range:?} {value}");
        close(Range::LogUniform(0.001, 0.1), 0.01, 0.5);
        close(Range::Uniform(0.0, 0.1), 0.01, 0.1);
        close(Range::Integer(-4, 4), 2.0, 0.75);
        assert!(Range::Integer(1, 3).has_inside() && !Range::Integer(1, 2).has_inside() && Range::Uniform(1.0, 2.0).has_inside());
    }

    #[test]
    fn draws_have_few_digits_and_stay_within_their_ends() {
        for draw in draws(Range::LogUniform(0.00123456, 0.1)) {
            assert!((0.00123456..=0.1).contains(&draw) && (draw == 0.00123456 || format!("{draw:.3e}").parse() == Ok(draw)), "{draw}");
        }
        for draw in draws(Range::Uniform(0.99, 0.999)) {
            assert!((0.99..=0.999).contains(&draw) && draw.to_string().len() <= "0.991234".len(), "{draw}");
        }
        assert_eq!((decimals(0.009), decimals(1.0), decimals(999.0), decimals(12_345.0)), (6, 3, 1, 0));
    }
}
