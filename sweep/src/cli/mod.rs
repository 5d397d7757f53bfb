//! The command line: one file for each command.

mod cancel;
mod compare;
mod completions;
mod diff;
mod doctor;
mod drive;
mod engine;
mod environment;
mod evaluate;
mod exit;
mod export;
mod gc;
mod global;
mod groups;
mod hand_over;
mod hint;
mod init;
mod kinds;
mod limits;
mod list;
mod log;
mod logs;
mod man;
mod memory;
mod named_tables;
mod namespace;
mod output;
mod plan;
mod planned;
mod prepare;
mod recommend;
mod refit;
mod render;
mod report;
mod run;
mod schema;
mod status;
mod stored;
mod submit;
mod theory;
mod train;

use crate::interrupt;
use anyhow::{Result, anyhow};
use clap::{Parser, Subcommand};
use dataset::panics;
use exit::exit;
use global::start;
use memory::log_peak;
use std::process::ExitCode;

pub use crate::{log::LogFormat, runner::Ending, usage::Usage};
pub use exit::CODES;
pub use global::Global;

/// Which loss, with which negative sampler, on which backbone, ranks best on your data, and is the difference real?
#[derive(Debug, Parser)]
#[command(name = "ranksweep", version, propagate_version = true, after_help = CODES)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands. Each takes a sweep file, but `list`, `doctor`, `theory` and those behind them need none.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a first sweep file for data that is there
    Init(init::Init),
    /// Prepare, train every trial, evaluate and report, on this machine; goes on where it stopped
    Run(run::Run),
    /// Print the datasets, methods and trials, with an estimate of memory and work; write nothing
    Plan(plan::PlanArguments),
    /// Prepare the datasets
    Prepare(prepare::Prepare),
    /// Train all trials, or one
    Train(train::Train),
    /// Pick values by validation, rank the test part and write the tables
    Evaluate(evaluate::Evaluate),
    /// Write the leaderboard and the report from the stored tables
    Report(report::ReportArguments),
    /// Compare the methods of one sweep or several over all of their datasets, from the stored tables
    Compare(compare::Compare),
    /// Show what differs between two sweeps, or a sweep and what its name stood for before: settings, and results on shared users
    Diff(diff::Diff),
    /// Show how the methods serve groups of users, by a column of a table of users
    Groups(groups::GroupsArguments),
    /// Train the winner, or another method, once more on all interactions, for serving
    Refit(refit::RefitArguments),
    /// Write the best items for each user, with the users' and items' own ids
    Recommend(recommend::Recommend),
    /// Write the splits of the datasets, or the vectors of a trial, for other programs
    Export(export::Export),
    /// Print the objects that run the sweep on Kubernetes, as YAML; create nothing
    Render(render::Render),
    /// Remove what killed processes left on the storage, while nothing works on it
    Gc(gc::Gc),
    /// Start the sweep on a Kubernetes cluster
    Submit(submit::Submit),
    /// Show how the stages and trials of a sweep fare, on the cluster and on the storage
    Status(status::StatusArguments),
    /// Print the sweeps that a storage has tables of, with --storage; else those of a namespace, and how far they are
    List(list::List),
    /// Print what the pods of a sweep wrote
    Logs(logs::Logs),
    /// Stop a sweep on the cluster; what it has stored stays
    Cancel(cancel::Cancel),
    /// Start the stages of a sweep one after the other: what the driver's pod runs
    #[command(hide = true)]
    Drive(drive::Drive),
    /// Show what this program can train with here; check that all of it computes the same, and time it
    Doctor(doctor::Doctor),
    /// Recompute what the papers state about losses and metrics; write tables and a picture
    Theory(theory::Theory),
    /// Print the losses, samplers and models that a sweep file may have, or what there is to know of one
    Kinds(kinds::Kinds),
    /// Prints the JSON Schema of sweep files, by which editors complete and check them
    Schema(schema::Schema),
    /// Print the script by which a shell completes the command line
    Completions(completions::Completions),
    /// Write the manual's pages
    Man(man::Man),
}

