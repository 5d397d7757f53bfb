//! `printed`: a table of numbers that a paper prints of the sweep's methods.
//!
//! ```yaml
//! printed: values.csv
//! printed: {values: values.csv, margin: 5%, runs: 1, same_split: true}
//! ```
//! The table has the columns `place, dataset, method, metric, cutoff, value`. A sweep takes the lines of its own datasets, methods and metrics, so
//! that one table can serve all sweeps of a paper.

use super::{
    error::Result,
    fields::Fields,
    nearest,
    node::{Node, Value},
    sweep_file::Placed,
};
use dataset::quote;
use evaluator::{MetricAt, settings::Margin};
use std::{fs::File, io::Read, path::Path};

/// `printed` as typed.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedTable {
    /// The path of the table, from the sweep file's folder.
    pub values: String,
    /// A number is reproduced where the difference is within it; 5% of the number when left out.
    pub margin: Margin,
    /// Trainings that each number is the mean of; 1 when left out.
    pub runs: u32,
    /// Whether the numbers are of the very test users and test items that the sweep has; when left out, of datasets whose split is `given`.
    pub same_split: Option<bool>,
}

/// One number of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedLine {
    /// The place of the number in the paper.
    pub place: String,
    /// The dataset's name in sweep files.
    pub dataset: String,
    /// The method, by the name that the leaderboard gives it.
    pub method: String,
    /// The metric and where lists are cut.
    pub at: MetricAt,
    /// The number.
    pub value: f64,
    /// One unit of its last printed digit.
    pub unit: f64,
}

const MARGIN: Margin = Margin::Relative(0.05);
const COLUMNS: [&str; 6] = ["place", "dataset", "method", "metric", "cutoff", "value"];
/// Bytes of a table, at most.
const MOST_BYTES: u64 = 2 << 20;

impl PrintedTable {
    pub(super) fn read(node: &Node) -> Result<Self> {
        if let Value::Scalar { text, .. } = &node.value {
            return Ok(Self { values: text.clone(), margin: MARGIN, runs: 1, same_split: None });
        }
        let fields = Fields::of(node, &["values", "margin", "runs", "same_split"])?;
        let runs = fields.read_or("runs", 1)?;
        if runs == 0 {
            return Err(node.at("runs").place.error("expected 1 or more trainings behind each number, found 0"));
        }
        Ok(Self {
            values: fields.required("values")?.read()?,
            margin: fields.read_or("margin", MARGIN)?,
            runs,
            same_split: fields.read_or("same_split", None)?,
        })
    }
}

/// The lines of the table that a sweep file names.
///
/// # Errors
/// A table that cannot be read, or has a line that is no number of a method, at the sweep file's key.
pub(crate) fn lines(table: &Placed<PrintedTable>) -> Result<Vec<PrintedLine>> {
    let path = Path::new(&*table.place().file).parent().unwrap_or(Path::new("")).join(&table.value.values);
    let shown = quote::value(&path.to_string_lossy()).to_string();
    let refuse = |reason: String| table.place().error(format!("{shown}: {reason}"));
    parse(&text(&path).map_err(refuse)?).map_err(refuse)
}

