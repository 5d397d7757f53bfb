//! Inputs are read in a process of their own, which tells the number of each before it begins: what ends it, or holds it up, is known by its number.

use std::{
    io::{BufRead, BufReader, Write, stdout},
    ops::Range,
    process::{Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// The variable that says how many inputs are read, or which.
const INPUTS: &str = "RANKSWEEP_FUZZ";
/// The variable that makes a process read inputs.
const READER: &str = "RANKSWEEP_FUZZ_READER";
/// Inputs unless the variable says otherwise.
const FEW: u64 = 1_000;
/// The longest that one input may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// KiB that the process may ever hold.
const MOST_MEMORY: u64 = 2 << 20;

/// Reads one input, by its number.
pub(crate) type Reader = Box<dyn FnMut(u64)>;

/// Has another process read all inputs of the test with this name; in that process, reads them.
pub(crate) fn run(test: &str, reader: fn() -> Reader) {
    let inputs = inputs();
    if std::env::var_os(READER).is_some() {
        return read(inputs, reader());
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(READER, "1").env(INPUTS, format!("{}..{}", inputs.start, inputs.end));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let (sender, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut last = None;
    loop {
        // What all inputs have in common is made before the first.
        let patience = if last.is_some() { PATIENCE } else { 6 * PATIENCE };
        match lines.recv_timeout(patience) {
            Ok(line) => last = number(&line).or(last),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                panic!("{test}: input {last:?} takes more than {} s", patience.as_secs());
            }
        }
    }
    let status = child.wait().unwrap();
    assert!(status.success(), "{test}: {status} at input {last:?} ({INPUTS}=N..M reads it again)");
    assert_eq!(last, Some(inputs.end - 1), "{test}");
}

/// `input 17`
fn number(line: &str) -> Option<u64> {
    line.strip_prefix("input ")?.parse().ok()
}

fn read(inputs: Range<u64>, mut reader: Reader) {
    dataset::panics::keep_quiet();
    for input in inputs {
        writeln!(stdout().lock(), "\ninput {input}").unwrap();
        if let Err(panic) = dataset::panics::caught(|| reader(input)) {
            panic!("input {input}: {panic}: {}", dataset::panics::last());
        }
        let peak = peak();
        assert!(peak < MOST_MEMORY, "input {input}: the process held {peak} KiB");
    }
}

/// The most KiB that this process held at once; 0 where the system does not tell.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or_default()
}

/// `10000`, or `812..813`.
fn inputs() -> Range<u64> {
    let Ok(text) = std::env::var(INPUTS) else { return 0..FEW };
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{INPUTS} is `{text}`: expected N or N..M"));
    match text.split_once("..") {
        Some((start, end)) => number(start)..number(end),
        None => 0..number(&text),
    }
}
