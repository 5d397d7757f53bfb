//! Threads for what Python asks.

use crate::refused;
use pyo3::PyResult;
use std::sync::OnceLock;

/// Does work that is shared out among threads. Those of the first process that asked are none of a process that was forked from it, as by
/// `multiprocessing` or a loader of PyTorch, which would wait for them for ever: it has its own for as long as the work lasts.
///
/// # Errors
/// A system that gives no threads.
pub(crate) fn shared_out<R: Send>(work: impl FnOnce() -> R + Send) -> PyResult<R> {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let own = std::process::id();
    if *FIRST.get_or_init(|| own) == own {
        return Ok(work());
    }
    let threads = rayon::ThreadPoolBuilder::new().build().map_err(refused)?;
    Ok(threads.install(work))
}
