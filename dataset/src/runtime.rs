//! One runtime for all asynchronous work, so that callers stay plain functions.

use std::{future::Future, io, sync::OnceLock};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Starts the runtime's threads, for a program that has something to say where the system gives none.
///
/// # Errors
/// The system's.
pub fn start_runtime() -> io::Result<()> {
    if RUNTIME.get().is_none() {
        let _ = RUNTIME.set(new()?); // one that another thread has set meanwhile is as good
    }
    Ok(())
}

/// Runs a future to its end on the process's runtime.
///
/// # Panics
/// When called from within an asynchronous task; from there use `tokio::task::spawn_blocking`. Where the operating system gives no threads,
/// unless [`start_runtime`] came before.
pub fn block_on<F: Future>(future: F) -> F::Output {
    RUNTIME.get_or_init(|| new().expect("the operating system gives threads")).block_on(future)
}

fn new() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}
