//! `ranksweep`: which loss, with which negative sampler, on which backbone, ranks best on this data, and is the difference real?

use clap::Parser;
use std::process::ExitCode;
use sweep::cli::{Cli, Command, exit, log_peak, start};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let global = &cli.global;
    let result = start(global).and_then(|()| match &cli.command {
        Command::Run(command) => command.run(global),
        Command::Plan(command) => command.run(global),
        Command::Prepare(command) => command.run(global),
        Command::Train(command) => command.run(global),
        Command::Evaluate(command) => command.run(global),
        Command::Report(command) => command.run(global),
        Command::Compare(command) => command.run(global),
        Command::Recommend(command) => command.run(global),
        Command::Render(command) => command.run(global),
        Command::Gc(command) => command.run(global),
        Command::Submit(command) => command.run(global),
        Command::Status(command) => command.run(global),
        Command::Logs(command) => command.run(global),
        Command::Cancel(command) => command.run(),
        Command::Drive(command) => command.run(),
        Command::Doctor(command) => command.run(global),
        Command::Theory(command) => command.run(global),
    });
    if result.is_ok() {
        log_peak();
    }
    exit(global.log_format, result)
}
