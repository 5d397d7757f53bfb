//! `ranksweep-engine`: `ranksweep` with Apache Ballista, for preparing data on a cluster, and the cluster's scheduler and executors.
//!
//! ```text
//! ranksweep-engine prepare --client--> scheduler --tasks--> executors --relations as Parquet--> the sweep's storage
//! ```
//! The cluster computes relations of DataFusion alone, and knows nothing of a sweep: plans travel to it as they are, files by their URLs. It is a
//! program of its own so that `ranksweep` stays without Ballista, and becomes this one where it is asked for a cluster.

mod address;
mod connect;
mod executor;
mod gang;
mod scheduler;
mod serve;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use sweep::{
    allocator::Refusing,
    cli::{self, Global, ended},
};

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// ranksweep with Apache Ballista: all of its commands, and the scheduler and executors of a cluster that prepares data
#[derive(Debug, Parser)]
#[command(name = "ranksweep-engine", version)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Hand out the work of clients to executors; keeps nothing on disk
    Scheduler(scheduler::Scheduler),
    /// Do a scheduler's work, on --threads cores within --memory
    Executor(executor::Executor),
    /// Prepare on a cluster, or help, by an index: what the pods of a preparation run
    #[command(hide = true)]
    Gang(gang::Gang),
    #[command(flatten)]
    Ranksweep(cli::Command),
}

fn main() -> ExitCode {
    let Cli { global, command } = Cli::parse();
    match command {
        Command::Scheduler(command) => serve::ended(&global, command.run()),
        Command::Executor(command) => serve::ended(&global, command.run(&global)),
        Command::Gang(command) => command.run(),
        Command::Ranksweep(command) => {
            let global = Global { connect: Some(connect::connect), ..global };
            ended(&global, || command.run(&global))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_flags_fit_together() {
        Cli::command().debug_assert();
        let parse = |line: &str| Cli::try_parse_from(line.split(' ')).map_err(|error| error.to_string());
        assert!(parse("ranksweep-engine prepare s.yaml --engine df://host:50050 --threads 2").is_ok());
        assert!(parse("ranksweep-engine scheduler --listen 0.0.0.0:50050").is_ok());
        assert!(parse("ranksweep-engine executor --scheduler df://host:50050 --memory 4GiB").is_ok());
        assert!(parse("ranksweep-engine executor").unwrap_err().contains("--scheduler"));
        assert!(parse("ranksweep-engine executor --scheduler host:50050").unwrap_err().contains("df://host:50050"));
    }
}
