//! Claims, judged as one family.

use super::{Input, MethodsByMetric, TitlesByDataset};
use crate::{
    file::Hypothesis,
    plan::PlannedClaim,
    tables::{ClaimRow, TestedClaim},
};
use evaluator::significance::{Contrast, Estimate, Judged, judge};

/// The claims of the sweep, in the order of its file.
pub(super) fn claims(input: &Input, titles: &TitlesByDataset, measured: &mut MethodsByMetric<'_>) -> Vec<ClaimRow> {
    let settings = &input.evaluation.significance;
    let estimates: Vec<Option<Estimate>> = input.claims.iter().map(|claim| estimate(input, claim, measured)).collect();
    let known: Vec<Estimate> = estimates.iter().flatten().cloned().collect();
    let mut judged = judge(&known, settings.margin, settings.alpha).into_iter();
    let tested = |estimate: Option<Estimate>| estimate.and_then(|estimate| Some(tested(&estimate, judged.next()?)));
    let tested: Vec<Option<TestedClaim>> = estimates.into_iter().map(tested).collect();
    input.claims.iter().zip(tested).map(|(claim, tested)| row(titles, claim, tested)).collect()
}

/// The estimate of the contrast that a claim is about; none where one of its methods has no result.
fn estimate(input: &Input, claim: &PlannedClaim, measured: &mut MethodsByMetric<'_>) -> Option<Estimate> {
    let found = measured.of(&claim.dataset, claim.at)?;
    let mut places = claim.hypothesis.methods().into_iter().map(|method| found.place(method)).collect::<Option<Vec<usize>>>()?;
    let contrast = match claim.hypothesis {
        Hypothesis::Better(..) => Contrast::difference(places[0], places[1]),
        Hypothesis::Increasing(_) => Contrast::trend(&places),
        Hypothesis::Decreasing(_) => {
            places.reverse();
            Contrast::trend(&places)
        }
    };
    Some(Estimate::new(&contrast, &found.methods, &found.spreads, input.evaluation.significance.over))
}

fn tested(estimate: &Estimate, judged: Judged) -> TestedClaim {
    let finite = Some(judged.interval).filter(|interval| interval.low.is_finite());
    TestedClaim {
        difference: estimate.value,
        relative: if estimate.level == 0.0 { 0.0 } else { estimate.value / estimate.level },
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{example, reproduction::Reproduction};

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
        assert!(first.p_adjusted >= first.p_value && first.ci_low.unwrap() >= 0.0 && first.relative > 0.1, "{first:?}");
        assert_eq!((first.replicates, first.over.name()), (3, "users-and-seeds"));
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
