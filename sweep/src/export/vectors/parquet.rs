//! `users.parquet`, `items.parquet`, `index_queries.parquet` and `index_items.parquet`: own ids, and vectors as lists of one length.

use super::{super::File, ModelVectors, VectorTable};
use anyhow::Result;
use arrow::{
    array::{ArrayRef, FixedSizeListArray, Float32Array, StringArray},
    datatypes::{DataType, Field},
};
use dataset::table;
use std::sync::Arc;

pub(in super::super) fn files(named: &ModelVectors<'_>) -> Result<Vec<File>> {
    named.tables().into_iter().map(file).collect()
}

fn file(VectorTable { name, id, ids, matrix }: VectorTable<'_>) -> Result<File> {
    let numbers: ArrayRef = Arc::new(Float32Array::from(matrix.values));
    let field = Arc::new(Field::new("item", DataType::Float32, false));
    let vectors = FixedSizeListArray::try_new(field, i32::try_from(matrix.dim)?, numbers, None)?;
    let batch = table::batch(vec![(id, Arc::new(StringArray::from_iter_values(ids)), false), ("vector", Arc::new(vectors), false)]);
    Ok((format!("{name}.parquet"), table::encode(&batch)?))
}
