//! Files of tensors that are stored from where the tensors are.

use safetensors::{
    SafeTensorError,
    tensor::{Metadata, TensorInfo, TensorView},
};
use std::{cmp::Reverse, collections::HashMap};

/// The content of a safetensors file in pieces: what stands before the tensors, and each tensor's own bytes, of which no copy is made.
#[derive(Clone, Debug)]
pub struct TensorFile<'a> {
    /// The length of the header, eight bytes, and the header.
    head: Vec<u8>,
    tensors: Vec<&'a [u8]>,
}

impl<'a> TensorFile<'a> {
    /// Lays out named tensors, and more words about the file, as [`safetensors::serialize`] does: those of larger numbers first, then by name.
    ///
    /// # Errors
    /// Those of the library, when it makes no header of them.
    pub fn new(
        tensors: impl IntoIterator<Item = (String, TensorView<'a>)>,
        metadata: Option<HashMap<String, String>>,
    ) -> Result<Self, SafeTensorError> {
        let mut tensors: Vec<(String, TensorView)> = tensors.into_iter().collect();
        tensors.sort_by(|(name, tensor), (other, than)| (Reverse(tensor.dtype()), name).cmp(&(Reverse(than.dtype()), other)));
        let mut end = 0;
        let infos = tensors.iter().map(|(name, tensor)| {
            let start = end;
            end += tensor.data().len();
            (name.clone(), TensorInfo { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), data_offsets: (start, end) })
        });
        let header = serde_json::to_vec(&Metadata::new(metadata, infos.collect())?)?;
        // A multiple of eight bytes, filled up by spaces.
        let length = header.len().next_multiple_of(size_of::<u64>());
        let mut head = (length as u64).to_le_bytes().to_vec();
        head.extend(header);
        head.resize(size_of::<u64>() + length, b' ');
        Ok(Self { head, tensors: tensors.into_iter().map(|(_, tensor)| tensor.data()).collect() })
    }

    /// The pieces of the content, one after the other.
    pub fn pieces(&self) -> Vec<&[u8]> {
        std::iter::once(&self.head[..]).chain(self.tensors.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::{Dtype, serialize};

    #[test]
    fn the_content_is_that_of_the_library() {
        let bytes: Vec<u8> = (0..48).collect();
        let view = |dtype, shape: &[usize], length: usize| TensorView::new(dtype, shape.to_vec(), &bytes[..length]).unwrap();
        let tensors = || {
            [
                ("users", view(Dtype::F32, &[3, 2], 24)),
                ("items", view(Dtype::F32, &[0, 2], 0)),
                ("starts", view(Dtype::U64, &[6], 48)),
                ("flags", view(Dtype::U8, &[5], 5)),
            ]
        };
        for count in 0..5 {
            let metadata = (count > 2).then(|| HashMap::from([("trial".to_owned(), "a \"b\"".to_owned())]));
            let named = tensors().into_iter().take(count).map(|(name, tensor)| (name.to_owned(), tensor));
            let found = TensorFile::new(named, metadata.clone()).unwrap().pieces().concat();
            assert_eq!(found, serialize(tensors().into_iter().take(count), metadata).unwrap());
        }
    }
}
