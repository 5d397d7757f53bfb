//! Which of two methods comes to the same validation value in fewer epochs.
//!
//! ```text
//! target = 0.99 x the lowest of the best values of both methods' trainings
//! e      = the epoch of a training's first evaluation at or above the target, e' that of the evaluation before
//! C      = mean ln e of the slower method - mean ln e of the faster one: the logarithm of the ratio of their epochs
//! V      = sum over both methods of s~² / n + ((e - e') / e)² / 12
//! ```
//! Trainings are what varies here, and no users: both methods are held to a value that every training of both reaches, as in time-to-accuracy
//! (Coleman et al., DAWNBench 2017). `s~²` is the variance of `ln e` over `n` seeds (or splits), moderated over all methods of the dataset whose
//! trainings all reach the target. Between two evaluations the target may be reached anywhere; all trainings of a method may be rounded alike, so that
//! this part of the variance, their mean one, does not become less with their number.

use super::{Contrast, Crossed, Estimate, MethodValues, Replication, Spreads, differences::mean};
use crate::significance::Over;
use std::borrow::Cow;

/// The share of the lowest best value that is the target.
pub const SHARE_OF_BEST: f64 = 0.99;

/// The validation of one training, of a metric of which more is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The seed of the training's split, where the dataset has several.
    pub split_seed: Option<u64>,
    /// The evaluated epochs, ascending, each with its value.
    pub values: Vec<(u32, f64)>,
}

/// The trainings of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodCourses<'a> {
    /// The method's key.
    pub method: &'a str,
    /// Its trainings; seeds of one split, or of several.
    pub courses: Vec<Course>,
}

/// The logarithm of the ratio of epochs of the method at the place `slower` to those of the one at `faster`, until every training of both has come to the
/// same value; `methods` are all of the dataset. None where a training of the two has no values, or where they have no split in common.
pub fn convergence(methods: &[MethodCourses<'_>], faster: usize, slower: usize) -> Option<Estimate> {
    let splits: Vec<Option<u64>> = methods[faster].splits().into_iter().filter(|split| methods[slower].splits().contains(split)).collect();
    let both = [faster, slower].into_iter().flat_map(|place| methods[place].on(&splits));
    let lowest = both.map(Course::best).collect::<Option<Vec<f64>>>()?.into_iter().min_by(f64::total_cmp)?;
    let reached = |(place, method)| Some((place, Reached::new(method, &splits, SHARE_OF_BEST * lowest)?));
    let found: Vec<(usize, Reached)> = methods.iter().enumerate().filter_map(reached).collect();
    let place_of = |wanted: usize| found.iter().position(|(place, _)| *place == wanted);
    let (faster, slower) = (place_of(faster)?, place_of(slower)?);
    let rounding = found[faster].1.rounding + found[slower].1.rounding;
    let values: Vec<MethodValues<'_>> = found.into_iter().map(|(_, reached)| reached.values).collect();
    let estimate = Estimate::new(&Contrast::difference(slower, faster), &values, &Spreads::new(&values), Over::Seeds);
    let Crossed { users, .. } = estimate.variance; // infinite where nothing is known of seeds
    let variance = Crossed { users: users + rounding, users_degrees: f64::INFINITY, ..estimate.variance };
    Some(Estimate { variance, over: Over::Seeds, level: 1.0, ..estimate }) // a logarithm is a share as it is
}

impl Course {
    fn best(&self) -> Option<f64> {
        self.values.iter().map(|(_, value)| *value).max_by(f64::total_cmp).filter(|best| best.is_finite())
    }

    /// The first evaluated epoch that has come to the target, and the one evaluated before it, or 0.
    fn reaches(&self, target: f64) -> Option<(u32, u32)> {
        let place = self.values.iter().position(|(_, value)| *value >= target)?;
        Some((self.values[place].0, place.checked_sub(1).map_or(0, |before| self.values[before].0)))
    }
}

impl MethodCourses<'_> {
    fn splits(&self) -> Vec<Option<u64>> {
        let mut splits: Vec<Option<u64>> = self.courses.iter().map(|course| course.split_seed).collect();
        splits.sort_unstable();
        splits.dedup();
        splits
    }

    fn on<'a>(&'a self, splits: &'a [Option<u64>]) -> impl Iterator<Item = &'a Course> {
        self.courses.iter().filter(|course| splits.contains(&course.split_seed))
    }
}

/// When the trainings of a method came to a value.
struct Reached {
    /// The logarithm of the epochs, a value for each replicate.
    values: MethodValues<'static>,
    /// The variance that rounding to evaluated epochs leaves to the mean.
    rounding: f64,
}

