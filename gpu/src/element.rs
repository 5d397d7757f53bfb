//! Numbers that a device's memory holds.

use bytemuck::Pod;

/// A number that kernels know.
pub trait Element: Pod + Send + Sync + Device {
    /// The type's name in a kernel.
    const NAME: &'static str;
    /// The types of an argument that points to some that are read, and to some that are written.
    const POINTERS: [&'static str; 2];
}

/// The traits that CUDA asks of a number.
#[cfg(feature = "cuda")]
pub trait Device:
    candle_core::cuda_backend::cudarc::driver::DeviceRepr + candle_core::cuda_backend::cudarc::driver::ValidAsZeroBits
{
}
#[cfg(feature = "cuda")]
impl<T: candle_core::cuda_backend::cudarc::driver::DeviceRepr + candle_core::cuda_backend::cudarc::driver::ValidAsZeroBits> Device for T {}
/// The traits that CUDA asks of a number: none, in a build without CUDA.
#[cfg(not(feature = "cuda"))]
pub trait Device {}
#[cfg(not(feature = "cuda"))]
impl<T> Device for T {}

macro_rules! element {
    ($type:ty, $name:literal) => {
        impl Element for $type {
            const NAME: &'static str = $name;
            const POINTERS: [&'static str; 2] = [concat!("const ", $name, "*"), concat!($name, "*")];
        }
    };
}

element!(f32, "float");
element!(f64, "double");
element!(u8, "unsigned char");
element!(u32, "unsigned");
element!(u64, "u64");
