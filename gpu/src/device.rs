//! A device: its memory, and kernels that run on it one after another.

use crate::{
    Error, Result,
    buffer::{Buffer, Memory},
    element::Element,
    launch::{Grid, LaunchArgument, kernel},
};
use candle_core::{Shape, Tensor};

/// A device. It does what it is asked in the order in which it is asked; reading waits for it. A clone is the same stream of work.
#[derive(Clone, Debug)]
pub enum Gpu {
    /// A GPU of NVIDIA's.
    #[cfg(feature = "cuda")]
    Cuda(crate::cuda::Cuda),
    /// The CPU, which runs kernels thread by thread.
    #[cfg(feature = "emulator")]
    Emulated(crate::emulated::Emulated),
}

impl Gpu {
    /// The CUDA device of this number.
    ///
    /// # Errors
    /// [`Error::Missing`] when there is none, or no driver.
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinal: usize) -> Result<Self> {
        crate::cuda::Cuda::new(ordinal).map(Self::Cuda)
    }

    /// The emulator.
    #[cfg(feature = "emulator")]
    pub fn emulated() -> Self {
        Self::Emulated(crate::emulated::Emulated)
    }

    /// The most bytes that buffers of the emulator had at once on this thread, since this was last asked.
    #[cfg(feature = "emulator")]
    pub fn emulated_peak() -> usize {
        crate::emulated::peak()
    }

    /// A second stream of the same device and memory, for work that runs beside that of this one. It begins after all that was asked for here; from then on
    /// nothing of the two is in order but what [`wait_for`](Self::wait_for) says. candle's operations stay on the first.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn second_stream(&self) -> Result<Self> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.second_stream().map(Self::Cuda),
            #[cfg(feature = "emulator")]
            Self::Emulated(emulated) => Ok(Self::Emulated(*emulated)),
        }
    }

    /// Puts all that is asked for here from now on after all that was asked of another stream of the device before; the host does not wait.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn wait_for(&self, other: &Self) -> Result<()> {
        match (self, other) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Self::Cuda(other)) => cuda.wait_for(other),
            #[cfg(feature = "emulator")]
            (Self::Emulated(_), _) => Ok(()),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            _ => unreachable!("streams are of one device"),
        }
    }

    /// The device's name, such as `NVIDIA H200`.
    pub fn name(&self) -> String {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.name(),
            #[cfg(feature = "emulator")]
            Self::Emulated(_) => "emulated GPU".to_owned(),
        }
    }

    /// Makes a buffer of zeros.
    ///
    /// # Errors
    /// [`Error::Device`], as when its memory does not suffice.
    pub fn zeros<T: Element>(&self, length: usize) -> Result<Buffer<T>> {
        let memory = match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Memory::Cuda(cuda.zeros(length)?),
            #[cfg(feature = "emulator")]
            Self::Emulated(_) => Memory::Emulated(crate::emulated::Guarded::zeros(length)),
        };
        Ok(Buffer { length, memory })
    }

    /// A copy of these numbers.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn upload<T: Element>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.zeros(values.len())?;
        self.write(&mut buffer, values)?;
        Ok(buffer)
    }

    /// Puts numbers into the beginning of a buffer.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// When there is not so much room.
    pub fn write<T: Element>(&self, buffer: &mut Buffer<T>, values: &[T]) -> Result<()> {
        self.write_at(buffer, 0, values)
    }

    /// Puts numbers into a buffer from the place `first` on.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// When there is not so much room.
    pub fn write_at<T: Element>(&self, buffer: &mut Buffer<T>, first: usize, values: &[T]) -> Result<()> {
        assert!(first + values.len() <= buffer.length, "{} numbers from {first} on in a buffer of {}", values.len(), buffer.length);
        match (self, &mut buffer.memory) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Memory::Cuda(memory)) => cuda.write(memory, first, values),
            #[cfg(feature = "emulator")]
            (Self::Emulated(_), Memory::Emulated(memory)) => {
                memory.values_mut()[first..first + values.len()].copy_from_slice(values);
                Ok(())
            }
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            _ => unreachable!("a buffer stays on its device"),
        }
    }

    /// The numbers of a buffer.
    ///
    /// # Errors
    /// [`Error::Device`], also of what was asked for before and failed since.
    pub fn read<T: Element>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        match (self, &buffer.memory) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Memory::Cuda(memory)) => cuda.read(memory, buffer.length),
            #[cfg(feature = "emulator")]
            (Self::Emulated(_), Memory::Emulated(memory)) => Ok(memory.values().to_vec()),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            _ => unreachable!("a buffer stays on its device"),
        }
    }

    /// Sets all numbers of a buffer to zero.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn clear<T: Element>(&self, buffer: &mut Buffer<T>) -> Result<()> {
        match (self, &mut buffer.memory) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Memory::Cuda(memory)) => cuda.clear(memory),
            #[cfg(feature = "emulator")]
            (Self::Emulated(_), Memory::Emulated(memory)) => {
                memory.values_mut().fill(T::zeroed());
                Ok(())
            }
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            _ => unreachable!("a buffer stays on its device"),
        }
    }

    /// Copies a buffer into another of its length.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn copy<T: Element>(&self, from: &Buffer<T>, to: &mut Buffer<T>) -> Result<()> {
        assert_eq!(from.length, to.length, "a copy has the length of the original");
        match (self, &from.memory, &mut to.memory) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Memory::Cuda(from), Memory::Cuda(to)) => cuda.copy(from, to),
            #[cfg(feature = "emulator")]
            (Self::Emulated(_), Memory::Emulated(from), Memory::Emulated(to)) => {
                to.values_mut().copy_from_slice(from.values());
                Ok(())
            }
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            _ => unreachable!("a buffer stays on its device"),
        }
    }

    /// Waits for everything that was asked for.
    ///
    /// # Errors
    /// [`Error::Device`], of what has failed.
    pub fn wait(&self) -> Result<()> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.wait(),
            #[cfg(feature = "emulator")]
            Self::Emulated(_) => Ok(()),
        }
    }

    /// A copy of a buffer's first numbers as a tensor, for formulas.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn tensor(&self, buffer: &Buffer<f32>, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        match (self, &buffer.memory) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Memory::Cuda(memory)) => cuda.tensor(memory, shape),
            #[cfg(feature = "emulator")]
            (Self::Emulated(_), Memory::Emulated(memory)) => {
                let values = &memory.values()[..shape.elem_count()];
                Tensor::from_slice(values, shape, &candle_core::Device::Cpu).map_err(|error| Error::candle("make a tensor", &error))
            }
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            _ => unreachable!("a buffer stays on its device"),
        }
    }

    /// candle's device with this one's memory and order: what candle is asked for there comes after all that was asked for here before.
    pub fn candle(&self) -> candle_core::Device {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.candle(),
            #[cfg(feature = "emulator")]
            Self::Emulated(_) => candle_core::Device::Cpu,
        }
    }

    /// A buffer as a tensor, which takes its memory.
    ///
    /// # Errors
    /// [`Error::Device`] for a shape of another number of elements.
    pub fn into_tensor(&self, buffer: Buffer<f32>, shape: impl Into<Shape>) -> Result<Tensor> {
        let (shape, length) = (shape.into(), buffer.length);
        if shape.elem_count() != length {
            let reason = format!("a buffer of {length} has no shape {shape:?}");
            return Err(Error::Device { what: "make a tensor".to_owned(), reason });
        }
        match (self, buffer.memory) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Memory::Cuda(memory)) => Ok(cuda.wrap(memory, shape)),
            #[cfg(feature = "emulator")]
            (Self::Emulated(_), Memory::Emulated(memory)) => Tensor::from_slice(memory.values(), shape, &candle_core::Device::Cpu)
                .map_err(|error| Error::candle("make a tensor", &error)),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            _ => unreachable!("a buffer stays on its device"),
        }
    }

    /// Puts the numbers of a tensor into the beginning of a buffer.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn fill(&self, buffer: &mut Buffer<f32>, tensor: &Tensor) -> Result<()> {
        match (self, &mut buffer.memory) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Memory::Cuda(memory)) => cuda.fill(memory, tensor),
            #[cfg(feature = "emulator")]
            (Self::Emulated(_), Memory::Emulated(memory)) => {
                let values =
                    tensor.flatten_all().and_then(|flat| flat.to_vec1()).map_err(|error| Error::candle("read a tensor", &error))?;
                memory.values_mut()[..values.len()].copy_from_slice(&values);
                Ok(())
            }
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            _ => unreachable!("a buffer stays on its device"),
        }
    }

    /// Runs a kernel; nothing where there is nothing to do.
    pub(crate) fn launch(&self, name: &'static str, grid: Grid, arguments: &[LaunchArgument]) -> Result<()> {
        let kernel = kernel(name, arguments);
        if grid.blocks == 0 {
            return Ok(());
        }
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.launch(kernel, grid, arguments),
            #[cfg(feature = "emulator")]
            Self::Emulated(emulated) => {
                emulated.launch(kernel, grid, arguments);
                Ok(())
            }
        }
    }
}

impl Error {
    /// Turns an error of candle into one of the device.
    pub(crate) fn candle(what: &str, error: &candle_core::Error) -> Self {
        Self::Device { what: what.to_owned(), reason: error.to_string() }
    }
}
