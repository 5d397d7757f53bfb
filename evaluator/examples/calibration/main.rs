//! Measures how often the verdicts err: on sets of methods of which the truth is known, and on trainings that differ in nothing but their
//! seeds. Prints Markdown; docs/calibration.md holds it.
//!
//! ```text
//! calibration simulate [--pairs N] [--families N] [--bootstraps N]
//! calibration seeds [--pairs N] SWEEP_FOLDER...
//! ```

mod seeds;
mod simulate;
mod simulated;
mod table;

use clap::Parser;
use simulate::Sets;
use std::io;

/// Measures how often the verdicts err.
#[derive(Parser)]
enum Calibration {
    /// On simulated sets of methods, of which the truth is known.
    Simulate(Sets),
    /// On real trainings: seeds of one method, split at random into two "methods".
    Seeds {
        /// Pairs of each method, metric and number of seeds.
        #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
        pairs: u32,
        /// Folders of finished sweeps, such as `runs/sweeps/seeds-movielens`.
        #[arg(required = true)]
        sweeps: Vec<String>,
    },
}

fn main() -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match Calibration::parse() {
        Calibration::Simulate(sets) => simulate::simulate(&sets, &mut out),
        Calibration::Seeds { sweeps, pairs } => seeds::seeds(&sweeps, pairs as usize, &mut out),
    }
}
