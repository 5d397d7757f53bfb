//! The values that the tuning of each method may take, and where they end: what validation picks there may be better still beyond.
//!
//! The edges of listed values are the least and the largest, drawn or not, where a value beyond could be tried: a weight decay of 0 is as low as one can be. A range has its edges where its ends are: the outer 5% of it on
//! the scale that draws are even on, logarithmic for `log_uniform`, as a draw hits the very end almost never.

use super::{
    draft::{Draft, drafts},
    label::Role,
    part::Part,
};
use crate::file::{Entry, Range, SweepFile};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use trainer::{Optimizer, Sampler};

/// The part of a range that is taken for its end.
const EDGE: f64 = 0.05;
/// What is tried beyond an end, as a share of it, and at least.
const BEYOND: f64 = 1e-3;
const LEAST_BEYOND: f64 = 1e-9;

/// The values that a sweep file has for each tuned key of each method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spaces(BTreeMap<String, BTreeMap<String, Space>>);

/// The values that a sweep file has for one key.
#[derive(Clone, Debug, PartialEq)]
struct Space {
    /// Listed values, and the ends of ranges.
    values: Vec<f64>,
    ranges: Vec<Range>,
    /// The least of them, where a lower one could be tried.
    least: Option<f64>,
    /// The largest, where a higher one could be.
    largest: Option<f64>,
}

impl Spaces {
    /// The values that a sweep file has for its methods, by their names in tables.
    pub fn of(file: &SweepFile) -> Self {
        Self(drafts(file).iter().map(|draft| (draft.names.method.clone(), of_draft(draft))).collect())
    }

    /// Whether a value of a method's key, such as `loss.temperature`, is as low or as high as the sweep file lets it be. Never where there
    /// are one or two values: every one of them would be at an edge, which says nothing.
    pub fn is_at_an_edge(&self, method: &str, key: &str, value: f64) -> bool {
        self.0.get(method).and_then(|spaces| spaces.get(key)).is_some_and(|space| space.has_inside() && space.has_at_an_edge(value))
    }
}

impl Space {
    fn has_inside(&self) -> bool {
        self.values.len() > 2 || self.ranges.iter().any(|range| range.has_inside())
    }

    fn has_at_an_edge(&self, value: f64) -> bool {
        let is_near_an_end = |range: &Range| {
            let ((low, high), share) = (range.limits(), range.share(value));
            (self.least == Some(low) && (0.0..=EDGE).contains(&share))
                || (self.largest == Some(high) && (1.0 - EDGE..=1.0).contains(&share))
        };
        [self.least, self.largest].contains(&Some(value)) || self.ranges.iter().any(is_near_an_end)
    }
}

fn of_draft(draft: &Draft<'_>) -> BTreeMap<String, Space> {
    let mut spaces = of_entry(Role::Backbone, draft.backbone, |backbone| backbone.check());
    if let Some(way) = draft.way {
        spaces.extend(of_entry(Role::Loss, way.loss, |loss| loss.check()));
        spaces.extend(of_entry(Role::Sampler, way.sampler, Sampler::check));
        spaces.extend(of_entry(Role::Optimizer, way.optimizer, |optimizer: &Optimizer| optimizer.check()));
    }
    spaces
}

fn of_entry<T: Serialize + DeserializeOwned>(role: Role, entry: &Entry<T>, check: Check<T>) -> BTreeMap<String, Space> {
    let part = Part::of(entry);
    let space = |name: &String| {
        let choices: Vec<&Value> = part.choices(name);
        let values: Vec<f64> = choices.iter().filter_map(|value| value.as_f64()).collect();
        let are_whole = choices.iter().all(|value| !value.is_f64());
        let can_be = |value: f64| entry.values.iter().any(|kind| can_have(kind, name, number(value, are_whole), check));
        // The nearest, and one far off: keys may bind each other, as heads that divide a dim.
        let steps = |end: f64| match are_whole {
            true => [1.0, (end.abs() / 2.0).floor(), end.abs()],
            false => [(end.abs() * BEYOND).max(LEAST_BEYOND), end.abs() / 2.0, end.abs()],
        };
        let goes_on = |end: f64, sign: f64| steps(end).into_iter().any(|step| step > 0.0 && can_be(end + sign * step));
        Space {
            least: values.iter().copied().reduce(f64::min).filter(|&end| goes_on(end, -1.0)),
            largest: values.iter().copied().reduce(f64::max).filter(|&end| goes_on(end, 1.0)),
            values,
            ranges: entry.ranges_of(name),
        }
    };
    part.names().map(|name| (format!("{}.{name}", role.name()), space(name))).filter(|(_, space)| space.values.len() > 1).collect()
}

/// What says whether the values of a kind can be.
type Check<T> = fn(&T) -> Result<(), String>;

/// Whether a kind can have another value for one of its keys.
fn can_have<T: Serialize + DeserializeOwned>(kind: &T, key: &str, value: Value, check: Check<T>) -> bool {
    let mut plain = json!(kind);
    let settings = plain.as_object_mut().and_then(|kind| kind.values_mut().next()).and_then(Value::as_object_mut);
    if let Some(settings) = settings {
        settings.insert(key.to_owned(), value);
    }
    serde_json::from_value(plain).is_ok_and(|kind| check(&kind).is_ok())
}

