//! Claims, judged as one family.

use super::{Input, MethodsByMetric, TitlesByDataset, convergence};
use crate::{
    file::Hypothesis,
    plan::PlannedClaim,
    tables::{ClaimRow, TestedClaim},
};
use evaluator::findings::MethodsAt;
use evaluator::significance::{Contrast, Crossed, Estimate, Judged, Over, Spread, Verdict, judge};

const NO_VARIANCE: Crossed = Crossed { users: 0.0, users_degrees: 0.0, replicates: 0.0, replicates_degrees: 0.0, interaction: 0.0 };

/// A claim without a result, among those that are judged: no difference, whose p-value is 1.
const NO_RESULT: Estimate =
    Estimate { value: 0.0, variance: NO_VARIANCE, over: Over::Users, spread: Spread::Unknown, replicates: 0, level: 0.0 };

/// The claims of the sweep, in the order of its file. All of them are one family, with a result or without, so that what lacks one makes no other
/// claim easier.
pub(super) fn claims(input: &Input, titles: &TitlesByDataset, measured: &mut MethodsByMetric<'_>) -> Vec<ClaimRow> {
    let settings = &input.evaluation.significance;
    let estimates: Vec<Option<Estimate>> = input.claims.iter().map(|claim| estimate(input, claim, measured)).collect();
    let family: Vec<Estimate> = estimates.iter().map(|estimate| estimate.clone().unwrap_or(NO_RESULT)).collect();
    let judged = judge(&family, settings.margin, settings.alpha);
    let rows = input.claims.iter().zip(estimates).zip(judged).map(|((claim, estimate), judged)| {
        let result = estimate.map(|estimate| tested(&claim.hypothesis, &estimate, judged));
        let result = result.map(|result| TestedClaim { verdict: unbroken(input, claim, result.verdict, measured), ..result });
        row(titles, claim, result)
    });
    rows.collect()
}

/// The verdict on a trend, which is undecided where the line through all means goes one way and a step between neighbours significantly the other.
fn unbroken(input: &Input, claim: &PlannedClaim, verdict: Verdict, measured: &mut MethodsByMetric<'_>) -> Verdict {
    let (Hypothesis::Increasing(methods) | Hypothesis::Decreasing(methods)) = &claim.hypothesis else { return verdict };
    let settings = &input.evaluation.significance;
    let is_broken = methods.windows(2).any(|step| {
        let up = matches!(claim.hypothesis, Hypothesis::Increasing(_));
        let hypothesis = Hypothesis::Better(step[usize::from(up)].clone(), step[usize::from(!up)].clone());
        let step = estimate(input, &PlannedClaim { hypothesis, ..claim.clone() }, measured);
        let judged = step.and_then(|step| judge(&[step], None, settings.alpha).pop());
        matches!(
            (verdict, judged.map(|judged| judged.verdict)),
            (Verdict::Better, Some(Verdict::Worse)) | (Verdict::Worse, Some(Verdict::Better))
        )
    });
    if is_broken { Verdict::Undecided } else { verdict }
}

/// What a claim is about, estimated; none where one of its methods has no result.
fn estimate(input: &Input, claim: &PlannedClaim, measured: &mut MethodsByMetric<'_>) -> Option<Estimate> {
    let mut of_means = |contrast: fn(&[usize]) -> Contrast| {
        let found = measured.of(&claim.dataset, claim.at)?;
        let places = claim.hypothesis.methods().into_iter().map(|method| found.place(method)).collect::<Option<Vec<usize>>>()?;
        Some(Estimate::new(&contrast(&places), &found.methods, &found.spreads, input.evaluation.significance.over))
    };
    match &claim.hypothesis {
        Hypothesis::Better(..) => of_means(|places| Contrast::difference(places[0], places[1])),
        Hypothesis::Equal(one, other) => {
            let found = of_means(|places| Contrast::difference(places[0], places[1]))?;
            let is_one = are_one(measured.of(&claim.dataset, claim.at)?, one, other);
            Some(if is_one { Estimate { variance: NO_VARIANCE, ..found } } else { found })
        }
        Hypothesis::Increasing(_) => of_means(Contrast::trend),
        Hypothesis::Decreasing(_) => of_means(|places| Contrast::trend(&places.iter().rev().copied().collect::<Vec<_>>())),
        Hypothesis::Faster(faster, slower) => convergence::estimate(input, claim, faster, slower),
    }
}

/// Whether two methods give each user the same value in all of their trainings, and not all users one value: the same model, which no seed tells apart.
fn are_one(found: &MethodsAt<'_>, one: &str, other: &str) -> bool {
    let [Some(one), Some(other)] = [one, other].map(|method| found.place(method).map(|place| &found.methods[place].replicates)) else {
        return false;
    };
    one == other && one.len() > 1 && one.iter().any(|values| values.iter().any(|value| *value != values[0]))
}

