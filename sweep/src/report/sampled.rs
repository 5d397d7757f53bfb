//! What is said of metrics among sampled candidates, which are none of the full catalogue.

use super::words;
use evaluator::Evaluation;

/// How the held-out items were ranked: among which.
pub(super) fn among(evaluation: &Evaluation) -> String {
    match evaluation.sampled_candidates {
        None => format!("Full catalogue: {}", words::mask(evaluation.mask)),
        Some(sample) => {
            format!(
                "Not the full catalogue: held-out items are ranked among {} of their user, drawn by seed {}",
                candidates(sample.negatives),
                sample.seed
            )
        }
    }
}

/// The verdict's sentence on sampled candidates; nothing where the full catalogue was ranked.
pub(super) fn clause(evaluation: &Evaluation) -> String {
    let sentence = |negatives| format!(" All of it among {}: over the full catalogue other methods may lead.", candidates(negatives));
    evaluation.sampled_candidates.map_or_else(String::new, |sample| sentence(sample.negatives))
}

/// The remark on sampled candidates.
pub(super) fn remark(evaluation: &Evaluation) -> Option<String> {
    evaluation.sampled_candidates.map(|sample| {
        format!(
            "Metrics are among {} (evaluation.sampled_candidates), to be set beside printed values of that kind. They are no estimates of the metrics over \
             the full catalogue, and may order methods otherwise (Krichene and Rendle 2020).",
            candidates(sample.negatives)
        )
    })
}

fn candidates(negatives: u32) -> String {
    crate::number::counted(negatives as usize, "sampled candidate")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Report, example};
    use evaluator::settings::SampledCandidates;

    #[test]
    fn sampled_candidates_are_said_everywhere() {
        let mut sweep = example::sweep();
        assert_eq!((clause(&sweep.evaluation), remark(&sweep.evaluation)), (String::new(), None));
        assert!(among(&sweep.evaluation).starts_with("Full catalogue: every item but"));
        sweep.evaluation.sampled_candidates = Some(SampledCandidates { negatives: 100, seed: 7 });
        assert_eq!(
            among(&sweep.evaluation),
            "Not the full catalogue: held-out items are ranked among 100 sampled candidates of their user, drawn by seed 7"
        );
        let said = " All of it among 100 sampled candidates: over the full catalogue other methods may lead.";
        assert!(Report::new(&sweep.input()).verdicts.iter().all(|verdict| verdict.ends_with(said)));
        assert!(remark(&sweep.evaluation).unwrap().starts_with("Metrics are among 100 sampled candidates (evaluation.sampled_candidates)"));
    }
}
