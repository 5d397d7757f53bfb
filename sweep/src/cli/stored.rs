//! The evaluator's own flags, for `ranksweep evaluate` without a sweep file.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Id, parser::ValueSource};
use evaluator::command::Evaluate as Flags;

/// All of the evaluator's flags, where `--checkpoints` is given; with a sweep file, none may be, and one of them says that there is none.
#[derive(Debug)]
pub(super) struct EvaluatorArguments(pub(super) Option<Flags>);

impl Args for EvaluatorArguments {
    fn augment_args(command: Command) -> Command {
        let flags = Flags::augment_args(Command::new("flags"));
        let heading = "Options of stored checkpoints, without a sweep file";
        let tied = flags.get_arguments().cloned().map(|flag| match flag.get_id().as_str() {
            "checkpoints" => flag.help_heading(heading).required(false).requires("dataset").requires("out"),
            _ => flag.help_heading(heading).required(false).requires("checkpoints").conflicts_with("sweep"),
        });
        let names: Vec<Id> = flags.get_arguments().map(|flag| flag.get_id().clone()).collect();
        command.args(tied).mut_arg("sweep", |sweep| sweep.required_unless_present_any(names))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for EvaluatorArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        match matches.value_source("checkpoints") {
            Some(ValueSource::CommandLine) => Flags::from_arg_matches(matches).map(|flags| Self(Some(flags))),
            _ => Ok(Self(None)),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
