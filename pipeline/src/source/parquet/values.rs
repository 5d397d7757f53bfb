//! The values of a batch's columns, or the first row that has none.

use crate::source::time;
use arrow::{
    array::{Array, ArrayRef, AsArray, StringArray},
    compute::cast,
    datatypes::{DataType, Float64Type},
};

/// The first row of a column, from 0, that is bad.
#[derive(Debug, PartialEq)]
pub(super) struct Bad {
    pub(super) row: usize,
    pub(super) reason: &'static str,
}

/// Ids as text: of numbers, which pandas makes floats where one is missing, those that are whole.
pub(super) fn texts(ids: &ArrayRef) -> Result<StringArray, Bad> {
    // Whole numbers below two to the power of these bits are apart.
    let bits = match ids.data_type() {
        DataType::Float64 => 53,
        DataType::Float32 => 24,
        DataType::Float16 => 11,
        _ => return Ok(ids.as_string::<i32>().clone()),
    };
    let numbers = cast(ids, &DataType::Float64).expect("a number fits a longer one");
    let numbers = numbers.as_primitive::<Float64Type>();
    let is_exact = |number: f64| number.fract() == 0.0 && number.abs() < 2f64.powi(bits);
    match numbers.iter().position(|number| number.is_some_and(|number| !is_exact(number))) {
        Some(row) if numbers.value(row).fract() == 0.0 => {
            Err(Bad { row, reason: "is too large to be exact as a float (expected text, or whole numbers as integers, as ids)" })
        }
        Some(row) => Err(Bad { row, reason: "is not a whole number (expected text or whole numbers as ids)" }),
        None => Ok(numbers.iter().map(|number| number.map(|number| (number as i64).to_string())).collect()),
    }
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
