//! Settings of the evaluation in words.

use evaluator::settings::{Correction, Evaluation, Mask, Recall, Test, Ties, Users};

pub(super) fn test(test: Test) -> &'static str {
    match test {
        Test::PairedT => "paired t-test",
        Test::Wilcoxon => "Wilcoxon signed-rank test",
        Test::Randomization => "sign-flip randomization test",
        Test::MannWhitney => "Mann-Whitney U test",
    }
}

pub(super) fn correction(correction: Correction) -> &'static str {
    match correction {
        Correction::None => "not adjusted for the number of comparisons",
        Correction::Bonferroni => "adjusted after Bonferroni",
        Correction::Holm => "adjusted after Holm",
        Correction::BenjaminiHochberg => "adjusted after Benjamini and Hochberg",
    }
}

pub(super) fn users(users: Users) -> &'static str {
    match users {
        Users::Known => "users with test items and train interactions",
        Users::All => "users with test items, also those without train interactions (users: all)",
    }
}

pub(super) fn mask(mask: Mask) -> &'static str {
    match mask {
        Mask::TrainAndValidation => "every item but the user's train and validation items is ranked",
        Mask::TrainOnly => {
            "every item but the user's train items is ranked; validation items stay in the list and count as misses (mask: train-only)"
        }
    }
}

pub(super) fn recall(recall: Recall) -> &'static str {
    match recall {
        Recall::Standard => "recall divides by all held-out items of the user",
        Recall::Capped => "recall divides by the held-out items of the user, at most the cutoff (recall: capped)",
    }
}

pub(super) fn ties(ties: Ties) -> &'static str {
    match ties {
        Ties::Pessimistic => "a held-out item stands behind all items of the same score",
        Ties::Optimistic => "a held-out item stands before all items of the same score (ties: optimistic)",
    }
}

/// How significance is shown: the test of the letters, its correction and its level.
pub(super) fn significance(evaluation: &Evaluation, methods: usize) -> String {
    let settings = &evaluation.significance;
    let Some(&first) = settings.tests.first() else {
        return "No significance test was asked for.".to_owned();
    };
    let pairs = super::number::counted(methods * methods.saturating_sub(1) / 2, "pair");
    format!(
        "Methods that share a letter do not differ significantly: {} over users, {pairs} of methods, {}, level {}.",
        test(first),
        correction(settings.correction),
        settings.alpha
    )
}

/// The level of the intervals: `95%`.
pub(super) fn level(evaluation: &Evaluation) -> String {
    format!("{}%", 100.0 * (1.0 - evaluation.significance.alpha))
}

/// What the intervals are, and how the ranking was made.
pub(super) fn conventions(evaluation: &Evaluation, users: usize, seeds: u32) -> String {
    let over = if seeds > 1 { format!(" of their mean over up to {seeds} seeds") } else { String::new() };
    let (level, users) = (level(evaluation), super::number::count(users));
    let intervals =
        format!("Intervals: {level} t over {users} users{over}; tests are paired by user, so they can tell apart what overlaps.");
    format!("{intervals} Full catalogue: {}; {}.", mask(evaluation.mask), ties(evaluation.ties))
}
