//! `ranksweep-engine scheduler`

use crate::address::PORT;
use anyhow::{Context, Result};
use ballista_core::{config::TaskSchedulingPolicy, utils::default_session_builder};
use ballista_scheduler::{cluster::BallistaCluster, config::SchedulerConfig, scheduler_process::start_server};
use clap::Args;
use datafusion::execution::{SessionStateBuilder, runtime_env::RuntimeEnvBuilder};
use pipeline::Stores;
use std::{net::SocketAddr, sync::Arc};
use tokio::signal::unix::{SignalKind, signal};

/// Seconds for which what a job shuffled is kept: a client that reads its result must come to the end.
const KEPT: u64 = 3600;

/// Hands out the work of clients to executors.
#[derive(Debug, Args)]
pub(crate) struct Scheduler {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value_t = SocketAddr::from(([0, 0, 0, 0], PORT)))]
    listen: SocketAddr,
    /// The name or address by which executors find this machine
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    host: String,
    /// Seconds after which an executor that is not heard of is taken for lost, and its work given to others
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..=3600))]
    executor_timeout: u64,
}

impl Scheduler {
    /// Serves until the process is told to end.
    ///
    /// # Errors
    /// An address where nobody can listen.
    pub(crate) async fn run(self) -> Result<()> {
        let mut terminated = signal(SignalKind::terminate()).context("the system takes no handlers of signals")?;
        let config = SchedulerConfig {
            bind_host: self.listen.ip().to_string(),
            bind_port: self.listen.port(),
            external_host: self.host,
            scheduling_policy: TaskSchedulingPolicy::PushStaged,
            executor_timeout_seconds: self.executor_timeout,
            expire_dead_executor_interval_seconds: (self.executor_timeout / 3).max(1),
            no_executors_grace_period_seconds: self.executor_timeout,
            finished_job_data_clean_up_interval_seconds: KEPT,
            override_session_builder: Some(Arc::new(|config| {
                let runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores)).build_arc()?;
                Ok(SessionStateBuilder::new_from_existing(default_session_builder(config)?).with_runtime_env(runtime).build())
            })),
            ..SchedulerConfig::default()
        };
        let serve = async {
            let cluster = BallistaCluster::new_from_config(&config).await?;
            start_server(cluster, self.listen, Arc::new(config)).await
        };
        tracing::info!("scheduler at {}", self.listen);
        tokio::select! {
            served = serve => served.with_context(|| format!("cannot serve at {}", self.listen)),
            _ = terminated.recv() => Ok(()),
            _ = tokio::signal::ctrl_c() => Ok(()),
        }
    }
}