impl Reached {
    /// None where a training does not come to the target, or a split has no training.
    fn new(method: &MethodCourses<'_>, splits: &[Option<u64>], target: f64) -> Option<Self> {
        let found = method.on(splits).map(|course| Some((course.split_seed, course.reaches(target)?))).collect::<Option<Vec<_>>>()?;
        let logs = |split: &Option<u64>| -> Vec<f64> {
            found.iter().filter(|(of, _)| of == split).map(|(_, (epoch, _))| f64::from(*epoch).ln()).collect()
        };
        let by_split: Vec<Vec<f64>> = splits.iter().map(logs).collect();
        if by_split.iter().any(Vec::is_empty) {
            return None;
        }
        let (replicates, replication): (Vec<f64>, _) = match &by_split[..] {
            [seeds] => (seeds.clone(), Replication::Seeds),
            several => (several.iter().map(|logs| mean(logs)).collect(), Replication::Splits),
        };
        let rows = replicates.into_iter().map(|value| Cow::Owned(vec![value])).collect();
        let squares: Vec<f64> = found.iter().map(|(_, (epoch, before))| (f64::from(epoch - before) / f64::from(*epoch)).powi(2)).collect();
        let values = MethodValues { is_of_all_users: true, ..MethodValues::from_replicates(method.method, replication, rows) };
        Some(Self { values, rounding: mean(&squares) / 12.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::{Spread, Verdict, judge, stream::stream};
    use rand::Rng;

    /// A training that is evaluated after every epoch and comes to 1 in the given one.
    fn course(epoch: u32, last: u32) -> Course {
        Course { split_seed: None, values: (1..=last).map(|at| (at, if at < epoch { 0.5 } else { 1.0 })).collect() }
    }

    fn method<'a>(name: &'a str, epochs: &[u32]) -> MethodCourses<'a> {
        MethodCourses { method: name, courses: epochs.iter().map(|&epoch| course(epoch, 40)).collect() }
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{found} {expected}");
    }

    /// NumPy: variances of the logarithms 0.05480065 and 0.04123936; they differ by less than chance, so that both are drawn towards their mean.
    #[test]
    fn the_ratio_of_epochs_varies_over_seeds_and_is_rounded_to_evaluations() {
        let found = convergence(&[method("als", &[4, 4, 6]), method("sgd", &[20, 30, 24])], 0, 1).unwrap();
        near(found.value, RATIO);
        near(found.variance.replicates, REPLICATES);
        near(found.variance.users, ROUNDING);
        assert_eq!((found.variance.replicates_degrees, found.replicates, found.spread, found.over), (4.0, 3, Spread::Own, Over::Seeds));
        let reversed = convergence(&[method("als", &[4, 4, 6]), method("sgd", &[20, 30, 24])], 1, 0).unwrap();
        near(reversed.value, -RATIO);
    }

    const RATIO: f64 = 1.6702117646987518;
    const REPLICATES: f64 = 0.032013336458021395;
    const ROUNDING: f64 = 0.004392361111111112;

    /// The better method passes the other's best early, whenever it comes to its own; 1% below counts.
    #[test]
    fn both_are_held_to_what_the_worse_one_reaches() {
        let of =
            |values: &[(u32, f64)]| MethodCourses { method: "m", courses: vec![Course { split_seed: None, values: values.to_vec() }; 2] };
        let better = of(&[(5, 0.3), (10, 0.5), (15, 0.9)]);
        let worse = of(&[(5, 0.1), (10, 0.2), (15, 0.396), (20, 0.4)]);
        let found = convergence(&[better, worse], 0, 1).unwrap();
        near(found.value, 1.5f64.ln());
        near(found.variance.users, (0.25 + 1.0 / 9.0) / 12.0);
    }

    #[test]
    fn without_a_second_seed_nothing_is_decided() {
        let methods = [method("a", &[3]), method("b", &[30])];
        let found = convergence(&methods, 0, 1).unwrap();
        assert_eq!(found.spread, Spread::Unknown);
        let judged = judge(&[found], None, 0.05);
        assert_eq!((judged[0].p_value, judged[0].verdict), (1.0, Verdict::Undecided));
    }

    #[test]
    fn other_methods_tell_how_far_seeds_spread_where_they_come_as_far() {
        let mut never = method("never", &[9, 30, 1]);
        never.courses.iter_mut().for_each(|course| course.values.iter_mut().for_each(|(_, value)| *value /= 2.0));
        let methods = [method("a", &[3, 4]), method("b", &[30, 25]), method("c", &[10, 12, 15]), never];
        let with = convergence(&methods, 0, 1).unwrap();
        assert_eq!(with.variance.replicates_degrees, 4.0);
        assert_eq!(convergence(&methods[..2], 0, 1).unwrap().variance.replicates_degrees, 2.0);
        assert_eq!(convergence(&methods[..3], 0, 1), Some(with));
    }

    #[test]
    fn a_split_is_one_replicate() {
        let on = |split: u64, epoch: u32| Course { split_seed: Some(split), ..course(epoch, 40) };
        let methods = [
            MethodCourses { method: "a", courses: vec![on(1, 2), on(1, 8), on(2, 4)] },
            MethodCourses { method: "b", courses: vec![on(1, 16), on(2, 20), on(3, 40)] },
        ];
        let found = convergence(&methods, 0, 1).unwrap();
        near(found.value, (4.0f64.ln() + 5.0f64.ln()) / 2.0);
        assert_eq!(found.replicates, 2);
        let apart = MethodCourses { method: "c", courses: vec![on(9, 3)] };
        assert_eq!(convergence(&[methods[0].clone(), apart], 0, 1), None);
        assert_eq!(convergence(&[methods[0].clone(), MethodCourses { method: "d", courses: Vec::new() }], 0, 1), None);
    }

    /// Two methods whose epochs have one distribution are called different no more often than the level says.
    #[test]
    fn the_level_is_kept() {
        let mut words = stream(7, 0);
        let mut uniform = || (words.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let mut drawn = |name| {
            let epochs: Vec<u32> = (0..3).map(|_| (30.0 * (0.2 * normal()).exp()).ceil() as u32).collect();
            MethodCourses { method: name, courses: epochs.into_iter().map(|epoch| course(epoch, epoch)).collect() }
        };
        let sets = 2000;
        let wrong = (0..sets).filter(|_| {
            let found = convergence(&[drawn("a"), drawn("b")], 0, 1).unwrap();
            found.variance.p_value(found.value) < 0.05
        });
        let share = wrong.count() as f64 / f64::from(sets);
        assert!((0.01..0.065).contains(&share), "{share}");
    }
}
