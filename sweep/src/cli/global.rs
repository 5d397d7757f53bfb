//! What every command knows: threads, memory, logs.

use super::log;
use crate::{
    interrupt,
    runner::{Machine, Progress},
};
use clap::{Args, ValueEnum};
use evaluator::command::parse_size;
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Flags of every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Threads to use; all cores when left out. The results are the same for any number
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Memory for preparing and ranking, beside the tables themselves: 512MiB, 4GiB
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size, default_value = "2GiB")]
    pub memory: usize,
    /// How events are logged; RUST_LOG says which (`info`, but none where bars are drawn)
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// Where everything is stored, in place of the sweep file's `storage`
    #[arg(long, global = true, value_name = "URL")]
    pub storage: Option<String>,
    /// Where datasets of a storage that is not on this machine are kept after they were read; the system's folder for caches when left out
    #[arg(long, global = true, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// How events are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line of text for each event.
    Text,
    /// One JSON object for each event.
    Json,
}

impl Global {
    /// Bars for a person who looks on, lines for all others.
    pub(super) fn progress(&self) -> Progress {
        if self.draws_bars() { Progress::bars() } else { Progress::lines() }
    }

    /// What the work may use.
    pub(super) fn machine(&self) -> Machine {
        Machine { threads: rayon::current_num_threads(), memory: self.memory, cache: self.cache.clone() }
    }

    fn draws_bars(&self) -> bool {
        self.log_format == LogFormat::Text && io::stderr().is_terminal()
    }
}

/// Starts the threads and the log, and listens for signals.
///
/// # Errors
/// When the operating system gives no threads, or takes no handlers of signals.
pub fn start(global: &Global) -> anyhow::Result<()> {
    // What fails in the clients of Kubernetes and of stores is said by whoever asked them.
    let level = if global.draws_bars() { "off" } else { "info,kube_client=off,object_store=off" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let lines = fmt::layer().with_writer(log::Lines::new).with_target(false).with_ansi(io::stderr().is_terminal());
    let registry = tracing_subscriber::registry().with(filter);
    match global.log_format {
        LogFormat::Text => registry.with(lines).init(),
        LogFormat::Json => registry.with(lines.json()).init(),
    }
    interrupt::listen(global.log_format)?;
    rayon::ThreadPoolBuilder::new().num_threads(global.threads.unwrap_or_default().into()).build_global()?;
    Ok(())
}
