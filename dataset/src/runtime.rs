//! One runtime for all asynchronous work, so that callers stay plain functions.

use std::{future::Future, sync::OnceLock};
use tokio::runtime::{Builder, Runtime};

/// Runs a future to its end on the process's runtime.
///
/// # Panics
/// When called from within an asynchronous task; from there use `tokio::task::spawn_blocking`.
pub fn block_on<F: Future>(future: F) -> F::Output {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Builder::new_multi_thread().enable_all().build().expect("the operating system gives threads")).block_on(future)
}
