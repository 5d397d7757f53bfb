//! Memory that is free, back to the system.
//!
//! glibc keeps the small blocks that were freed: the chunks of rows, tables of ids. What is taken after them in large blocks would come on
//! top of them.
#![allow(unsafe_code)]

/// Gives back what the allocator holds free. Where it is not glibc's, does nothing.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes no pointer, and may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
