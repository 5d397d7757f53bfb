//! `ranksweep`: which loss, with which negative sampler, on which backbone, ranks best on this data, and is the difference real?

use clap::Parser;
use std::process::ExitCode;
use sweep::{
    allocator::Refusing,
    cli::{Cli, ended},
};

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn main() -> ExitCode {
    let Cli { global, command } = Cli::parse();
    ended(&global, || command.run(&global))
}
