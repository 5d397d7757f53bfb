//! The system's allocator, which says so when there is no more memory: the standard library would abort.
#![allow(unsafe_code)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    io::{Cursor, Write},
};

/// [`System`], which ends the process with a message and the exit code 1 where the system refuses memory.
pub struct Refusing;

// SAFETY: every call is the system allocator's, whose contract is the same; a null pointer is never returned, as the process ends instead.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `alloc`.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `alloc_zeroed`.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract of `dealloc`, and every block is the system allocator's.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `realloc`, and every block is the system allocator's.
        given(unsafe { System.realloc(block, layout, size) }, size)
    }
}

/// Has the C library keep blocks of up to 32 MiB when they are freed, 256 MiB of them at most. By itself it hands them back to the system, and a loss that makes
/// the same matrices in every step waits for their pages to be cleared each time. For trainings: what prepares data holds large blocks once, and gives them back.
pub fn keep_freed_blocks() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it sets numbers of the allocator, under its lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 256 << 20);
    }
}

fn given(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() {
        refused(size);
    }
    block
}

/// Says it without memory, and ends the process: what it had stored is whole, as every write is.
#[cold]
fn refused(size: usize) -> ! {
    let mut text = Cursor::new([0; 256]);
    let words = "raise its limit (ulimit -v, the container's), or lower --memory, --threads or what the sweep asks for";
    // What does not fit is left out.
    let _ = writeln!(text, "error: the system gives no more memory, and {size} bytes were asked for: {words}");
    let length = usize::try_from(text.position()).unwrap_or_default();
    let text = text.into_inner();
    // SAFETY: the bytes are those of the text that was written; neither call takes memory, and the second ends the process.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length);
        libc::_exit(1)
    }
}
