//! `docs/metrics.md` has every metric, in the order of the enum, with what it is of and which values are better.

use evaluator::{Metric, metric::Direction};

#[test]
fn the_page_has_every_metric() {
    let row = |metric: Metric| {
        let of = if metric.is_per_user() { "each user" } else { "all lists" };
        let better = match metric.direction() {
            Direction::HigherIsBetter => "higher",
            Direction::LowerIsBetter => "lower",
            Direction::Neither => "neither",
        };
        format!("| `{}` | {of} | {better} |", metric.name())
    };
    let rows = include_str!("../../docs/metrics.md").lines().filter(|line| line.starts_with("| `"));
    let first_cells = |line: &str| line.match_indices('|').nth(3).map(|(end, _)| line[..=end].to_owned());
    assert_eq!(rows.filter_map(first_cells).collect::<Vec<_>>(), Metric::ALL.map(row));
}