fn tested(hypothesis: &Hypothesis, estimate: &Estimate, judged: Judged) -> TestedClaim {
    // The level is the mean of the methods' means, from which that of the second of two is half their difference away.
    let whole = match hypothesis {
        Hypothesis::Better(..) | Hypothesis::Equal(..) => estimate.level - estimate.value / 2.0,
        Hypothesis::Increasing(_) | Hypothesis::Decreasing(_) | Hypothesis::Faster(..) => estimate.level,
    };
    let relative = match hypothesis {
        Hypothesis::Faster(..) => Some(1.0 - (-estimate.value).exp()),
        _ => Some(estimate.value / whole).filter(|share| share.is_finite()),
    };
    let finite = Some(judged.interval).filter(|interval| interval.low.is_finite());
    TestedClaim {
        difference: estimate.value,
        relative,
        standard_error: Some(estimate.variance.standard_error()).filter(|error| error.is_finite()),
        ci_low: finite.map(|interval| interval.low),
        ci_high: finite.map(|interval| interval.high),
        p_value: judged.p_value,
        p_adjusted: judged.p_adjusted,
        replicates: estimate.replicates as u32,
        over: estimate.over,
        spread: estimate.spread,
        verdict: judged.verdict,
    }
}

fn row(titles: &TitlesByDataset, claim: &PlannedClaim, tested: Option<TestedClaim>) -> ClaimRow {
    ClaimRow {
        place: claim.place.clone(),
        dataset: claim.dataset.clone(),
        at: claim.at,
        kind: claim.hypothesis.name(),
        claim: in_words(&claim.hypothesis, |key| titles.of(&claim.dataset, key)),
        methods: claim.hypothesis.methods().into_iter().map(str::to_owned).collect(),
        tested,
    }
}

