//! What Prometheus reads of a driver and of a pod that trains.

use crate::{fake::Act, setting::Setting, support::changed};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

/// A process that serves its page until it is dropped.
struct Served {
    process: Child,
    address: String,
}

impl Served {
    /// Starts a command, and waits until it says where its page is.
    fn start(setting: &Setting, line: &str) -> Self {
        let mut command = setting.command(&format!("{line} --metrics-address 127.0.0.1:0"));
        let mut process = command.env("RUST_LOG", "sweep=debug").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("metrics for Prometheus")).unwrap();
        let address = line.split("address=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address }
    }

    /// The page as soon as it has a line that begins so.
    fn page(&self, begins: &str) -> String {
        let late = Instant::now() + Duration::from_secs(120);
        loop {
            let mut stream = TcpStream::connect(&self.address).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            let (head, page) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-type: text/plain; version=0.0.4"), "{head}");
            if page.lines().any(|line| line.starts_with(begins)) {
                return page.to_owned();
            }
            assert!(Instant::now() < late, "no {begins} in {page}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// The value of the sample that begins so.
fn value(page: &str, begins: &str) -> f64 {
    let line = page.lines().find(|line| line.starts_with(begins)).unwrap_or_else(|| panic!("no {begins} in {page}"));
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn a_pod_that_trains_tells_how_far_it_is() {
    let endless = changed("epochs: 2,", "epochs: 10000000, checkpoint_minutes: 1000,").replace("evaluate_every: 1,", "evaluate_every: 10,");
    let setting = Setting::of(&endless);
    setting.well("prepare s.yaml");
    let pod = Served::start(&setting, "train s.yaml --index 0");
    let page = pod.page("ranksweep_trial_validation{");
    assert_eq!((value(&page, "ranksweep_trials{state=\"running\"}"), value(&page, "ranksweep_trials{state=\"done\"}")), (1.0, 0.0));
    assert!(value(&page, "ranksweep_trial_epoch{") >= 10.0, "{page}");
    assert_eq!(value(&page, "ranksweep_trial_epochs{"), 10_000_000.0);
    assert!(value(&page, "ranksweep_trial_pairs_per_second{") > 0.0 && value(&page, "ranksweep_trial_left_seconds{") > 0.0);
    assert!((0.0..=1.0).contains(&value(&page, "ranksweep_trial_validation{")));
    let (trial, labels) = (setting.well("plan s.yaml"), page.lines().find(|line| line.starts_with("ranksweep_trial_validation{")).unwrap());
    let id = trial.lines().find(|line| line.trim_start().starts_with("0  ")).unwrap().split_whitespace().nth(1).unwrap();
    assert!(labels.contains(&format!("trial=\"{id}\",method=\"")) && labels.contains("dataset=\"small\",metric=\"ndcg@5\"}"), "{labels}");
}

#[test]
fn the_driver_tells_the_stages() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    setting.fake.with(|world| world.pods(|run| if run.job.ends_with("-prepare") { Act::Exit(0) } else { Act::Run }));
    let hash = setting.hash();
    let driver = Served::start(&setting, &format!("drive tiny --namespace team --submission {hash}"));
    let of = |stage: &str| format!("{{sweep=\"tiny\",submission=\"{hash}\",stage=\"{stage}\",state=");
    let page = driver.page(&format!("ranksweep_stage_state{}\"running\"}}", of("prepare")));
    assert_eq!(value(&page, &format!("ranksweep_stage_indexes{}\"waiting\"}}", of("train"))), 3.0);
    assert_eq!(value(&page, &format!("ranksweep_stage_state{}\"waiting\"}}", of("evaluate"))), 1.0);
    let page = driver.page(&format!("ranksweep_stage_indexes{}\"active\"}} 3", of("train")));
    assert_eq!(value(&page, &format!("ranksweep_stage_state{}\"done\"}}", of("prepare"))), 1.0);
    assert_eq!(value(&page, &format!("ranksweep_stage_indexes{}\"done\"}}", of("prepare"))), 1.0);
    assert!(!page.contains("ranksweep_trial"), "that is the pods' to tell");
}

#[test]
fn an_address_that_is_taken_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let ended = Setting::new().ranksweep(&format!("plan s.yaml --metrics-address {address}"));
    assert!(ended.complaint(1).starts_with(&format!("--metrics-address: cannot listen at {address}: ")), "{}", ended.error);
}
