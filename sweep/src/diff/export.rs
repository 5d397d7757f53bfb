//! Two sweeps side by side as a table to paste, and as comma-separated text.

use super::{DatasetDifference, Difference, MethodDifference};
use crate::{
    number,
    report::{Style, words},
    typeset::{self, Cell, Table},
    usage::Usage,
};
use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Serialize;

/// How two sweeps are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// What differs in the settings, and a table for each dataset, for a terminal
    Text,
    /// A table for each dataset, as GitHub sets them
    Markdown,
    /// A table for each dataset, for the package booktabs
    Latex,
    /// One table: a row for each dataset and method, with all digits
    Csv,
}

impl Difference<'_> {
    /// The two sweeps in a format; `style` is that of a terminal.
    ///
    /// # Errors
    /// [`Usage`] for a table where the two have nothing to compare, with the reason.
    pub(crate) fn export(&self, format: DiffFormat, style: Style) -> Result<String> {
        if let (true, Some(reason)) = (format != DiffFormat::Text, self.nothing_to_compare()) {
            return Err(Usage(format!("there is no table to write: {reason}")).into());
        }
        let tables = || self.datasets.iter().map(|dataset| self.table(dataset)).collect::<Vec<_>>();
        Ok(match format {
            DiffFormat::Text => format!("{}\n", self.terminal(style)),
            DiffFormat::Markdown => typeset::markdown(&tables()),
            DiffFormat::Latex => {
                let [first, second] = self.sides.map(|side| side.plan.name.as_str());
                typeset::latex(&format!("{first}-{second}"), &tables())
            }
            DiffFormat::Csv => self.csv()?,
        })
    }

    fn table<'a>(&self, dataset: &'a DatasetDifference) -> Table<'a> {
        let interval = format!("{} interval", words::level(&self.sides[1].plan.evaluation));
        let columns = ["method", "A", "B", "difference", &interval, "adjusted p", "B is"].map(str::to_owned).to_vec();
        let sides = ["A", "B"].iter().zip(self.sides).map(|(letter, side)| format!("{letter} is {}", side.folder));
        let how = self.how(std::slice::from_ref(dataset));
        Table {
            dataset: &dataset.name,
            heading: self.heading(dataset),
            columns,
            rows: dataset.methods.iter().map(cells).collect(),
            how_to_read: how.clone(),
            notes: sides.chain(self.without_result_lines()).chain(dataset.without_values()).chain([how]).collect(),
        }
    }

    fn csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for dataset in &self.datasets {
            for method in &dataset.methods {
                writer.serialize(DifferenceRow::new(self, dataset, method))?;
            }
        }
        String::from_utf8(writer.into_inner()?).context("the comparison as CSV")
    }
}

fn cells(row: &MethodDifference) -> Vec<Cell> {
    let means = row.means.map(number::value);
    let tested = row.tested.map_or_else(Default::default, |tested| {
        let (low, high) = (tested.judged.interval.low, tested.judged.interval.high);
        let interval = if low.is_finite() && high.is_finite() {
            format!("[{}, {}]", number::difference(low), number::difference(high))
        } else {
            String::new()
        };
        [number::difference(tested.difference), interval, number::p_value(tested.judged.p_adjusted)]
    });
    let texts = [[row.title.clone()].as_slice(), &means, &tested, &[row.said()]].concat();
    texts.into_iter().map(Cell::Text).collect()
}

/// A row of `differences.parquet`.
#[derive(Serialize)]
struct DifferenceRow<'a> {
    dataset: &'a str,
    metric: &'static str,
    cutoff: Option<u32>,
    method: &'a str,
    title: &'a str,
    users: usize,
    mean_a: f64,
    mean_b: f64,
    difference: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    p_value: Option<f64>,
    p_adjusted: Option<f64>,
    verdict: &'static str,
}

impl<'a> DifferenceRow<'a> {
    fn new(difference: &Difference, dataset: &'a DatasetDifference, row: &'a MethodDifference) -> Self {
        let of = |value: fn(&crate::tested::Tested) -> f64| row.tested.as_ref().map(value).filter(|value| value.is_finite());
        Self {
            dataset: &dataset.name,
            metric: difference.at.metric.name(),
            cutoff: difference.at.cutoff,
            method: &row.key,
            title: &row.title,
            users: dataset.users,
            mean_a: row.means[0],
            mean_b: row.means[1],
            difference: of(|tested| tested.difference),
            ci_low: of(|tested| tested.judged.interval.low),
            ci_high: of(|tested| tested.judged.interval.high),
            p_value: of(|tested| tested.judged.p_value),
            p_adjusted: of(|tested| tested.judged.p_adjusted),
            verdict: row.verdict(),
        }
    }
}
