//! The thin program and Apache Ballista: `ranksweep` has none of it, and becomes `ranksweep-engine`, which is `ranksweep` with it, where a cluster is to
//! prepare. It stays the same process, with its streams and its exit code.

use pipeline::SessionContext;
use std::{
    env, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// The program that has Ballista.
const ENGINE: &str = "ranksweep-engine";

/// Becomes the program that has Ballista, and begins the same command anew; what is prepared already stays so.
///
/// # Errors
/// Why it cannot.
pub(super) fn to_the_engine(_url: &str, _patience: Duration) -> Result<SessionContext, String> {
    // What trains after it would not find the GPUs, and say nothing.
    if cfg!(feature = "cuda") && !env::args_os().any(|word| word == "prepare") {
        let advice = "prepare first, by `ranksweep prepare` with the same sweep file, --storage and --engine, and then run this again";
        return Err(format!("this build trains on GPUs, and {ENGINE} has none: {advice}"));
    }
    let beside = env::current_exe().ok().map(|own| own.with_file_name(ENGINE)).filter(|path| path.is_file());
    let program = beside.unwrap_or_else(|| PathBuf::from(ENGINE));
    Err(reason(&program, &Command::new(&program).args(env::args_os().skip(1)).exec()))
}

fn reason(program: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!(
            "the program {ENGINE}, which speaks to clusters, is neither beside ranksweep nor on PATH: build it with `cargo build --release --package engine`, \
             or take the container image, which has it"
        ),
        _ => format!("cannot start {}: {error}", program.display()),
    }
}
