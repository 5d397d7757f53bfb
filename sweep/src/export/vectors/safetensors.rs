//! `vectors.safetensors`: the tensors `users`, `items`, `index_queries` and `index_items` of 32-bit floats.

use super::{super::File, ModelVectors, VectorTable};
use ::safetensors::{Dtype, serialize, tensor::TensorView};
use anyhow::Result;

pub(in super::super) fn files(named: &ModelVectors<'_>) -> Result<Vec<File>> {
    let tables = named.tables();
    let views = tables.iter().map(view).collect::<Result<Vec<_>>>()?;
    Ok(vec![("vectors.safetensors".to_owned(), serialize(views, None)?)])
}

fn view<'a>(VectorTable { name, matrix, .. }: &'a VectorTable<'_>) -> Result<(&'static str, TensorView<'a>)> {
    Ok((name, TensorView::new(Dtype::F32, vec![matrix.rows, matrix.dim], bytemuck::cast_slice(&matrix.values))?))
}
