//! The small sweep, trained in every way: each against one rank on the CPU, and against itself.
//!
//! Ranks and devices add the same numbers in another order, and training goes on from what rounding left: the vectors of two ways agree to so
//! many digits, and no better. One way gives equal bits each time.

use super::{Judged, ways::Way};
use crate::{
    file::SweepFile,
    plan::{self, Plan},
};
use anyhow::{Context, Result};
use dataset::{Dataset, Location};
use pipeline::Limits;
use std::sync::atomic::{AtomicUsize, Ordering};
use trainer::{Resources, Trial, device_checks::Comparison};

const SWEEP: &str = include_str!("sweep.yaml");
/// Largest difference of two ways' vectors: `sweep.yaml` trains 16 steps, in which rounding grows a thousandfold at most.
const OF_VECTORS: f64 = 1e-4;
/// Largest difference of the validation metric, which jumps where two items of nearly the same score change places.
const OF_VALIDATION: f64 = 1e-2;

/// The result of a training.
struct Learned {
    vectors: Vec<f32>,
    validation: f32,
}

/// One trial of the small sweep.
struct ComparedTrial<'a> {
    label: &'a str,
    trial: &'a Trial,
    dataset: &'a Dataset,
    /// Bytes for ranking.
    memory: usize,
}

/// Compares every way with the first, and with itself.
///
/// # Errors
/// When the first way fails.
pub(super) fn compare(ways: &[Way], memory: usize) -> Result<Vec<Judged>> {
    let (reference, others) = ways.split_first().context("there is no way to train")?;
    let (plan, dataset) = prepare(memory)?;
    let mut judged = Vec::new();
    for (method, _, planned) in plan.trials() {
        let subject = ComparedTrial { label: &method.label, trial: &planned.trial, dataset: &dataset, memory };
        let expected = subject.train(reference)?;
        judged.push(subject.same_again(reference, &expected));
        for way in others {
            match subject.train(way) {
                Err(error) => judged.push(Judged::failed(&way.name, subject.label, error.as_ref())),
                Ok(found) => {
                    judged.extend(subject.against(way, &expected, &found));
                    judged.push(subject.same_again(way, &found));
                }
            }
        }
    }
    Ok(judged)
}

/// The plan of the small sweep, and its data; all of it is kept in memory.
fn prepare(memory: usize) -> Result<(Plan, Dataset)> {
    let file = SweepFile::parse(SWEEP, "doctor")?;
    let preparation = &file.datasets[0].splits[0];
    let limits = Limits { threads: rayon::current_num_threads(), memory: Some(memory), engine: None, scratch: None };
    let prepared = pipeline::prepare(preparation, &storage()?.join("datasets"), &limits, &mut |_| {})?;
    let plan = plan::check(&file)?.plan(&[prepared.manifest.fingerprint])?;
    Ok((plan, Dataset::read(&prepared.folder)?))
}

fn storage() -> dataset::Result<Location> {
    Location::parse("memory:///doctor")
}

impl ComparedTrial<'_> {
    fn train(&self, way: &Way) -> Result<Learned> {
        // A folder of its own: what was trained before is found, and not trained again.
        static TRAININGS: AtomicUsize = AtomicUsize::new(0);
        let folder = storage()?.join("trials").join(&TRAININGS.fetch_add(1, Ordering::Relaxed).to_string());
        let resources =
            Resources { device: way.device, operations: way.operations, ranks: way.ranks.clone(), ..Resources::new(self.memory) };
        let fit = trainer::train(self.trial, self.dataset, &folder, &resources, &mut ())?;
        let ended = trainer::Ended::read(&folder, &self.trial.id())?.context("the training left no marker")?;
        Ok(Learned { vectors: ended.scorer(&folder)?.values(), validation: fit.validation.unwrap_or(f64::NAN) as f32 })
    }

    /// The comparison of another way with the reference.
    fn against(&self, way: &Way, expected: &Learned, found: &Learned) -> [Judged; 2] {
        let named = |what: &str| format!("{}: {what}", self.label);
        let vectors = Comparison::new(named("vectors"), &found.vectors, &expected.vectors, OF_VECTORS);
        let validation = Comparison::new(named("validation"), &[found.validation], &[expected.validation], OF_VALIDATION);
        [vectors, validation].map(|comparison| Judged::of(&way.name, comparison))
    }

    /// A way, against itself.
    fn same_again(&self, way: &Way, first: &Learned) -> Judged {
        let what = format!("{}: twice the same", self.label);
        match self.train(way) {
            Ok(second) => Judged::of(&way.name, Comparison::new(what, &second.vectors, &first.vectors, 0.0)),
            Err(error) => Judged::failed(&way.name, &what, error.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainer::{Device, Operations, Ranks, has_kernels};

    #[test]
    fn every_trial_of_the_small_sweep_has_kernels() {
        let (plan, _) = prepare(1 << 28).unwrap();
        assert_eq!(plan.trials().count(), 4);
        for (method, _, planned) in plan.trials() {
            assert_eq!(has_kernels(&planned.trial), Ok(()), "{}", method.label);
        }
    }

    #[test]
    fn ranks_of_the_cpu_agree_with_one_and_candle_with_both() {
        let way = |(ranks, operations)| Way { name: format!("{ranks}"), device: Device::Cpu, operations, ranks: Ranks::threads(ranks) };
        let ways = [(1, Operations::Fastest), (2, Operations::Fastest), (3, Operations::Fastest), (1, Operations::Candle)].map(way);
        let judged = compare(&ways, 1 << 28).unwrap();
        assert_eq!(judged.len(), 4 * (1 + 3 + 3 + 3), "itself; vectors, validation and itself");
        for comparison in judged {
            assert!(comparison.agrees, "{comparison:?}");
        }
    }

    #[test]
    fn a_way_that_fails_is_told_and_does_not_agree() {
        let way = |device| Way { name: format!("{device:?}"), device, operations: Operations::Fastest, ranks: Ranks::default() };
        let judged = compare(&[way(Device::Cpu), way(Device::Cuda { ordinal: 1_000 })], 1 << 28).unwrap();
        let failed: Vec<_> = judged.iter().filter(|judged| !judged.agrees).collect();
        assert_eq!(failed.len(), 4);
        assert!(failed[0].comparison.what.contains("cuda:1000") || failed[0].comparison.what.contains("GPU"), "{:?}", failed[0]);
    }
}
