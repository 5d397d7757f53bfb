//! What scheduler and executors have in common: threads, a log, and an exit code.

use anyhow::{Context, Result};
use std::{future::Future, io, process::ExitCode};
use sweep::{
    cli::{Global, LogFormat},
    interrupt,
};
use tracing_subscriber::EnvFilter;

/// Bytes of a thread's stack: plans are read and optimised by recursion.
const STACK: usize = 16 << 20;

/// Starts the log, and serves until a signal comes or, for an executor, the scheduler is gone: neither is the end of any work, and both have the exit code
/// of an interruption.
pub(crate) fn ended(global: &Global, serving: impl Future<Output = Result<()>>) -> ExitCode {
    // Of each task Ballista has a line; what fails is said to the client.
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,ballista=warn,datafusion=warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false);
    match global.log_format {
        LogFormat::Text => log.with_ansi(false).init(),
        LogFormat::Json => log.json().init(),
    }
    let handlers = interrupt::outlive_file_size_limit().context("the system takes no handlers of signals");
    let result = handlers.and_then(|()| global.set_up()).and_then(|()| {
        let threads = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build();
        threads.context("the system gives no threads; raise its limits")?.block_on(serving)
    });
    match result {
        Ok(()) => ExitCode::from(interrupt::EXIT_CODE),
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
