//! Marks of rows that have a gradient, where gradients of several ranks meet: `kernels/marks.cu`.

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, count},
};

/// Writes out the zeros of the rows of `gradients [rows, dim]` that have no mark, and the marks as numbers, 0 or 1.
///
/// # Errors
/// Those of the device.
pub fn write_zeros(
    gpu: &Gpu,
    marks: &Buffer<u8>,
    gradients: &mut Buffer<f32>,
    numbers: &mut Buffer<f32>,
    [rows, dim]: [usize; 2],
) -> Result<()> {
    assert!(rows <= marks.len().min(numbers.len()) && rows * dim <= gradients.len(), "{rows} marked rows of {dim}");
    gpu.launch("write_zeros", Grid::warps(rows), &[read(marks), count(rows), count(dim), write(gradients), write(numbers)])
}

/// Copies the listed rows of `table [rows, dim]`, `listed.1[0]` of `listed.0`, to the front of `values [room, dim]`, and their numbers to that of
/// `keys [room]`, which is filled up with `u32::MAX`.
///
/// # Errors
/// Those of the device.
pub fn pack_rows(
    gpu: &Gpu,
    listed: (&Buffer<u32>, &Buffer<u32>),
    table: &Buffer<f32>,
    [room, dim]: [usize; 2],
    keys: &mut Buffer<u32>,
    values: &mut Buffer<f32>,
) -> Result<()> {
    assert!(room <= keys.len() && room * dim <= values.len(), "{room} rows of {dim}");
    let sizes = [count(listed.0.len().min(room)), count(room), count(dim)];
    let arguments = [read(listed.0), read(listed.1), read(table)].into_iter().chain(sizes).chain([write(keys), write(values)]);
    gpu.launch("pack_rows", Grid::warps(room), &arguments.collect::<Vec<_>>())
}

/// Marks the listed rows, `listed.1[0]` of `listed.0`, and no others.
///
/// # Errors
/// Those of the device.
pub fn of_rows(gpu: &Gpu, listed: (&Buffer<u32>, &Buffer<u32>), marks: &mut Buffer<u8>) -> Result<()> {
    gpu.clear(marks)?;
    let most = listed.0.len();
    gpu.launch("mark_rows", Grid::threads(most), &[read(listed.0), read(listed.1), count(most), write(marks)])
}

/// Marks the rows whose number is above 0.
///
/// # Errors
/// Those of the device.
pub fn of_numbers(gpu: &Gpu, numbers: &Buffer<f32>, marks: &mut Buffer<u8>) -> Result<()> {
    assert_eq!(numbers.len(), marks.len(), "a number of each row");
    gpu.launch("marks_of_numbers", Grid::threads(marks.len()), &[read(numbers), count(numbers.len()), write(marks)])
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;

    #[test]
    fn listed_rows_come_to_the_front() {
        let gpu = Gpu::emulated();
        let table = gpu.upload(&(0..10).map(|at| at as f32).collect::<Vec<_>>()).unwrap();
        let (rows, number) = (gpu.upload(&[1u32, 4, 9]).unwrap(), gpu.upload(&[2u32]).unwrap());
        let (mut keys, mut values) = (gpu.zeros(4).unwrap(), gpu.upload(&[-1.0f32; 8]).unwrap());
        pack_rows(&gpu, (&rows, &number), &table, [4, 2], &mut keys, &mut values).unwrap();
        assert_eq!(gpu.read(&keys).unwrap(), [1, 4, u32::MAX, u32::MAX]);
        assert_eq!(gpu.read(&values).unwrap()[..4], [2.0, 3.0, 8.0, 9.0]);
        let mut marks = gpu.upload(&[1u8; 5]).unwrap();
        of_rows(&gpu, (&rows, &number), &mut marks).unwrap();
        assert_eq!(gpu.read(&marks).unwrap(), [0, 1, 0, 0, 1]);
    }

    #[test]
    fn rows_without_a_mark_become_zeros() {
        let gpu = Gpu::emulated();
        let (marks, mut numbers) = (gpu.upload(&[1u8, 0, 1]).unwrap(), gpu.upload(&[9.0f32; 3]).unwrap());
        let mut gradients = gpu.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, f32::NAN]).unwrap();
        write_zeros(&gpu, &marks, &mut gradients, &mut numbers, [3, 2]).unwrap();
        assert_eq!(gpu.read(&gradients).unwrap()[..5], [1.0, 2.0, 0.0, 0.0, 5.0]);
        assert_eq!(gpu.read(&numbers).unwrap(), [1.0, 0.0, 1.0]);
        let mut marks = gpu.upload(&[0u8, 1, 0]).unwrap();
        of_numbers(&gpu, &gpu.upload(&[3.0, 0.0, 1.0]).unwrap(), &mut marks).unwrap();
        assert_eq!(gpu.read(&marks).unwrap(), [1, 0, 1]);
    }
}
