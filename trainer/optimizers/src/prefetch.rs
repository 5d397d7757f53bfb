//! Asks for memory ahead of its use, where rows are read in an order that the processor cannot guess.
#![allow(unsafe_code)]

/// Floats of a cache line.
const LINE: usize = 16;

/// Starts to bring a row into the first-level cache. Changes nothing else, and does nothing where there is no such instruction.
#[inline(always)]
pub(crate) fn prefetch(row: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    for line in row.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address lies in a slice, the instruction belongs to every x86-64, and it reads nothing that a program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (row, LINE);
}