fn number(value: f64, is_whole: bool) -> Value {
    if is_whole { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: &str = "optimizer.learning_rate";

    fn edges(values: &str, tried: &[f64]) -> Vec<f64> {
        let text = format!(
            "
name: s
datasets: [{{name: d, source: {{format: synthetic}}, split: {{kind: random, test: 0.2, validation: 0.1, seed: 1}}}}]
grid:
  - backbones: [{{kind: mf, dim: 8}}]
    losses: [{{kind: bpr}}]
    samplers: [{{kind: uniform, negatives: 1}}]
    optimizer: {{kind: adam, learning_rate: {values}}}
search: {{kind: random, trials: 3}}
"
        );
        let spaces = Spaces::of(&SweepFile::parse(&text, "s.yaml").unwrap());
        tried.iter().copied().filter(|&value| spaces.is_at_an_edge("mf-8 / bpr / uniform-1", RATE, value)).collect()
    }

    #[test]
    fn the_least_and_the_largest_listed_value_are_edges() {
        assert_eq!(edges("[0.1, 0.001, 0.01]", &[0.1, 0.01, 0.001]), [0.1, 0.001]);
        assert!(edges("[0.1, 0.01]", &[0.1, 0.01]).is_empty(), "two values have nothing between them");
        assert!(edges("0.1", &[0.1]).is_empty());
    }

    /// 5% of two decades is a tenth of one: to 0.00126 and from 0.0794.
    #[test]
    fn a_range_ends_in_its_outer_parts_on_its_own_scale() {
        let tried = [0.001, 0.001_25, 0.001_27, 0.0495, 0.0792, 0.0796, 0.1];
        assert_eq!(edges("{log_uniform: [0.001, 0.1]}", &tried), [0.001, 0.001_25, 0.0796, 0.1]);
        assert_eq!(edges("{uniform: [1, 2]}", &[1.0, 1.049, 1.051, 1.5, 1.949, 1.951]), [1.0, 1.049, 1.951]);
        assert_eq!(edges("{integer: [1, 4]}", &[1.0, 2.0, 3.0, 4.0]), [1.0, 4.0]);
        assert!(edges("{integer: [1, 2]}", &[1.0, 2.0]).is_empty());
    }

    #[test]
    fn an_end_beyond_which_others_are_listed_is_no_edge() {
        assert_eq!(edges("[0.5, {uniform: [1, 2]}]", &[0.5, 1.0, 1.01, 1.99, 2.0]), [0.5, 1.99, 2.0]);
    }

    #[test]
    fn an_end_beyond_which_nothing_can_be_is_no_edge() {
        assert_eq!(edges("[0, 0.1, 0.2]", &[0.0, 0.1, 0.2]), [0.2]);
        assert_eq!(edges("[0, {uniform: [1, 2]}]", &[0.0, 1.0, 1.99, 2.0]), [1.99, 2.0]);
        let file = |loss: &str, sampler: &str| {
            let text = format!(
                "
name: s
datasets: [{{name: d, source: {{format: synthetic}}, split: {{kind: random, test: 0.2, validation: 0.1, seed: 1}}}}]
grid:
  - backbones: [{{kind: mf, dim: 8}}]
    losses: [{{{loss}}}]
    samplers: [{{{sampler}}}]
    optimizer: {{kind: adam, learning_rate: 0.1}}
"
            );
            Spaces::of(&SweepFile::parse(&text, "s.yaml").unwrap())
        };
        let calibrated = |values: &str, largest: f64| {
            let spaces = file(&format!("kind: gbce, calibration: {values}"), "kind: uniform, negatives: 4");
            [0.0, 0.5, largest].map(|value| spaces.is_at_an_edge("mf-8 / gbce / uniform-4", "loss.calibration", value))
        };
        assert_eq!((calibrated("[0, 0.5, 1]", 1.0), calibrated("[0, 0.5, 0.9]", 0.9)), ([false; 3], [false, false, true]));
        let widths = |dims: &str| {
            let text = format!(
                "
name: s
datasets: [{{name: d, source: {{format: synthetic}}, split: {{kind: leave-last, validation: true}}}}]
grid:
  - backbones: [{{kind: sas-rec, dim: {dims}, layers: 1, heads: 2, hidden: 8, max_length: 5}}]
    losses: [{{kind: bpr}}]
    samplers: [{{kind: uniform, negatives: 1}}]
    optimizer: {{kind: adam, learning_rate: 0.1}}
"
            );
            Spaces::of(&SweepFile::parse(&text, "s.yaml").unwrap())
        };
        let found = widths("[4, 6, 8]");
        let method = found.0.keys().next().unwrap().clone();
        assert_eq!([4.0, 6.0, 8.0].map(|dim| found.is_at_an_edge(&method, "backbone.dim", dim)), [true, false, true], "heads divide dims");
        let counts = file("kind: bpr", "kind: uniform, negatives: [1, 4, 16]");
        assert_eq!(
            [1.0, 4.0, 16.0].map(|value| counts.is_at_an_edge("mf-8 / bpr / uniform", "sampler.negatives", value)),
            [false, false, true]
        );
    }
}
