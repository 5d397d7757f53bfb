//! The GPUs of this machine, and the libraries that this process reaches them by.

use crate::Result;
use serde::Serialize;
use std::{collections::BTreeSet, fs, path::Path};

/// A GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The GPU's number, from 0, among those that the process may see (`CUDA_VISIBLE_DEVICES`).
    pub ordinal: usize,
    /// The GPU's name, such as `NVIDIA H200`.
    pub name: String,
    /// The GPU's compute capability, such as `9.0`.
    pub compute_capability: String,
    /// Bytes of the GPU's memory.
    pub memory: u64,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of its memory a second at most: twice the clock times the width of the bus; 0 where the driver does not say.
    pub bandwidth: f64,
    /// Additions and multiplications of f32 a second at most, without tensor cores; 0 where that is not known.
    pub flops: f64,
}

/// A library of the process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Library {
    /// The library's name, such as `libcublas`.
    pub name: String,
    /// The library's file, whose name tells the version on most systems.
    pub file: String,
}

/// How many GPUs this process may use; none in a build without CUDA.
///
/// # Errors
/// [`Error::NoDevice`](crate::Error::NoDevice) when the driver cannot be asked.
#[cfg(not(feature = "cuda"))]
pub fn count() -> Result<usize> {
    Ok(0)
}

/// A GPU by its number.
///
/// # Errors
/// [`Error::NoCuda`](crate::Error::NoCuda) in a build without CUDA, [`Error::NoDevice`](crate::Error::NoDevice) where the driver has none.
#[cfg(not(feature = "cuda"))]
pub fn look(ordinal: usize) -> Result<Found> {
    Err(crate::Error::NoCuda { ordinal })
}

/// How many GPUs this process may use; none in a build without CUDA.
///
/// # Errors
/// [`Error::NoDevice`](crate::Error::NoDevice) when the driver cannot be asked.
#[cfg(feature = "cuda")]
pub fn count() -> Result<usize> {
    use candle_core::cuda_backend::cudarc::driver::{CudaContext, DriverError, sys::cudaError_enum};
    match CudaContext::device_count() {
        Err(DriverError(cudaError_enum::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        counted => counted.map(|count| usize::try_from(count).unwrap_or_default()).map_err(refused),
    }
}

/// A GPU by its number.
///
/// # Errors
/// [`Error::NoCuda`](crate::Error::NoCuda) in a build without CUDA, [`Error::NoDevice`](crate::Error::NoDevice) where the driver has none.
#[cfg(feature = "cuda")]
pub fn look(ordinal: usize) -> Result<Found> {
    use candle_core::cuda_backend::cudarc::driver::{CudaContext, sys::CUdevice_attribute_enum as Attribute};
    let context = CudaContext::new(ordinal).map_err(refused)?;
    let attribute = |attribute| context.attribute(attribute).map(f64::from).map_err(refused);
    let (major, minor) = context.compute_capability().map_err(refused)?;
    let multiprocessors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let clock = attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?; // kHz
    let memory_clock = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?; // kHz
    let bus = attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?; // bits
    Ok(Found {
        ordinal,
        name: context.name().map_err(refused)?,
        compute_capability: format!("{major}.{minor}"),
        memory: context.total_mem().map_err(refused)? as u64,
        multiprocessors: multiprocessors as u32,
        bandwidth: 2.0 * 1e3 * memory_clock * bus / 8.0,
        flops: 2.0 * 1e3 * clock * multiprocessors * lanes(major, minor),
    })
}

/// In the driver's words.
#[cfg(feature = "cuda")]
fn refused(error: candle_core::cuda_backend::cudarc::driver::DriverError) -> crate::Error {
    let words = error.error_string().map(|words| words.to_string_lossy().into_owned());
    crate::Error::NoDevice { reason: words.unwrap_or_else(|_| format!("error {} of the driver", error.0 as u32)) }
}

/// All GPUs that this process may use; none in a build without CUDA.
///
/// # Errors
/// As for [`count`] and [`look`].
pub fn found() -> Result<Vec<Found>> {
    (0..count()?).map(look).collect()
}

/// Additions of f32 that a multiprocessor begins in one cycle, by the CUDA programming guide's table of arithmetic throughput.
#[cfg(any(test, feature = "cuda"))]
fn lanes(major: i32, minor: i32) -> f64 {
    match (major, minor) {
        (7, _) | (8, 0) => 64.0,
        (8.., _) => 128.0,
        _ => 0.0,
    }
}

/// The CUDA libraries that this process has loaded, as the system tells (Linux).
pub fn libraries() -> Vec<Library> {
    of_maps(&fs::read_to_string("/proc/self/maps").unwrap_or_default())
}

/// The driver's version, as its module in the kernel tells (Linux): `580.159.04`.
pub fn driver() -> Option<String> {
    of_module(&fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

fn of_maps(maps: &str) -> Vec<Library> {
    let names = ["libcuda", "libcudart", "libcublas", "libcublasLt", "libcurand", "libnvrtc", "libnccl"];
    let library = |line: &str| {
        let file = &line[line.find('/')?..];
        let name = Path::new(file).file_name()?.to_str()?.split('.').next()?;
        names.contains(&name).then(|| Library { name: name.to_owned(), file: file.to_owned() })
    };
    maps.lines().filter_map(library).collect::<BTreeSet<_>>().into_iter().collect()
}

fn of_module(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("NVRM version:"))?;
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    line.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_told_once_each_by_their_files() {
        let maps = "\
7f00-7f01 r--p 00000000 fe:00 11 /usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04
7f01-7f02 r-xp 00001000 fe:00 11 /usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04
7f03-7f04 r--p 00000000 fe:00 12 /usr/lib/x86_64-linux-gnu/libc.so.6
7f05-7f06 rw-p 00000000 00:00 0
7f07-7f08 r--p 00000000 fe:00 13 /opt/my libs/nccl/lib/libnccl.so.2
";
        let found: Vec<(String, String)> = of_maps(maps).into_iter().map(|library| (library.name, library.file)).collect();
        let expected = [("libcuda", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"), ("libnccl", "/opt/my libs/nccl/lib/libnccl.so.2")];
        assert_eq!(found, expected.map(|(name, file)| (name.to_owned(), file.to_owned())));
    }

    #[test]
    fn the_drivers_version_is_found_in_both_of_its_texts() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version:  gcc 12.3.0\n";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (root@x)\nGCC version: 13.2\n";
        assert_eq!(of_module(closed).as_deref(), Some("535.104.05"));
        assert_eq!(of_module(open).as_deref(), Some("580.159.04"));
        assert_eq!(of_module("something else 1.2"), None);
    }

    /// H200 SXM: 132 multiprocessors at 1,980 MHz make NVIDIA's 67 TFLOP/s of f32.
    #[test]
    fn an_h200_has_67_teraflops() {
        let flops = 2.0 * 1.98e9 * 132.0 * lanes(9, 0);
        assert!((flops / 1e12 - 66.9).abs() < 0.1, "{flops}");
        assert_eq!(lanes(8, 0), 64.0);
    }
}
