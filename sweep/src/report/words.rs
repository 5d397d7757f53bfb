//! Settings of the evaluation in words.

use super::{Input, measured::Measured, method::methods, sampled, splits};
use crate::tables::LeaderboardRow;
use evaluator::{
    settings::{Evaluation, Family, Margin, Mask, Over, RecallDenominator, Test, Ties, Users},
    significance::{Comparison, Spread},
};
use std::collections::BTreeSet;

/// A test and the sources of variance that it counts.
pub(super) fn test(test: Test, counted: Over, splits: bool) -> String {
    format!("{} over {}", test.words(counted), over(if test.counts_seeds() { counted } else { Over::Users }, splits))
}

/// Sources of variance; with repeated splits these stand in the place of seeds, of which each is the mean.
pub(crate) fn over(over: Over, splits: bool) -> &'static str {
    match (over, splits) {
        (Over::UsersAndSeeds, false) => "users and seeds",
        (Over::UsersAndSeeds, true) => "users and splits",
        (Over::Users, _) => "users",
        (Over::Seeds, false) => "seeds",
        (Over::Seeds, true) => "splits",
    }
}

/// Which pairs are compared; `title` is what readers call the method of a key.
pub(super) fn family(family: &Family, title: impl Fn(&str) -> String) -> String {
    match family {
        Family::AllPairs => "every pair of methods".to_owned(),
        Family::Against(method) => format!("every method against {}", title(method)),
        Family::AgainstBest => "every method against the best".to_owned(),
    }
}

/// The margin of equivalence; nothing where none is set.
pub(super) fn within(evaluation: &Evaluation) -> String {
    match evaluation.significance.margin {
        Some(margin @ Margin::Relative(_)) => format!("within {margin} of their mean"),
        Some(margin @ Margin::Absolute(_)) => format!("within {margin}"),
        None => String::new(),
    }
}

/// Rounded up to two digits, as far as such a number can be known.
fn two_digits(number: u64) -> u64 {
    let unit = 10u64.pow(number.max(1).ilog10().saturating_sub(1));
    number.div_ceil(unit) * unit
}

/// The seeds, or with repeated splits the splits, or the users that would decide an undecided comparison, as far as they are known.
pub(super) fn needed(row: &Comparison, splits: bool) -> Option<String> {
    match (row.needed_seeds, row.needed_users) {
        (Some(count), _) if row.over != Over::Users && splits => {
            Some(format!("about {} would decide", crate::number::counted(count as usize, "split")))
        }
        (Some(count), _) if row.over != Over::Users => {
            Some(format!("about {} of each would decide", crate::number::counted(count as usize, "seed")))
        }
        (_, Some(users)) => Some(format!("about {} would decide", crate::number::counted(two_digits(users) as usize, "user"))),
        _ => None,
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

pub(super) fn recall(recall: RecallDenominator) -> &'static str {
    match recall {
        RecallDenominator::Standard => "recall divides by all held-out items of the user",
        RecallDenominator::Capped => "recall divides by the held-out items of the user, at most the cutoff (recall: capped)",
    }
}

pub(super) fn ties(ties: Ties) -> &'static str {
    match ties {
        Ties::Pessimistic => "a held-out item stands behind all items of the same score",
        Ties::Optimistic => "a held-out item stands before all items of the same score (ties: optimistic)",
    }
}

/// How significance is shown: the test of the letters, its correction and its level.
pub(super) fn significance(input: &Input, dataset: &str) -> String {
    let settings = &input.evaluation.significance;
    let Some(&first) = settings.tests.first() else {
        return "No significance test was asked for.".to_owned();
    };
    let deciding = || deciding(input, dataset);
    let (tested, adjusted) = (deciding().count(), deciding().next().map_or(settings.correction, |row| row.correction));
    let how = format!(
        "{}, {} ({}), {}, level {}",
        test(first, counted(input, dataset), splits::are_replicates(input, dataset)),
        crate::number::counted(tested, "comparison"),
        family(&settings.family, |key| title(input, key)),
        adjusted.words(),
        settings.alpha
    );
    match settings.family {
        Family::AllPairs => format!("Methods that share a letter do not differ significantly{}: {how}.", against_means(deciding())),
        Family::Against(_) | Family::AgainstBest => format!("Verdicts: {how}."),
    }
}

/// That some pairs share a letter for another reason: by ranks they differ against their means.
fn against_means<'a>(deciding: impl Iterator<Item = &'a Comparison>) -> String {
    let contrary = deciding.filter(|row| row.significant && row.effect_size * row.difference < 0.0).count();
    if contrary > 0 {
        format!(", or differ by ranks against their means ({})", crate::number::counted(contrary, "pair"))
    } else {
        String::new()
    }
}

/// What readers call the method of a key.
pub(super) fn title(input: &Input, key: &str) -> String {
    let dataset = input.trials.iter().find(|trial| trial.method == key).map(|trial| trial.dataset.as_str());
    let method = dataset.and_then(|dataset| methods(input.trials, dataset).into_iter().find(|method| method.key == key));
    method.map_or_else(|| key.to_owned(), |method| method.title)
}

/// What the deciding tests of a dataset count: less than was asked for where nothing is known of the spread over seeds.
fn counted(input: &Input, dataset: &str) -> Over {
    least_counted(deciding(input, dataset), input.evaluation.significance.over)
}

/// What comparisons count where that is less than was asked for, else what was asked for.
pub(super) fn least_counted<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>, asked: Over) -> Over {
    comparisons.into_iter().map(|row| row.over).find(|over| *over != asked).unwrap_or(asked)
}

