//! The command line: one file for each command.

mod bytes;
mod evaluate;
mod exit;
mod global;
mod output;
mod plan;
mod prepare;
mod recommend;
mod report;
mod run;
mod train;

use clap::{Parser, Subcommand};

pub use exit::{Ending, exit};
pub use global::{Global, LogFormat, start};

/// Which loss, with which negative sampler, on which backbone, ranks best on your data, and is the difference real?
#[derive(Debug, Parser)]
#[command(name = "ranksweep", version, propagate_version = true)]
pub struct Cli {
    /// What every command knows.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands. Each takes a sweep file.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prepare, train every trial, evaluate and report, on this machine; goes on where it stopped
    Run(run::Run),
    /// Print the datasets, methods and trials, with an estimate of memory and work; write nothing
    Plan(plan::Plan),
    /// Prepare the datasets
    Prepare(prepare::Prepare),
    /// Train all trials, or one
    Train(train::Train),
    /// Pick values by validation, rank the test part and write the tables
    Evaluate(evaluate::Evaluate),
    /// Write the leaderboard and the report from the stored tables
    Report(report::Report),
    /// Write the best items for each user, with the users' and items' own ids
    Recommend(recommend::Recommend),
}
