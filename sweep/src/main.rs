//! `ranksweep`: which loss, with which negative sampler, on which backbone, ranks best on this data, and is the difference real?

use clap::Parser;
use dataset::panics;
use std::process::ExitCode;
use sweep::{
    allocator::Refusing,
    cli::{Cli, Command, Ending, exit, log_peak, start},
};

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn main() -> ExitCode {
    let cli = Cli::parse();
    panics::keep_quiet();
    let result =
        panics::caught(|| run(&cli)).unwrap_or_else(|_| Err(anyhow::anyhow!("this is a mistake of ranksweep: {}", panics::last())));
    if result.is_ok() {
        log_peak();
    }
    exit(cli.global.log_format, result)
}

fn run(cli: &Cli) -> anyhow::Result<Ending> {
    let global = &cli.global;
    start(global).and_then(|()| match &cli.command {
        Command::Init(command) => command.run(),
        Command::Run(command) => command.run(global),
        Command::Plan(command) => command.run(global),
        Command::Prepare(command) => command.run(global),
        Command::Train(command) => command.run(global),
        Command::Evaluate(command) => command.run(global),
        Command::Report(command) => command.run(global),
        Command::Compare(command) => command.run(global),
        Command::Diff(command) => command.run(global),
        Command::Groups(command) => command.run(global),
        Command::Refit(command) => command.run(global),
        Command::Recommend(command) => command.run(global),
        Command::Export(command) => command.run(global),
        Command::Render(command) => command.run(global),
        Command::Gc(command) => command.run(global),
        Command::Submit(command) => command.run(global),
        Command::Status(command) => command.run(global),
        Command::List(command) => command.run(global),
        Command::Logs(command) => command.run(global),
        Command::Cancel(command) => command.run(),
        Command::Drive(command) => command.run(),
        Command::Doctor(command) => command.run(global),
        Command::Theory(command) => command.run(global),
        Command::Kinds(command) => command.run(),
        Command::Schema(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    })
}