fn text(path: &Path) -> Result<String, String> {
    let cannot =
        |error: &dyn std::fmt::Display| format!("cannot be read: {error} (expected a CSV table with the columns {})", COLUMNS.join(", "));
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(|error| cannot(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(cannot(&format!("it has more than {} MiB", MOST_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| cannot(&"it is not UTF-8"))
}

fn parse(text: &str) -> Result<Vec<PrintedLine>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    if let Some(unknown) = header.iter().find(|name| !COLUMNS.contains(name)) {
        return Err(format!("line 1: {}", nearest::unknown("column", unknown, &COLUMNS)));
    }
    let place = |name: &str| header.iter().position(|found| found == name).ok_or_else(|| format!("line 1: the column `{name}` is missing"));
    let places = COLUMNS.iter().map(|name| place(name)).collect::<Result<Vec<usize>, String>>()?;
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let number = record.position().map_or(0, csv::Position::line);
        lines.push(
            line(&places.iter().map(|&place| &record[place]).collect::<Vec<_>>()).map_err(|reason| format!("line {number}: {reason}"))?,
        );
    }
    Ok(lines)
}

/// A number from the texts of its columns.
fn line(cells: &[&str]) -> Result<PrintedLine, String> {
    let &[place, dataset, method, metric, cutoff, value] = cells else { return Err("a column is missing".to_owned()) };
    let at = if cutoff.is_empty() { metric.to_owned() } else { format!("{metric}@{cutoff}") };
    Ok(PrintedLine {
        place: place.to_owned(),
        dataset: dataset.to_owned(),
        method: method.to_owned(),
        at: at.parse().map_err(|error: evaluator::Error| error.to_string())?,
        value: number(value).ok_or_else(|| format!("`value` is `{}`: expected a number such as 0.0527", quote::value(value)))?,
        unit: 0.1f64.powi(value.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32)),
    })
}

/// Digits with at most one point: what papers print, and what tells how it was rounded.
fn number(text: &str) -> Option<f64> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|value: &f64| plain && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SweepFile;

    fn read(printed: &str) -> Result<Placed<PrintedTable>> {
        let text = format!(
            "name: s\ndatasets: [{{name: d, source: {{format: synthetic}}}}]\ngrid: [{{backbones: [{{kind: popularity}}]}}]\nprinted: {printed}\n"
        );
        Ok(SweepFile::parse(&text, "nowhere/s.yaml")?.printed.unwrap())
    }

    #[test]
    fn a_path_alone_has_the_usual_margin() {
        assert_eq!(read("v.csv").unwrap().value, PrintedTable { values: "v.csv".into(), margin: MARGIN, runs: 1, same_split: None });
        let whole = read("{values: v.csv, margin: 2%, runs: 5, same_split: false}").unwrap().value;
        assert_eq!(whole, PrintedTable { values: "v.csv".into(), margin: Margin::Relative(0.02), runs: 5, same_split: Some(false) });
        assert!(read("{values: v.csv, runs: 0}").unwrap_err().to_string().contains("printed.runs: expected 1 or more trainings"));
        assert!(read("{margin: 2%}").unwrap_err().to_string().contains("the key `values` is missing"));
    }

    #[test]
    fn a_table_that_is_not_there_is_named_with_the_key() {
        let message = lines(&read("v.csv").unwrap()).unwrap_err().to_string();
        assert!(message.starts_with("nowhere/s.yaml:4:10: printed: nowhere/v.csv: cannot be read:"), "{message}");
    }

    #[test]
    fn digits_tell_how_a_number_was_rounded() {
        let found =
            parse("place,dataset,method,metric,cutoff,value\n# a remark\nTable 1,d,\"a(x, y) on mf\",ndcg,20,0.0520\nT2,d,b,auc,,0.9\n")
                .unwrap();
        assert_eq!((found[0].method.as_str(), found[0].at.to_string(), found[0].value), ("a(x, y) on mf", "ndcg@20".to_owned(), 0.052));
        assert!((found[0].unit - 1e-4).abs() < 1e-18 && (found[1].unit - 0.1).abs() < 1e-15);
    }

    #[test]
    fn lines_that_are_no_numbers_are_refused() {
        let with = |line: &str| parse(&format!("place,dataset,method,metric,cutoff,value\n{line}\n")).unwrap_err();
        assert_eq!(with("T,d,m,ndcg,20,5%"), "line 2: `value` is `5%`: expected a number such as 0.0527");
        assert!(with("T,d,m,ndgc,20,0.5").starts_with("line 2: "));
        assert!(with("T,d,m,ndcg,0,0.5").contains("no whole number from 1"));
        assert!(with("T,d,m,ndcg,20").contains("line: 2"), "{}", with("T,d,m,ndcg,20"));
        assert!(with("T,d,m,ndcg,20,inf").contains("expected a number"));
        assert!(parse("place,dataset,metod\n").unwrap_err().contains("did you mean `method`?"));
        assert_eq!(parse("place,dataset,method,metric,cutoff\n").unwrap_err(), "line 1: the column `value` is missing");
    }
}
