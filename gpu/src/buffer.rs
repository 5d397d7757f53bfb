//! Memory of a device.

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

/// A buffer of numbers on a device, of a fixed length.
#[derive(Debug)]
pub struct Buffer<T: Element> {
    pub(crate) length: usize,
    pub(crate) memory: Memory<T>,
}

#[derive(Debug)]
pub(crate) enum Memory<T> {
    #[cfg(feature = "cuda")]
    Cuda(candle_core::cuda_backend::cudarc::driver::CudaSlice<T>),
    #[cfg(feature = "emulator")]
    Emulated(crate::emulated::Guarded<T>),
}

impl<T: Element> Buffer<T> {
    /// How many numbers.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Address of the first number.
    pub(crate) fn address(&self) -> u64 {
        match &self.memory {
            #[cfg(feature = "cuda")]
            Memory::Cuda(memory) => crate::cuda::address(memory),
            #[cfg(feature = "emulator")]
            Memory::Emulated(memory) => memory.values().as_ptr() as u64,
        }
    }

    /// Whether the buffer is of the device with this stream.
    #[cfg(feature = "nccl")]
    pub(crate) fn is_on(&self, stream: &std::sync::Arc<candle_core::cuda_backend::cudarc::driver::CudaStream>) -> bool {
        match &self.memory {
            Memory::Cuda(memory) => std::sync::Arc::ptr_eq(memory.stream(), stream),
            #[cfg(feature = "emulator")]
            Memory::Emulated(_) => false,
        }
    }

    /// Address of the first number, to be written.
    pub(crate) fn address_mut(&mut self) -> u64 {
        match &mut self.memory {
            #[cfg(feature = "cuda")]
            Memory::Cuda(memory) => crate::cuda::address(memory),
            #[cfg(feature = "emulator")]
            Memory::Emulated(memory) => memory.values_mut().as_mut_ptr() as u64,
        }
    }
}
