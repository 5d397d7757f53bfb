//! Lists that have all held-out items, as of a small catalogue.

use super::Input;
use evaluator::{MetricAt, settings::RecallDenominator};

/// The remark on the smallest cutoff at which every list of every method has all of its user's held-out items; none where recall is capped, whose 1 says less.
pub(super) fn remark(input: &Input, dataset: &str) -> Option<String> {
    if input.evaluation.recall == RecallDenominator::Capped {
        return None;
    }
    let of_dataset = || input.values.iter().filter(|trial| trial.dataset == dataset);
    let is_whole = |at: &MetricAt| {
        let mut values = of_dataset().flat_map(|trial| &trial.values).filter(|(of, _)| of == at);
        values.all(|(_, values)| !values.is_empty() && values.iter().all(|value| *value == 1.0))
    };
    let measured = of_dataset().next()?.values.iter().map(|(at, _)| *at).filter(|at| at.metric.is_share_found());
    let smallest = measured.filter(is_whole).min_by_key(|at| at.cutoff)?;
    let lists = smallest.cutoff?;
    Some(format!(
        "{smallest} is 1 of every user and method: lists of {lists} have all that is held out, so that neither recall, precision nor hit-rate tells methods apart there. Take \
         smaller `cutoffs`."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use evaluator::Metric;

    #[test]
    fn the_smallest_cutoff_that_finds_all_is_said() {
        let mut sweep = example::sweep();
        assert_eq!(remark(&sweep.input(), "books"), None);
        let recall = |cutoff: u32| MetricAt { metric: Metric::Recall, cutoff: Some(cutoff) };
        for trial in &mut sweep.values {
            let users = trial.users.len();
            trial.values = vec![(recall(5), vec![0.5; users]), (recall(20), vec![1.0; users]), (recall(10), vec![1.0; users])];
        }
        let said = remark(&sweep.input(), "books").unwrap();
        assert!(said.starts_with("recall@10 is 1 of every user and method: lists of 10 have all that is held out"), "{said}");
        assert_eq!(remark(&sweep.input(), "nothing"), None);
    }
}
