//! `trials.parquet`: every trial of the plan and what became of it. One of the two tables with times in them.

use super::{Reader, numbers_or_null, texts, texts_or_null};
use arrow::{
    array::BooleanArray,
    datatypes::{Float64Type, UInt32Type, UInt64Type},
};
use dataset::{FileEntry, Location, Result, table};
use evaluator::MetricAt;
use std::sync::Arc;

/// One trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRow {
    /// The trial's id: its folder under `trials/`.
    pub trial: String,
    /// The method's key: the same in every table.
    pub method: String,
    /// The dataset's name in the sweep file.
    pub dataset: String,
    /// The model, as a reader sees it: `mf-64`.
    pub backbone: String,
    /// The loss; none where the backbone fits without sampling.
    pub loss: Option<String>,
    /// The sampler; none where the backbone fits without sampling.
    pub sampler: Option<String>,
    /// The values of this trial: a flat JSON object.
    pub parameters: serde_json::Value,
    /// The seed; none where the backbone fits without sampling.
    pub seed: Option<u64>,
    /// The seed of its split; none where its dataset has one split.
    pub split_seed: Option<u64>,
    /// How it ended.
    pub status: Status,
    /// Whether its values are the method's best on validation, so that it was ranked on test.
    pub selected: bool,
    /// Epochs that were trained.
    pub epochs: Option<u32>,
    /// The epoch of the checkpoint.
    pub best_epoch: Option<u32>,
    /// The validation metric that picks values.
    pub select_by: MetricAt,
    /// Its value at the best epoch.
    pub validation: Option<f64>,
    /// Seconds of training.
    pub seconds: Option<f64>,
    /// The device that trained it.
    pub device: Option<String>,
    /// Why it failed, or did not end.
    pub error: Option<String>,
    /// A remark for readers on a model that another program trained.
    pub remarks: Option<String>,
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Trained to the end.
    Done,
    /// Stopped at a rung of successive halving.
    Stopped,
    /// Not trained, as the search picked other values by other seeds.
    Skipped,
    /// Stopped by an error.
    Failed,
    /// Trained to a model that gives all items the same score for every user, and not ranked.
    Constant,
    /// Not trained, or not to the end.
    Missing,
}

impl Status {
    const ALL: [Self; 6] = [Self::Done, Self::Stopped, Self::Skipped, Self::Failed, Self::Constant, Self::Missing];

    /// Whether there is no model to rank, for a reason that would come again.
    pub fn has_failed(self) -> bool {
        matches!(self, Self::Failed | Self::Constant)
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Constant => "constant",
            Self::Missing => "missing",
        }
    }
}

/// Writes the table.
///
/// # Errors
/// When it cannot be stored.
pub fn write(at: &Location, rows: &[TrialRow]) -> Result<FileEntry> {
    let columns = vec![
        texts("trial", rows.iter().map(|row| &row.trial)),
        texts("method", rows.iter().map(|row| &row.method)),
        texts("dataset", rows.iter().map(|row| &row.dataset)),
        texts("backbone", rows.iter().map(|row| &row.backbone)),
        texts_or_null("loss", rows.iter().map(|row| row.loss.as_ref())),
        texts_or_null("sampler", rows.iter().map(|row| row.sampler.as_ref())),
        texts("parameters", rows.iter().map(|row| row.parameters.to_string())),
        numbers_or_null::<UInt64Type>("seed", rows.iter().map(|row| row.seed)),
        numbers_or_null::<UInt64Type>("split_seed", rows.iter().map(|row| row.split_seed)),
        texts("status", rows.iter().map(|row| row.status.name())),
        ("selected", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.selected)))), false),
        numbers_or_null::<UInt32Type>("epochs", rows.iter().map(|row| row.epochs)),
        numbers_or_null::<UInt32Type>("best_epoch", rows.iter().map(|row| row.best_epoch)),
        texts("select_by", rows.iter().map(|row| row.select_by.to_string())),
        numbers_or_null::<Float64Type>("validation", rows.iter().map(|row| row.validation)),
        numbers_or_null::<Float64Type>("seconds", rows.iter().map(|row| row.seconds)),
        texts_or_null("device", rows.iter().map(|row| row.device.as_ref())),
        texts_or_null("error", rows.iter().map(|row| row.error.as_ref())),
        texts_or_null("remarks", rows.iter().map(|row| row.remarks.as_ref())),
    ];
    table::write(at, &table::batch(columns))
}

