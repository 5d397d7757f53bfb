//! Inputs that were made to do harm: the files of `tests/hostile`, and larger ones made here. Each ends soon, in little memory, with one visible line.

use crate::support::{Ended, SWEEP, Sandbox, changed};
use std::{
    io::{Read, Write},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

/// Seconds that a refusal may take, on a busy machine and without optimisation, before it counts as none; a second is what it takes a user.
const PATIENCE: &str = "30";
/// MiB that a refusal may take.
const MOST_MEMORY: u64 = 200;

/// A file of `tests/hostile`.
fn hostile(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile").join(name)).unwrap()
}

/// Has the program end by itself, with nothing on its streams that a terminal would obey.
fn ended(sandbox: &Sandbox, command: &mut Command) -> Ended {
    watched(sandbox, command).0
}

/// The same, and the MiB that the program held at most.
#[allow(clippy::zombie_processes, reason = "`waited` waits for it, by the call that tells its memory too")]
fn watched(sandbox: &Sandbox, command: &mut Command) -> (Ended, u64) {
    let mut bounded = Command::new("timeout");
    bounded.arg(PATIENCE).arg(command.get_program()).args(command.get_args()).current_dir(sandbox.path("")).stdin(Stdio::null());
    bounded.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).env_remove("RUST_LOG");
    let mut child = bounded.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut error) = (Vec::new(), Vec::new());
    let mut streams = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| streams.0.read_to_end(&mut out).unwrap());
        streams.1.read_to_end(&mut error).unwrap();
    });
    let (status, peak) = waited(child.id());
    let ended = Ended { code: status.code(), out: sandbox.shown(&out), error: sandbox.shown(&error) };
    let shown = ended.error.chars().chain(ended.out.chars());
    assert!(shown.clone().all(|letter| letter == '\n' || letter == '\t' || !dataset::quote::is_hidden(letter)), "{}", ended.error);
    assert!(shown.count() < 1 << 16);
    (ended, peak)
}

/// How a child ended, and the MiB that it or a child of its held at most.
#[allow(unsafe_code)]
fn waited(child: u32) -> (ExitStatus, u64) {
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both places are valid, zeros are a value of both, and nobody else waits for this child.
    let usage = unsafe {
        assert_eq!(libc::wait4(child as libc::pid_t, &mut status, 0, usage.as_mut_ptr()), child as libc::pid_t);
        usage.assume_init()
    };
    let unit = if cfg!(target_os = "macos") { 1 << 20 } else { 1 << 10 };
    (ExitStatus::from_raw(status), usage.ru_maxrss as u64 / unit)
}

/// A sweep file that is refused with a message that has this in it.
fn refused(name: &str, content: &[u8], message: &str) {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.write("s.yaml", content);
    let (ended, peak) = watched(&sandbox, &mut sandbox.command(&["plan", "s.yaml"]));
    let complaint = ended.complaint(2);
    assert!(complaint.contains(message) && complaint.len() < 4_000, "{name}: {complaint}");
    assert!(peak < MOST_MEMORY, "{name}: {peak} MiB");
}

#[test]
fn sweep_files_made_to_do_harm_are_refused() {
    let cases = [
        ("escapes.yaml", "s.yaml:1:7: name: `x\\u{1b}]0;title\\u{7}\\u{202e}txt` cannot name the sweep's folder"),
        ("keys_with_escapes.yaml", "k\\u{1b}[31m\\u{9b}2J\\u{2066}: unknown key `k\\u{1b}[31m\\u{9b}2J\\u{2066}`"),
        ("aliases.yaml", "more than 100000 values in one sweep file"),
        ("deep.yaml", "more than 64 lists and mappings inside of each other"),
        ("deep_blocks.yaml", "more than 64 lists and mappings inside of each other"),
        ("anchor_in_itself.yaml", "the alias stands inside its own anchor"),
        ("combinations.yaml", "more than 100000 combinations of listed values in one sweep file"),
        ("methods.yaml", "more than 1000 methods; list fewer"),
        ("binary_tag.yaml", "has no meaning in a sweep file"),
        ("nul.yaml", "s.yaml:1:"),
        ("bom.yaml", "stream did not contain valid UTF-8"),
        ("items.yaml", "`items`"),
        ("topics.yaml", "`dim`"),
        ("users.yaml", "`users`"),
    ];
    for (name, message) in cases {
        refused(name, &hostile(name), message);
    }
}

