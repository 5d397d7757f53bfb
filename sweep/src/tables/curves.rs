//! `curves.parquet`: loss and validation by epoch, of every trial. One of the two tables with times in them.

use super::{Reader, metric_at, numbers, numbers_or_null, texts, texts_or_null};
use arrow::{
    array::RecordBatch,
    datatypes::{Float64Type, UInt32Type},
};
use dataset::{FileEntry, Location, Result, table};
use evaluator::MetricAt;

/// One epoch of a trial and, where it was evaluated, one validation metric.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveRow {
    /// The trial's id.
    pub trial: String,
    /// The epoch, from 1.
    pub epoch: u32,
    /// Seconds since the training began.
    pub seconds: f64,
    /// Mean loss over the epoch's pairs.
    pub loss: Option<f64>,
    /// The validation metric that was measured; none on epochs without evaluation.
    pub at: Option<MetricAt>,
    /// The metric's value.
    pub value: Option<f64>,
}

/// Writes the table.
///
/// # Errors
/// When it cannot be stored.
pub fn write(at: &Location, rows: &[CurveRow]) -> Result<FileEntry> {
    let columns = vec![
        texts("trial", rows.iter().map(|row| &row.trial)),
        numbers::<UInt32Type>("epoch", rows.iter().map(|row| row.epoch)),
        numbers::<Float64Type>("seconds", rows.iter().map(|row| row.seconds)),
        numbers_or_null::<Float64Type>("loss", rows.iter().map(|row| row.loss)),
        texts_or_null("metric", rows.iter().map(|row| row.at.map(|at| at.metric.name()))),
        numbers_or_null::<UInt32Type>("cutoff", rows.iter().map(|row| row.at.and_then(|at| at.cutoff))),
        numbers_or_null::<Float64Type>("value", rows.iter().map(|row| row.value)),
    ];
    table::write(at, &table::batch(columns))
}

/// Reads the table.
///
/// # Errors
/// When it is missing or does not hold what [`write()`] puts there.
pub fn read(at: &Location) -> Result<Vec<CurveRow>> {
    let stored = table::read(at)?;
    let reader = Reader { batch: &stored, at };
    rows(&stored, at, reader.text("trial")?)
}

/// The rows of one trial's own curve; none of a backbone that fits without sampling.
///
/// # Errors
/// When it does not hold what the trainer puts there.
pub fn of_trial(trial: &str, curve: &Location) -> Result<Vec<CurveRow>> {
    rows(&table::read(curve)?, curve, |_| trial.to_owned())
}

fn rows(stored: &RecordBatch, at: &Location, trial: impl Fn(usize) -> String) -> Result<Vec<CurveRow>> {
    let reader = Reader { batch: stored, at };
    let epoch = reader.number::<UInt32Type>("epoch")?;
    let seconds = reader.number::<Float64Type>("seconds")?;
    let loss = reader.number_or_null::<Float64Type>("loss")?;
    let metric = reader.text_or_null("metric")?;
    let cutoff = reader.number_or_null::<UInt32Type>("cutoff")?;
    let value = reader.number_or_null::<Float64Type>("value")?;
    let row = |row: usize| {
        let at = metric(row).map(|name| metric_at(&name, cutoff(row))).transpose().map_err(|reason| reader.refuse(row, reason))?;
        Ok(CurveRow { trial: trial(row), epoch: epoch(row), seconds: seconds(row), loss: loss(row), at, value: value(row) })
    };
    (0..stored.num_rows()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Vec<CurveRow> {
        let row = |epoch, at: Option<&str>, value| CurveRow {
            trial: "t".into(),
            epoch,
            seconds: f64::from(epoch) / 4.0,
            loss: Some(1.0 / f64::from(epoch)),
            at: at.map(|text| text.parse().unwrap()),
            value,
        };
        vec![row(1, None, None), row(2, Some("ndcg@20"), Some(0.25)), row(3, Some("auc"), Some(0.75))]
    }

    #[test]
    fn what_is_written_is_read() {
        let at = Location::parse("memory:///tables/curves.parquet").unwrap();
        write(&at, &curve()).unwrap();
        assert_eq!(read(&at).unwrap(), curve());
        assert_eq!(of_trial("t", &at).unwrap(), curve());
    }
}
