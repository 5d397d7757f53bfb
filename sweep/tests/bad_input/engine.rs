//! The thin program, asked for a cluster.

use crate::support::{SWEEP, Sandbox};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// A folder with the program alone.
fn alone() -> (tempfile::TempDir, PathBuf) {
    let own = Path::new(env!("CARGO_BIN_EXE_ranksweep"));
    // Beside the program, so that it is the same file system.
    let folder = tempfile::tempdir_in(own.parent().unwrap()).unwrap();
    let program = folder.path().join("ranksweep");
    fs::hard_link(own, &program).unwrap();
    (folder, program)
}

fn preparing(sandbox: &Sandbox, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["prepare", "s.yaml", "--engine", "df://host:50050", "--threads", "1"]).current_dir(sandbox.path(""));
    command.env_remove("RUST_LOG").env_remove("TMPDIR").env("PATH", "");
    command
}

#[test]
fn a_cluster_takes_the_program_that_has_ballista() {
    let (sandbox, (folder, program)) = (Sandbox::new(SWEEP), alone());
    let message = sandbox.ended(&mut preparing(&sandbox, &program)).complaint(1).to_owned();
    assert!(
        message.contains(
            "cluster df://host:50050: the program ranksweep-engine, which speaks to clusters, is neither beside ranksweep nor on PATH"
        ),
        "{message}"
    );
    assert!(sandbox.markers().is_empty());
    let engine = folder.path().join("ranksweep-engine");
    fs::write(&engine, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let ended = sandbox.ended(&mut preparing(&sandbox, &program));
    assert_eq!((ended.code, ended.out.as_str()), (Some(7), "prepare s.yaml --engine df://host:50050 --threads 1\n"), "{}", ended.error);
}

#[test]
fn an_engine_that_is_none_is_a_wrong_command_line() {
    let sandbox = Sandbox::new(SWEEP);
    let ended = sandbox.ended(&mut sandbox.command(&["prepare", "s.yaml", "--engine", "spark"]));
    assert_eq!(ended.code, Some(2));
    assert!(ended.error.contains("unknown engine `spark`: expected memory, datafusion, or the URL of a scheduler"), "{}", ended.error);
}
