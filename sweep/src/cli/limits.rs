//! Limits that the system sets this process: where it gives too little, the process would end in the middle, by a signal.
#![allow(unsafe_code)]

use crate::doctor::soft_limit;
use anyhow::{Result, bail};

/// Files and connections that are open at a time.
const FILES: u64 = 64;
/// Bytes of addresses for the program, and for the stack and the heap of each thread.
const PROGRAM: u64 = 1 << 30;
const THREAD: u64 = 160 << 20;

/// Files that the process may have open where the system lets it: a preparation by relations has one for each thread and bucket.
#[cfg(unix)]
const MANY_FILES: libc::rlim_t = 1 << 16;

/// Lets the process have as many files open as the system allows, up to [`MANY_FILES`]; shells begin with about a thousand.
#[cfg(unix)]
pub(super) fn raise_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls look at a structure that lives until they return.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max.min(MANY_FILES) {
            limit.rlim_cur = limit.rlim_max.min(MANY_FILES);
            // A refusal leaves the limit as it was.
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

#[cfg(not(unix))]
pub(super) fn raise_open_files() {}

/// That the process has what it needs to begin, with so many threads.
///
/// # Errors
/// The limit that is too low, and what to do.
pub(super) fn check(threads: usize) -> Result<()> {
    // Other systems tell in other ways, or not at all.
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    enough(&limits, threads as u64)
}

fn enough(limits: &str, threads: u64) -> Result<()> {
    if let Some(files) = soft_limit(limits, "Max open files").filter(|&files| files < FILES) {
        bail!("at most {files} files may be open at a time (ulimit -n): at least {FILES} are needed");
    }
    let needed = PROGRAM + threads * THREAD;
    if let Some(bytes) = soft_limit(limits, "Max address space").filter(|&bytes| bytes < needed) {
        let (found, needed) = (bytes >> 20, needed >> 20);
        bail!(
            "the process may have {found} MiB of addresses (ulimit -v): at least {needed} MiB are needed with {threads} threads; --memory bounds what is used"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units
Max file size             unlimited            unlimited            bytes
Max open files            FILES                524288               files
Max address space         BYTES                unlimited            bytes
";

    #[test]
    fn what_is_too_little_is_named() {
        let said = |files: &str, bytes: &str| {
            enough(&LIMITS.replace("FILES", files).replace("BYTES", bytes), 2).map_err(|error| error.to_string())
        };
        assert_eq!(said("1024", "unlimited"), Ok(()));
        assert_eq!(said("8", "unlimited").unwrap_err(), "at most 8 files may be open at a time (ulimit -n): at least 64 are needed");
        assert!(
            said("1024", "314572800").unwrap_err().starts_with("the process may have 300 MiB of addresses (ulimit -v): at least 1344 MiB")
        );
        assert_eq!(said("1024", "8589934592"), Ok(()));
        assert!(enough("", 2).is_ok());
    }
}
