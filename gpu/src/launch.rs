//! Kernels by name, and what they are called with.

#[cfg(feature = "emulator")]
use std::ffi::c_void;

pub(crate) use list::KERNELS;
pub use list::SOURCES;

#[allow(unsafe_code)] // declares the emulator's functions; `emulated.rs` calls them
mod list {
    use super::Kernel;
    #[cfg(feature = "emulator")]
    use std::ffi::c_void;

    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

/// A kernel of `kernels/`.
pub(crate) struct Kernel {
    /// The file.
    #[cfg(feature = "cuda")]
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    /// Types as they stand in the file.
    pub(crate) arguments: &'static [&'static str],
    #[cfg(feature = "emulator")]
    pub(crate) call: unsafe extern "C" fn(u32, u32, usize, *mut *mut c_void),
}

/// How many blocks of how many threads, and the bytes of dynamic shared memory of each block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) blocks: usize,
    pub(crate) threads: usize,
    pub(crate) shared: usize,
}

impl Grid {
    /// A block for each of so many.
    pub(crate) fn blocks(blocks: usize, threads: usize) -> Self {
        Self { blocks, threads, shared: 0 }
    }

    /// A thread for each of so many.
    pub(crate) fn threads(count: usize) -> Self {
        Self::blocks(count.div_ceil(256), 256)
    }

    /// A warp for each of so many.
    pub(crate) fn warps(count: usize) -> Self {
        Self::blocks(count.div_ceil(8), 256)
    }
}

/// An argument of a kernel: its type, and its bits.
#[derive(Debug)]
pub(crate) struct LaunchArgument<'a> {
    pub(crate) kind: &'static str,
    pub(crate) value: Value<'a>,
}

#[derive(Debug)]
pub(crate) enum Value<'a> {
    Bits(u64),
    /// Where some memory begins; it stays borrowed until the launch.
    Address(u64, std::marker::PhantomData<&'a ()>),
}

impl LaunchArgument<'_> {
    pub(crate) fn bits(&self) -> u64 {
        match self.value {
            Value::Bits(bits) | Value::Address(bits, _) => bits,
        }
    }
}

/// A count or an id.
pub(crate) fn count(value: usize) -> LaunchArgument<'static> {
    let value = u32::try_from(value).expect("what kernels count is below 2^32");
    LaunchArgument { kind: "unsigned", value: Value::Bits(u64::from(value)) }
}

/// A number with a fraction.
pub(crate) fn number(value: f32) -> LaunchArgument<'static> {
    LaunchArgument { kind: "float", value: Value::Bits(u64::from(value.to_bits())) }
}

/// 64 bits.
pub(crate) fn bits(value: u64) -> LaunchArgument<'static> {
    LaunchArgument { kind: "u64", value: Value::Bits(value) }
}

/// No numbers, in the place of some that a kernel then does not look at.
pub(crate) fn nothing(kind: &'static str) -> LaunchArgument<'static> {
    LaunchArgument { kind, value: Value::Bits(0) }
}

/// The kernel of a name.
///
/// # Panics
/// When there is none, or it takes other arguments: a mistake in this crate.
pub(crate) fn kernel(name: &str, arguments: &[LaunchArgument]) -> &'static Kernel {
    let kernel = KERNELS.iter().find(|kernel| kernel.name == name).unwrap_or_else(|| panic!("no kernel {name}"));
    let given = || arguments.iter().map(|argument| argument.kind);
    assert!(given().eq(kernel.arguments.iter().copied()), "{name} takes {:?}, not {:?}", kernel.arguments, given().collect::<Vec<_>>());
    kernel
}
