//! A dataset's result in one sentence.

use super::{
    Input, number,
    pairs::{Pair, Pairs},
    splits, words,
};
use crate::tables::LeaderboardRow;
use evaluator::{
    settings::{Family, Over},
    significance::{Spread, Verdict},
};

/// How many methods of a kind are named.
const NAMED: usize = 3;

/// Who ranks best by the primary metric, and what is said of it against the others.
pub(super) fn verdict(input: &Input, rows: &[LeaderboardRow], pairs: &Pairs, dataset: &str) -> String {
    let at = input.primary();
    let ranking: Vec<&LeaderboardRow> = rows.iter().filter(|row| row.dataset == dataset && row.at == at && row.mean.is_some()).collect();
    let Some(best) = ranking.first() else {
        return format!("No method has a result on {dataset}.");
    };
    let (tied, others) = ranking.split_at(ranking.iter().take_while(|row| row.mean == best.mean).count());
    let mean = number::value(best.mean.unwrap_or_default());
    let interval = match (best.ci_low, best.ci_high) {
        (Some(low), Some(high)) => format!(" [{}, {}]", number::value(low), number::value(high)),
        _ => String::new(),
    };
    let title = &best.title;
    if ranking.len() == 1 {
        return format!("{title} has {at} {mean}{interval} on {dataset}; no other method has a result.");
    }
    let first = match tied {
        [_] => format!("{title} ranks best on {dataset} ({at} {mean}{interval})"),
        _ => {
            let titles = few(tied.iter().map(|row| row.title.clone()).collect());
            let is_shared = tied.iter().all(|row| (row.ci_low, row.ci_high) == (best.ci_low, best.ci_high));
            format!("{titles} share the first rank on {dataset}, with the same {at} ({mean}{})", if is_shared { &*interval } else { "" })
        }
    };
    if input.evaluation.significance.tests.is_empty() {
        return format!("{first}: no significance test was asked for.");
    }
    if let Family::Against(reference) = &input.evaluation.significance.family {
        return format!("{first}. {}.", against_reference(input, pairs, reference, &ranking));
    }
    if others.is_empty() {
        return format!("{first}.");
    }
    let compared = |other: &&'_ LeaderboardRow| (other.title.clone(), pairs.between(dataset, at, &best.method, &other.method));
    let all: Vec<(String, Option<Pair>)> = others.iter().map(compared).collect();
    let of_best = if tied.len() > 1 { format!("{title} is ") } else { String::new() };
    format!("{first}: {of_best}{}.", against(input, &all))
}

/// The verdict on the best method against each of the others, and by which test.
fn against(input: &Input, others: &[(String, Option<Pair>)]) -> String {
    let of = |verdict: Verdict| others.iter().filter(|(_, pair)| said(pair) == verdict).collect::<Vec<_>>();
    let (better, equivalent, undecided) = (of(Verdict::Better), of(Verdict::Equivalent), of(Verdict::Undecided));
    let mut parts = Vec::new();
    if !better.is_empty() {
        let who = match (better.len(), others.len()) {
            (1, 1) => "the other method".to_owned(),
            (2, 2) => "both others".to_owned(),
            (some, all) if some == all => format!("all {all} others"),
            (some, all) => format!("{some} of {all} others"),
        };
        parts.push(format!("better than {who} ({})", bound(&better)));
    }
    if !equivalent.is_empty() {
        let names: Vec<String> = equivalent.iter().map(|(title, _)| title.clone()).collect();
        parts.push(format!("equivalent to {}, {}", few(names), words::within(input.evaluation)));
    }
    if !undecided.is_empty() {
        parts.push(format!("undecided against {}", few(undecided.iter().map(|(title, pair)| open(input, title, pair)).collect())));
    }
    format!("{}; {}", number::listed(&parts), basis(input, others.iter().filter_map(|(_, pair)| pair.as_ref())))
}

