//! The values of a batch's columns, and the rows that have none.

use crate::source::time;
use arrow::{
    array::{Array, ArrayRef, AsArray, StringArray},
    datatypes::{DataType, Float64Type},
};
use dataset::{
    quote,
    table::{self, NotWhole},
};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The rows of a batch, from 0, that lack a value: of which column, and why. Where a row lacks several it is that of the first column.
#[derive(Default)]
pub(super) struct Faults(BTreeMap<usize, Fault>);

#[derive(Clone, Copy)]
pub(super) struct Fault {
    /// The column's place.
    pub(super) column: usize,
    pub(super) reason: &'static str,
}

impl Fault {
    /// What the row lacks, of columns of these names.
    pub(super) fn words(self, names: &[&String]) -> String {
        format!("column `{}` {}", quote::value(names[self.column]), self.reason)
    }
}

impl Faults {
    pub(super) fn first(&self) -> Option<(usize, Fault)> {
        self.0.first_key_value().map(|(&row, &fault)| (row, fault))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, Fault)> {
        self.0.iter().map(|(&row, &fault)| (row, fault))
    }

    /// The values of all other rows.
    pub(super) fn without<T>(&self, values: Vec<T>) -> Vec<T> {
        values.into_iter().enumerate().filter(|(row, _)| !self.0.contains_key(row)).map(|(_, value)| value).collect()
    }

    /// The values of a column of so many rows: any where there is none.
    fn or_any<T: Default>(&mut self, column: usize, rows: usize, value: impl Fn(usize) -> Result<T, &'static str>) -> Vec<T> {
        let value = |row| {
            value(row).unwrap_or_else(|reason| {
                self.0.entry(row).or_insert(Fault { column, reason });
                T::default()
            })
        };
        (0..rows).map(value).collect()
    }
}

/// A column of ids as text: of numbers, which pandas makes floats where one is missing, those that are whole; of 16 bytes the UUID.
pub(super) struct Texts {
    /// Null where there is no id.
    texts: StringArray,
    /// Numbers that are none, by rows.
    others: Vec<NotWhole>,
}

impl Texts {
    pub(super) fn of(ids: &ArrayRef) -> Self {
        let (texts, others) = match ids.data_type() {
            DataType::FixedSizeBinary(_) => {
                let uuid = |bytes: Option<&[u8]>| bytes.and_then(|bytes| Uuid::from_slice(bytes).ok()).map(|id| id.to_string());
                (ids.as_fixed_size_binary().iter().map(uuid).collect(), Vec::new())
            }
            of if of.is_floating() => table::whole_texts_and_others(ids),
            _ => (ids.as_string::<i32>().clone(), Vec::new()),
        };
        Self { texts, others }
    }

    /// All ids of a column of this place.
    pub(super) fn ids(&self, column: usize, faults: &mut Faults) -> Vec<&str> {
        let id = |row: usize| self.texts.is_valid(row).then(|| self.texts.value(row)).filter(|id| !id.trim_ascii().is_empty());
        let other = |row: usize| self.others.binary_search_by_key(&row, |other| other.row).map(|place| self.others[place].reason());
        faults.or_any(column, self.texts.len(), |row| id(row).ok_or_else(|| other(row).unwrap_or("is empty (expected an id)")))
    }
}

/// All numbers of a column of this place, or its dates as text.
pub(super) fn numbers(values: &ArrayRef, column: usize, faults: &mut Faults) -> Vec<f64> {
    let mut all = |of: &dyn Fn(usize) -> Option<f64>, reason| {
        let number = |row: usize| values.is_valid(row).then(|| of(row)).flatten().filter(|number| number.is_finite());
        faults.or_any(column, values.len(), |row| number(row).ok_or(reason))
    };
    match values.as_string_opt::<i32>() {
        Some(texts) => all(&|row| time::parse(texts.value(row)), "is no date (expected a number or a date)"),
        None => {
            let numbers = values.as_primitive::<Float64Type>();
            all(&|row| Some(numbers.value(row)), "is null or not finite (expected a number)")
        }
    }
}
