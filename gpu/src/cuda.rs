//! NVIDIA's devices, through cudarc as candle has it.
#![allow(unsafe_code)]

use crate::{
    Error, Result, SOURCES,
    element::Element,
    launch::{Grid, Kernel, LaunchArgument},
};
use candle_core::{
    Shape, Storage, Tensor,
    backend::BackendStorage,
    cuda_backend::{
        CudaStorage,
        cudarc::{
            driver::{
                CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, LaunchConfig, PushKernelArg,
                result::{DriverError, device, mem_pool, stream},
                sys::CUmemPool_attribute,
            },
            nvrtc::{CompileOptions, Ptx, compile_ptx_with_opts},
        },
    },
    op::BackpropOp,
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// A device, a stream of kernels, which candle's operations share but on a second one, and the kernels that were used of it.
#[derive(Clone, Debug)]
pub struct Cuda {
    device: candle_core::CudaDevice,
    stream: Arc<CudaStream>,
    functions: Arc<Mutex<HashMap<&'static str, CudaFunction>>>,
}

/// Bytes that a copy to the device takes before it returns.
const AT_ONCE: usize = 1 << 16;

fn failed(what: &str) -> impl Fn(DriverError) -> Error + '_ {
    move |error| Error::Device { what: what.to_owned(), reason: error.to_string() }
}

/// Where memory begins.
pub(crate) fn address<T>(memory: &CudaSlice<T>) -> u64 {
    memory.device_ptr(memory.stream()).0
}

/// Has the driver keep what is freed for the next allocation. It would give it back to the system whenever the host waits, and map the next tensor's anew.
fn keep_freed_memory(context: &CudaContext) {
    let mut most = u64::MAX;
    // SAFETY: the device is this context's, the pool the device's own, and the attribute a 64-bit number.
    // A device without pools refuses: it allocates in another way, and computes the same.
    let _: Result<(), DriverError> = unsafe {
        device::get_mem_pool(context.cu_device())
            .and_then(|pool| mem_pool::set_attribute(pool, CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, (&raw mut most).cast()))
    };
}

impl Cuda {
    pub(crate) fn new(ordinal: usize) -> Result<Self> {
        let missing = |error: candle_core::Error| Error::Missing { ordinal, reason: error.to_string() };
        let device = candle_core::CudaDevice::new_with_stream(ordinal).map_err(missing)?;
        // SAFETY: all memory of this device is allocated, used and freed on this one stream, but for what `nccl` is lent: its own stream begins
        // after everything that was asked for here, and this one waits for it before the memory is anyone's again, or freed. Whoever has a second
        // stream says what waits for what (`Gpu::wait_for`).
        unsafe { device.disable_event_tracking() };
        let stream = device.cuda_stream();
        keep_freed_memory(stream.context());
        Ok(Self { stream, device, functions: Arc::default() })
    }

    /// Its kernels go first where both streams have some: they are small, and those of the first would leave them no room till their end.
    pub(crate) fn second_stream(&self) -> Result<Self> {
        let context = self.stream.context();
        let range = context.bind_to_thread().and_then(|()| stream::get_priority_range());
        let made = range.and_then(|(_, first)| context.new_stream_with_priority(first));
        let made = made.and_then(|second| second.join(&self.stream).map(|()| second));
        Ok(Self { device: self.device.clone(), stream: made.map_err(failed("make a stream"))?, functions: self.functions.clone() })
    }

    pub(crate) fn wait_for(&self, other: &Self) -> Result<()> {
        self.stream.join(&other.stream).map_err(failed("wait for a stream"))
    }