#[test]
fn sweep_files_of_any_size_are_refused_soon() {
    let keys: String = (0..99_000).map(|key| format!("k{key}: 1\n")).collect();
    refused("keys", keys.as_bytes(), "unknown key `k0`");
    let items = changed("temperature: 0.2", &format!("temperature: [{}]", (1..90_000).map(|item| format!("{item}, ")).collect::<String>()));
    refused("items", items.as_bytes(), "more than 10000 combinations");
    let aliases = format!("a: &a {}\nb: [{}1]\n", "x".repeat(60_000), "*a, ".repeat(90_000));
    refused("aliases", aliases.as_bytes(), "MiB of values in one sweep file, with every alias written out");
    refused("scalar", format!("name: {}\n", "x".repeat(1 << 20)).as_bytes(), "a text of 1048576 bytes; at most 65536 are taken");
    refused("size", "# comment\n".repeat(1 << 20).as_bytes(), "it has more than 2 MiB");
    let keys_of_one =
        changed("{kind: bpr}", &format!("{{kind: bpr, {}}}", (0..9_000).map(|key| format!("k{key}: [1, 2], ")).collect::<String>()));
    refused("keys of a kind", keys_of_one.as_bytes(), "combinations of listed values");
}

#[test]
fn a_device_as_sweep_file_is_not_read_without_end() {
    let sandbox = Sandbox::new(SWEEP);
    for device in ["/dev/zero", "/dev/urandom"] {
        let (ended, peak) = watched(&sandbox, &mut sandbox.command(&["plan", device]));
        assert!(
            ended.complaint(2).starts_with(&format!("cannot read the sweep file `{device}`: it has more than 2 MiB")),
            "{}",
            ended.error
        );
        assert!(peak < MOST_MEMORY, "{device}: {peak} MiB");
    }
}

#[test]
fn data_that_speaks_to_the_terminal_is_shown_and_not_obeyed() {
    let cases = [
        ("escapes.csv", "ratings.csv line 2: column `rating`: `\\u{1b}[31m4\\u{7}` is not a number"),
        ("bidirectional.csv", "ratings.csv line 2: column `rating`: `\\u{202e}4\\u{2066}` is not a number"),
        ("escapes_in_header.csv", "its 4 columns are `user`, `\\u{1b}]0;x\\u{7}item`, `rating`, `time`"),
        ("archive.csv", "ratings.csv: it is no whole zip archive"),
    ];
    let sandbox = Sandbox::new(SWEEP);
    for (name, message) in cases {
        sandbox.write("ratings.csv", hostile(name));
        let ended = ended(&sandbox, &mut sandbox.command(&["prepare", "s.yaml"]));
        let complaint = ended.complaint(if name == "escapes_in_header.csv" { 2 } else { 1 });
        assert!(complaint.contains(message) && complaint.len() < 2_500, "{name}: {complaint}");
    }
}

/// How text is packed.
type Pack = fn(&[u8]) -> Vec<u8>;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(9));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(text, 9).unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// 256 MB of equal rows, packed in 25 pieces one after the other.
#[test]
fn a_compressed_file_that_grows_without_measure_is_refused_in_little_memory() {
    let (header, rows) = (b"user,item,rating,time\n", b"u1,i1,4,1\n".repeat(1_024_000));
    for (name, pack) in [("ratings.csv.gz", gzip as Pack), ("ratings.csv.zst", zstd), ("ratings.csv.bz2", bzip2)] {
        let sandbox = Sandbox::new(&changed("ratings.csv", name));
        sandbox.write(name, [pack(header), pack(&rows).repeat(25)].concat());
        let (planned, peak) = watched(&sandbox, &mut sandbox.command(&["plan", "s.yaml"]));
        assert_eq!(planned.code, Some(0), "{}", planned.error);
        assert!(peak < MOST_MEMORY, "{name}: {peak} MiB");
        let (refused, peak) = watched(&sandbox, &mut sandbox.command(&["prepare", "s.yaml"]));
        let complaint = refused.complaint(1);
        assert!(complaint.starts_with(&format!("dataset `small`: cannot read FOLDER/{name} after line ")), "{complaint}");
        assert!(
            complaint.contains("decompress it first") && complaint.contains("it expands to more than 250 times its size"),
            "{complaint}"
        );
        assert!(peak < MOST_MEMORY, "{name}: {peak} MiB");
    }
}

