//! Verdicts of made-up trials: the worked example of all tests, and what users, seeds, splits and lists add to it.

use super::*;
use crate::{
    settings::{Correction, Family, Margin, Significance, Test},
    significance::{
        Verdict,
        method::tests::trial,
        tests::{A, B, in_threads, users},
    },
};

const USERS: [u32; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

fn evaluation(tests: &[Test], change: impl FnOnce(&mut Significance)) -> Evaluation {
    let mut significance = Significance { tests: tests.to_vec(), bootstrap_resamples: 1000, resamples: 1000, ..Significance::default() };
    change(&mut significance);
    Evaluation { metrics: vec![crate::Metric::Ndcg], significance, ..Evaluation::default() }
}

fn found(trials: &[TrialValues], evaluation: &Evaluation) -> Findings {
    compare(trials, evaluation, &mut |_, _| ()).unwrap()
}

fn shifted(values: &[f64], shift: f64) -> Vec<f64> {
    values.iter().map(|value| value + shift).collect()
}

/// Trials of several methods, each with these seeds' shifts of the same random users.
fn sweep(methods: &[(&str, &[f64])]) -> Vec<TrialValues> {
    let ids: Vec<u32> = (0..300).collect();
    let rows = methods.iter().enumerate().flat_map(|(number, (name, shifts))| {
        let base = users(300, 7 + number as u64);
        let ids = &ids;
        shifts.iter().zip(1..).map(move |(&shift, seed)| trial(name, Some(seed), None, ids, &shifted(&base, shift))).collect::<Vec<_>>()
    });
    rows.collect()
}

/// Two seeds whose mean is the worked example give its p-values over users.
#[test]
fn over_users_a_user_s_value_is_the_mean_over_seeds() {
    let (up, down) = (shifted(&A, 0.1), shifted(&A, -0.1));
    let trials = [trial("mf", Some(1), None, &USERS, &up), trial("pop", None, None, &USERS, &B), trial("mf", Some(2), None, &USERS, &down)];
    let tests = [Test::PairedT, Test::Wilcoxon, Test::Randomization, Test::MannWhitney];
    let rows = found(&trials, &evaluation(&tests, |settings| settings.over = Over::Users)).comparisons;
    for (row, p_value) in rows.iter().zip([0.01647098, 0.013671875, 0.01953125, 0.73373000]) {
        assert!((row.p_value - p_value).abs() < 5e-9, "{row:?}");
        assert_eq!((row.method_a.as_str(), row.method_b.as_str(), row.over), ("mf", "pop", Over::Users));
    }
    assert!((rows[0].effect_size - 0.85019029).abs() < 5e-9 && (rows[0].statistic - 2.94058818).abs() < 5e-9);
    assert!((rows[0].mean_a - 0.377).abs() < 1e-12 && (rows[0].difference - 0.028).abs() < 1e-12);
    assert_eq!((rows[1].ci_low, rows[1].standard_error, rows[1].correction), (None, None, Correction::Holm));
}

/// The users are those of the worked example, and the seeds are 0.2 apart: no careful reader calls 0.028 a difference then.
#[test]
fn seeds_that_lie_far_apart_leave_a_difference_undecided() {
    let (up, down) = (shifted(&A, 0.1), shifted(&A, -0.1));
    let trials = [trial("mf", Some(1), None, &USERS, &up), trial("mf", Some(2), None, &USERS, &down), trial("pop", None, None, &USERS, &B)];
    let findings = found(&trials, &evaluation(&[Test::PairedT], |_| ()));
    let row = &findings.comparisons[0];
    assert_eq!((row.over, row.spread, row.verdict, row.significant), (Over::UsersAndSeeds, Spread::Own, Verdict::Undecided, false));
    assert!(row.p_value > 0.5 && row.ci_low.unwrap() < 0.0, "{row:?}");
    assert!((findings.methods[0].var_seeds.unwrap() - 0.02).abs() < 1e-12 && findings.methods[1].var_seeds.is_none());
}

#[test]
fn one_seed_is_of_the_trained_models() {
    let trials = [trial("mf", Some(1), None, &USERS, &A), trial("pop", None, None, &USERS, &B)];
    let row = found(&trials, &evaluation(&[Test::PairedT], |_| ())).comparisons.remove(0);
    assert_eq!((row.over, row.spread), (Over::Users, Spread::Unknown));
    assert!((row.p_value - 0.01647098).abs() < 5e-9);
}

/// Over seeds alone one seed tells nothing: without another method's seeds users are counted, with them the bootstrap finds nothing.
#[test]
fn over_seeds_one_seed_is_no_certainty() {
    let tests = [Test::PairedT, Test::Bootstrap];
    let of_seeds = |settings: &mut Significance| settings.over = Over::Seeds;
    let single = sweep(&[("a", &[0.0]), ("b", &[0.001])]);
    for row in found(&single, &evaluation(&tests, of_seeds)).comparisons {
        assert!(row.over == Over::Users && row.p_value > 0.05, "{row:?}");
    }
    let rows = found(&sweep(&[("a", &[0.0, 0.01, 0.02]), ("b", &[0.3])]), &evaluation(&tests, of_seeds)).comparisons;
    assert_eq!((rows[0].over, rows[0].spread, rows[1].p_value, rows[1].ci_low), (Over::Seeds, Spread::Pooled, 1.0, None));
    assert!(rows[0].p_value < 0.01, "{rows:?}");
}

/// Every interval agrees with its verdict, for each correction; Romano and Wolf's p-values lie between the plain ones and Bonferroni's.
#[test]
fn intervals_never_contradict_verdicts() {
    let trials = sweep(&[("a", &[0.0, 0.01, 0.02]), ("b", &[0.1, 0.11]), ("c", &[0.05, 0.07, 0.06]), ("d", &[0.3, 0.31, 0.305])]);
    for correction in Correction::ALL {
        for test in [Test::PairedT, Test::Bootstrap] {
            let rows = found(&trials, &evaluation(&[test], |settings| settings.correction = correction)).comparisons;
            assert_eq!(rows.len(), 6);
            for row in &rows {
                let (low, high) = (row.ci_low.unwrap(), row.ci_high.unwrap());
                assert_eq!(row.significant, low >= 0.0 || high <= 0.0, "{row:?}");
                assert_eq!(row.significant, row.verdict != Verdict::Undecided, "{row:?}");
                assert!(row.p_adjusted >= row.p_value && row.p_adjusted <= (6.0 * row.p_value + 0.02).min(1.0), "{row:?}");
            }
        }
    }
}

#[test]
fn a_margin_makes_small_differences_equivalent() {
    let base = users(300, 1);
    let ids: Vec<u32> = (0..300).collect();
    let methods = [("a", 0.0), ("b", 0.001), ("c", 0.2)];
    let trials: Vec<TrialValues> = methods.iter().map(|(name, shift)| trial(name, None, None, &ids, &shifted(&base, *shift))).collect();
    let rows = found(&trials, &evaluation(&[Test::PairedT], |settings| settings.margin = Some(Margin::Absolute(0.03)))).comparisons;
    assert_eq!(rows.iter().map(|row| row.verdict.name()).collect::<Vec<_>>(), ["equivalent", "worse", "worse"]);
    assert!(rows[0].p_equivalence.unwrap() < 1e-6 && rows[1].p_equivalence.unwrap() > 0.999, "{rows:?}");
    assert_eq!(rows[0].margin, Some(0.03));
}

#[test]
fn a_family_against_one_method_has_its_pairs_alone() {
    let trials = sweep(&[("a", &[0.0, 0.01]), ("b", &[0.4, 0.41]), ("c", &[0.0, 0.02])]);
    let pairs = |family: Family| {
        let rows = found(&trials, &evaluation(&[Test::PairedT, Test::Bootstrap], |settings| settings.family = family)).comparisons;
        rows.iter().map(|row| (row.method_a.clone(), row.method_b.clone(), row.verdict.name())).collect::<Vec<_>>()
    };
    let pair = |a: &str, b: &str, verdict| (a.to_owned(), b.to_owned(), verdict);
    let best = [pair("a", "b", "worse"), pair("b", "c", "better")];
    assert_eq!(pairs(Family::AgainstBest), [best.clone(), best].concat());
    let against = pairs(Family::Against("c".into()));
    assert_eq!(against[..2], [pair("a", "c", "undecided"), pair("b", "c", "better")]);
    assert!(pairs(Family::Against("gone".into())).is_empty());
}

#[test]
fn splits_are_a_component_of_their_own() {
    let ids: Vec<u32> = (0..300).collect();
    let of = |name: &'static str, level: f64, number: u64| {
        let ids = ids.clone();
        [(1, 1, 0.0), (1, 2, 0.004), (2, 1, 0.1), (2, 2, 0.104), (3, 1, 0.05), (3, 2, 0.054)]
            .map(|(split, seed, shift)| trial(name, Some(seed), Some(split), &ids, &shifted(&users(300, number), level + shift)))
    };
    let trials = [of("a", 0.0, 1), of("b", 0.3, 2)].concat();
    let findings = found(&trials, &evaluation(&[Test::PairedT], |_| ()));
    // What the splits have in common is no variance of a method: only rounding is left.
    assert!(findings.methods.iter().all(|method| method.var_splits.unwrap() < 1e-6 && method.splits == 3 && method.trials == 6));
    assert!((findings.methods[0].var_seeds.unwrap() - 8e-6).abs() < 1e-12);
    assert_eq!((findings.comparisons[0].replicates_a, findings.comparisons[0].verdict), (3, Verdict::Worse));
}

