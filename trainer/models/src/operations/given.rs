//! A result that is made beforehand, as an operation of candle whose derivative is made of tensors: on any device.

use candle_core::{CpuStorage, CudaStorage, CustomOp1, Layout, Result, Shape, Storage, Tensor, backend::BackendStorage, bail};

/// A result, and what makes the derivative by the argument of that by the result.
struct Given<F> {
    result: Tensor,
    backward: F,
}

/// The result as a function of the argument, `backward(derivative by the result)` being the derivative by the argument.
///
/// # Errors
/// When the two are on different devices.
pub(crate) fn given(
    argument: &Tensor,
    result: &Tensor,
    backward: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    argument.apply_op1(Given { result: result.contiguous()?, backward })
}

impl<F: Fn(&Tensor) -> Result<Tensor> + Send + Sync> CustomOp1 for Given<F> {
    fn name(&self) -> &'static str {
        "given"
    }

    fn cpu_fwd(&self, _argument: &CpuStorage, _layout: &Layout) -> Result<(CpuStorage, Shape)> {
        match &*self.result.storage_and_layout().0 {
            Storage::Cpu(storage) => Ok((storage.clone(), self.result.shape().clone())),
            _ => bail!("the result and its argument are on one device"),
        }
    }

    fn cuda_fwd(&self, _argument: &CudaStorage, _layout: &Layout) -> Result<(CudaStorage, Shape)> {
        let (storage, layout) = self.result.storage_and_layout();
        match &*storage {
            Storage::Cuda(storage) => Ok((storage.try_clone(layout)?, self.result.shape().clone())),
            _ => bail!("the result and its argument are on one device"),
        }
    }

    fn bwd(&self, _argument: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<Option<Tensor>> {
        (self.backward)(derivative).map(Some)
    }
}
