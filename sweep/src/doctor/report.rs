//! All that the doctor found: one JSON file.

use super::Hardware;
use serde::Serialize;
use std::error::Error;
use trainer::device::{Found, Library};
use trainer::device_checks::{Comparison, Timing};

/// The findings of `ranksweep doctor`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DoctorReport {
    /// The program.
    pub build: Build,
    /// Its machine.
    pub machine: Hardware,
    /// The version of the GPUs' driver.
    pub driver: Option<String>,
    /// The CUDA libraries that the program has loaded.
    pub libraries: Vec<Library>,
    /// The GPUs.
    pub devices: Vec<Found>,
    /// Devices or parts that are missing, and what to do.
    pub missing: Vec<String>,
    /// The comparisons that were made.
    pub comparisons: Vec<Judged>,
    /// The timings that were taken.
    pub timings: Vec<Timed>,
}

/// A program as it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Build {
    /// Its version.
    pub version: &'static str,
    /// Its features beside those of every build: `cuda`, `nccl`.
    pub features: Vec<&'static str>,
    /// The version of training, raised when the same trial would give other numbers.
    pub trainer_version: u32,
}

/// A comparison and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The device that computed it.
    pub device: String,
    /// The comparison.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Whether rounding explains the difference.
    pub agrees: bool,
}

/// A timing beside what the device could do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timed {
    /// The device that computed it.
    pub device: String,
    /// The timing.
    #[serde(flatten)]
    pub timing: Timing,
    /// The bytes that were moved, as a share of those that the device could have moved.
    pub share_of_bandwidth: Option<f64>,
    /// The additions and multiplications that were done, as a share of those that the device could have done.
    pub share_of_flops: Option<f64>,
}

impl Build {
    pub(super) fn of_this_program() -> Self {
        let features = [("cuda", cfg!(feature = "cuda")), ("nccl", cfg!(feature = "nccl"))];
        Self {
            version: env!("CARGO_PKG_VERSION"),
            features: features.into_iter().filter_map(|(name, has)| has.then_some(name)).collect(),
            trainer_version: trainer::trial::TRAINER_VERSION,
        }
    }

    fn has(&self, feature: &str) -> bool {
        self.features.contains(&feature)
    }

    /// A thing that the program cannot do, and what to do about it.
    pub(super) fn lacks(&self, is_without_gpu: bool) -> Option<String> {
        let words = match (self.has("cuda"), self.has("nccl"), is_without_gpu) {
            (false, ..) => "this build trains on the CPU alone: docs/gpu.md says how to build for GPUs, or which image to use",
            (_, _, true) => "the driver shows no GPU to this process: `nvidia-smi` and CUDA_VISIBLE_DEVICES tell more",
            (_, false, _) => "several GPUs train one trial by NCCL, which this build is without: build it with `--features nccl`",
            _ => return None,
        };
        Some(words.to_owned())
    }
}

impl Judged {
    pub(super) fn of(device: &str, comparison: Comparison) -> Self {
        Self { device: device.to_owned(), agrees: comparison.cases > 0 && comparison.agrees(), comparison }
    }

    /// A comparison that could not be computed there.
    pub(super) fn failed(device: &str, what: &str, error: &(dyn Error + 'static)) -> Self {
        Self::of(device, Comparison::failed(what, error))
    }
}

impl Timed {
    pub(super) fn of(device: &Found, timing: Timing) -> Self {
        Self {
            device: format!("cuda:{}", device.ordinal),
            share_of_bandwidth: timing.share_of_bandwidth(device.bandwidth),
            share_of_flops: timing.share_of_flops(device.flops),
            timing,
        }
    }
}

impl DoctorReport {
    /// Comparisons that found more than what is explained.
    pub fn differing(&self) -> impl Iterator<Item = &Judged> {
        self.comparisons.iter().filter(|judged| !judged.agrees)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is plain data") + "\n"
    }
}