#[test]
fn a_split_that_a_method_lacks_is_left_out_for_all() {
    let rows = |name: &str, splits: &[u64]| splits.iter().map(|&split| trial(name, None, Some(split), &USERS, &A)).collect::<Vec<_>>();
    let findings = found(&[rows("a", &[1, 2, 3]), rows("b", &[1, 3])].concat(), &evaluation(&[Test::PairedT], |_| ()));
    assert_eq!(findings.comparisons[0].replicates_a, 2);
}

#[test]
fn a_method_on_no_split_of_the_others_is_left_out() {
    let rows = |name: &str, splits: &[u64]| splits.iter().map(|&split| trial(name, None, Some(split), &USERS, &A)).collect::<Vec<_>>();
    let named = |trials: &[Vec<TrialValues>]| {
        let findings = found(&trials.concat(), &evaluation(&[Test::PairedT], |_| ()));
        let pairs = findings.comparisons.iter().map(|row| (row.method_a.clone(), row.method_b.clone())).collect::<Vec<_>>();
        (findings.methods.iter().map(|row| (row.method.clone(), row.splits)).collect::<Vec<_>>(), pairs)
    };
    let (of, pair) = (|name: &str, splits| (name.to_owned(), splits), |a: &str, b: &str| vec![(a.to_owned(), b.to_owned())]);
    let three = named(&[rows("a", &[1]), rows("b", &[2, 3]), rows("c", &[2, 3])]);
    assert_eq!(three, (vec![of("b", 2), of("c", 2)], pair("b", "c")));
    assert_eq!(named(&[rows("a", &[1]), rows("b", &[2])]), (vec![of("a", 1)], vec![]), "of equally many the first stays");
}

