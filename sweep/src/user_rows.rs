//! Files that say something of users: a column with their own ids, and another one.

use crate::usage::Usage;
use anyhow::{Context, Result, anyhow};
use arrow::datatypes::DataType;
use dataset::{Location, quote, table};

/// The column of users, by the names that it may have.
const USER: [&str; 2] = ["user_id", NUMBERS];
/// What ranksweep's own tables call the numbers of users, of 32 bits.
const NUMBERS: &str = "user";

/// The users of a table, `.parquet`, or text with a header whose fields a comma, a tab or a semicolon separates (in `.tsv` always a tab), and the value of the column that has
/// one of these names, row by row; none where it is null or empty.
///
/// # Errors
/// A file that cannot be read or has a row without a user; [`Usage`] where it lacks a column.
pub(crate) fn read(file: &Location, column: &[&str]) -> Result<Vec<(String, Option<String>)>> {
    if file.name().to_ascii_lowercase().ends_with(".parquet") { of_parquet(file, column) } else { of_text(file, column) }
}

fn missing(names: &[&str], found: &[String]) -> String {
    let quoted = |name: &str| format!("`{}`", quote::value(name));
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let found: Vec<String> = found.iter().take(20).map(|name| quoted(name)).collect();
    format!("no column {} (found {})", names.join(" or "), found.join(", "))
}

/// The places of the two columns among a table's. Of a column's names the first that the table has counts: `user_id` are own ids, and `user` beside it may be others.
fn places(header: &[String], column: &[&str]) -> Result<[usize; 2]> {
    let found = |names: &[&str]| names.iter().find_map(|name| header.iter().position(|found| found == name));
    let place = |names: &[&str]| found(names).ok_or_else(|| Usage(missing(names, header)));
    Ok([place(&USER)?, place(column)?])
}

fn of_parquet(file: &Location, column: &[&str]) -> Result<Vec<(String, Option<String>)>> {
    let read = table::decode_foreign(file.read()?).map_err(|reason| anyhow!("{file}: {reason}"))?;
    let header: Vec<String> = read.schema().fields().iter().map(|field| field.name().clone()).collect();
    let [place, other] = places(&header, column).with_context(|| file.to_string())?;
    if header[place] == NUMBERS && *read.column(place).data_type() == DataType::UInt32 {
        let reason =
            "its column `user` has numbers as prepared datasets have them, which are no ids of yours (call it `user_id` if they are)";
        return Err(Usage(format!("{file}: {reason}")).into());
    }
    let texts = |place| table::texts_or_null(&read, place).map_err(|reason| anyhow!("{file}: {reason}"));
    let (users, others) = (texts(place)?, texts(other)?);
    let row = |(row, (user, other)): (usize, (Option<&str>, Option<&str>))| match user.and_then(given) {
        Some(user) => Ok((user, other.and_then(given))),
        None => Err(anyhow!("{file} row {}: column `{}` is empty (expected a user's id)", row + 1, quote::value(&header[place]))),
    };
    users.iter().zip(&others).enumerate().map(row).collect()
}

/// A value that is one.
fn given(value: &str) -> Option<String> {
    (!value.trim_ascii().is_empty()).then(|| value.to_owned())
}

/// What separates the fields of a text: a tab in `.tsv`, elsewhere the first of comma, tab and semicolon by which its header has a column of users; where it has none, by
/// which it has several columns.
fn delimiter(file: &Location, text: &[u8]) -> u8 {
    if file.name().to_ascii_lowercase().ends_with(".tsv") {
        return b'\t';
    }
    let header = |delimiter: u8| csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text).headers().cloned().unwrap_or_default();
    let delimiters = [b',', b'\t', b';'];
    let has_users = |delimiter: &u8| header(*delimiter).iter().any(|name| USER.contains(&name));
    let has_several = |delimiter: &u8| header(*delimiter).len() > 1;
    delimiters.into_iter().find(has_users).or_else(|| delimiters.into_iter().find(has_several)).unwrap_or(b',')
}

fn of_text(file: &Location, column: &[&str]) -> Result<Vec<(String, Option<String>)>> {
    let bytes = file.read()?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter(file, text)).from_reader(text);
    let of_file = || file.to_string();
    let header: Vec<String> = reader.headers().with_context(of_file)?.iter().map(str::to_owned).collect();
    let [user, other] = places(&header, column).with_context(of_file)?;
    let row = |record: csv::Result<csv::StringRecord>| {
        let record = record.with_context(of_file)?;
        if record[user].trim_ascii().is_empty() {
            let line = record.position().map_or(0, csv::Position::line);
            return Err(anyhow!("{file} line {line}: column `{}` is empty (expected a user's id)", quote::value(&header[user])));
        }
        Ok((record[user].to_owned(), given(&record[other])))
    };
    reader.records().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array, RecordBatch, UInt32Array};
    use std::sync::Arc;

    /// As the tables of ranksweep itself have both, the dense ids first.
    #[test]
    fn own_ids_come_before_others_wherever_they_stand() {
        let header = ["user", "user_id", "rank", "item", "item_id"].map(str::to_owned);
        assert_eq!(places(&header, &["item_id", "item"]).unwrap(), [1, 4]);
        assert_eq!(places(&header[..1], &["user"]).unwrap(), [0, 0]);
    }

    #[test]
    fn the_numbers_of_a_prepared_dataset_are_no_ids() {
        let of = |name: &str, users: ArrayRef| {
            let at = Location::parse(&format!("memory:///user-rows/{name}.parquet")).unwrap();
            let columns: Vec<(&str, ArrayRef)> = vec![(name, users), ("item", Arc::new(UInt32Array::from(vec![7, 8])))];
            table::write(&at, &RecordBatch::try_from_iter(columns).unwrap()).unwrap();
            read(&at, &["item"])
        };
        let numbers = || Arc::new(UInt32Array::from(vec![0, 1])) as ArrayRef;
        let complaint = of("user", numbers()).unwrap_err().to_string();
        assert!(complaint.ends_with("which are no ids of yours (call it `user_id` if they are)"), "{complaint}");
        assert_eq!(of("user_id", numbers()).unwrap()[1], ("1".to_owned(), Some("8".to_owned())));
        assert_eq!(of("user", Arc::new(Int64Array::from(vec![5, 6]))).unwrap()[0].0, "5");
    }
}