/// The comparisons of a dataset that decide.
fn deciding<'a>(input: &'a Input, dataset: &str) -> impl Iterator<Item = &'a Comparison> {
    let first = input.evaluation.significance.tests.first();
    input.comparisons.iter().filter(move |row| row.dataset == dataset && row.primary && Some(&row.test) == first)
}

/// The level of the intervals: `95%`.
pub(crate) fn level(evaluation: &Evaluation) -> String {
    // 100 * (1 - 0.021) is 97.89999999999999.
    format!("{}%", (1e8 * (1.0 - evaluation.significance.alpha)).round() / 1e6)
}

/// How to read the intervals of a dataset's table, and how the ranking was made.
pub(super) fn conventions(input: &Input, ranking: &[&LeaderboardRow]) -> String {
    let evaluation = input.evaluation;
    let most = |count: fn(&LeaderboardRow) -> u32| ranking.iter().map(|row| count(row)).max().unwrap_or(0) as usize;
    let splits = ranking.first().map_or(1, |row| splits::counted(input, &row.dataset));
    let seeds = crate::number::counted(most(|row| row.seeds), "seed");
    let replicates = if splits > 1 { format!("{seeds} on each of {splits} splits") } else { seeds };
    let significance = &evaluation.significance;
    let is_paired = significance.over != Over::Seeds && significance.tests.first().is_some_and(|test| test.is_paired());
    let paired = if is_paired { "; tests are paired by user, so they can tell apart what overlaps" } else { "" };
    let intervals = format!(
        "Intervals: {}, {}, of each mean alone ({}, up to {replicates}){paired}. All metrics but {} are exploratory.",
        level(evaluation),
        of_intervals(input, ranking, splits > 1),
        crate::number::counted(most(|row| row.users), "user"),
        evaluation.primary()
    );
    format!("{intervals} {}; {}.", sampled::among(evaluation), ties(evaluation.ties))
}

/// The sources of variance that the intervals of a table count: `over users and seeds`. Seeds are counted where some are known to spread; where all methods fit at
/// once, nothing of seeds is left out.
fn of_intervals(input: &Input, ranking: &[&LeaderboardRow], splits: bool) -> String {
    let measured = Measured::new(input);
    let counted = |row: &&LeaderboardRow| {
        let found = measured.of(&row.dataset, row.at, &row.method).filter(|found| found.ci_low.is_some())?;
        match found.spread {
            Spread::Own | Spread::Pooled => Some(over(found.over, splits)),
            Spread::Unknown => Some(over(Over::Users, splits)),
            Spread::None => None,
        }
    };
    let mut counted: BTreeSet<&str> = ranking.iter().filter_map(counted).collect();
    if counted.is_empty() {
        counted.insert(over(input.evaluation.significance.over, splits));
    }
    let users = over(Over::Users, splits);
    let others: Vec<&str> = counted.iter().copied().filter(|words| *words != users).collect();
    if others.is_empty() { format!("over {users}") } else { format!("over {}", others.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Report, example},
        Over, Spread, conventions, significance, two_digits,
    };
    use evaluator::settings::Test;

    #[test]
    fn the_legend_names_what_the_tests_have_counted() {
        let mut sweep = example::sweep();
        let said = |sweep: &example::Sweep| significance(&sweep.input(), "books");
        assert!(said(&sweep).contains("t-test over users and seeds,"), "{}", said(&sweep));
        sweep.comparisons.iter_mut().for_each(|row| row.over = Over::Users);
        assert!(said(&sweep).contains("t-test over users,"), "{}", said(&sweep));
    }

    #[test]
    fn the_intervals_count_seeds_where_seeds_are_known() {
        let mut sweep = example::sweep();
        let said = |sweep: &example::Sweep| {
            let input = sweep.input();
            let report = Report::new(&input);
            conventions(&input, &report.ranking("books", input.primary()))
        };
        assert!(
            said(&sweep).starts_with("Intervals: 95%, over users and seeds, of each mean alone (400 users, up to 3 seeds);"),
            "{}",
            said(&sweep)
        );
        // As of one seed: nothing is known of those that learn, and what fits at once has none.
        for row in sweep.components.iter_mut().filter(|row| row.spread != Spread::None) {
            (row.spread, row.over) = (Spread::Unknown, Over::Users);
        }
        assert!(said(&sweep).starts_with("Intervals: 95%, over users, of each mean alone"), "{}", said(&sweep));
    }

    #[test]
    fn what_fits_at_once_has_intervals_over_what_is_asked_for() {
        let mut sweep = example::sweep();
        sweep.components.iter_mut().for_each(|row| row.spread = Spread::None);
        let input = sweep.input();
        let said = conventions(&input, &Report::new(&input).ranking("books", input.primary()));
        assert!(said.starts_with("Intervals: 95%, over users and seeds, of each mean alone"), "{said}");
    }

    #[test]
    fn pairs_are_said_where_the_first_test_has_them() {
        let mut sweep = example::sweep();
        let said = |sweep: &example::Sweep| {
            let input = sweep.input();
            conventions(&input, &Report::new(&input).ranking("books", input.primary()))
        };
        assert!(said(&sweep).contains("; tests are paired by user, so"));
        sweep.evaluation.significance.tests = vec![Test::MannWhitney];
        assert!(!said(&sweep).contains("paired"));
        sweep.evaluation.significance.tests = vec![Test::PairedT];
        sweep.evaluation.significance.over = Over::Seeds;
        assert!(!said(&sweep).contains("paired"));
    }

    #[test]
    fn numbers_that_are_estimates_have_two_digits() {
        assert_eq!([0, 7, 42, 100, 101, 28_996, 31_000].map(two_digits), [0, 7, 42, 100, 110, 29_000, 31_000]);
    }
}