/// Of the splits one is left: what a method reached on the other, of other users, is no part of it.
#[test]
fn one_split_that_is_left_stands_alone() {
    let a = trial("a", Some(1), Some(1), &[0, 1, 2], &[0.3, 0.4, 0.5]);
    let b = [trial("b", Some(1), Some(1), &[0, 1, 2], &[0.3, 0.4, 0.35]), trial("b", Some(1), Some(2), &[0, 1], &[0.1, 0.2])];
    let findings = found(&[vec![a], b.to_vec()].concat(), &evaluation(&[Test::PairedT], |_| ()));
    let row = &findings.comparisons[0];
    assert_eq!((row.replicates_a, row.replicates_b, row.users), (1, 1, 3));
    assert!((row.mean_b - 0.35).abs() < 1e-15, "{}", row.mean_b);
    assert_eq!((findings.methods[1].trials, findings.methods[1].splits), (1, 1));
}

/// Over seeds nothing is known of two methods with one, whatever adjusts the intervals.
#[test]
fn one_seed_has_no_bootstrap_interval_over_seeds() {
    for correction in Correction::ALL {
        let evaluation = evaluation(&[Test::Bootstrap], |significance| {
            (significance.over, significance.correction, significance.margin) = (Over::Seeds, correction, Some(Margin::Absolute(0.01)));
        });
        let findings = found(&sweep(&[("a", &[0.0]), ("b", &[0.0]), ("c", &[0.0, 0.01, 0.03])]), &evaluation);
        for row in findings.comparisons {
            assert_eq!((row.ci_low, row.p_value, row.verdict), (None, 1.0, Verdict::Undecided), "{correction:?}");
        }
    }
}