/// The verdicts on the methods against one that is named.
fn against_reference(input: &Input, pairs: &Pairs, reference: &str, ranking: &[&LeaderboardRow]) -> String {
    let Some(named) = ranking.iter().find(|row| row.method == reference) else {
        return format!("`{reference}`, which the others are compared with, has no result here");
    };
    let pair = |row: &&&LeaderboardRow| pairs.between(&row.dataset, row.at, &row.method, reference);
    let found: Vec<(&str, Pair)> = ranking.iter().filter_map(|row| Some((row.title.as_str(), pair(&row)?))).collect();
    let count = |verdict: Verdict, word: &str| {
        let names: Vec<String> = found.iter().filter(|(_, pair)| pair.verdict == verdict).map(|(title, _)| (*title).to_owned()).collect();
        (!names.is_empty()).then(|| format!("{word}: {}", few(names)))
    };
    let kinds =
        [(Verdict::Better, "better"), (Verdict::Equivalent, "equivalent"), (Verdict::Worse, "worse"), (Verdict::Undecided, "undecided")];
    let parts: Vec<String> = kinds.into_iter().filter_map(|(verdict, word)| count(verdict, word)).collect();
    format!("Against {}, {}; {}", named.title, parts.join("; "), basis(input, found.iter().map(|(_, pair)| pair)))
}

fn said(pair: &Option<Pair>) -> Verdict {
    pair.as_ref().map_or(Verdict::Undecided, |pair| pair.verdict)
}

/// The largest p-value of what is called better.
fn bound(better: &[&(String, Option<Pair>)]) -> String {
    let largest = better.iter().filter_map(|(_, pair)| pair.as_ref()).map(|pair| pair.p).fold(0.0, f64::max);
    if largest < 0.001 { "p < 0.001".to_owned() } else { format!("p at most {}", number::p_value_at_most(largest)) }
}

/// A method against which nothing is decided, and what would decide.
fn open(input: &Input, title: &str, pair: &Option<Pair>) -> String {
    let Some(pair) = pair else { return format!("{title} (not tested)") };
    if pair.contrary {
        return format!("{title}, which the test favours against the means");
    }
    let splits = splits::are_replicates(input, &pair.row.dataset);
    let advice = words::needed(pair.row, splits).map_or_else(String::new, |advice| format!("; {advice}"));
    let p = if pair.p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {}", number::p_value(pair.p)) };
    format!("{title} ({p}{advice})")
}

fn few(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    number::listed(&names)
}

