//! `ranksweep completions SHELL`

use super::{Cli, Ending, Global, output};
use anyhow::{Context, Result};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

/// The script by which a shell completes the command line.
#[derive(Debug, Args)]
#[command(
    after_help = "bash reads it from ~/.local/share/bash-completion/completions/ranksweep, fish from ~/.config/fish/completions/ranksweep.fish, \
                        and zsh from _ranksweep in a folder of its fpath."
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    ///
    /// # Errors
    /// When standard output takes no text.
    pub fn run(&self) -> Result<Ending> {
        output::print_exact(&script(self.shell)?)?;
        Ok(Ending::Done)
    }
}

/// The script, without commands that are no person's.
fn script(shell: Shell) -> Result<String> {
    let all = Cli::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let named = Command::new("ranksweep").version(env!("CARGO_PKG_VERSION")).propagate_version(true).subcommands(shown);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Global::augment_args(named), "ranksweep", &mut script);
    String::from_utf8(script).context("the script of completions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_help_shows_is_completed() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell).unwrap();
            let words: Vec<&str> = script.split(|letter: char| !letter.is_alphanumeric()).collect();
            for command in Cli::command().get_subcommands() {
                assert_eq!(words.contains(&command.get_name()), !command.is_hide_set(), "{shell}: {}", command.get_name());
            }
            assert!(script.contains("memory") && script.contains("markdown"), "{shell}");
        }
    }
}
