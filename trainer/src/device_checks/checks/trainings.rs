//! Whole trainings: the tables that a device leaves and their validation metric, beside those of the CPU.

use super::{Comparison, Sizes, interactions, or_failed, ranking::held_out};
use crate::{Device, Ended, Error, Ranks, Resources, Result, Trial, fit, trial::TRAINER_VERSION};
use dataset::{Dataset, Interactions, Location, Order};

/// What is trained.
struct TrainingCase {
    backbone: &'static str,
    loss: &'static str,
    sampler: &'static str,
    optimizer: &'static str,
    batch_size: u32,
}

const fn case(
    backbone: &'static str,
    loss: &'static str,
    sampler: &'static str,
    (optimizer, batch_size): (&'static str, u32),
) -> TrainingCase {
    TrainingCase { backbone, loss, sampler, optimizer, batch_size }
}

/// Rates are small: what rounding has parted, steps part further.
const CASES: [TrainingCase; 10] = [
    case(r#""mf": {"dim": 12}"#, r#""bpr": {}"#, r#""uniform": {"negatives": 1}"#, (ADAM, 64)),
    case(r#""mf": {"dim": 16}"#, AT_K, r#""uniform": {"negatives": 20}"#, (ADAM, 64)),
    case(r#""mf": {"dim": 5}"#, r#""mse": {}"#, r#""popularity": {"negatives": 7}"#, (LAZY, 64)),
    case(r#""mf": {"dim": 8}"#, FAR, r#""popularity": {"negatives": 3, "exponent": 0.5}"#, (ADAM, 64)),
    case(r#""light-gcn": {"dim": 8, "layers": 2}"#, r#""softmax": {"temperature": 0.2}"#, r#""uniform": {"negatives": 9}"#, (ADAM, 64)),
    case(r#""light-gcn": {"dim": 20, "layers": 3}"#, r#""bpr": {}"#, r#""uniform": {"negatives": 2}"#, (ADAM, 64)),
    case(r#""mf": {"dim": 16}"#, r#""gbce": {"calibration": 0.75}"#, r#""uniform": {"negatives": 4}"#, (ADAM, 64)),
    case(r#""light-gcn": {"dim": 8, "layers": 2}"#, EARLY, r#""uniform": {"negatives": 20}"#, (ADAM, 64)),
    FEW,
    case(r#""mf": {"dim": 8}"#, r#""bpr": {}"#, r#""uniform": {"negatives": 2}"#, (FALLING, 3)),
];
/// What has no kernels, and trains by candle: a rule, lists and every item, mixed layers, graphs of either kind, noise and contrast, a network of pairs, and
/// histories in order.
const BY_CANDLE: [TrainingCase; 9] = [
    case(r#""mf": {"dim": 12}"#, r#""bpr": {}"#, r#""dns": {"candidates": 8}"#, (STEADY, 64)),
    case(r#""light-gcn": {"dim": 8, "layers": 2}"#, r#""smooth-ap": {"temperature": 1.0, "positives": 3}"#, r#""all": {}"#, (STEADY, 8)),
    case(r#""light-gcn": {"dim": 8, "layers": 2}"#, r#""cce": {}"#, r#""mix-gcf": {"candidates": 4, "negatives": 3}"#, (STEADY, 64)),
    case(
        r#""ngcf": {"dim": 8, "layers": 2}"#,
        r#""psl": {"temperature": 0.1, "surrogate": "atan"}"#,
        r#""uniform": {"negatives": 5}"#,
        (STEADY, 64),
    ),
    case(r#""gat": {"dim": 8, "layers": 2}"#, r#""sampled-softmax": {}"#, r#""in-batch": {"negatives": 7}"#, (STEADY, 64)),
    case(r#""xsim-gcl": {"dim": 8, "layers": 2}"#, r#""uib": {}"#, r#""uniform": {"negatives": 3}"#, (STEADY, 64)),
    case(r#""neu-mf": {"dim": 8, "hidden": [8]}"#, r#""bpr": {}"#, r#""uniform": {"negatives": 3}"#, (STEADY, 64)),
    case(
        r#""sas-rec": {"dim": 8, "hidden": 16, "init": {"normal": {"std": 0.3}}}"#,
        r#""bpr": {}"#,
        r#""uniform": {"negatives": 3}"#,
        (STEADY, 64),
    ),
    case(r#""gru4rec": {"dim": 8, "hidden": 12}"#, r#""cce": {}"#, r#""uniform": {"negatives": 3}"#, (STEADY, 64)),
];
/// Batches that touch few rows of both tables, which leave the others behind after some steps.
const FEW: TrainingCase = case(r#""mf": {"dim": 8}"#, r#""bpr": {"similarity": "cosine"}"#, r#""uniform": {"negatives": 2}"#, (QUICK, 3));
const AT_K: &str = r#""softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.5, "quantile_every": 1}"#;
/// The device has the tables before its first step.
const EARLY: &str = r#""softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.5, "quantile_every": 1, "quantile_update": "before-epoch"}"#;
const FAR: &str = r#""bpr": {"similarity": "negative-squared-distance"}"#;
const ADAM: &str = r#""adam": {"learning_rate": 0.01, "weight_decay": 0.001}"#;
/// A step's length does not jump with the sign of a gradient that is nearly zero.
const STEADY: &str = r#""adam": {"learning_rate": 0.01, "epsilon": 1e-3}"#;
const LAZY: &str = r#""lazy-adam": {"learning_rate": 0.01}"#;
/// Rows that are left behind are up to date where the rate falls.
const FALLING: &str = r#""adam": {"learning_rate": 0.01, "beta1": 0.5, "beta2": 0.99, "learning_rate_decay": {"every": 1, "factor": 0.5}}"#;
const QUICK: &str = r#""adam": {"learning_rate": 0.01, "beta1": 0.5, "beta2": 0.99}"#;

/// Trains each on the device, with so many ranks, and on the CPU.
pub(super) fn check(device: Device, ranks: u32, sizes: Sizes) -> Vec<Comparison> {
    let dataset = dataset(sizes);
    let each = CASES.iter().chain(&BY_CANDLE).enumerate().flat_map(|(at, case)| {
        let TrainingCase { backbone, loss, sampler, optimizer, batch_size } = case;
        let trial = case.trial();
        let what = format!("a training by {ranks} ranks: {backbone}, {loss}, {sampler}, {optimizer}, {batch_size} rows").replace('"', "");
        let train = |name: &str, device: Device, ranks: u32| {
            trained(&trial, &dataset, &format!("{name}-{at}-{ranks}"), device, Ranks::threads(ranks))
        };
        let both = train("device", device, ranks).and_then(|found| Ok((found, train("cpu", Device::Cpu, 1)?)));
        let compared = both.map(|(found, expected)| {
            let of_tables = Comparison::new(what.clone(), &found.tables, &expected.tables, 2e-4);
            // Two scores that are nearly equal may change places.
            let of_metric = Comparison::new(format!("{what}: ndcg@20"), &[found.validation], &[expected.validation], 0.01);
            vec![of_tables, of_metric]
        });
        or_failed(&what, compared)
    });
    each.collect()
}

fn dataset(sizes: Sizes) -> Dataset {
    let train = interactions(sizes);
    let validation = held_out(sizes, &train);
    // Histories in the order of the items: those of train, then those of validation.
    let lengths = |part: &Interactions, user: usize| part.row(user).len() as u32;
    let order = Order {
        train: (0..sizes.users).flat_map(|user| 0..lengths(&train, user)).collect(),
        validation: (0..sizes.users).flat_map(|user| lengths(&train, user)..lengths(&train, user) + lengths(&validation, user)).collect(),
        ..Order::default()
    };
    Dataset {
        name: "check".into(),
        fingerprint: "check".into(),
        user_ids: (0..sizes.users).map(|user| user.to_string()).collect(),
        item_ids: (0..sizes.items).map(|item| item.to_string()).collect(),
        validation,
        train,
        one_node_set: false,
        test: Interactions::empty(sizes.users),
        fold_in: None,
        order: Some(order),
        steps: vec![],
        settings: serde_json::Value::Null,
    }
}

impl TrainingCase {
    fn trial(&self) -> Trial {
        let Self { backbone, loss, sampler, optimizer, batch_size } = self;
        let text = format!(
            r#"{{"version": {TRAINER_VERSION}, "dataset": "check", "select_by": "ndcg@20", "backbone": {{{backbone}}}, "learning": {{
            "loss": {{{loss}}}, "sampler": {{{sampler}}}, "optimizer": {{{optimizer}}}, "seed": 4,
            "training": {{"epochs": 2, "batch_size": {batch_size}, "evaluate_every": 2}}}}}}"#
        );
        serde_json::from_str(&text).expect("a trial")
    }
}

/// What is left of a training in memory.
struct Trained {
    /// Users' and items' vectors.
    tables: Vec<f32>,
    validation: f32,
}

fn trained(trial: &Trial, dataset: &Dataset, name: &str, device: Device, ranks: Ranks) -> Result<Trained> {
    let folder = Location::parse(&format!("memory:///check-{}-{name}", std::process::id())).map_err(Error::from)?;
    let resources = Resources { device, ranks, ..Resources::new(1 << 30) };
    let fit = fit::train(trial, dataset, &folder, &resources, &mut ())?;
    Ok(Trained { tables: tables_of(&folder, trial)?, validation: fit.validation.unwrap_or(f64::NAN) as f32 })
}

fn tables_of(folder: &Location, trial: &Trial) -> Result<Vec<f32>> {
    let ended = Ended::read(folder, &trial.id())?.ok_or_else(|| Error::impossible("the training left no marker"))?;
    Ok(ended.scorer(folder)?.values())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Observer, has_kernels};
    use dataset::{Dataset, Location};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Asks training to stop after each of so many steps.
    struct Stopping<'a> {
        flag: &'a AtomicBool,
        every: u32,
        steps: u32,
    }

    impl Observer for Stopping<'_> {
        fn step(&mut self, _: u32, _: u32) {
            self.steps += 1;
            self.flag.fetch_or(self.steps.is_multiple_of(self.every), Ordering::Relaxed);
        }
    }

    /// Trains with a stop after every so many steps, each part on the next of the devices; the tables at the end, and the stops.
    fn stopped(case: &TrainingCase, dataset: &Dataset, name: &str, every: u32, devices: &[(Device, u32)]) -> (Vec<f32>, usize) {
        let folder = Location::parse(&format!("memory:///stopped-{name}")).unwrap();
        for stops in 0.. {
            let (flag, (device, ranks)) = (AtomicBool::new(false), devices[stops % devices.len()]);
            let resources = Resources { device, ranks: Ranks::threads(ranks), interrupt: Some(&flag), ..Resources::new(1 << 30) };
            let mut observer = Stopping { flag: &flag, every, steps: 0 };
            match fit::train(&case.trial(), dataset, &folder, &resources, &mut observer) {
                Err(Error::Interrupted { .. }) => {}
                ended => {
                    ended.unwrap();
                    return (tables_of(&folder, &case.trial()).unwrap(), stops);
                }
            }
        }
        unreachable!("training ends")
    }

    #[track_caller]
    fn assert_near(found: &[f32], expected: &[f32]) {
        let comparison = Comparison::new("tables", found, expected, 2e-4);
        assert!(comparison.agrees(), "{comparison:?}");
    }

    #[test]
    fn a_stopped_training_on_a_device_goes_on_to_the_same_bits() {
        let dataset = dataset(Sizes::TINY);
        for (at, case) in [&CASES[1], &FEW].into_iter().enumerate() {
            let whole = trained(&case.trial(), &dataset, &format!("whole-{at}"), Device::Emulated, Ranks::default()).unwrap().tables;
            // Within epochs, and at the end of each.
            let steps = (dataset.train.len() as u32).div_ceil(case.batch_size);
            for every in [if case.batch_size < 10 { 23 } else { 1 }, steps] {
                let (found, stops) = stopped(case, &dataset, &format!("parts-{at}-{every}"), every, &[(Device::Emulated, 1)]);
                assert!(found == whole && stops > 0, "{stops} stops after {every} steps");
            }
        }
    }

    /// Steps made on the CPU and on a device, and with other numbers of ranks, in turns.
    #[test]
    fn a_stopped_training_goes_on_elsewhere() {
        let dataset = dataset(Sizes::TINY);
        let expected = trained(&FEW.trial(), &dataset, "elsewhere", Device::Cpu, Ranks::default()).unwrap().tables;
        let devices = [(Device::Emulated, 1), (Device::Cpu, 1), (Device::Emulated, 2), (Device::Cpu, 2)];
        let (found, stops) = stopped(&FEW, &dataset, "turns", 23, &devices);
        assert!(stops >= devices.len(), "{stops} stops");
        assert_near(&found, &expected);
    }

    #[test]
    fn ranks_on_devices_train_as_one_does() {
        let dataset = dataset(Sizes::TINY);
        for (at, case) in [&CASES[1], &CASES[2], &CASES[5], &FEW].into_iter().enumerate() {
            let train = |name: &str, ranks: u32| {
                trained(&case.trial(), &dataset, &format!("{name}-{at}-{ranks}"), Device::Emulated, Ranks::threads(ranks)).unwrap().tables
            };
            let one = train("ranks", 1);
            assert_near(&train("ranks", 2), &one);
            let four = train("ranks", 4);
            assert_near(&four, &one);
            assert!(train("again", 4) == four, "the same ranks leave the same bits");
        }
    }

    #[test]
    fn some_have_kernels_and_some_have_none() {
        assert!(CASES.iter().all(|case| has_kernels(&case.trial()).is_ok()));
        assert!(BY_CANDLE.iter().all(|case| case.trial().check().is_ok() && has_kernels(&case.trial()).is_err()));
    }

    /// Else the cases above would not look at rows that are left behind.
    #[test]
    fn few_rows_are_left_behind() {
        let trial = FEW.trial();
        let learning = trial.learning.unwrap();
        let stepper = optimizers::Stepper::new(&learning.optimizer, 40);
        assert!(stepper.leaves() && 4 * 3 * 3 <= Sizes::TINY.items && 4 * 3 <= Sizes::TINY.users);
        assert!(dataset(Sizes::TINY).train.len() / 3 > 50, "{} pairs", dataset(Sizes::TINY).train.len());
    }
}
