//! `ranksweep-engine executor`

use crate::{address::Address, connect::wait_until_answers};
use anyhow::{Context, Result};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use clap::{Args, builder::RangedI64ValueParser};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use pipeline::Stores;
use std::{
    net::{IpAddr, Ipv4Addr, TcpListener},
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};
use sweep::cli::Global;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

/// The port of Ballista's executors.
pub(crate) const PORT: u16 = 50_051;
/// Seconds between two signs of life, where nobody says otherwise.
const HEARTBEAT: u64 = 5;

/// Does a scheduler's work.
#[derive(Debug, Args)]
pub(crate) struct Executor {
    /// The scheduler
    #[arg(long, value_name = "URL")]
    scheduler: Address,
    /// The address of this machine at which to listen
    #[arg(long, value_name = "IP", default_value = "0.0.0.0")]
    listen: IpAddr,
    /// The name or address by which clients and other executors find this machine; that of its connection to the scheduler when left out
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// The port for what others fetch; the next one is for the scheduler
    #[arg(long, value_name = "PORT", default_value_t = PORT, value_parser = port())]
    port: u16,
    /// The folder for what is shuffled and spilled; one of its own below TMPDIR when left out
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Seconds between two signs of life
    #[arg(long, value_name = "SECONDS", default_value_t = HEARTBEAT, value_parser = clap::value_parser!(u64).range(1..=3600))]
    heartbeat: u64,
    /// How long the scheduler may take to be there; `--storage-patience` when left out.
    #[arg(skip)]
    patience: Option<Duration>,
}

/// The ports that have one behind them, which the scheduler asks.
pub(crate) fn port() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=65_534)
}

impl Executor {
    /// That of a scheduler at a port, for which it waits as long as it must, with everything else left out.
    pub(crate) fn of(scheduler: Address, port: u16) -> Self {
        let listen = Ipv4Addr::UNSPECIFIED.into();
        Self { scheduler, listen, host: None, port, scratch: None, heartbeat: HEARTBEAT, patience: Some(Duration::MAX) }
    }

    /// Works until the process is told to end, or the scheduler is gone for long.
    ///
    /// # Errors
    /// A scheduler that does not answer, a port that is taken, and a folder that cannot be made.
    pub(crate) async fn run(self, global: &Global) -> Result<()> {
        for port in [self.port, self.port + 1] {
            TcpListener::bind((self.listen, port))
                .with_context(|| format!("cannot listen at {}, port {port}; name others by --port", self.listen))?;
        }
        let patience = self.patience.unwrap_or(Duration::from_secs(global.storage_patience));
        if !answers(self.scheduler.clone(), patience).await? {
            return Ok(());
        }
        let scratch = tempfile::Builder::new().prefix("ranksweep-executor-").tempdir_in(self.scratch.unwrap_or_else(std::env::temp_dir));
        let scratch = scratch.context("cannot make a folder for what is shuffled; set TMPDIR or --scratch")?;
        let folder = scratch.path().to_owned();
        let config = ExecutorProcessConfig {
            bind_host: match self.listen {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            },
            external_host: self.host,
            port: self.port,
            grpc_port: self.port + 1,
            scheduler_host: self.scheduler.host.clone(),
            scheduler_port: self.scheduler.port,
            scheduler_connect_timeout_seconds: u16::try_from(global.storage_patience).unwrap_or(u16::MAX),
            vcores: global.threads.map_or(0, usize::from),
            task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
            work_dir: Some(folder.display().to_string()),
            executor_heartbeat_interval_seconds: self.heartbeat,
            memory_pool_size: Some(global.memory as u64),
            override_runtime_producer: Some(Arc::new(move |_| {
                RuntimeEnvBuilder::new().with_temp_file_path(&folder).with_object_store_registry(Arc::new(Stores)).build_arc()
            })),
            ..ExecutorProcessConfig::default()
        };
        tracing::info!("executor of {} at {}:{} and {}", self.scheduler, self.listen, self.port, self.port + 1);
        start_executor_process(Arc::new(config)).await.with_context(|| format!("executor of {}", self.scheduler))
    }
}

/// Waits for a scheduler; false where the process is told to end before that answers. As process 1 of a container it hears a signal by a handler alone.
///
/// # Errors
/// A scheduler that does not answer in the time that is given.
async fn answers(scheduler: Address, patience: Duration) -> Result<bool> {
    let mut terminated = signal(SignalKind::terminate()).context("the system takes no handlers of signals")?;
    let (answered, answer) = oneshot::channel();
    let at = scheduler.clone();
    // No thread of the runtime, which would wait for it at its end.
    thread::Builder::new().spawn(move || answered.send(wait_until_answers(&at, patience))).context("the system gives no threads")?;
    tokio::select! {
        answer = answer => match answer.context("the wait for the scheduler ended")? {
            Ok(()) => Ok(true),
            Err(error) => Err(error).with_context(|| format!("no scheduler answers at {scheduler}: start one with `ranksweep-engine scheduler`")),
        },
        _ = terminated.recv() => Ok(false),
        _ = tokio::signal::ctrl_c() => Ok(false),
    }
}
