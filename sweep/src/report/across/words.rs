//! The comparison over all datasets, in sentences.

use super::{AcrossDatasets, Control, Ranked};
use crate::number;
use evaluator::{settings::Family, significance::datasets::fewest_datasets};

/// More than so many methods are counted instead of named.
const NAMED: usize = 4;

/// Who ranks best over the datasets, whether the methods differ at all, and from whom the best is told apart.
pub(super) fn verdict(across: &AcrossDatasets) -> String {
    let (best, datasets) = (&across.methods[0], across.datasets.len());
    let leading: Vec<String> = leading(across).map(|method| method.title.clone()).collect();
    let lead = format!(
        "{} the best average rank over {} ({}, {:.2} of {})",
        if leading.len() == 1 { format!("{} has", best.title) } else { format!("{} share", number::listed(&leading)) },
        number::counted(datasets, "dataset"),
        across.at,
        best.average_rank,
        across.methods.len()
    );
    let fewest = fewest_datasets(across.methods.len(), across.alpha());
    let p = friedman_p(across);
    if datasets < fewest {
        return format!(
            "{lead}, but {datasets} datasets are too few to tell whether the methods differ: even if all had the same order of {} methods, \
             Friedman's test could not reject at {}; {fewest} datasets could.",
            across.methods.len(),
            across.alpha()
        );
    }
    if !across.differs() {
        return format!("{lead}, but Friedman's test does not tell the methods apart at all ({p}).");
    }
    format!("{lead}; by Friedman's test the methods differ ({p}), and {}.", told_apart(across))
}

/// The methods that no other has a better average rank than.
pub(super) fn leading(across: &AcrossDatasets) -> impl Iterator<Item = &Ranked> {
    across.methods.iter().take_while(|method| method.average_rank == across.methods[0].average_rank)
}

/// All that Friedman's test says.
pub(super) fn friedman(across: &AcrossDatasets) -> String {
    let found = &across.friedman;
    let exact = found
        .exact_p
        .map_or_else(String::new, |p| format!("; counted out over all arrangements of the ranks, {}, which decides", equals(p)));
    format!(
        "Friedman's chi-square {:.2} ({}); Iman and Davenport's F {:.2} ({}){exact}.",
        found.chi_square,
        equals(found.chi_square_p),
        found.f,
        equals(found.f_p)
    )
}

/// The p-value that decides, and whose it is.
fn friedman_p(across: &AcrossDatasets) -> String {
    match across.friedman.exact_p {
        Some(p) => format!("exact {}", equals(p)),
        None => format!("Iman and Davenport's F = {:.2}, {}", across.friedman.f, equals(across.friedman.f_p)),
    }
}

/// `p = 0.012` or `p < 0.001`.
fn equals(p: f64) -> String {
    let p = number::p_value(p);
    if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") }
}

/// The verdict of Nemenyi's test on the best method, and how many other pairs it tells apart.
fn told_apart(across: &AcrossDatasets) -> String {
    let apart = |of_best: bool| across.pairs.iter().filter(move |pair| (pair.one == 0) == of_best && pair.nemenyi < across.alpha());
    let worse: Vec<String> = apart(true).map(|pair| format!("{} ({})", across.methods[pair.other].title, equals(pair.nemenyi))).collect();
    let further = match apart(false).count() {
        0 => String::new(),
        count => format!(", and {} of others", number::counted(count, "pair")),
    };
    let others = across.methods.len() - 1;
    let best = if leading(across).count() == 1 { "the best" } else { &*across.methods[0].title };
    match worse.len() {
        0 if further.is_empty() => format!("Nemenyi's test tells no pair apart (critical difference {:.2})", across.critical_difference),
        0 => format!("Nemenyi's test tells {best} apart from no other{further}"),
        all if all == others && all > 1 => format!("Nemenyi's test tells {best} apart from all {all} others{further}"),
        _ => format!("Nemenyi's test tells {best} apart from {}{further}", named(worse)),
    }
}

/// A list in a sentence that counts what it does not name.
fn named(mut names: Vec<String>) -> String {
    if names.len() > NAMED + 1 {
        let more = names.split_off(NAMED).len();
        names.push(format!("{more} more"));
    }
    number::listed(&names)
}

/// The verdicts on all methods against one of them.
pub(crate) fn against(across: &AcrossDatasets, control: &Control) -> String {
    let describe = |significant: bool| {
        let tests = control.tests.iter().filter(|(_, test)| (test.p_adjusted < across.alpha()) == significant);
        tests.map(|(method, test)| format!("{} ({})", across.methods[*method].title, equals(test.p_adjusted))).collect::<Vec<_>>()
    };
    let of = &across.methods[control.method].title;
    if !across.differs() {
        return format!("Against {of} alone: nothing is told apart, as Friedman's test does not tell the methods apart at all.");
    }
    let (apart, level) = (describe(true), describe(false));
    let apart = if apart.is_empty() { "no other method".to_owned() } else { named(apart) };
    let level = if level.is_empty() { String::new() } else { format!(", not from {}", named(level)) };
    format!("Against {of} alone, tests of average ranks adjusted after Holm tell it apart from {apart}{level}.")
}

