//! Settings of evaluations whose values compare.

use evaluator::Evaluation;

/// The key of `evaluation` by which values of two evaluations were measured by different rules, so that they do not compare; none where they do.
pub(crate) fn differing(one: &Evaluation, other: &Evaluation) -> Option<&'static str> {
    let same = [
        ("users", one.users == other.users),
        ("sampled_candidates", one.sampled_candidates == other.sampled_candidates),
        ("mask", one.mask == other.mask),
        ("recall", one.recall == other.recall),
        ("ties", one.ties == other.ties),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evaluator::settings::{Mask, RecallDenominator, SampledCandidates, Ties, Users};

    #[test]
    fn each_rule_of_the_ranking_is_named() {
        let usual = Evaluation::default;
        let others = [
            (Evaluation { users: Users::All, ..usual() }, Some("users")),
            (Evaluation { sampled_candidates: Some(SampledCandidates { negatives: 100, seed: 1 }), ..usual() }, Some("sampled_candidates")),
            (Evaluation { mask: Mask::TrainOnly, ..usual() }, Some("mask")),
            (Evaluation { recall: RecallDenominator::Capped, ..usual() }, Some("recall")),
            (Evaluation { ties: Ties::Optimistic, ..usual() }, Some("ties")),
            (Evaluation { cutoffs: vec![7], ..usual() }, None),
        ];
        for (other, key) in others {
            assert_eq!((differing(&usual(), &other), differing(&other, &usual())), (key, key));
            assert_eq!(differing(&other, &other), None);
        }
    }
}
