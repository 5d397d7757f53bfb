//! The files that lists are written into. They have the same columns: `user, user_id, rank, item, item_id, score`.

use anyhow::Result;
use arrow::{
    array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array},
    datatypes::{DataType, Field, Schema, SchemaRef},
};
use dataset::{quote, table};
use parquet::arrow::ArrowWriter;
use serde::Serialize;
use std::sync::Arc;

/// The columns' names, in the order of [`Recommendation`].
const COLUMNS: [&str; 6] = ["user", "user_id", "rank", "item", "item_id", "score"];

/// The format of a file of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// A Parquet file.
    Parquet,
    /// Comma-separated values with a header.
    Csv,
    /// A JSON object in each line.
    JsonLines,
}

impl ListFormat {
    /// The format by the suffix of a file's name; Parquet where it has none, as pipes and devices do.
    ///
    /// # Errors
    /// A suffix of another format, with the list of those that are known.
    pub fn of(name: &str) -> Result<Self, String> {
        match name.rsplit_once('.').map(|(_, suffix)| suffix.to_lowercase()).as_deref() {
            None | Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::JsonLines),
            Some(_) => Err(format!("`{}` has an unknown suffix (expected .parquet, .csv or .jsonl)", quote::value(name))),
        }
    }
}

/// One item of a user's list.
#[derive(Serialize)]
pub(super) struct Recommendation<'a> {
    pub(super) user: u32,
    pub(super) user_id: &'a str,
    pub(super) rank: u32,
    pub(super) item: u32,
    pub(super) item_id: &'a str,
    pub(super) score: f32,
}

/// Lists on their way into a file.
pub(super) enum RecommendationWriter {
    Parquet(ArrowWriter<Vec<u8>>),
    Csv(csv::Writer<Vec<u8>>),
    JsonLines(Vec<u8>),
}

impl RecommendationWriter {
    pub(super) fn new(format: ListFormat) -> Result<Self> {
        Ok(match format {
            ListFormat::Parquet => Self::Parquet(ArrowWriter::try_new(Vec::new(), schema(), Some(table::writer_properties()))?),
            ListFormat::Csv => {
                let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
                writer.write_record(COLUMNS)?;
                Self::Csv(writer)
            }
            ListFormat::JsonLines => Self::JsonLines(Vec::new()),
        })
    }

    pub(super) fn write(&mut self, rows: &[Recommendation]) -> Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(&batch(rows))?,
            Self::Csv(writer) => rows.iter().try_for_each(|row| writer.serialize(row))?,
            Self::JsonLines(text) => rows.iter().try_for_each(|row| {
                serde_json::to_writer(&mut *text, row)?;
                text.push(b'\n');
                anyhow::Ok(())
            })?,
        }
        Ok(())
    }

    /// The whole file.
    pub(super) fn finish(self) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Parquet(writer) => writer.into_inner()?,
            Self::Csv(writer) => writer.into_inner()?,
            Self::JsonLines(text) => text,
        })
    }
}

fn schema() -> SchemaRef {
    let types = [DataType::UInt32, DataType::Utf8, DataType::UInt32, DataType::UInt32, DataType::Utf8, DataType::Float32];
    Arc::new(Schema::new(COLUMNS.into_iter().zip(types).map(|(name, kind)| Field::new(name, kind, false)).collect::<Vec<_>>()))
}

fn batch(rows: &[Recommendation]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.user))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.user_id))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.rank))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.item))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.item_id))),
        Arc::new(Float32Array::from_iter_values(rows.iter().map(|row| row.score))),
    ];
    RecordBatch::try_new(schema(), columns).expect("columns come from the same rows")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of two rows, one with an id that CSV and JSON have to quote.
    fn written(format: ListFormat) -> Vec<u8> {
        let row = |user_id, rank, score| Recommendation { user: 7, user_id, rank, item: 3, item_id: "i3", score };
        let mut writer = RecommendationWriter::new(format).unwrap();
        writer.write(&[row("a", 1, 0.1)]).unwrap();
        writer.write(&[row("b,\"c\"", 2, -1.5e-9)]).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn a_suffix_names_the_format() {
        assert_eq!(
            ["a.b.csv", "x.PARQUET", "x.jsonl", "stdout"].map(|name| ListFormat::of(name).unwrap()),
            [ListFormat::Csv, ListFormat::Parquet, ListFormat::JsonLines, ListFormat::Parquet]
        );
        assert_eq!(ListFormat::of("x.csv.gz").unwrap_err(), "`x.csv.gz` has an unknown suffix (expected .parquet, .csv or .jsonl)");
    }

    #[test]
    fn text_has_the_columns_ids_and_shortest_scores() {
        let csv = "user,user_id,rank,item,item_id,score\n7,a,1,3,i3,0.1\n7,\"b,\"\"c\"\"\",2,3,i3,-1.5e-9\n";
        assert_eq!(String::from_utf8(written(ListFormat::Csv)).unwrap(), csv);
        let json = "{\"user\":7,\"user_id\":\"a\",\"rank\":1,\"item\":3,\"item_id\":\"i3\",\"score\":0.1}\n\
                    {\"user\":7,\"user_id\":\"b,\\\"c\\\"\",\"rank\":2,\"item\":3,\"item_id\":\"i3\",\"score\":-1.5e-9}\n";
        assert_eq!(String::from_utf8(written(ListFormat::JsonLines)).unwrap(), json);
    }

    #[test]
    fn csv_of_no_lists_has_its_header() {
        let file = RecommendationWriter::new(ListFormat::Csv).unwrap().finish().unwrap();
        assert_eq!(file, b"user,user_id,rank,item,item_id,score\n");
    }
}
