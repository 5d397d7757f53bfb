//! A scheduler and executors as processes, and the program that asks them.

use std::{
    fs::File,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicU16, Ordering},
};
use tempfile::TempDir;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_ranksweep-engine");
/// Seconds of silence after which an executor is lost, so that tests are not long.
const LOST_AFTER: &str = "3";

/// What processes find on their machine.
#[derive(Default)]
pub(crate) struct Machine {
    /// The S3 server that they use, as `http://host:port`.
    pub store: Option<String>,
    /// The blocks of 512 bytes that a file may have, beyond which a write fails as on a full disk.
    pub blocks: Option<u32>,
}

/// A cluster on this machine. Its processes end with it, and their logs stand in its folder.
pub(crate) struct Cluster {
    url: String,
    port: u16,
    machine: Machine,
    folder: TempDir,
    scheduler: Process,
    pub executors: Vec<Process>,
}

impl Cluster {
    /// Starts a scheduler with so many executors of one core each.
    pub(crate) fn start(executors: usize) -> Self {
        Self::start_on(Machine::default(), executors)
    }

    /// The same on such a machine.
    pub(crate) fn start_on(machine: Machine, executors: usize) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let scheduler = scheduler(folder.path(), port, &machine);
        let url = format!("df://127.0.0.1:{port}?partitions=3&step_seconds=20");
        let executors = (0..executors).map(|number| executor(folder.path(), port, number, &machine)).collect();
        Self { url, port, machine, folder, scheduler, executors }
    }

    /// The flags by which it prepares, and waits for it so many seconds.
    pub(crate) fn flags<'a>(&'a self, patience: &'a str) -> [&'a str; 4] {
        ["--engine", &self.url, "--storage-patience", patience]
    }

    /// The scheduler's address for executors.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Kills the scheduler, and starts it again at its port.
    pub(crate) fn restart_scheduler(&mut self) {
        self.scheduler.kill();
        self.scheduler = scheduler(self.folder.path(), self.port, &self.machine);
    }

    /// What all processes have logged.
    pub(crate) fn logs(&self) -> String {
        let mut files: Vec<PathBuf> = self.folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
        files.iter().map(|path| format!("--- {}\n{}", path.display(), std::fs::read_to_string(path).unwrap())).collect()
    }
}

/// A process that ends with its guard.
pub(crate) struct Process(Child);

impl Process {
    /// Ends it as a lost node does.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits for its end.
    pub(crate) fn output(mut self) -> Output {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        std::io::Read::read_to_end(self.0.stdout.as_mut().unwrap(), &mut stdout).unwrap();
        std::io::Read::read_to_end(self.0.stderr.as_mut().unwrap(), &mut stderr).unwrap();
        Output { status: self.0.wait().unwrap(), stdout, stderr }
    }

    /// Whether it has not ended.
    pub(crate) fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program, within the machine's limits and with the credentials of its S3 server.
fn program(machine: &Machine) -> Command {
    let mut command = match machine.blocks {
        Some(blocks) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("ulimit -f {blocks} && exec \"$0\" \"$@\""), PROGRAM]);
            shell
        }
        None => Command::new(PROGRAM),
    };
    if let Some(server) = &machine.store {
        command.env("AWS_ENDPOINT_URL", server).env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
    }
    command
}

fn scheduler(folder: &Path, port: u16, machine: &Machine) -> Process {
    let listen = format!("127.0.0.1:{port}");
    serve(folder, machine, "scheduler", &["--listen", &listen, "--executor-timeout", LOST_AFTER])
}

fn executor(folder: &Path, scheduler: u16, number: usize, machine: &Machine) -> Process {
    let (url, port) = (format!("df://127.0.0.1:{scheduler}"), free_ports(2).to_string());
    let scratch = folder.join(format!("executor-{number}"));
    std::fs::create_dir(&scratch).unwrap();
    let flags =
        ["--scheduler", &url, "--listen", "127.0.0.1", "--host", "127.0.0.1", "--port", &port, "--heartbeat", "1", "--threads", "1"];
    serve(folder, machine, "executor", &[&flags[..], &["--memory", "256MiB", "--scratch", &scratch.display().to_string()]].concat())
}

fn serve(folder: &Path, machine: &Machine, what: &str, flags: &[&str]) -> Process {
    let log = (0..).map(|number| folder.join(format!("{what}-{number}.log"))).find(|path| !path.exists()).unwrap();
    let log = File::create(log).unwrap();
    let command = &mut program(machine);
    Process(command.arg(what).args(flags).stdout(Stdio::null()).stderr(log).spawn().unwrap())
}

/// Starts preparing a sweep by an engine.
pub(crate) fn preparing(sweep: &Path, storage: &str, machine: &Machine, flags: &[&str]) -> Process {
    let command = &mut program(machine);
    command.arg("prepare").arg(sweep).args(["--storage", storage, "--threads", "2"]).args(flags);
    Process(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// Starts a pod of a preparation with executors: of index 0 one that prepares, of others an executor.
pub(crate) fn pod(index: u32, scheduler: u16, sweep: &Path, storage: &str) -> Process {
    let (index, url) = (index.to_string(), format!("df://127.0.0.1:{scheduler}?partitions=3"));
    let (command, port) = (&mut program(&Machine::default()), free_ports(2).to_string());
    command.args(["gang", "--index", &index, "--scheduler", &url, "--port", &port, "--", "prepare"]).arg(sweep);
    command.args(["--storage", storage, "--storage-patience", "60", "--threads", "1", "--memory", "64MiB"]);
    command.env("TMPDIR", sweep.parent().unwrap()); // what it shuffles goes with the test
    Process(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// A port that nobody listens at.
pub(crate) fn free_port() -> u16 {
    free_ports(1)
}

/// The first of so many ports in a row that are free: below those that the system gives to clients, and for no other test.
fn free_ports(count: u16) -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let own = 20_000 + (std::process::id() * 64 % 12_000) as u16;
    let is_free = |first: &u16| (*first..first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
    (0..100).map(|_| own + NEXT.fetch_add(count, Ordering::Relaxed)).find(is_free).unwrap()
}
