//! SIGTERM, SIGINT and the SIGHUP of a terminal that goes: leave soon, with exit code 75, and lose nothing.
//!
//! Whatever is written is written atomically, and markers come last: a process may end at any moment. Training alone is given time to
//! leave its state: while it holds on, a signal sets a flag that it looks at after each step, and only when it does not come to
//! an end by itself (a long evaluation, a closed form) the process ends without it. A second SIGINT ends it at once.
//!
//! The handlers are installed for process 1 of a container too, for which the system has no default ones.

use crate::log::{LogFormat, say};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ},
    iterator::Signals,
    low_level,
};
use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// The exit code.
pub const EXIT_CODE: u8 = 75;

/// How long training may take to leave; Kubernetes waits 30 s by default before it kills.
const GRACE: Duration = Duration::from_secs(8);

/// The last line where training did not come to a step within it.
const CUT_SHORT: &str = "interrupted, and ended before training came to a step; its last checkpoint is kept: \
    run the same command again to go on";

/// How long scratch folders may take to be removed.
const REMOVAL: Duration = Duration::from_secs(10);

static FLAG: AtomicBool = AtomicBool::new(false);
static LEAVING: AtomicBool = AtomicBool::new(false);
static HOLDS: Mutex<usize> = Mutex::new(0);

/// While it lives, a signal sets the flag and does not end the process at once.
pub(crate) struct Hold;

/// Holds on, until the guard is dropped, for a little longer after a signal.
pub(crate) fn hold() -> Hold {
    *HOLDS.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    Hold
}

impl Hold {
    /// Set once a signal has come.
    pub(crate) fn flag(&self) -> &'static AtomicBool {
        &FLAG
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        *HOLDS.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

/// Whether a signal has come.
pub(crate) fn has_come() -> bool {
    FLAG.load(Ordering::Relaxed)
}

/// Listens for signals from now on.
///
/// # Errors
/// When the operating system refuses the handlers.
pub fn listen(format: LogFormat) -> io::Result<()> {
    outlive_file_size_limit()?;
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    if !ignores_hangup() {
        signals.add_signal(SIGHUP)?;
    }
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let is_second = FLAG.swap(true, Ordering::Relaxed);
            if *HOLDS.lock().unwrap_or_else(PoisonError::into_inner) == 0 || (is_second && signal == SIGINT) {
                leave(format, "interrupted; what was finished is kept: run the same command again to go on");
            }
            if !is_second {
                tracing::info!("interrupted: training stops after this step (Ctrl-C ends it at once)");
                let later = move || {
                    thread::sleep(GRACE);
                    leave(format, CUT_SHORT);
                };
                if thread::Builder::new().spawn(later).is_err() {
                    leave(format, CUT_SHORT);
                }
            }
        }
    })?;
    Ok(())
}

/// Interrupts this process when its standard input ends.
///
/// # Errors
/// When the operating system gives no thread.
pub(crate) fn stop_with_stdin() -> io::Result<()> {
    let watch = || {
        // An input that fails has ended too.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = low_level::raise(SIGTERM);
    };
    thread::Builder::new().name("stdin".to_owned()).spawn(watch).map(drop)
}

/// Whether the process outlives its terminal, as under `nohup`, or nothing can be known of that.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & 1 << (SIGHUP - 1) != 0)
}

/// Makes a write beyond the system's limit for a file's size an error of that write, by which the process would end otherwise.
///
/// # Errors
/// When the operating system refuses the handler.
pub fn outlive_file_size_limit() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Waits for the end where the process is being ended: what fails by that is not said.
pub(crate) fn wait_where_leaving() {
    while LEAVING.load(Ordering::Relaxed) {
        thread::park();
    }
}

/// Ends the process as it is, without waiting for its threads, once what they stored for themselves alone is removed; the message is
/// the last line, whatever they would still say.
fn leave(format: LogFormat, message: &str) -> ! {
    LEAVING.store(true, Ordering::Relaxed);
    let (removed, end) = mpsc::channel();
    let remove = move || {
        pipeline::remove_scratch_folders();
        let _ = removed.send(()); // nobody waits any longer
    };
    if thread::Builder::new().spawn(remove).is_ok() {
        let _ = end.recv_timeout(REMOVAL); // what is left then stays
    }
    let _others_wait = io::stderr().lock();
    say(format, message);
    low_level::exit(EXIT_CODE.into())
}
