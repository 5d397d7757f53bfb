//! The bytes of an `.npy` file: an array of NumPy.
//!
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use std::fmt::Write;

/// The bytes before the header: magic, version 1.0 and the header's length.
const BEFORE: usize = 10;

/// An array of a type as NumPy calls it, `<f4`, of a shape, and its numbers as bytes.
pub(super) fn bytes(descr: &str, shape: &[usize], numbers: &[u8]) -> Vec<u8> {
    let lengths = shape.iter().fold(String::new(), |mut text, length| {
        let _ = write!(text, "{length}, ");
        text
    });
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", lengths.trim_end());
    let whole = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    let padded = format!("{header:<width$}\n", width = whole - 1);
    [b"\x93NUMPY\x01\x00", &(whole as u16).to_le_bytes()[..], padded.as_bytes(), numbers].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.save` of `numpy.array([[1, 2]], '<f4')` and of `numpy.array(7, '<i8')`.
    #[test]
    fn a_file_is_that_of_numpy() {
        let file = bytes("<f4", &[1, 2], bytemuck::cast_slice(&[1f32, 2.0]));
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2,), }";
        assert_eq!((&file[..10], file.len()), (&b"\x93NUMPY\x01\x00\x76\x00"[..], 128 + 8));
        assert!(file[10..].starts_with(header.as_bytes()) && file[127] == b'\n');
        let scalar = bytes("<i8", &[], &7i64.to_le_bytes());
        assert!(scalar[10..].starts_with(b"{'descr': '<i8', 'fortran_order': False, 'shape': (), }") && scalar.len() == 128 + 8);
    }
}
