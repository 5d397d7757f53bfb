//! `.parquet`: a column of own ids and one of vectors, which is a list of numbers in each row.

use super::{
    super::{
        Content,
        findings::{Named, counted},
    },
    Vectors, choose,
};
use arrow::{
    array::{Array, ArrayRef, AsArray, Float32Array, RecordBatch},
    compute::cast,
    datatypes::{DataType, Float32Type},
};
use dataset::{quote, table};

/// The names of the column of ids, the first that is there.
const IDS: [&str; 5] = ["id", "user_id", "item_id", "user", "item"];

/// Reads the vectors of a column, or of the only one that has lists.
pub(super) fn read(content: &Content, key: Option<&str>) -> Result<Vectors, String> {
    let read = table::decode_foreign(content.bytes.clone())?;
    let ids = ids(&read)?;
    let schema = read.schema();
    let lists = schema.fields().iter().filter(|field| is_list(field.data_type()));
    let name = choose(&lists.map(|field| field.name().as_str()).collect::<Vec<_>>(), key, "column of vectors")?;
    let column = read.column_by_name(name).ok_or("its columns have no names")?;
    let rows = ListColumn::of(column).map_err(|reason| format!("the column `{}` {reason}", quote::value(name)))?;
    let dim = rows.row(0).len();
    let mut uneven = Named::default();
    let mut values = Vec::with_capacity(ids.len() * dim);
    for (row, id) in ids.iter().enumerate() {
        let vector = rows.row(row);
        if vector.len() != dim {
            uneven.add(id);
        }
        values.extend_from_slice(vector);
    }
    if let Some(words) = uneven.words("row") {
        return Err(format!("vectors have other lengths than the first, which has {}, in {words}", counted(dim, "number")));
    }
    Ok(Vectors { ids: Some(ids), ..Vectors::of_shape(&[read.num_rows(), dim], values)? })
}

fn ids(read: &RecordBatch) -> Result<Vec<String>, String> {
    let schema = read.schema();
    let place = IDS.iter().find_map(|name| schema.index_of(name).ok());
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let place = place.ok_or_else(|| format!("no column of ids (expected `id`, `user_id` or `item_id`, found {})", quote::names(&names)))?;
    Ok(table::texts(read, place)?.iter().flatten().map(str::to_owned).collect())
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

/// Lists of numbers: all of them, and where each row stands.
struct ListColumn {
    numbers: Float32Array,
    ends: Vec<usize>,
    start: usize,
}

impl ListColumn {
    fn of(column: &ArrayRef) -> Result<Self, String> {
        if column.null_count() > 0 {
            return Err(format!("has {} nulls", column.null_count()));
        }
        let (numbers, offsets): (ArrayRef, Vec<usize>) = match column.data_type() {
            DataType::List(_) => {
                let list = column.as_list::<i32>();
                (list.values().clone(), list.value_offsets().iter().map(|&offset| offset as usize).collect())
            }
            DataType::LargeList(_) => {
                let list = column.as_list::<i64>();
                (list.values().clone(), list.value_offsets().iter().map(|&offset| offset as usize).collect())
            }
            _ => {
                let list = column.as_fixed_size_list();
                let length = usize::try_from(list.value_length()).unwrap_or_default();
                (list.values().clone(), (0..=list.len()).map(|row| row * length).collect())
            }
        };
        if numbers.null_count() > 0 {
            return Err(format!("has {} nulls within vectors", numbers.null_count()));
        }
        if !numbers.data_type().is_numeric() {
            return Err(format!("has lists of {} (expected lists of numbers)", numbers.data_type()));
        }
        let numbers = cast(&numbers, &DataType::Float32).map_err(|error| error.to_string())?;
        let start = offsets.first().copied().unwrap_or_default();
        Ok(Self { numbers: numbers.as_primitive::<Float32Type>().clone(), ends: offsets.into_iter().skip(1).collect(), start })
    }

    fn row(&self, row: usize) -> &[f32] {
        let start = if row == 0 { self.start } else { self.ends[row - 1] };
        let end = self.ends.get(row).copied().unwrap_or(start);
        &self.numbers.values()[start..end]
    }
}