/// How the table and the picture are to be read.
pub(super) fn how_to_read(across: &AcrossDatasets) -> String {
    let methods = match (across.methods.len(), &across.significance.family) {
        (2, _) => "",
        (_, Family::AllPairs) => " of all pairs",
        _ => " of the pairs that were tested",
    };
    format!(
        "A method's rank on a dataset is by its mean {}, 1 for the best. Wins, ties and losses count the verdicts{methods} on all datasets. Average \
         ranks {:.2} apart or more differ by Nemenyi's test at {}, where Friedman's test rejects. This is about datasets like these, whatever the tests of a single dataset say.",
        across.at,
        across.critical_difference,
        across.alpha()
    )
}

/// Which methods could not be compared, and which datasets are no observations of their own.
pub(super) fn remarks(across: &AcrossDatasets) -> Option<String> {
    let left_out = (!across.left_out.is_empty()).then(|| format!("Left out: {}.", across.left_out.join("; ")));
    let of_one_source = across.of_one_source.iter().map(|names| {
        format!(
            "{} were prepared from the same files or settings: the tests take them for datasets of their own, and are too sure for that.",
            named(names.clone())
        )
    });
    let sentences: Vec<String> = left_out.into_iter().chain(of_one_source).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{across::Data, example};

    /// Methods by their means on datasets, one seed each.
    fn across(means: &[&[f64]]) -> AcrossDatasets {
        let at = "ndcg@20".parse().unwrap();
        let names: Vec<String> = (0..means[0].len()).map(|dataset| format!("d{dataset}")).collect();
        let (mut trials, mut values) = (Vec::new(), Vec::new());
        for (dataset, name) in names.iter().enumerate() {
            for (method, means) in means.iter().enumerate() {
                let trial = example::trial(name, &format!("m{method}"), None);
                let of = example::values(&trial.trial, at, &[means[dataset]]);
                values.push(evaluator::TrialValues { dataset: name.clone(), method: trial.method.clone(), ..of });
                trials.push(trial);
            }
        }
        let significance = &Default::default();
        let datasets = names.iter().map(String::as_str).collect();
        AcrossDatasets::new(&Data {
            at,
            significance,
            datasets,
            sources: Vec::new(),
            trials: &trials,
            values: &values,
            deciding: Vec::new(),
        })
        .unwrap()
    }

    #[test]
    fn datasets_of_one_source_are_named() {
        let mut across = across(&[&[0.1, 0.2], &[0.3, 0.4], &[0.2, 0.3]]);
        assert_eq!(remarks(&across), None);
        across.of_one_source = vec![vec!["half".to_owned(), "tenth".to_owned()]];
        let expected = "half and tenth were prepared from the same files or settings: the tests take them for datasets of their own, and are too sure for that.";
        assert_eq!(remarks(&across).as_deref(), Some(expected));
    }

    #[test]
    fn too_few_datasets_are_said_with_the_number_that_could() {
        assert_eq!(
            verdict(&across(&[&[0.1, 0.2], &[0.3, 0.4], &[0.2, 0.3]])),
            "m1 has the best average rank over 2 datasets (ndcg@20, 1.00 of 3), but 2 datasets are too few to tell whether the methods \
             differ: even if all had the same order of 3 methods, Friedman's test could not reject at 0.05; 3 datasets could."
        );
    }

    #[test]
    fn no_difference_is_said_with_its_p_and_makes_no_pair() {
        let across = across(&[&[0.1, 0.4, 0.2], &[0.3, 0.1, 0.5], &[0.2, 0.3, 0.4]]);
        let end = "but Friedman's test does not tell the methods apart at all (exact p = 0.94).";
        assert!(verdict(&across).ends_with(end), "{}", verdict(&across));
        assert_eq!(across.groups, [[0, 1, 2]]);
        let words = against(&across, &across.against("m0").unwrap());
        assert_eq!(words, "Against m0 alone: nothing is told apart, as Friedman's test does not tell the methods apart at all.");
    }

    /// All five datasets have one order of four methods: chance does so once in 24^4, and the critical difference is 2.10.
    #[test]
    fn the_best_is_told_apart_by_nemenyi() {
        let across = across(&[&[0.1; 5], &[0.4; 5], &[0.3; 5], &[0.2; 5]]);
        let sentence = verdict(&across);
        let end = "; by Friedman's test the methods differ (exact p < 0.001), and Nemenyi's test tells the best apart from m0 (p = 0.001).";
        assert!(sentence.ends_with(end), "{sentence}");
        let control = across.against("m3").unwrap();
        let words = against(&across, &control);
        assert_eq!(
            words,
            "Against m3 alone, tests of average ranks adjusted after Holm tell it apart from m1 (p = 0.043), not from m2 (p = 0.44) and m0 (p = 0.44)."
        );
        assert_eq!(across.against("m9"), None);
    }
}
