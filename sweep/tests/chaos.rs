//! A sweep whose processes are killed again and again ends with the bytes of one that was left alone.
//!
//! The short form kills 10 times. The full one, whose result stands in docs/survival.md:
//!
//! ```text
//! cargo test -p sweep --test chaos -- --ignored --nocapture
//! ```

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use support::Sandbox;

/// 12 trials: numbers of a loss's own, an adversary, quantiles, pools that look at the model, steps of few rows, propagation, closed forms.
const SWEEP: &str = "\
name: tiny
datasets:
  - name: small
    source: {format: synthetic, users: 120, items: 200, interactions: 2500}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 7}
grid:
  - backbones: [{kind: mf, dim: 8}, {kind: light-gcn, dim: 8, layers: 2}]
    losses:
      - {kind: softmax-at-k, cutoff: 5, temperature: 0.2, weight_temperature: 1, quantile_every: 2}
      - {kind: adap-tau, warm_up: 2}
    samplers: [{kind: uniform, negatives: 10}]
    optimizer: {kind: adam, learning_rate: 0.05}
  - backbones: [{kind: mf, dim: 8}]
    losses: [{kind: bpr}]
    samplers:
      - {kind: uniform, negatives: 1}
      - {kind: kernel, negatives: 5}
      - {kind: ada-sir, negatives: 5, pool_size: 10, proposals: 30}
      - {kind: mix-gcf, candidates: 4}
    optimizer: {kind: adam, learning_rate: 0.05, beta1: 0.5}
  - backbones: [{kind: mf, dim: 8}]
    losses:
      - {kind: adv-info-nce, temperature: 0.2, adversary_dim: 4, adversary_learning_rate: 0.01}
      - {kind: sog-clr, temperature: 0.2, update_rate: 0.9}
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: lazy-adam, learning_rate: 0.05}
  - backbones: [{kind: popularity}, {kind: ease, regularization: 10}]
training: {epochs: 24, batch_size: 16, evaluate_every: 2, checkpoint_minutes: 0.0002, select_by: ndcg@5}
evaluation: {metrics: [ndcg, recall], cutoffs: [5], significance: {resamples: 1000}}
";

/// SIGTERM has so long to work.
const TERM: Duration = Duration::from_secs(10);

/// Numbers that look random, from a seed.
struct Random(u64);

impl Random {
    /// A number from 0 to 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// How a life of the program ended.
#[derive(Debug, Default)]
struct Lives {
    killed: usize,
    terminated: usize,
    done: usize,
    longest_term: Duration,
}

impl Lives {
    /// Starts the program, and ends it after so long: by SIGTERM, from its first line on, or by SIGKILL, from its start on.
    fn live(&mut self, sandbox: &Sandbox, arguments: &[&str], time: Duration, terminate: bool) {
        let mut child = sandbox.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let first = if terminate { lines.next() } else { None };
        let listener = thread::spawn(move || lines.last().or(first).unwrap_or_default());
        thread::sleep(time); // which moment this is decides nothing
        let start = Instant::now();
        if terminate {
            let _ = Command::new("sh").args(["-c", &format!("kill -TERM {} 2> /dev/null", child.id())]).status();
        } else {
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        let last = listener.join().unwrap();
        match status.code() {
            Some(0) => self.done += 1,
            Some(75) if terminate => {
                self.longest_term = self.longest_term.max(start.elapsed());
                self.terminated += 1;
            }
            None if !terminate => self.killed += 1,
            _ => panic!("{status}: {last}"),
        }
        assert!(!terminate || start.elapsed() < TERM, "{:?} after SIGTERM: {last}", start.elapsed());
    }
}

#[expect(clippy::print_stderr, reason = "the full form's result is copied from what it says")]
fn chaos(kills: usize, seed: u64) {
    let (whole, sandbox) = (Sandbox::new(SWEEP), Sandbox::new(SWEEP));
    let start = Instant::now();
    whole.run_well();
    let undisturbed = start.elapsed();
    let (mut random, mut lives) = (Random(seed), Lives::default());
    for _ in 0..kills {
        // On average a life does its share of the work, after the time that a start takes.
        let time = undisturbed.mul_f64(2.0 * random.fraction() / kills as f64) + Duration::from_millis(60).mul_f64(random.fraction());
        let terminate = random.fraction() < 0.5;
        let threads = if random.fraction() < 0.5 { "1" } else { "2" };
        lives.live(&sandbox, &["run", "s.yaml", "--threads", threads], time, terminate);
    }
    let trained = sandbox.stored("done.json").len();
    sandbox.run_and_sweep();
    assert_eq!(sandbox.files(), whole.files(), "orphans");
    let (found, expected) = (sandbox.results(), whole.results());
    let other: Vec<_> = expected.iter().filter(|(path, bytes)| found.get(*path) != Some(bytes)).map(|(path, _)| path).collect();
    assert!(other.is_empty(), "{other:?} differ");
    assert!(sandbox.timeless_rows() == whole.timeless_rows(), "trials or curves differ");
    eprintln!("undisturbed {undisturbed:?}; {lives:?}; {trained} of 12 trials had ended before the last start");
    assert!(trained > 2, "the processes were killed before they did anything");
}

#[test]
fn a_killed_sweep_ends_with_the_bytes_of_an_undisturbed_one() {
    chaos(10, 1);
}

#[test]
#[ignore = "takes minutes; its result stands in docs/survival.md"]
fn a_hundred_kills_change_no_byte() {
    chaos(100, 2);
}
