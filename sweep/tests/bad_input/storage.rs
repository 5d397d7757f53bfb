//! Storage that is full, read-only or closed.

use crate::{
    data::fails_on,
    support::{SWEEP, Sandbox, changed, ratings},
};
use std::{
    fs::Permissions,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::PathBuf,
    process::{Command, Stdio},
};

/// A small file system of its own, where this process may mount one.
struct Mount(PathBuf);

impl Mount {
    fn new(folder: PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir(&folder).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "ranksweep"]).arg(&folder).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        skip("this process may not mount file systems");
        None
    }

    fn change(&self, options: &str) {
        assert!(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

#[test]
fn a_disk_that_fills_up_anywhere_is_named_and_spoils_nothing() {
    let undisturbed = Sandbox::new(SWEEP);
    undisturbed.run_well();
    for size in [4, 16, 24, 40, 64, 96, 128] {
        let sandbox = Sandbox::new(SWEEP);
        let Some(disk) = Mount::new(sandbox.path("runs"), &format!("size={size}k")) else { return };
        let ended = sandbox.run();
        let complaint = ended.complaint(1);
        assert!(complaint.contains("cannot write FOLDER/runs/"), "{size}: {complaint}");
        let remedy = "No space left on device (os error 28); free some space there, or store elsewhere";
        assert!(complaint.ends_with(remedy), "{size}: {complaint}");
        assert_eq!(complaint.matches("No space left").count(), 1, "{complaint}");
        disk.change("size=64m");
        sandbox.run_well();
        assert!(sandbox.results() == undisturbed.results(), "{size} KiB");
        assert_eq!(sandbox.stored("#1"), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_finished_sweep_is_shown_from_a_disk_that_cannot_be_written() {
    let sandbox = Sandbox::new(SWEEP);
    let Some(disk) = Mount::new(sandbox.path("runs"), "size=64m") else { return };
    let finished = sandbox.run_well();
    let whole = sandbox.results();
    disk.change("ro");
    for command in ["run", "report", "plan"] {
        let ended = sandbox.ended(&mut sandbox.command(&[command, "s.yaml"]));
        assert_eq!(ended.code, Some(0), "{}", ended.error);
        assert!(command == "plan" || ended.out == finished.out, "{}", ended.out);
    }
    assert!(sandbox.results() == whole);
    sandbox.write("s.yaml", changed("resamples: 1000", "resamples: 2000"));
    let complaint = sandbox.run();
    assert!(complaint.complaint(1).ends_with("make it writable, or store elsewhere"), "{}", complaint.error);
}

#[test]
fn a_storage_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::new(SWEEP);
    if let Some(disk) = Mount::new(sandbox.path("runs"), "size=64m") {
        disk.change("ro");
        let ended = sandbox.run();
        let complaint = ended.complaint(1);
        assert!(complaint.starts_with("cannot write FOLDER/runs/ranksweep.json: "), "{complaint}");
        assert!(complaint.ends_with("Read-only file system (os error 30); make it writable, or store elsewhere"), "{complaint}");
        disk.change("rw");
        sandbox.run_well();
    }
    let blocked = Sandbox::new(SWEEP);
    blocked.write("runs", "a file, not a folder");
    let remedy = "Not a directory (os error 20); a file stands where a folder is expected: remove it, or use another path";
    fails_on(&blocked, &["cannot read FOLDER/runs/ranksweep.json: ", remedy]);
    std::fs::remove_file(blocked.path("runs")).unwrap();
    blocked.run_well();
}

#[test]
fn a_scratch_folder_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::new(&changed("timestamp: time}", "timestamp: time}, on_bad_row: skip"));
    let run = || sandbox.ended(sandbox.command(&["run", "s.yaml"]).env("TMPDIR", sandbox.path("scratch")));
    sandbox.write("scratch", "a file, not a folder");
    let ended = run();
    let message = "dataset `small`: cannot write in the scratch folder FOLDER/scratch (set TMPDIR for another one): ";
    assert!(ended.complaint(1).starts_with(message), "{}", ended.error);
    std::fs::remove_file(sandbox.path("scratch")).unwrap();
    if let Some(_disk) = Mount::new(sandbox.path("scratch"), "size=8k") {
        sandbox.write("ratings.csv", ratings() + &"u1,i3,4\n".repeat(2_000));
        let ended = run();
        let complaint = ended.complaint(1);
        assert!(complaint.starts_with(message) && complaint.contains("No space left on device (os error 28)"), "{complaint}");
        assert_eq!(sandbox.markers(), Vec::<PathBuf>::new());
    }
    sandbox.run_well();
}

#[test]
fn a_missing_permission_is_named() {
    let sandbox = Sandbox::new(SWEEP);
    std::fs::create_dir(sandbox.path("runs")).unwrap();
    let permit = |name: &str, mode: u32| std::fs::set_permissions(sandbox.path(name), Permissions::from_mode(mode)).unwrap();
    let run = || {
        let mut command = sandbox.command(&["run", "s.yaml"]);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    permit("", 0o755);
    permit("runs", 0o555);
    if run().arg("--version").stdout(Stdio::null()).status().is_err() {
        return skip("another user cannot start the binary");
    }
    let denied = "Permission denied (os error 13); give the user that runs this the permission, or use another path";
    let ended = sandbox.ended(&mut run());
    let complaint = ended.complaint(1);
    assert!(complaint.starts_with("cannot write FOLDER/runs/ranksweep.json: ") && complaint.ends_with(denied), "{complaint}");
    permit("ratings.csv", 0o000);
    let ended = sandbox.ended(&mut run());
    assert_eq!(ended.complaint(1), format!("s.yaml:3:5: dataset `small`: cannot read FOLDER/ratings.csv: {denied}"));
    assert_eq!(sandbox.markers(), Vec::<PathBuf>::new());
    permit("ratings.csv", 0o644);
    permit("runs", 0o777);
    assert_eq!(sandbox.ended(&mut run()).code, Some(0));
}

/// The user without any rights of their own.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

#[test]
fn a_full_standard_output_is_no_success() {
    let Ok(full) = std::fs::File::create("/dev/full") else { return skip("this system has no /dev/full") };
    let sandbox = Sandbox::new(SWEEP);
    let ended = sandbox.command(&["plan", "s.yaml"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    let error = "error: cannot write the result to standard output: No space left on device (os error 28)\n";
    assert_eq!((ended.status.code(), std::str::from_utf8(&ended.stderr).unwrap()), (Some(1), error));
}

#[test]
fn a_storage_that_is_mistyped_is_refused_before_anything_is_made_there() {
    let sandbox = Sandbox::new(SWEEP);
    for (typed, reason) in [
        (" ./runs", "--storage: ` ./runs`: expected a folder or a URL without blanks around it"),
        (
            "s3://bucket/runs?sig=secret",
            "--storage: `s3://bucket/runs?***`: no storage has a query (`?`); credentials come from the environment",
        ),
    ] {
        let ended = sandbox.ended(&mut sandbox.command(&["run", "s.yaml", "--storage", typed]));
        assert_eq!(ended.complaint(2), reason);
    }
    sandbox.write("s.yaml", format!("storage: \"runs \"\n{SWEEP}"));
    assert!(sandbox.run().complaint(2).contains("storage: `runs `: expected a folder or a URL without blanks"), "of the file");
    assert!(!sandbox.path("runs").exists());
}

/// Secrets and addresses as files and shells have them: what was meant is taken, and what cannot be is named without its value.
#[test]
fn variables_of_a_store_that_cannot_be_are_named() {
    let sandbox = Sandbox::new(SWEEP);
    let run = |name: &str, value: &str| {
        let mut command = sandbox.command(&["run", "s.yaml", "--storage", "s3://bucket/runs", "--storage-patience", "1"]);
        sandbox.ended(
            command
                .env("AWS_ACCESS_KEY_ID", "key")
                .env("AWS_SECRET_ACCESS_KEY", "secret")
                .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
                .env(name, value),
        )
    };
    assert!(
        run("AWS_ENDPOINT_URL", "minio:9000")
            .complaint(2)
            .contains("the environment variable AWS_ENDPOINT_URL is no address: expected one")
    );
    let token = run("AWS_SESSION_TOKEN", "hunter2\nhunter3");
    assert!(
        token.complaint(2).contains("the environment variable AWS_SESSION_TOKEN has an end of line") && !token.error.contains("hunter2")
    );
    // A line's end is no part of a key: what fails is the connection.
    assert!(run("AWS_ACCESS_KEY_ID", "key\n").complaint(1).contains("no connection to http://127.0.0.1:9"));
}