/// Reads the table.
///
/// # Errors
/// When it is missing or does not hold what [`write()`] puts there.
pub fn read(at: &Location) -> Result<Vec<TrialRow>> {
    let stored = table::read(at)?;
    let reader = Reader { batch: &stored, at };
    let (trial, method, dataset, backbone) =
        (reader.text("trial")?, reader.text("method")?, reader.text("dataset")?, reader.text("backbone")?);
    let (loss, sampler, parameters) = (reader.text_or_null("loss")?, reader.text_or_null("sampler")?, reader.text("parameters")?);
    let (seed, split_seed) = (reader.number_or_null::<UInt64Type>("seed")?, reader.number_or_null::<UInt64Type>("split_seed")?);
    let status = reader.text("status")?;
    let selected: &BooleanArray = table::column(&stored, "selected", at)?;
    let epochs = reader.number_or_null::<UInt32Type>("epochs")?;
    let best_epoch = reader.number_or_null::<UInt32Type>("best_epoch")?;
    let (select_by, validation) = (reader.text("select_by")?, reader.number_or_null::<Float64Type>("validation")?);
    let seconds = reader.number_or_null::<Float64Type>("seconds")?;
    let (device, error) = (reader.text_or_null("device")?, reader.text_or_null("error")?);
    // Tables of earlier builds have none.
    let remarks = stored.column_by_name("remarks").map(|_| reader.text_or_null("remarks")).transpose()?;
    let row = |row: usize| {
        let status = status(row);
        Ok(TrialRow {
            trial: trial(row),
            method: method(row),
            dataset: dataset(row),
            backbone: backbone(row),
            loss: loss(row),
            sampler: sampler(row),
            parameters: serde_json::from_str(&parameters(row)).map_err(|error| reader.refuse(row, error))?,
            seed: seed(row),
            split_seed: split_seed(row),
            status: Status::ALL.into_iter().find(|known| known.name() == status).ok_or_else(|| {
                reader.refuse(row, format!("status `{status}` where done, stopped, skipped, failed, constant or missing was expected"))
            })?,
            selected: selected.value(row),
            epochs: epochs(row),
            best_epoch: best_epoch(row),
            select_by: select_by(row).parse().map_err(|error| reader.refuse(row, error))?,
            validation: validation(row),
            seconds: seconds(row),
            device: device(row),
            error: error(row),
            remarks: remarks.as_ref().and_then(|remarks| remarks(row)),
        })
    };
    (0..stored.num_rows()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<TrialRow> {
        let done = TrialRow {
            trial: "0011223344556677".into(),
            method: "small/mf-64/bpr/uniform-1".into(),
            dataset: "small".into(),
            backbone: "mf-64".into(),
            loss: Some("bpr".into()),
            sampler: Some("uniform-1".into()),
            parameters: serde_json::json!({"learning_rate": 0.01}),
            seed: Some(u64::MAX),
            split_seed: None,
            status: Status::Done,
            selected: true,
            epochs: Some(20),
            best_epoch: Some(15),
            select_by: "ndcg@20".parse().unwrap(),
            validation: Some(0.25),
            seconds: Some(1.5),
            device: Some("cpu".into()),
            error: None,
            remarks: Some("2 users".into()),
        };
        let failed = TrialRow {
            trial: "8899aabbccddeeff".into(),
            backbone: "ease".into(),
            loss: None,
            sampler: None,
            seed: None,
            split_seed: Some(u64::MAX),
            status: Status::Failed,
            selected: false,
            epochs: None,
            best_epoch: None,
            validation: None,
            seconds: None,
            device: None,
            error: Some("step 7: the loss is NaN".into()),
            remarks: None,
            ..done.clone()
        };
        let stopped = TrialRow { status: Status::Stopped, selected: false, epochs: Some(4), best_epoch: Some(4), ..done.clone() };
        vec![done, failed, stopped]
    }

    #[test]
    fn what_is_written_is_read() {
        let at = Location::parse("memory:///tables/trials.parquet").unwrap();
        write(&at, &rows()).unwrap();
        assert_eq!(read(&at).unwrap(), rows());
    }

    #[test]
    fn no_trials_are_a_table_too() {
        let at = Location::parse("memory:///tables/no-trials.parquet").unwrap();
        write(&at, &[]).unwrap();
        assert_eq!(read(&at).unwrap(), []);
    }
}