fn in_words(hypothesis: &Hypothesis, title: impl Fn(&str) -> String) -> String {
    let listed = |keys: &[String]| keys.iter().map(|key| title(key)).collect::<Vec<_>>().join(", ");
    match hypothesis {
        Hypothesis::Better(better, worse) => format!("{} above {}", title(better), title(worse)),
        Hypothesis::Increasing(keys) => format!("rising along {}", listed(keys)),
        Hypothesis::Decreasing(keys) => format!("falling along {}", listed(keys)),
        Hypothesis::Equal(first, second) => format!("{} as good as {}", title(first), title(second)),
        Hypothesis::Faster(faster, slower) => format!("{} in fewer epochs than {}", title(faster), title(slower)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{example, reproduction::Reproduction};
    use evaluator::settings::Margin;

    fn claim(hypothesis: Hypothesis, dataset: &str) -> PlannedClaim {
        PlannedClaim { place: "Table 1".into(), dataset: dataset.into(), at: "ndcg@20".parse().unwrap(), hypothesis }
    }

    fn key(backbone: &str, loss: &str) -> String {
        example::trial("books", backbone, Some(loss)).method
    }

    fn judged(claims: &[PlannedClaim]) -> Vec<ClaimRow> {
        let sweep = example::sweep();
        Reproduction::new(&Input { claims, ..sweep.input() }).unwrap().claims
    }

    /// The example's means: softmax-at-k 0.124, softmax 0.112, bpr 0.098, of users whose noise is a fifth of that.
    #[test]
    fn claims_hold_are_reversed_or_lack_a_result() {
        let [bpr, softmax, at_k] = ["bpr", "softmax", "softmax-at-k(20)"].map(|loss| key("mf-64", loss));
        let rows = judged(&[
            claim(Hypothesis::Better(at_k.clone(), bpr.clone()), "books"),
            claim(Hypothesis::Better(bpr.clone(), at_k.clone()), "films"),
            claim(Hypothesis::Increasing(vec![bpr.clone(), softmax.clone(), at_k.clone()]), "books"),
            claim(Hypothesis::Decreasing(vec![at_k.clone(), softmax.clone(), bpr.clone()]), "books"),
            claim(Hypothesis::Better(at_k.clone(), "nobody".into()), "books"),
        ]);
        assert_eq!(rows.iter().map(ClaimRow::verdict).collect::<Vec<_>>(), ["holds", "reversed", "holds", "holds", "missing"]);
        assert_eq!(rows[0].claim, "softmax-at-k(20) on mf-64 above bpr on mf-64");
        assert_eq!(rows[2].claim, "rising along bpr on mf-64, softmax on mf-64, softmax-at-k(20) on mf-64");
        assert_eq!(rows[2].tested, rows[3].tested, "falling along the list is rising along its reverse");
        let first = rows[0].tested.as_ref().unwrap();
        assert!(first.p_adjusted >= first.p_value && first.ci_low.unwrap() >= 0.0, "{first:?}");
        let [first, back] = [0, 1].map(|row: usize| rows[row].tested.as_ref().unwrap().relative.unwrap());
        assert!((first - 0.026 / 0.098).abs() < 0.02 && (back + 0.026 / 0.124).abs() < 0.02, "shares of the second: {first}, {back}");
        let first = rows[0].tested.as_ref().unwrap();
        assert_eq!((first.replicates, first.over.name()), (3, "users-and-seeds"));
    }

    /// From bpr over softmax-at-k to softmax the line through the means rises by 0.014, and the last step falls by 0.012.
    #[test]
    fn a_trend_with_a_step_against_it_is_undecided() {
        let [bpr, softmax, at_k] = ["bpr", "softmax", "softmax-at-k(20)"].map(|loss| key("mf-64", loss));
        let broken = vec![bpr.clone(), at_k.clone(), softmax.clone()];
        let rows = judged(&[
            claim(Hypothesis::Increasing(broken.clone()), "books"),
            claim(Hypothesis::Decreasing(broken.iter().rev().cloned().collect()), "books"),
            claim(Hypothesis::Decreasing(broken), "books"),
            claim(Hypothesis::Increasing(vec![bpr, softmax, at_k]), "books"),
        ]);
        assert!(rows[0].tested.as_ref().unwrap().p_adjusted < 0.05, "the line alone would hold");
        assert_eq!(rows.iter().map(ClaimRow::verdict).collect::<Vec<_>>(), ["undecided", "undecided", "undecided", "holds"]);
    }

    #[test]
    fn equal_is_judged_by_the_margin() {
        let [softmax, at_k] = ["softmax", "softmax-at-k(20)"].map(|loss| key("mf-64", loss));
        let within = |share| {
            let sweep = example::sweep();
            let mut evaluation = sweep.evaluation.clone();
            evaluation.significance.margin = Some(Margin::Relative(share));
            let claims = [
                claim(Hypothesis::Equal(softmax.clone(), at_k.clone()), "books"),
                claim(Hypothesis::Better(at_k.clone(), softmax.clone()), "books"),
            ];
            let found = Reproduction::new(&Input { claims: &claims, evaluation: &evaluation, ..sweep.input() }).unwrap().claims;
            found.iter().map(|row| (row.claim.clone(), row.verdict())).collect::<Vec<_>>()
        };
        let (equal, better) = ("softmax on mf-64 as good as softmax-at-k(20) on mf-64", "softmax-at-k(20) on mf-64 above softmax on mf-64");
        let said = |found: [&'static str; 2]| vec![(equal.to_owned(), found[0]), (better.to_owned(), found[1])];
        assert_eq!(within(0.5), said(["holds", "equivalent"]));
        assert_eq!(within(0.001), said(["reversed", "holds"]));
    }

    /// Holm's steps by hand: the k-th smallest of m p-values times m - k + 1, never below the one before, at most 1.
    #[test]
    fn claims_are_adjusted_as_one_family() {
        let losses = ["bpr", "softmax", "softmax-at-k(20)"].map(|loss| key("mf-64", loss));
        let pairs = [(0, 1), (1, 2), (0, 2)];
        let claims = ["books", "films"]
            .map(|dataset| pairs.map(|(one, other)| claim(Hypothesis::Better(losses[one].clone(), losses[other].clone()), dataset)));
        let rows = judged(&claims.concat());
        let mut found: Vec<(f64, f64)> =
            rows.iter().filter_map(|row| row.tested.as_ref()).map(|row| (row.p_value, row.p_adjusted)).collect();
        found.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (count, mut last) = (found.len(), 0.0_f64);
        assert_eq!(count, 6);
        for (place, (p, adjusted)) in found.into_iter().enumerate() {
            last = last.max(p * (count - place) as f64).min(1.0);
            assert!((adjusted - last).abs() <= 1e-12 * last.max(1e-300), "{place}: {adjusted} {last}");
        }
    }

    /// Of the seeds of two methods that are one in all trainings nothing is left to differ; of one user in one of them something is.
    #[test]
    fn methods_that_are_one_with_each_seed_are_equal() {
        let [bpr, softmax] = ["bpr", "softmax"].map(|loss| key("mf-64", loss));
        let mut sweep = example::sweep();
        sweep.evaluation.significance.margin = Some(Margin::Relative(0.01));
        let claims = [claim(Hypothesis::Equal(bpr.clone(), softmax.clone()), "books")];
        let said = |sweep: &example::Sweep| Reproduction::new(&Input { claims: &claims, ..sweep.input() }).unwrap().claims.remove(0);
        let of = |method: &str| -> Vec<usize> {
            (0..sweep.values.len()).filter(|&at| sweep.values[at].method == method && sweep.values[at].dataset == "books").collect()
        };
        let (of_bpr, of_softmax) = (of(&bpr), of(&softmax));
        assert!(of_bpr.len() == of_softmax.len() && of_bpr.len() > 1);
        for (&to, &from) in of_bpr.iter().zip(&of_softmax) {
            sweep.values[to].values = sweep.values[from].values.clone();
        }
        let same = said(&sweep);
        let tested = same.tested.as_ref().unwrap();
        assert_eq!((same.verdict(), tested.ci_low, tested.ci_high, tested.p_value), ("holds", Some(0.0), Some(0.0), 1.0));
        sweep.values[of_bpr[0]].values.iter_mut().for_each(|(_, values)| values[0] += 1e-6);
        assert!(said(&sweep).tested.unwrap().ci_high.unwrap() > 1e-4, "seeds differ again");
    }

    /// Holm by hand: of two claims the smaller p-value counts twice, and the one without a result, 1, is the larger. The intervals are at half the level, as
    /// those of two claims that have results.
    #[test]
    fn claims_without_a_result_are_of_the_family() {
        let [softmax, at_k] = ["softmax", "softmax-at-k(20)"].map(|loss| key("mf-64", loss));
        let known = claim(Hypothesis::Better(at_k.clone(), softmax), "books");
        let missing = claim(Hypothesis::Better(at_k, "nobody".into()), "books");
        let rows = judged(&[missing, known.clone()]);
        assert_eq!((rows[0].verdict(), &rows[0].tested), ("missing", &None));
        let first = |rows: &[ClaimRow]| rows.iter().find_map(|row| row.tested.clone()).unwrap();
        let (beside, twice, alone) = (first(&rows), first(&judged(&[known.clone(), known.clone()])), first(&judged(&[known])));
        assert!(beside.p_value > 0.0 && beside.p_value == alone.p_value);
        assert_eq!(beside.p_adjusted, (2.0 * alone.p_value).min(1.0));
        assert_eq!((beside.ci_low, beside.ci_high), (twice.ci_low, twice.ci_high));
        assert!(beside.ci_high.unwrap() > alone.ci_high.unwrap());
    }

    /// The example's curves: bpr comes near its best at half the pace of softmax, whose target is the lower one's best.
    #[test]
    fn fewer_epochs_are_counted_over_seeds() {
        let [bpr, softmax] = ["bpr", "softmax"].map(|loss| key("mf-64", loss));
        let rows = judged(&[
            claim(Hypothesis::Faster(softmax.clone(), bpr.clone()), "films"),
            claim(Hypothesis::Faster(bpr.clone(), softmax), "films"),
            claim(Hypothesis::Faster(bpr, "popularity".into()), "films"),
        ]);
        assert_eq!(rows.iter().map(ClaimRow::verdict).collect::<Vec<_>>(), ["holds", "reversed", "missing"]);
        assert_eq!((rows[0].kind, rows[0].claim.as_str()), ("faster", "softmax on mf-64 in fewer epochs than bpr on mf-64"));
        let found = rows[0].tested.as_ref().unwrap();
        let relative = found.relative.unwrap();
        assert!((relative - (1.0 - (-found.difference).exp())).abs() < 1e-15 && relative > 0.4, "{found:?}");
        assert_eq!((found.replicates, found.over.name(), found.spread.name()), (3, "seeds", "own"));
    }

    #[test]
    fn a_claim_alone_has_the_p_value_of_its_pair() {
        let sweep = example::sweep();
        let [softmax, at_k] = ["softmax", "softmax-at-k(20)"].map(|loss| key("mf-64", loss));
        let row = judged(&[claim(Hypothesis::Better(at_k.clone(), softmax.clone()), "books")]).remove(0);
        let is_pair = |row: &&evaluator::significance::Comparison| {
            row.dataset == "books" && row.metric.to_string() == "ndcg@20" && row.method_a == softmax && row.method_b == at_k
        };
        let pair = sweep.comparisons.iter().find(is_pair).unwrap();
        let tested = row.tested.unwrap();
        assert!((tested.p_value - pair.p_value).abs() < 1e-12 && tested.p_adjusted == tested.p_value);
        assert!((tested.difference + pair.difference).abs() < 1e-12);
    }
}
