//! What is said on the terminal when the ranking is done.

use crate::{TrialValues, settings::Users, significance::Comparison, tables};
use comfy_table::{CellAlignment, Table, TableComponent, presets::UTF8_HORIZONTAL_ONLY};
use std::fmt;

/// What was ranked and what was left out. Displays as a table, the best trial by the first metric that says who ranks better on top.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Every ranked trial.
    pub values: Vec<TrialValues>,
    /// The tests between them.
    pub comparisons: Vec<Comparison>,
    /// Which users were ranked.
    pub users: Users,
    /// How many drawn items of each user held-out ones were ranked among; `None` for the full catalogue.
    pub sampled_candidates: Option<u32>,
    /// How many trials belong to other datasets.
    pub other_datasets: usize,
    /// How many trials of the dataset failed or are not done.
    pub unfinished: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { values, comparisons, users, sampled_candidates, other_datasets, unfinished } = self;
        let mut rows: Vec<(&TrialValues, Vec<f64>)> = values.iter().map(|trial| (trial, means(trial))).collect();
        let decides = |trial: &TrialValues| trial.values.iter().position(|(at, _)| at.metric.decides()).unwrap_or(0);
        let first = values.first().map_or(0, decides);
        rows.sort_by(|a, b| b.1[first].total_cmp(&a.1[first]));
        if let Some((trial, _)) = rows.first() {
            let (count, unknown) = (trial.users.len(), unknown(trial.unknown_users, *users));
            let among = sampled_candidates.map_or_else(String::new, |count| format!(" among {count} sampled candidates"));
            writeln!(f, "{}, {}: {count} users{unknown}, mean of each metric{among}", trial.dataset, trial.split.name())?;
            writeln!(f, "{}", table(&rows))?;
        }
        if !comparisons.is_empty() {
            let significant = comparisons.iter().filter(|row| row.significant).count();
            writeln!(f, "{significant} of {} comparisons are significant", comparisons.len())?;
        }
        if other_datasets + unfinished > 0 {
            writeln!(f, "skipped {other_datasets} trials of other datasets and {unfinished} that failed or are not done")?;
        }
        Ok(())
    }
}

/// What became of the users without train interactions; nothing where there are none.
fn unknown(count: usize, users: Users) -> String {
    match (count, users) {
        (0, _) => String::new(),
        (_, Users::Known) => format!(" (and {count} without train interactions, left out)"),
        (_, Users::All) => format!(" ({count} of them without train interactions)"),
    }
}

fn means(trial: &TrialValues) -> Vec<f64> {
    trial.values.iter().map(|(_, values)| tables::mean(values)).collect()
}

fn table(rows: &[(&TrialValues, Vec<f64>)]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).remove_style(TableComponent::HorizontalLines);
    table.remove_style(TableComponent::MiddleIntersections);
    let names = rows[0].0.values.iter().map(|(metric, _)| metric.to_string());
    table.set_header(["trial".to_owned()].into_iter().chain(names).chain(["users with ties".to_owned()]));
    for (trial, means) in rows {
        let numbers = means.iter().map(|mean| format!("{mean:.5}"));
        table.add_row([trial.trial.clone()].into_iter().chain(numbers).chain([trial.tied_users.to_string()]));
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