#[test]
fn lines_without_end_are_refused_in_little_memory() {
    let sandbox = Sandbox::new(SWEEP);
    let endless = |path: &str| std::fs::File::create(sandbox.path(path)).unwrap().set_len(1 << 30).unwrap();
    endless("ratings.csv");
    let refused = || {
        let (ended, peak) = watched(&sandbox, &mut sandbox.command(&["plan", "s.yaml"]));
        assert!(ended.complaint(1).contains("ratings.csv line 1: the line is longer than 16777216 bytes"), "{}", ended.error);
        assert!(peak < MOST_MEMORY, "{peak} MiB");
    };
    refused();
    let start = SWEEP.find("{format: delimited").unwrap();
    let end = SWEEP.find("grid:").unwrap();
    let given = "{format: adjacency, train: ratings.csv, test: ratings.csv}\n    split: {kind: given, validation: 0.1}\n";
    sandbox.write("s.yaml", format!("{}{given}{}", &SWEEP[..start], &SWEEP[end..]));
    refused();
}

#[test]
fn a_source_that_is_no_file_is_refused() {
    let sandbox = Sandbox::new(SWEEP);
    for device in ["/dev/zero", "/dev/stdin"] {
        sandbox.write("s.yaml", changed("ratings.csv", device));
        let ended = ended(&sandbox, &mut sandbox.command(&["plan", "s.yaml"]));
        let complaint = ended.complaint(1);
        assert!(complaint.contains("is a pipe or a device, expected a file"), "{device}: {complaint}");
    }
}

#[test]
fn limits_of_the_system_are_named() {
    let large = SWEEP.replace(
        "{format: delimited, path: ratings.csv, columns: {user: user, item: item, rating: rating, timestamp: time}}",
        "{format: synthetic, users: 40, items: 2000000, interactions: 400, dim: 128}",
    );
    let cases = [
        (SWEEP, "-n 8", "at most 8 files may be open at a time (ulimit -n): at least 64 are needed"),
        (SWEEP, "-v 500000", "the process may have 488 MiB of addresses (ulimit -v): at least "),
        (SWEEP, "-f 1", "File too large (os error 27); raise the limit of a file's size (ulimit -f), or store elsewhere"),
        (&large, "-v 1700000", "the system gives no more memory, and "),
    ];
    for (sweep, limit, message) in cases {
        let sandbox = Sandbox::new(sweep);
        let program = env!("CARGO_BIN_EXE_ranksweep");
        let script = format!("ulimit {limit}; exec {program} run s.yaml --threads 2");
        let ended = ended(&sandbox, Command::new("sh").args(["-c", &script]));
        let complaint = ended.complaint(1);
        assert!(complaint.contains(message), "{limit}: {complaint}");
    }
}

#[test]
fn more_threads_than_a_machine_has_use_for_are_refused() {
    let sandbox = Sandbox::new(SWEEP);
    let refused = ended(&sandbox, &mut sandbox.command(&["plan", "s.yaml", "--threads", "65535"]));
    assert_eq!(refused.code, Some(2));
    assert!(refused.error.contains("65535 is not in 1..="), "{}", refused.error);
    let bounded = ended(&sandbox, sandbox.command(&["plan", "s.yaml", "--threads", "64"]).env("RAYON_NUM_THREADS", "60000"));
    assert_eq!(bounded.code, Some(0), "{}", bounded.error);
}

#[test]
fn lists_that_cannot_be_written_where_processes_are_end_at_once() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let ended = ended(&sandbox, &mut sandbox.command(&["recommend", "s.yaml", "--out", "/proc/x"]));
    assert_eq!(ended.complaint(1), "cannot write /proc/x: no file can be created there; use another path");
}
