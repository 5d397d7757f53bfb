//! A Parquet table.

use super::{super::Content, Entry, Gathered, places};
use arrow::{
    array::{Array, ArrayRef, AsArray},
    compute::cast,
    datatypes::{DataType, Float64Type, Int64Type},
};
use dataset::table::{self, NotWhole};

pub(super) fn read(content: &Content, gathered: &mut Gathered<'_>) -> Result<(), String> {
    let read = table::decode_foreign(content.bytes.clone())?;
    let schema = read.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let (user, item, score, rank) = places(&names)?;
    let (users, items) = (table::texts(&read, user)?, table::texts(&read, item)?);
    let number = |place: usize, kind: &DataType| -> Result<ArrayRef, String> {
        let (column, name) = (read.column(place), names[place]);
        if column.null_count() > 0 {
            return Err(format!("the column `{name}` has {} nulls", column.null_count()));
        }
        if !column.data_type().is_numeric() || (kind.is_integer() && !column.data_type().is_integer() && !column.data_type().is_floating())
        {
            return Err(format!("the column `{name}` has values of type {} (expected numbers, ranks whole ones)", column.data_type()));
        }
        if kind.is_integer() && column.data_type().is_floating() {
            let refuse =
                |found: NotWhole| format!("the column `{name}` has {} in row {} (expected whole ranks)", found.number, found.row + 1);
            table::whole_texts(column).map_err(refuse)?;
        }
        cast(column, kind).map_err(|error| format!("the column `{name}`: {error}"))
    };
    let scores = score.map(|place| number(place, &DataType::Float64)).transpose()?;
    let ranks = rank.map(|place| number(place, &DataType::Int64)).transpose()?;
    for row in 0..read.num_rows() {
        let score = scores.as_ref().map(|scores| scores.as_primitive::<Float64Type>().value(row));
        let rank = ranks.as_ref().map(|ranks| ranks.as_primitive::<Int64Type>().value(row));
        gathered.add(Entry { user: users.value(row), item: items.value(row), score, rank });
    }
    Ok(())
}