/// The test, what it counts, how it is adjusted, and what the verdicts hold for.
fn basis<'a>(input: &Input, pairs: impl Iterator<Item = &'a Pair<'a>> + Clone) -> String {
    let settings = &input.evaluation.significance;
    let splits = pairs.clone().any(|pair| splits::are_replicates(input, &pair.row.dataset));
    let counted = pairs.clone().map(|pair| pair.row.over);
    let over = counted.clone().find(|over| *over != settings.over).unwrap_or(settings.over);
    let test = settings.tests.first().map_or_else(String::new, |&test| words::test(test, over, splits));
    let models = pairs.clone().any(|pair| pair.row.over == Over::Users && pair.row.spread > Spread::None);
    let pooled = pairs.clone().any(|pair| pair.row.over != Over::Users && pair.row.spread == Spread::Pooled);
    let holds = match (models, pooled) {
        (true, _) if settings.over == Over::Users => ", for these trained models",
        (true, _) => ", for these trained models: with one seed nothing is known of other seeds",
        (false, true) => ", where the spread over seeds of what has one seed is that of the other methods",
        (false, false) => "",
    };
    // Tests without a joint resampling have another adjustment than the one that was asked for.
    let correction = pairs.map(|pair| pair.row.correction).next().unwrap_or(settings.correction);
    format!("{test}, {}{holds}", correction.words())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{example, standings::standings};
    use evaluator::significance::Comparison;

    fn sentence(change: impl Fn(&mut example::Sweep)) -> String {
        let mut sweep = example::sweep();
        change(&mut sweep);
        let input = sweep.input();
        let pairs = Pairs::new(&input);
        verdict(&input, &standings(&input, &pairs), &pairs, "books")
    }

    fn said_of(change: impl Fn(&mut Comparison)) -> String {
        sentence(|sweep| sweep.comparisons.iter_mut().for_each(&change))
    }

    fn decided(row: &mut Comparison, p: f64, verdict: bool) {
        let sign = if row.difference > 0.0 { Verdict::Better } else { Verdict::Worse };
        (row.p_adjusted, row.significant, row.verdict) = (p, verdict, if verdict { sign } else { Verdict::Undecided });
    }

    #[test]
    fn a_test_against_the_means_makes_no_winner() {
        let sentence = said_of(|row| {
            (row.p_adjusted, row.significant, row.effect_size, row.verdict) = (0.0004, true, -row.difference.signum(), Verdict::Undecided);
        });
        assert!(sentence.contains("undecided against ") && sentence.contains(", which the test favours against the means"), "{sentence}");
    }

    /// Both are first, whichever name comes before.
    #[test]
    fn methods_with_the_same_mean_share_the_first_rank() {
        let sentence = sentence(|sweep| {
            let best =
                sweep.components.iter().filter(|row| row.metric == sweep.evaluation.primary()).map(|row| row.mean).fold(0.0, f64::max);
            sweep.components.iter_mut().filter(|row| row.mean > 0.9 * best).for_each(|row| row.mean = best);
        });
        assert!(sentence.contains(" share the first rank on books, with the same ndcg@20 (0."), "{sentence}");
        assert!(sentence.contains(": softmax on light-gcn-64x2 is better than all 3 others"), "one of them is compared: {sentence}");
    }

    #[test]
    fn a_clear_winner() {
        let sentence = said_of(|row| decided(row, 0.0004, true));
        assert!(sentence.starts_with("softmax-at-k(20) on mf-64 ranks best on books (ndcg@20 0."), "{sentence}");
        let end = "better than all 6 others (p < 0.001); t-test over users and seeds, adjusted after Romano and Wolf.";
        assert!(sentence.ends_with(end), "{sentence}");
    }

    #[test]
    fn what_is_open_is_named_with_its_p_and_what_would_decide() {
        let rival = "light-gcn-64x2 / softmax-at-k(20) / uniform-1000";
        let sentence = said_of(|row| {
            let close = row.method_a == rival || row.method_b == rival;
            decided(row, if close { 0.21 } else { 0.0123 }, !close);
            (row.needed_seeds, row.needed_users) = (Some(9), None);
        });
        let end = "better than 5 of 6 others (p at most 0.013) and undecided against softmax-at-k(20) on light-gcn-64x2 (p = 0.21; about \
                   9 seeds of each would decide); t-test over users and seeds, adjusted after Romano and Wolf.";
        assert!(sentence.ends_with(end), "{sentence}");
    }

    #[test]
    fn equivalence_is_said_with_its_margin() {
        let sentence = sentence(|sweep| {
            sweep.evaluation.significance.margin = Some(evaluator::settings::Margin::Relative(0.01));
            sweep.comparisons.iter_mut().for_each(|row| row.verdict = Verdict::Equivalent);
        });
        assert!(sentence.contains("): equivalent to ") && sentence.contains(" and 3 more, within 1% of their mean; t-test"), "{sentence}");
    }

    #[test]
    fn with_one_seed_the_sentence_is_about_the_trained_models() {
        let sentence = said_of(|row| {
            decided(row, 0.0004, true);
            (row.over, row.spread) = (Over::Users, Spread::Unknown);
        });
        let end = "paired t-test over users, adjusted after Romano and Wolf, for these trained models: with one seed nothing is known of \
                   other seeds.";
        assert!(sentence.ends_with(end), "{sentence}");
        let pooled = said_of(|row| (row.spread, row.over) = (Spread::Pooled, Over::UsersAndSeeds));
        assert!(pooled.ends_with("the spread over seeds of what has one seed is that of the other methods."), "{pooled}");
    }

    #[test]
    fn against_a_reference_each_verdict_is_listed() {
        let sentence = sentence(|sweep| {
            sweep.evaluation.significance.family = Family::Against("popularity".into());
            sweep.comparisons.retain(|row| row.method_a == "popularity");
            sweep.comparisons.iter_mut().for_each(|row| decided(row, 0.001, true));
        });
        assert!(sentence.contains(". Against popularity, better: ") && sentence.contains(" and 3 more; t-test"), "{sentence}");
        let missing = self::sentence(|sweep| sweep.evaluation.significance.family = Family::Against("gone".into()));
        assert!(missing.ends_with("`gone`, which the others are compared with, has no result here."), "{missing}");
    }

    #[test]
    fn nothing_measured_is_said_plainly() {
        let sweep = example::sweep();
        let input = Input { components: &[], ..sweep.input() };
        let pairs = Pairs::new(&input);
        assert_eq!(verdict(&input, &standings(&input, &pairs), &pairs, "books"), "No method has a result on books.");
    }
}
