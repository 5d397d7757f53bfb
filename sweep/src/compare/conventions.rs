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