    /// The stream that everything runs on but what ranks exchange.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    pub(crate) fn name(&self) -> String {
        self.stream.context().name().unwrap_or_else(|_| "CUDA device".to_owned())
    }

    pub(crate) fn zeros<T: Element>(&self, length: usize) -> Result<CudaSlice<T>> {
        // An empty allocation has no address; kernels that get one read nothing of it.
        self.stream.alloc_zeros(length.max(1)).map_err(failed(&format!("allocate {} bytes", length * size_of::<T>())))
    }

    pub(crate) fn write<T: Element>(&self, memory: &mut CudaSlice<T>, first: usize, values: &[T]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        self.stream.memcpy_htod(values, &mut memory.slice_mut(first..first + values.len())).map_err(failed("take numbers"))?;
        // The driver takes few bytes at once; more it may read from here later, where host and device share an address space.
        if size_of_val(values) > AT_ONCE { self.wait() } else { Ok(()) }
    }

    pub(crate) fn read<T: Element>(&self, memory: &CudaSlice<T>, length: usize) -> Result<Vec<T>> {
        if length == 0 {
            return Ok(Vec::new());
        }
        let values = self.stream.clone_dtoh(&memory.slice(..length)).map_err(failed("give numbers"))?;
        self.wait()?; // the copy may be under way, where host and device share an address space
        Ok(values)
    }

    pub(crate) fn clear<T: Element>(&self, memory: &mut CudaSlice<T>) -> Result<()> {
        self.stream.memset_zeros(memory).map_err(failed("set numbers to zero"))
    }

    pub(crate) fn copy<T: Element>(&self, from: &CudaSlice<T>, to: &mut CudaSlice<T>) -> Result<()> {
        self.stream.memcpy_dtod(from, to).map_err(failed("copy numbers"))
    }

    pub(crate) fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(failed("finish"))
    }

    pub(crate) fn tensor(&self, memory: &CudaSlice<f32>, shape: Shape) -> Result<Tensor> {
        let copied = self.stream.clone_dtod(&memory.slice(..shape.elem_count())).map_err(failed("copy numbers"))?;
        Ok(self.wrap(copied, shape))
    }

    /// candle's device, with the same stream.
    pub(crate) fn candle(&self) -> candle_core::Device {
        candle_core::Device::Cuda(self.device.clone())
    }

    /// Memory of this device as a tensor of candle's.
    pub(crate) fn wrap(&self, memory: CudaSlice<f32>, shape: Shape) -> Tensor {
        let storage = CudaStorage::wrap_cuda_slice(memory, self.device.clone());
        Tensor::from_storage(Storage::Cuda(storage), shape, BackpropOp::none(), false)
    }

    pub(crate) fn fill(&self, memory: &mut CudaSlice<f32>, tensor: &Tensor) -> Result<()> {
        let of_candle = |error: candle_core::Error| Error::candle("read a tensor", &error);
        let flat = tensor.flatten_all().and_then(|flat| flat.contiguous()).map_err(of_candle)?;
        let (storage, layout) = flat.storage_and_layout();
        let Storage::Cuda(storage) = &*storage else {
            return Err(Error::Device { what: "read a tensor".to_owned(), reason: "it is not on this device".to_owned() });
        };
        debug_assert_eq!(storage.dtype(), candle_core::DType::F32);
        let values =
            storage.as_cuda_slice::<f32>().map_err(of_candle)?.slice(layout.start_offset()..layout.start_offset() + flat.elem_count());
        self.stream.memcpy_dtod(&values, &mut memory.slice_mut(..flat.elem_count())).map_err(failed("copy numbers"))
    }

    pub(crate) fn launch(&self, kernel: &'static Kernel, grid: Grid, arguments: &[LaunchArgument]) -> Result<()> {
        let function = self.function(kernel)?;
        let wide: Vec<u64> = arguments.iter().map(LaunchArgument::bits).collect();
        let narrow: Vec<u32> = wide.iter().map(|&bits| bits as u32).collect();
        let mut builder = self.stream.launch_builder(&function);
        for (at, argument) in arguments.iter().enumerate() {
            match argument.kind {
                "unsigned" | "float" => builder.arg(&narrow[at]),
                _ => builder.arg(&wide[at]),
            };
        }
        let shape = |count: usize| (u32::try_from(count).expect("a grid has fewer than 2^32 blocks"), 1, 1);
        let config = LaunchConfig { grid_dim: shape(grid.blocks), block_dim: shape(grid.threads), shared_mem_bytes: grid.shared as u32 };
        // SAFETY: the arguments have the types that the kernel's text gives them (`launch::kernel` compares); their memory is borrowed while they
        // are, was allocated on this stream, and is freed on it after the kernel.
        unsafe { builder.launch(config) }.map_err(failed(&format!("run {}", kernel.name)))?;
        Ok(())
    }

    /// A kernel, compiled when its file is first used.
    fn function(&self, kernel: &'static Kernel) -> Result<CudaFunction> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if !functions.contains_key(kernel.name) {
            self.load(kernel.module, &mut functions)?;
        }
        Ok(functions[kernel.name].clone())
    }

    fn load(&self, module: &'static str, functions: &mut HashMap<&'static str, CudaFunction>) -> Result<()> {
        let what = format!("compile kernels/{module}.cu");
        let (major, minor) = self.stream.context().compute_capability().map_err(failed(&what))?;
        let ptx = compiled(module, major, minor).map_err(|reason| Error::Device { what: what.clone(), reason })?;
        let loaded = self.stream.context().load_module(ptx).map_err(failed(&what))?;
        for kernel in crate::launch::KERNELS.iter().filter(|kernel| kernel.module == module) {
            functions.insert(kernel.name, loaded.load_function(kernel.name).map_err(failed(&what))?);
        }
        Ok(())
    }
}

/// A file of kernels for GPUs of that compute capability, compiled once for all devices and trainings of this process.
fn compiled(module: &'static str, major: i32, minor: i32) -> Result<Ptx, String> {
    static COMPILED: Mutex<BTreeMap<(&str, i32, i32), Ptx>> = Mutex::new(BTreeMap::new());
    let mut all = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(ptx) = all.get(&(module, major, minor)) {
        return Ok(ptx.clone());
    }
    let (_, source) = SOURCES.iter().find(|(name, _)| *name == module).expect("each kernel stands in a file");
    let options = vec![format!("--gpu-architecture=compute_{major}{minor}"), "--std=c++17".to_owned()];
    let options = CompileOptions { options, name: Some(format!("{module}.cu")), ..CompileOptions::default() };
    let ptx = compile_ptx_with_opts(source, options).map_err(|error| format!("{error:?}"))?;
    all.insert((module, major, minor), ptx.clone());
    Ok(ptx)
}
