//! `.safetensors`: named tensors.

use super::{super::Content, Vectors, choose};
use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

/// Reads the tensor of a name, or the only one.
pub(super) fn read(content: &Content, key: Option<&str>) -> Result<Vectors, String> {
    let tensors = SafeTensors::deserialize(&content.bytes).map_err(|error| format!("it is no .safetensors file: {error}"))?;
    let mut names: Vec<&str> = tensors.names();
    names.sort_unstable();
    let name = choose(&names, key, "tensor")?;
    let tensor = tensors.tensor(name).map_err(|error| error.to_string())?;
    let values = match tensor.dtype() {
        Dtype::F16 => each(tensor.data(), |bytes| f16::from_le_bytes(bytes).to_f32()),
        Dtype::BF16 => each(tensor.data(), |bytes| bf16::from_le_bytes(bytes).to_f32()),
        Dtype::F32 => each(tensor.data(), f32::from_le_bytes),
        Dtype::F64 => each(tensor.data(), |bytes| f64::from_le_bytes(bytes) as f32),
        other => return Err(format!("tensor `{name}` has numbers of type {other:?} (expected F16, BF16, F32 or F64)")),
    };
    Vectors::of_shape(tensor.shape(), values).map_err(|reason| format!("tensor `{name}`: {reason}"))
}

fn each<const BYTES: usize>(bytes: &[u8], number: impl Fn([u8; BYTES]) -> f32) -> Vec<f32> {
    bytes.as_chunks().0.iter().copied().map(number).collect()
}
