//! `ranksweep-evaluator`: ranks stored checkpoints, without any code of training.

use clap::Parser;
use dataset::quote;
use evaluator::{Error, command::Evaluate, command::parse_size};
use std::{
    error::Error as _,
    io::{Write, stderr, stdout},
    process::ExitCode,
};

/// Rank the full catalogue with stored checkpoints, and test the differences
#[derive(Parser)]
#[command(name = "ranksweep-evaluator", version)]
struct Cli {
    #[command(flatten)]
    evaluate: Evaluate,
    /// Memory for ranking, beside the tables themselves: 512MiB, 4GiB
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_size)]
    memory: usize,
}

fn main() -> ExitCode {
    let Cli { evaluate, memory } = Cli::parse();
    match evaluate.run(memory) {
        Ok(summary) => match write!(stdout(), "{summary}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            let mut message = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                message += &format!(": {cause}");
                source = cause.source();
            }
            // Nothing is left to tell it to if standard error is closed.
            let _ = writeln!(stderr(), "error: {}", quote::line(&message));
            ExitCode::from(if matches!(error, Error::Settings { .. }) { 2 } else { 1 })
        }
    }
}