/// BSL with equal temperatures is the softmax loss, seed by seed: no user tells the two apart, and what either's seeds show beside users is no part of
/// their difference. The other pairs are judged as if one of the two were not there.
#[test]
fn methods_that_are_the_same_leave_other_verdicts_alone() {
    let ids: Vec<u32> = (0..300).collect();
    let seeds = |name: &str, base: u64, level: f64| -> Vec<TrialValues> {
        let of_seed = |seed: u64| {
            let noise = users(300, 100 * base + seed);
            let values: Vec<f64> = users(300, 7).iter().zip(noise).map(|(user, noise)| level + user + 0.3 * noise).collect();
            trial(name, Some(seed), None, &ids, &values)
        };
        (1..=3).map(of_seed).collect()
    };
    let others = [seeds("a", 1, 0.0), seeds("c", 2, 0.2), seeds("d", 3, 0.21)].concat();
    let judged = |trials: &[TrialValues]| {
        let rows = found(trials, &evaluation(&[Test::PairedT], |_| ())).comparisons;
        rows.into_iter().find(|row| (row.method_a.as_str(), row.method_b.as_str()) == ("a", "c")).unwrap()
    };
    let (alone, beside) = (judged(&others), judged(&[others.clone(), seeds("b", 1, 0.0)].concat()));
    assert!(alone.p_adjusted < 0.001 && beside.p_adjusted < 0.001, "{} {}", alone.p_adjusted, beside.p_adjusted);
    let width = |row: &Comparison| row.ci_high.unwrap() - row.ci_low.unwrap();
    assert!(width(&beside) < 1.3 * width(&alone), "{} {}", width(&beside), width(&alone));
}

/// Trials with a value of each user and one of all users' lists.
fn with_lists(method: &str, seeds: &[Option<u64>], at: &str, values: &[f64]) -> Vec<TrialValues> {
    let of_seed = |(&seed, &value): (&Option<u64>, &f64)| {
        let mut trial = trial(method, seed, None, &USERS, &A);
        trial.values.push((at.parse().unwrap(), vec![value]));
        trial
    };
    seeds.iter().zip(values).map(of_seed).collect()
}

fn of_metric(findings: &Findings, at: &str) -> Vec<Comparison> {
    findings.comparisons.iter().filter(|row| row.metric == at.parse().unwrap()).cloned().collect()
}

const SEEDS: [Option<u64>; 3] = [Some(1), Some(2), Some(3)];

/// By hand: both methods' seeds have the variance 1e-4, so that the difference has that of 2 / 3 of it, and d is 0.05 in deviations of 0.01.
#[test]
fn values_of_all_lists_are_tested_over_seeds_alone() {
    let trials =
        [with_lists("a", &SEEDS, "gini@20", &[0.80, 0.81, 0.82]), with_lists("b", &SEEDS, "gini@20", &[0.75, 0.76, 0.77])].concat();
    let findings = found(&trials, &evaluation(&[Test::PairedT, Test::Bootstrap], |_| ()));
    let rows = of_metric(&findings, "gini@20");
    let (row, of_a) = (&rows[0], &findings.methods[2]);
    // Not by the bootstrap, which has three values to draw from.
    assert_eq!((rows.len(), row.over, row.spread, row.users, row.replicates_a), (1, Over::Seeds, Spread::Own, 10, 3));
    assert!((row.difference - 0.05).abs() < 1e-12 && (row.standard_error.unwrap() - (2e-4f64 / 3.0).sqrt()).abs() < 1e-12, "{row:?}");
    assert!((row.effect_size - 5.0).abs() < 1e-9 && row.needed_users.is_none());
    let welch = crate::significance::Crossed {
        users: 0.0,
        users_degrees: 0.0,
        replicates: 2e-4 / 3.0,
        replicates_degrees: of_a.degrees,
        interaction: 0.0,
    };
    assert!((row.p_value / welch.p_value(0.05) - 1.0).abs() < 1e-9 && row.p_value < 0.05, "{row:?}");
    assert_eq!(row.verdict, Verdict::Worse, "the lists of the first share places more unevenly");
    assert!((of_a.mean - 0.81).abs() < 1e-12 && of_a.over == Over::Seeds && of_a.var_users.is_none());
    assert!((of_a.var_seeds.unwrap() - 1e-4).abs() < 1e-15 && of_a.ci_low.unwrap() < 0.81);
    // Beside it, the values of users are tested as ever.
    assert_eq!(of_metric(&findings, "ndcg@20")[0].over, Over::UsersAndSeeds);
}

