//! The values of a batch's columns, or the first row that has none.

use crate::source::time;
use arrow::{
    array::{Array, ArrayRef, AsArray, StringArray},
    datatypes::Float64Type,
};

/// The first row of a column, from 0, that is bad.
#[derive(Debug, PartialEq)]
pub(super) struct Bad {
    pub(super) row: usize,
    pub(super) reason: &'static str,
}

/// Ids as text: of numbers, which pandas makes floats where one is missing, those that are whole.
pub(super) fn texts(ids: &ArrayRef) -> Result<StringArray, Bad> {
    if !ids.data_type().is_floating() {
        return Ok(ids.as_string::<i32>().clone());
    }
    dataset::table::whole_texts(ids).map_err(|found| Bad { row: found.row, reason: found.reason() })
}

/// All ids of a column.
pub(super) fn ids(texts: &Result<StringArray, Bad>) -> Result<Vec<&str>, Bad> {
    let texts = texts.as_ref().map_err(|&Bad { row, reason }| Bad { row, reason })?;
    let id = |row: usize| texts.is_valid(row).then(|| texts.value(row)).filter(|id| !id.trim_ascii().is_empty());
    (0..texts.len()).map(|row| id(row).ok_or(Bad { row, reason: "is empty (expected an id)" })).collect()
}

/// All numbers of a column, or its dates as text.
pub(super) fn numbers(values: &ArrayRef) -> Result<Vec<f64>, Bad> {
    let all = |of: &dyn Fn(usize) -> Option<f64>, reason| {
        let number = |row: usize| values.is_valid(row).then(|| of(row)).flatten().filter(|number| number.is_finite());
        (0..values.len()).map(|row| number(row).ok_or(Bad { row, reason })).collect()
    };
    match values.as_string_opt::<i32>() {
        Some(texts) => all(&|row| time::parse(texts.value(row)), "is no date (expected a number or a date)"),
        None => {
            let numbers = values.as_primitive::<Float64Type>();
            all(&|row| Some(numbers.value(row)), "is null or not finite (expected a number)")
        }
    }
}
