//! Printed numbers and claims in sentences.

use super::{super::splits, Input, Reproduction};
use crate::number;
use crate::{plan::Printed, tables::ReproductionRow};
use evaluator::{
    Evaluation,
    settings::{Margin, Over},
    significance::SHARE_OF_BEST,
};

/// How many numbers there are of each verdict: `12 of 14 printed numbers are reproduced within 5%, 1 is contradicted, 1 is undecided`.
pub(super) fn numbers(reproduction: &Reproduction, printed: &Printed) -> String {
    let of = |verdict: &str| reproduction.numbers.iter().filter(|row| row.verdict() == verdict).count();
    let is = |count: usize| if count == 1 { "is" } else { "are" };
    let others: Vec<String> = ["contradicted", "undecided"]
        .into_iter()
        .filter(|verdict| of(verdict) > 0)
        .map(|verdict| format!("{} {} {verdict}", of(verdict), is(of(verdict))))
        .chain((of("missing") > 0).then(|| format!("{} without a result", of("missing"))))
        .collect();
    let all = number::counted(reproduction.numbers.len(), "printed number");
    let verb = if reproduction.numbers.len() == 1 { "is" } else { is(of("reproduced")) };
    let rest = if others.is_empty() { String::new() } else { format!(", {}", others.join(", ")) };
    let other = match (&printed.other, printed.lines.saturating_sub(printed.values.len())) {
        (Some(first), others @ 1..) => {
            format!(" {others} of {} lines of the table name what this sweep has not, the first: {first}.", printed.lines)
        }
        _ => String::new(),
    };
    format!("{} of {all} {verb} reproduced within {}{rest}.{other}", of("reproduced"), printed.margin)
}

/// How the numbers are judged.
pub(super) fn numbers_how(reproduction: &Reproduction, printed: &Printed, evaluation: &Evaluation) -> String {
    let level = super::super::words::level(evaluation);
    let share = if matches!(printed.margin, Margin::Relative(_)) { " of the printed number" } else { "" };
    let runs = number::counted(printed.runs as usize, "training");
    let users = match reproduction.numbers.iter().filter(|row| row.same_users).count() {
        0 => "The split is our own, so that users are counted for both.",
        same if same == reproduction.numbers.len() => "The split is the paper's own, so that seeds alone are counted.",
        _ => "Where the split is the paper's own seeds alone are counted, elsewhere users as well, for both.",
    };
    format!(
        "Reproduced: the {level} interval of our mean less the printed number lies within {}{share}. Contradicted: the two differ, and are not \
         known to be so near. The printed number is taken as the mean of {runs} that spread as ours do, rounded to its last digit. {users} Each number is \
         judged by itself.",
        printed.margin
    )
}

/// How many claims there are of each verdict.
pub(super) fn claims(reproduction: &Reproduction) -> String {
    let of = |verdict: &str| reproduction.claims.iter().filter(|row| row.verdict() == verdict).count();
    let counted = |(verdict, words): (&str, &str)| (of(verdict) > 0).then(|| format!("{} {words}", of(verdict)));
    let named = [
        ("holds", if of("holds") == 1 { "holds" } else { "hold" }),
        ("reversed", "reversed"),
        ("equivalent", "of a difference within the margin"),
        ("undecided", "undecided"),
        ("missing", "without a result"),
    ];
    let counts: Vec<String> = named.into_iter().filter_map(counted).collect();
    format!("Of {}: {}.", number::counted(reproduction.claims.len(), "claim"), counts.join(", "))
}

/// How the claims are judged.
pub(super) fn claims_how(reproduction: &Reproduction, input: &Input) -> String {
    let asked = input.evaluation.significance.over;
    let tested = || reproduction.claims.iter().filter_map(|row| Some((row, row.tested.as_ref()?)));
    let alone = tested().any(|(_, tested)| tested.over == Over::Users && asked != Over::Users);
    let splits = tested().any(|(row, _)| splits::are_replicates(input, &row.dataset));
    let test = super::super::words::test(evaluator::settings::Test::PairedT, asked, splits);
    let scope =
        if alone { " Where nothing is known of seeds, users alone are counted, and the verdict is of these trained models." } else { "" };
    let epochs = if tested().any(|(row, _)| row.kind == "faster") {
        format!(
            " Epochs are those until validation comes to {}% of the lowest best value of both methods' trainings, over seeds alone: what is shown is the \
             share of them that is saved, and the logarithm of their ratio.",
            100.0 * SHARE_OF_BEST
        )
    } else {
        String::new()
    };
    format!(
        "By the {test}, p-values and intervals adjusted after Holm for all claims of the sweep, level {}. Differences of two methods are shares \
         of the second one's mean. A trend is the rise of the least-squares line through the means, from the first method to the last.{epochs}{scope}",
        input.evaluation.significance.alpha
    )
}

/// The difference to a printed number, as a share of it: `-1.2%`; none of a number that is 0.
pub(super) fn share(row: &ReproductionRow) -> Option<String> {
    let ours = row.ours.as_ref().filter(|_| row.printed != 0.0)?;
    Some(percent(ours.difference / row.printed))
}

/// A share with its sign and one decimal.
pub(super) fn percent(share: f64) -> String {
    format!("{:+.1}%", 100.0 * share).replace('-', "\u{2212}")
}

/// An interval of differences.
pub(super) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    low.zip(high).map_or_else(|| "-".to_owned(), |(low, high)| format!("{} to {}", number::difference(low), number::difference(high)))
}
