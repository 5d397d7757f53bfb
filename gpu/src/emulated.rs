//! The emulator's memory, and its launches.
#![allow(unsafe_code)]

use crate::{
    element::Element,
    launch::{Grid, Kernel, LaunchArgument},
};
use std::{cell::Cell, ffi::c_void};

/// The CPU in the place of a GPU.
#[derive(Clone, Copy, Debug)]
pub struct Emulated;

/// Numbers on either side of a buffer that no kernel may write.
const GUARD: usize = 64;

thread_local! {
    /// Bytes of the buffers that this thread has, and the most since it was last asked.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// The most bytes that this thread had in buffers at once, since it was last asked.
pub(crate) fn peak() -> usize {
    PEAK.replace(HELD.get())
}

/// Memory that notices when something is written beside it.
#[derive(Debug)]
pub(crate) struct Guarded<T> {
    values: Vec<T>,
}

impl<T: Element> Guarded<T> {
    pub(crate) fn zeros(length: usize) -> Self {
        let mut values = vec![guard::<T>(); length + 2 * GUARD];
        values[GUARD..GUARD + length].fill(T::zeroed());
        HELD.set(HELD.get() + length * size_of::<T>());
        PEAK.set(PEAK.get().max(HELD.get()));
        Self { values }
    }

    pub(crate) fn values(&self) -> &[T] {
        let end = self.values.len() - GUARD;
        let whole = |part: &[T]| bytemuck::cast_slice::<T, u8>(part).iter().all(|&byte| byte == 0xff);
        assert!(whole(&self.values[..GUARD]) && whole(&self.values[end..]), "a kernel wrote beside a buffer of {}", end - GUARD);
        &self.values[GUARD..end]
    }

    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        let end = self.values.len() - GUARD;
        &mut self.values[GUARD..end]
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        let bytes = (self.values.len() - 2 * GUARD) * size_of::<T>();
        HELD.set(HELD.get().saturating_sub(bytes)); // another thread may have made it
    }
}

/// All bits set, which is no number where there is such a thing.
fn guard<T: Element>() -> T {
    let mut value = T::zeroed();
    bytemuck::bytes_of_mut(&mut value).fill(0xff);
    value
}

impl Emulated {
    /// Runs a kernel to its end.
    pub(crate) fn launch(self, kernel: &Kernel, grid: Grid, arguments: &[LaunchArgument]) {
        let mut bits: Vec<u64> = arguments.iter().map(LaunchArgument::bits).collect();
        let mut addresses: Vec<*mut c_void> = bits.iter_mut().map(|bits| std::ptr::from_mut(bits).cast()).collect();
        // SAFETY: the arguments have the types that the kernel's text gives them (`launch::kernel` compares), little-endian numbers begin at the
        // address of their bits, buffers are borrowed as long as the arguments, and those that are written were borrowed mutably.
        unsafe { (kernel.call)(grid.blocks as u32, grid.threads as u32, grid.shared, addresses.as_mut_ptr()) }
    }
}
