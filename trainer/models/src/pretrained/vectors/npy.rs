//! `.npy`: an array of NumPy.
//!
//! ```text
//! \x93NUMPY, major and minor version, length of the header (2 bytes; 4 from version 2), the header, the numbers
//! {'descr': '<f4', 'fortran_order': False, 'shape': (610, 64), }
//! ```
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use super::{super::Content, Vectors};
use half::f16;

/// Reads an array of two dimensions.
pub(super) fn read(content: &Content, key: Option<&str>) -> Result<Vectors, String> {
    match key {
        Some(_) => Err("an .npy file has one array, without a name; leave the key out".to_owned()),
        None => parse(&content.bytes),
    }
}

/// The array of a file's bytes.
pub(super) fn parse(bytes: &[u8]) -> Result<Vectors, String> {
    let cut = || "it is cut off".to_owned();
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("it is no .npy file")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = if version[0] == 1 {
        let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
        (u16::from_le_bytes(*length) as usize, rest)
    } else {
        let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        (u32::from_le_bytes(*length) as usize, rest)
    };
    let (header, numbers) = rest.split_at_checked(length).ok_or_else(cut)?;
    let Header { dtype, by_columns, shape } = Header::parse(&String::from_utf8_lossy(header))?;
    let count = shape.iter().try_fold(1usize, |count, &length| count.checked_mul(length)).ok_or("its shape is too large")?;
    let values = dtype.numbers(numbers);
    if Some(numbers.len()) != count.checked_mul(dtype.bytes) {
        return Err(format!("it has {} numbers where its shape {shape:?} has {count}", numbers.len() / dtype.bytes));
    }
    match shape[..] {
        [rows, dim] if by_columns => Vectors::of_shape(&shape, transposed(&values, rows, dim)),
        _ => Vectors::of_shape(&shape, values),
    }
}

/// Rows of what stands column after column.
fn transposed(values: &[f32], rows: usize, dim: usize) -> Vec<f32> {
    (0..rows).flat_map(|row| (0..dim).map(move |column| values[column * rows + row])).collect()
}

struct Header {
    dtype: Dtype,
    by_columns: bool,
    shape: Vec<usize>,
}

struct Dtype {
    bytes: usize,
    is_big: bool,
}

impl Header {
    fn parse(text: &str) -> Result<Self, String> {
        let value = |key: &str| {
            let after = text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
            after.ok_or_else(|| format!("its header has no `{key}`"))
        };
        let dtype = Dtype::parse(value("descr")?)?;
        let by_columns = value("fortran_order")?.starts_with("True");
        let shape = value("shape")?.strip_prefix('(').and_then(|shape| shape.split_once(')')).ok_or("its header has no shape")?.0;
        let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
        let shape = lengths.map(str::parse).collect::<Result<Vec<usize>, _>>().map_err(|_| "its header has no shape".to_owned())?;
        Ok(Self { dtype, by_columns, shape })
    }
}

impl Dtype {
    fn parse(value: &str) -> Result<Self, String> {
        let text = value.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map_or(value, |(text, _)| text);
        let bytes = ["f2", "f4", "f8"].into_iter().zip([2, 4, 8]).find(|(kind, _)| text.trim_start_matches(['<', '>', '=']) == *kind);
        let refused = || format!("its numbers are `{}` (expected floats of 16, 32 or 64 bits)", dataset::quote::value(text));
        Ok(Self { bytes: bytes.ok_or_else(refused)?.1, is_big: text.starts_with('>') })
    }

    /// As 32-bit floats; bytes behind the last whole number are left out.
    fn numbers(&self, bytes: &[u8]) -> Vec<f32> {
        match self.bytes {
            2 => each(bytes, self.is_big, |bytes| f16::from_le_bytes(bytes).to_f32()),
            4 => each(bytes, self.is_big, f32::from_le_bytes),
            _ => each(bytes, self.is_big, |bytes| f64::from_le_bytes(bytes) as f32),
        }
    }
}

fn each<const BYTES: usize>(bytes: &[u8], is_big: bool, number: impl Fn([u8; BYTES]) -> f32) -> Vec<f32> {
    let in_order = |mut bytes: [u8; BYTES]| {
        if is_big {
            bytes.reverse();
        }
        number(bytes)
    };
    bytes.as_chunks().0.iter().copied().map(in_order).collect()
}
