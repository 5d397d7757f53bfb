//! `users.npy`, `items.npy`, `index_queries.npy` and `index_items.npy`: 32-bit floats, row after row.

use super::{
    super::{File, npy::bytes},
    ModelVectors,
};
use anyhow::Result;

pub(in super::super) fn files(named: &ModelVectors<'_>) -> Result<Vec<File>> {
    let file = |table: super::VectorTable<'_>| {
        let matrix = &table.matrix;
        (format!("{}.npy", table.name), bytes("<f4", &[matrix.rows, matrix.dim], bytemuck::cast_slice(&matrix.values)))
    };
    Ok(named.tables().into_iter().map(file).collect())
}