#[test]
fn one_seed_tells_nothing_of_lists() {
    let tested = |trials: &[TrialValues], tests: &[Test], over: Over| {
        of_metric(&found(trials, &evaluation(tests, |settings| settings.over = over)), "coverage@20")
    };
    let of = |method, values: &[f64]| with_lists(method, &SEEDS[..values.len()], "coverage@20", values);
    let fixed = |method, value: f64| with_lists(method, &[None], "coverage@20", &[value]);
    let (several, single) = (of("a", &[0.2, 0.21, 0.22]), of("b", &[0.4]));
    let both = Over::UsersAndSeeds;
    assert_eq!(tested(&[of("a", &[0.2]), single.clone()].concat(), &[Test::PairedT], both), []);
    assert_eq!(tested(&[several.clone(), single.clone()].concat(), &[Test::PairedT], Over::Users), []);
    // Fitting again gives the same lists: nothing varies that a test could count.
    assert_eq!(tested(&[fixed("pop", 0.1), fixed("ease", 0.3)].concat(), &[Test::PairedT], both), []);
    let rows = tested(&[several, single, fixed("pop", 0.1), fixed("ease", 0.3)].concat(), &[Test::PairedT, Test::Wilcoxon], both);
    assert!(rows.iter().all(|row| row.test == Test::PairedT && row.over == Over::Seeds));
    let pairs: Vec<(&str, &str, Spread)> = rows.iter().map(|row| (&*row.method_a, &*row.method_b, row.spread)).collect();
    assert_eq!(
        pairs,
        [
            ("a", "b", Spread::Pooled),
            ("a", "pop", Spread::Own),
            ("a", "ease", Spread::Own),
            ("b", "pop", Spread::Pooled),
            ("b", "ease", Spread::Pooled)
        ]
    );
    let alone = found(&of("a", &[0.2]), &evaluation(&[Test::PairedT], |_| ())).methods.remove(1);
    assert_eq!((alone.mean, alone.ci_low, alone.over), (0.2, None, Over::Seeds));
}

#[test]
fn where_neither_is_better_the_higher_is_said_to_be_higher() {
    let of = |method: &str, level: f64| {
        let mut trial = trial(method, None, None, &USERS, &A);
        trial.values.push(("novelty@20".parse().unwrap(), shifted(&A, level)));
        trial
    };
    let findings = found(&[of("a", 0.0), of("b", 1.0)], &evaluation(&[Test::PairedT], |_| ()));
    let row = &of_metric(&findings, "novelty@20")[0];
    assert_eq!((row.verdict, row.significant), (Verdict::Lower, true));
}

