//! Flags of every command: threads, memory, logs.

use super::{environment, hand_over, limits, log};
use crate::{
    interrupt,
    log::LogFormat,
    prometheus,
    runner::{Machine, Progress},
};
use anyhow::Context;
use clap::Args;
use evaluator::command::parse_size;
use pipeline::Connect;
use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    num::NonZero,
    path::PathBuf,
    time::Duration,
};
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Flags of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Threads to use; all cores when left out. The results are the same for any number
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads)]
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
    /// Serve how the command fares at http://ADDRESS/metrics, for Prometheus
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub metrics_address: Option<SocketAddr>,
    /// Seconds for which a storage, or a cluster that prepares, that has not answered yet is tried again
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub storage_patience: u64,
    /// Where datasets of a storage that is not on this machine are kept after they were read; the system's folder for caches when left out
    #[arg(long, global = true, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Stop as by Ctrl-C when standard input ends, as it does when the program goes that has started this one and holds it open
    #[arg(long, global = true)]
    pub stop_with_stdin: bool,
    /// The way to a cluster that prepares, of a program that has one; the thin one becomes the one that has.
    #[arg(skip)]
    pub connect: Option<Connect>,
}

impl Global {
    /// Bars for a person who looks on, lines for all others.
    pub(super) fn progress(&self) -> Progress {
        if self.draws_bars() { Progress::bars() } else { Progress::lines() }
    }

    /// The machine that the work may use.
    pub(super) fn machine(&self) -> Machine {
        Machine {
            threads: rayon::current_num_threads(),
            memory: self.memory,
            cache: self.cache.clone(),
            engine: None,
            connect: self.connect.unwrap_or(hand_over::to_the_engine),
            patience: Duration::from_secs(self.storage_patience),
        }
    }

    fn draws_bars(&self) -> bool {
        self.log_format == LogFormat::Text && io::stderr().is_terminal()
    }
}

impl Global {
    /// Sets up what a process of any kind needs before it works: the page of its metrics, as many open files as the system allows, and the patience of stores.
    ///
    /// # Errors
    /// An address at which nobody can listen, and limits of the system that are too low.
    pub fn set_up(&self) -> anyhow::Result<()> {
        if let Some(address) = self.metrics_address {
            prometheus::serve(address, prometheus::meter()).with_context(|| format!("--metrics-address: cannot listen at {address}"))?;
        }
        limits::raise_open_files();
        limits::check(self.own_threads())?;
        dataset::wait_for_first_answers(Duration::from_secs(self.storage_patience));
        Ok(())
    }

    /// The threads that were asked for, or the machine's cores, or what rayon's own variable says.
    fn own_threads(&self) -> usize {
        self.threads.map_or_else(own_threads, usize::from)
    }
}

/// Starts the threads and the log, and listens for signals.
///
/// # Errors
/// When the operating system gives too little, no threads, or takes no handlers of signals.
pub(super) fn start(global: &Global) -> anyhow::Result<()> {
    // What fails in the clients of Kubernetes and of stores is said by whoever asked them.
    let level = if global.draws_bars() { "off" } else { "info,kube_client=off,object_store=off,ballista=off" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let lines = fmt::layer().with_writer(log::Lines::new).with_target(false).with_ansi(io::stderr().is_terminal());
    let registry = tracing_subscriber::registry().with(filter);
    match global.log_format {
        LogFormat::Text => registry.with(lines).init(),
        LogFormat::Json => registry.with(lines.json()).init(),
    }
    global.set_up()?;
    let threads = global.own_threads();
    environment::set(threads);
    interrupt::listen(global.log_format).context("the system takes no handlers of signals")?;
    if global.stop_with_stdin {
        interrupt::stop_with_stdin().context("the system gives no threads; raise its limits")?;
    }
    dataset::start_runtime().context("the system gives no threads; raise its limits")?;
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .context("the system gives no threads; raise its limits, or lower --threads")?;
    Ok(())
}

/// The machine's cores, or what rayon's own variable says.
fn own_threads() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok()).filter(|&threads| threads > 0);
    asked.unwrap_or_else(cores).min(most_threads())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// More threads than this wait for each other.
fn most_threads() -> usize {
    (4 * cores()).max(64)
}

fn parse_threads(text: &str) -> Result<u16, String> {
    let threads: u16 = text.parse().map_err(|error| format!("{error}"))?;
    match (1..=most_threads()).contains(&threads.into()) {
        true => Ok(threads),
        false => Err(format!("{threads} is not in 1..={}, on {} cores", most_threads(), cores())),
    }
}
