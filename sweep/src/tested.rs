//! A difference of two means and what its test says, with the columns that tables have of it.

use crate::tables::numbers_or_null;
use arrow::datatypes::Float64Type;
use dataset::table::Column;
use evaluator::significance::Judged;

/// A difference and its test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tested {
    pub(crate) difference: f64,
    pub(crate) judged: Judged,
}

impl Tested {
    /// The columns `difference`, `ci_low`, `ci_high`, `p_value` and `p_adjusted` of rows, some of which have no test.
    pub(crate) fn columns<'a>(rows: impl Iterator<Item = Option<&'a Self>> + Clone) -> [Column; 5] {
        let column = |name, of: fn(&Self) -> f64| {
            numbers_or_null::<Float64Type>(name, rows.clone().map(|row| row.map(of).filter(|value| value.is_finite())))
        };
        [
            column("difference", |row| row.difference),
            column("ci_low", |row| row.judged.interval.low),
            column("ci_high", |row| row.judged.interval.high),
            column("p_value", |row| row.judged.p_value),
            column("p_adjusted", |row| row.judged.p_adjusted),
        ]
    }
}