/// Two splits, each with the mean over its seeds; what both methods share on a split is taken out.
#[test]
fn values_of_all_lists_have_splits_as_replicates() {
    let of = |method: &str, values: [f64; 2]| {
        let of_split = |(split, value): (u64, f64)| {
            let mut trial = trial(method, Some(1), Some(split), &USERS[..9 + split as usize - 1], &A[..9 + split as usize - 1]);
            trial.values.push(("coverage@20".parse().unwrap(), vec![value]));
            trial
        };
        [1, 2].into_iter().zip(values).map(of_split).collect::<Vec<_>>()
    };
    let trials = [of("a", [0.5, 0.4]), of("b", [0.3, 0.22])].concat();
    let row = of_metric(&found(&trials, &evaluation(&[Test::PairedT], |_| ())), "coverage@20").remove(0);
    // By hand: the differences are 0.2 and 0.18, of which the mean has the variance 0.02^2 / 2 / 2.
    assert!((row.standard_error.unwrap() - 1e-4f64.sqrt()).abs() < 1e-12 && (row.difference - 0.19).abs() < 1e-12, "{row:?}");
}

#[test]
fn no_nan_and_no_pair() {
    let zeros = [
        trial("a", None, None, &USERS, &[0.0; 10]),
        trial("b", Some(1), None, &USERS, &[0.0; 10]),
        trial("b", Some(2), None, &USERS, &[0.0; 10]),
    ];
    let tests = [Test::PairedT, Test::Bootstrap, Test::Wilcoxon, Test::Randomization, Test::MannWhitney];
    for row in found(&zeros, &evaluation(&tests, |_| ())).comparisons {
        assert_eq!((row.p_value, row.p_adjusted, row.effect_size, row.significant), (1.0, 1.0, 0.0, false), "{row:?}");
    }
    assert_eq!(found(&zeros[..1], &evaluation(&tests, |_| ())).comparisons, []);
    assert_eq!(found(&[], &evaluation(&tests, |_| ())), Findings::default());
    let one = [trial("a", None, None, &[0], &[0.5]), trial("b", None, None, &[0], &[0.2])];
    for row in found(&one, &evaluation(&[Test::PairedT], |_| ())).comparisons {
        assert_eq!((row.p_value, row.ci_low, row.standard_error), (1.0, None, None), "{row:?}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_findings() {
    let trials = sweep(&[("a", &[0.0, 0.01, 0.02]), ("b", &[0.1, 0.11]), ("c", &[0.05, 0.07, 0.06])]);
    let run = || found(&trials, &evaluation(&[Test::PairedT, Test::Bootstrap], |_| ()));
    let one = in_threads(1, run);
    assert_eq!(one, in_threads(2, run));
}

#[test]
fn trials_that_cannot_be_paired_are_refused() {
    let first = trial("mf", Some(1), None, &USERS, &A);
    let message = |other: TrialValues| {
        compare(&[first.clone(), other], &evaluation(&[Test::PairedT], |_| ()), &mut |_, _| ()).unwrap_err().to_string()
    };
    assert_eq!(
        message(trial("mf", Some(2), None, &USERS[1..], &A[1..])),
        "tiny: trial mf-2-0 was ranked for 9 users that are not the 10 users of trial mf-1-0; tests are paired by user, so evaluate both \
         on the same prepared dataset"
    );
    let validation = TrialValues { split: dataset::Split::Validation, ..trial("mf", Some(2), None, &USERS, &A) };
    assert_eq!(message(validation), "tiny: trial mf-2-0 was ranked on validation, trial mf-1-0 on test");
    let mut other = trial("mf", Some(2), None, &USERS, &A);
    other.values.push(("auc".parse().unwrap(), vec![0.5]));
    assert_eq!(message(other), "tiny: trial mf-2-0 has the metrics ndcg@20, auc, trial mf-1-0 has ndcg@20");
    let listed = with_lists("mf", &[Some(2)], "coverage@20", &[0.5]).remove(0);
    let short = TrialValues { values: vec![(listed.values[1].0, vec![0.5, 0.5])], ..listed.clone() };
    let both = [TrialValues { values: vec![listed.values[1].clone()], ..listed }, short];
    let message_of_lists = compare(&both, &evaluation(&[Test::PairedT], |_| ()), &mut |_, _| ()).unwrap_err().to_string();
    assert_eq!(message_of_lists, "tiny: trial mf-2-0 has 2 values of coverage@20, expected 1");
    let not_finite = trial("pop", None, None, &USERS, &[0.5, f64::NAN, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
    assert_eq!(message(not_finite), "tiny: ndcg@20 of `pop` is NaN for user 1");
}
