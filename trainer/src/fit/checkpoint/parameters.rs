//! `parameters.safetensors` of a checkpoint: what a model needs to fold users in, beside what is ranked.
//!
//! A tensor is named by its place in the model's order and its own name: `2.layer1.weight`.

use dataset::{Error, Location, Result, TensorFile};
use models::NamedMatrices;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use vectors::Matrix;

/// The file's name in a checkpoint's folder.
pub(crate) const NAME: &str = "parameters.safetensors";

/// The content of the file; `folder` names it in errors.
pub(crate) fn encode<'a>(parameters: &NamedMatrices<'a>, folder: &Location) -> Result<TensorFile<'a>> {
    let refuse = |error: safetensors::SafeTensorError| Error::content(folder.join(NAME), error);
    let mut tensors = Vec::new();
    for (place, (name, matrix)) in parameters.iter().enumerate() {
        let values = TensorView::new(Dtype::F32, vec![matrix.rows, matrix.dim], bytemuck::cast_slice(&matrix.values));
        tensors.push((format!("{place}.{name}"), values.map_err(refuse)?));
    }
    TensorFile::new(tensors, None).map_err(refuse)
}

/// The parameters of a file, by their own names and in the model's order.
pub(crate) fn read(at: &Location) -> Result<Vec<(String, Matrix)>> {
    let bytes = at.read()?;
    let damaged = |reason: String| Error::damaged(at, reason);
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(error.to_string()))?;
    let matrix = |(name, tensor): (String, TensorView<'_>)| {
        let (place, own) = name.split_once('.').unwrap_or_default();
        match (place.parse::<usize>(), tensor.dtype(), tensor.shape()) {
            (Ok(place), Dtype::F32, &[rows, dim]) => {
                let values = tensor.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
                Ok((place, (own.to_owned(), Matrix { rows, dim, values })))
            }
            (_, dtype, shape) => Err(damaged(format!("tensor `{name}` is {dtype:?} {shape:?}, expected a numbered matrix of F32"))),
        }
    };
    let mut matrices = tensors.tensors().into_iter().map(matrix).collect::<Result<Vec<_>>>()?;
    matrices.sort_unstable_by_key(|&(place, _)| place);
    Ok(matrices.into_iter().map(|(_, matrix)| matrix).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_in_its_order() {
        let at = Location::parse("memory:///checkpoint/parameters").unwrap().join(NAME);
        let matrices: Vec<(String, Matrix)> = (0..12)
            .map(|place| (format!("w{}.bias", 20 - place), Matrix { rows: 1, dim: 2, values: vec![place as f32, 0.5] }))
            .chain([("none".to_owned(), Matrix { rows: 0, dim: 3, values: Vec::new() })])
            .collect();
        let named = matrices.iter().map(|(name, matrix)| (&name[..], matrix)).collect();
        at.write_pieces(&encode(&named, &at).unwrap().pieces()).unwrap();
        assert_eq!(read(&at).unwrap(), matrices);
    }

    #[test]
    fn what_is_no_matrix_is_damage() {
        let at = Location::parse("memory:///checkpoint/others").unwrap().join(NAME);
        let list = TensorView::new(Dtype::F32, vec![1], &[0; 4]).unwrap();
        at.write(safetensors::serialize([("0.users", list)], None).unwrap()).unwrap();
        let message = read(&at).unwrap_err().to_string();
        assert!(message.contains("tensor `0.users` is F32 [1], expected a numbered matrix of F32"), "{message}");
        at.write("{").unwrap();
        assert!(matches!(read(&at), Err(Error::Damaged { .. })));
    }
}
