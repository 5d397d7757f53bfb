//! What the methods of two sweeps reached on the users that both ranked, each training counted once where one sweep has all of the other's; others that both have count on both sides.

use super::shared_users::{SharedUsers, named};
use evaluator::{
    MetricAt, TrialValues,
    findings::{MethodsAt, methods_at},
    significance::{Contrast, Estimate, Over},
};

/// The methods of both sweeps on a dataset by one metric.
pub(super) struct MethodPairs<'a> {
    /// Methods with trials that count, and their spreads.
    counted: Option<MethodsAt<'a>>,
    /// Methods of one sweep whose trials count as the other's.
    repeated: Option<MethodsAt<'a>>,
}

impl<'a> MethodPairs<'a> {
    /// Measures the methods by the trials on the users that both sweeps ranked.
    ///
    /// # Errors
    /// Values that are not finite.
    pub(super) fn new(shared: &'a SharedUsers, dataset: &str, at: MetricAt) -> evaluator::Result<Self> {
        let of = |values: &'a [TrialValues]| methods_at(values, dataset, at);
        Ok(Self { counted: of(&shared.values)?, repeated: of(&shared.repeated)? })
    }

    /// The mean of a sweep's method; none where it has no trial on the splits that count.
    pub(super) fn mean(&self, side: usize, method: &str) -> Option<f64> {
        let name = named(side, method);
        [&self.counted, &self.repeated].into_iter().flatten().find_map(|found| Some(found.methods[found.place(&name)?].mean()))
    }

    /// The second sweep's mean of a method less the first's; none where one sweep has all trials of the other.
    pub(super) fn difference(&self, method: &str, over: Over) -> Option<Estimate> {
        let found = self.counted.as_ref()?;
        let [first, second] = [0, 1].map(|side| found.place(&named(side, method)));
        Some(Estimate::new(&Contrast::difference(second?, first?), &found.methods, &found.spreads, over))
    }
}