impl Command {
    /// Does what the command says.
    ///
    /// # Errors
    /// Those of the command.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        match self {
            Self::Init(command) => command.run(global),
            Self::Run(command) => command.run(global),
            Self::Plan(command) => command.run(global),
            Self::Prepare(command) => command.run(global),
            Self::Train(command) => command.run(global),
            Self::Evaluate(command) => command.run(global),
            Self::Report(command) => command.run(global),
            Self::Compare(command) => command.run(global),
            Self::Diff(command) => command.run(global),
            Self::Groups(command) => command.run(global),
            Self::Refit(command) => command.run(global),
            Self::Recommend(command) => command.run(global),
            Self::Export(command) => command.run(global),
            Self::Render(command) => command.run(global),
            Self::Gc(command) => command.run(global),
            Self::Submit(command) => command.run(global),
            Self::Status(command) => command.run(global),
            Self::List(command) => command.run(global),
            Self::Logs(command) => command.run(global),
            Self::Cancel(command) => command.run(),
            Self::Drive(command) => command.run(),
            Self::Doctor(command) => command.run(global),
            Self::Theory(command) => command.run(global),
            Self::Kinds(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}

/// Starts what the commands need, runs one, says how it ended, and gives the exit code.
pub fn ended(global: &Global, run: impl FnOnce() -> Result<Ending>) -> ExitCode {
    panics::keep_quiet();
    let result = panics::caught(|| start(global).and_then(|()| run()))
        .unwrap_or_else(|_| Err(anyhow!("this is a mistake of ranksweep: {}", panics::last())));
    if result.is_ok() {
        log_peak();
    } else {
        interrupt::wait_where_leaving();
    }
    exit(global.log_format, result)
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_flags_fit_together() {
        Cli::command().debug_assert();
        let parse = |line: &str| Cli::try_parse_from(line.split(' ')).map_err(|error| error.to_string());
        assert!(parse("ranksweep evaluate s.yaml --threads 2 --memory 1GiB").is_ok());
        assert!(parse("ranksweep evaluate --checkpoints c --dataset d --out o --cutoffs 5,10").is_ok());
        assert!(parse("ranksweep evaluate s.yaml --checkpoints c --dataset d --out o").unwrap_err().contains("cannot be used with"));
        assert!(parse("ranksweep evaluate --checkpoints c").unwrap_err().contains("--dataset"));
        assert!(parse("ranksweep evaluate s.yaml --partial --report").is_ok());
        assert!(parse("ranksweep evaluate --checkpoints c --dataset d --out o --partial").unwrap_err().contains("cannot be used with"));
        assert!(parse("ranksweep evaluate s.yaml --cutoffs 5").unwrap_err().contains("cannot be used with"));
        assert!(parse("ranksweep run s.yaml --threads 0").unwrap_err().contains("0 is not in 1.."));
        assert!(parse("ranksweep train s.yaml --index 1 --trial x").unwrap_err().contains("cannot be used with"));
        assert!(parse("ranksweep train s.yaml --share").is_ok() && parse("ranksweep train s.yaml --share=0.5 --threads 1").is_ok());
        assert!(parse("ranksweep train s.yaml --share=0").unwrap_err().contains("minutes between"));
        assert!(parse("ranksweep train s.yaml --share --index 1").unwrap_err().contains("cannot be used with"));
        assert!(parse("ranksweep compare s.yaml t.yaml --metric recall@5 --against bpr --out o").is_ok());
        assert!(parse("ranksweep report s.yaml --format latex --out t.tex").is_ok());
        assert!(parse("ranksweep report s.yaml --format word").unwrap_err().contains("html, markdown, latex, csv"));
        assert!(parse("ranksweep compare").unwrap_err().contains("<SWEEP>"));
        assert!(parse("ranksweep compare s.yaml --metric ndcg").unwrap_err().contains("--metric"));
        assert!(parse("ranksweep doctor --check --bench --out d.json").is_ok());
        assert!(parse("ranksweep theory opauc s.yaml --trial x --cutoffs 5,10 --out o").is_ok());
        assert!(parse("ranksweep theory quantiles --trial x").unwrap_err().contains("<SWEEP>"));
        assert!(parse("ranksweep theory quantiles s.yaml --items 9").unwrap_err().contains("cannot be used with"));
    }
}
