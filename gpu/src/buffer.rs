//! Memory of a device.

use crate::{
    element::Element,
    launch::{LaunchArgument, Value},
};

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

/// Numbers that a kernel reads.
pub(crate) fn read<T: Element>(buffer: &Buffer<T>) -> LaunchArgument<'_> {
    LaunchArgument { kind: T::POINTERS[0], value: Value::Address(buffer.address(), std::marker::PhantomData) }
}

/// Numbers that a kernel writes.
pub(crate) fn write<T: Element>(buffer: &mut Buffer<T>) -> LaunchArgument<'_> {
    LaunchArgument { kind: T::POINTERS[1], value: Value::Address(buffer.address_mut(), std::marker::PhantomData) }
}
