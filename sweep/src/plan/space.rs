//! The values that the tuning of each method may take, and where they end: what validation picks there may be better still beyond.
//!
//! The edges of listed values are the least and the largest, drawn or not. A range has its edges where its ends are: the outer 5% of it on
//! the scale that draws are even on, logarithmic for `log_uniform`, as a draw hits the very end almost never.

use super::{
    draft::{Draft, drafts},
    label::Role,
    part::Part,
};
use crate::file::{Entry, Range, SweepFile};
use serde::Serialize;
use std::collections::BTreeMap;

/// The part of a range that is taken for its end.
const EDGE: f64 = 0.05;

/// The values that a sweep file has for each tuned key of each method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spaces(BTreeMap<String, BTreeMap<String, Space>>);

/// The values that a sweep file has for one key.
#[derive(Clone, Debug, PartialEq)]
struct Space {
    /// Listed values, and the ends of ranges.
    values: Vec<f64>,
    ranges: Vec<Range>,
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
        let (least, largest) =
            self.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &end| (low.min(end), high.max(end)));
        let is_near_an_end = |range: &Range| {
            let ((low, high), share) = (range.limits(), range.share(value));
            (low == least && (0.0..=EDGE).contains(&share)) || (high == largest && (1.0 - EDGE..=1.0).contains(&share))
        };
        value == least || value == largest || self.ranges.iter().any(is_near_an_end)
    }
}

fn of_draft(draft: &Draft<'_>) -> BTreeMap<String, Space> {
    let mut spaces = of_entry(Role::Backbone, draft.backbone);
    if let Some(way) = draft.way {
        spaces.extend(of_entry(Role::Loss, way.loss));
        spaces.extend(of_entry(Role::Sampler, way.sampler));
        spaces.extend(of_entry(Role::Optimizer, way.optimizer));
    }
    spaces
}

fn of_entry<T: Serialize>(role: Role, entry: &Entry<T>) -> BTreeMap<String, Space> {
    let part = Part::of(&entry.values);
    let space = |name: &String| Space {
        values: part.choices(name).into_iter().filter_map(serde_json::Value::as_f64).collect(),
        ranges: entry.ranges_of(name),
    };
    part.names().map(|name| (format!("{}.{name}", role.name()), space(name))).filter(|(_, space)| space.values.len() > 1).collect()
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
        assert_eq!(edges("{uniform: [0, 1]}", &[0.0, 0.049, 0.051, 0.5, 0.949, 0.951]), [0.0, 0.049, 0.951]);
        assert_eq!(edges("{integer: [1, 4]}", &[1.0, 2.0, 3.0, 4.0]), [1.0, 4.0]);
        assert!(edges("{integer: [1, 2]}", &[1.0, 2.0]).is_empty());
    }

    #[test]
    fn an_end_beyond_which_others_are_listed_is_no_edge() {
        assert_eq!(edges("[0, {uniform: [1, 2]}]", &[0.0, 1.0, 1.01, 1.99, 2.0]), [0.0, 1.99, 2.0]);
    }
}
