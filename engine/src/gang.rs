//! `ranksweep-engine gang`: what each pod of a preparation with executors does, by its index. The first prepares, beside the scheduler; all others are
//! executors, and end with the Job when the first has ended.

use crate::{
    Cli, Command,
    address::Address,
    connect::connect,
    executor::{self, Executor},
    serve,
};
use anyhow::{Context, Result, bail};
use clap::{Args, Parser};
use std::process::{self, Child, ExitCode};
use sweep::cli::{Global, LogFormat, ended};

/// Prepares, or helps.
#[derive(Debug, Args)]
pub(crate) struct Gang {
    /// The pod's index
    #[arg(long)]
    index: u32,
    /// The scheduler, by the name of the pod of index 0
    #[arg(long, value_name = "URL")]
    scheduler: String,
    /// An executor's port for what others fetch; the next one is for the scheduler
    #[arg(long, value_name = "PORT", default_value_t = executor::PORT, value_parser = executor::port())]
    port: u16,
    /// The command of the first pod
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

impl Gang {
    /// Does what is due to the index, and gives the exit code.
    pub(crate) fn run(self) -> ExitCode {
        let flags = ["--engine".to_owned(), self.scheduler.clone()];
        let Cli { global, command } = Cli::parse_from(["ranksweep-engine".to_owned()].into_iter().chain(self.command).chain(flags));
        if self.index > 0 {
            let executor = self.scheduler.parse().map(|scheduler| Executor::of(scheduler, self.port)).map_err(anyhow::Error::msg);
            return serve::ended(&global, async { executor?.run(&global).await });
        }
        let global = Global { connect: Some(connect), ..global };
        ended(&global, || {
            let Command::Ranksweep(command) = command else { bail!("the command behind `--` is none of ranksweep's") };
            let _scheduler = SchedulerProcess::start(&self.scheduler, global.log_format)?;
            command.run(&global)
        })
    }
}

/// The scheduler as a process, which ends with its guard.
struct SchedulerProcess(Child);

impl SchedulerProcess {
    /// Logs in the same format, as both write to one standard error.
    fn start(url: &str, log_format: LogFormat) -> Result<Self> {
        let address: Address = url.parse().map_err(anyhow::Error::msg)?;
        let own = std::env::current_exe().context("the system does not say where this program is")?;
        let listen = format!("0.0.0.0:{}", address.port);
        let command = &mut process::Command::new(own);
        command.args(["scheduler", "--listen", &listen, "--host", &address.host]);
        if log_format == LogFormat::Json {
            command.args(["--log-format", "json"]);
        }
        Ok(Self(command.spawn().context("cannot start the scheduler")?))
    }
}

impl Drop for SchedulerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
