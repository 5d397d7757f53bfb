//! Smooth NDCG (ITEM).
//!
//! ```text
//! l(u) = 1 - 1/IDCG sum_p 1 / log2(1 + R_p)
//! ```
//! R_p is the [smooth rank](super::smooth_rank) of a positive in its user's list of some positives and negatives, and IDCG the DCG of as
//! many positives at the top. As the temperature falls to 0 this is 1 - NDCG of the list. A list costs P (P + N) sigmoids. The form
//! `gains` is another loss of the same name, which smooths [what stands at each rank](super::smooth_gain) in the place of ranks.
//! Karmim et al., "ITEM", TMLR 2024, hal-04645098, Eq. 3, with the temperatures 1 (inductive) and 1.5 (transductive), 5 positives and 200
//! negatives (600 on Amazon-Book).

use super::smooth_gain::ndcg_of_smooth_gains;
use super::smooth_rank::{check_positives, discounts, ideal_dcg, smooth_ranks};
use super::{Facts, FusedLoss, LossKind, Scores, check_above_zero, fused};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `smooth-ndcg` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmoothNdcg {
    /// Temperature, above 0.
    pub temperature: f64,
    /// What is smoothed.
    #[serde(default)]
    pub form: NdcgForm,
    /// Positives of a list; users with fewer have shorter lists.
    #[serde(default = "super::smooth_rank::positives")]
    pub positives: u32,
    /// Whether an item counts itself in its rank, as half.
    #[serde(default)]
    pub include_self: bool,
    /// How two vectors make a score.
    #[serde(default = "super::dot")]
    pub similarity: Similarity,
}

/// What is smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NdcgForm {
    /// The rank of each positive, as ITEM does.
    #[default]
    Ranks,
    /// The gain at each rank, as Chapelle and Wu do.
    Gains,
}

impl LossKind for SmoothNdcg {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Karmim et al., TMLR 2024 (ITEM), Eq. 3; `gains`: Chapelle and Wu",
            values: "`temperature` 1 (inductive), 1.5 (transductive); 5 positives, 200 negatives (600 on Amazon-Book)",
            cost: "O(P (P + N)); `gains` O((P + N)^2)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_positives(self.positives)?;
        match (self.form, self.include_self) {
            (NdcgForm::Gains, true) => Err("include_self is true: the form `gains` has no rank in which an item could count itself".into()),
            _ => Ok(()),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        smooth_ndcg(positives, negatives, self)
    }

    fn fused(&self) -> Option<&dyn FusedLoss> {
        Some(self)
    }

    fn list(&self) -> Option<usize> {
        Some(self.positives as usize)
    }

    fn list_memory(&self, scores: u64) -> u64 {
        u64::from(self.positives) * scores * 4
    }

    fn numbers_of_row(&self, scores: u64) -> u64 {
        match self.form {
            NdcgForm::Ranks => u64::from(self.positives) * scores,
            NdcgForm::Gains => scores.saturating_mul(scores),
        }
    }

    fn needs_draws(&self) -> Option<&'static str> {
        (self.form == NdcgForm::Gains).then_some(NEEDS_DRAWS)
    }
}

impl FusedLoss for SmoothNdcg {
    fn row(&self, positives: &mut [f32], negatives: &mut [f32], _quantile: f32) -> f32 {
        let ranks = fused::SmoothRank { temperature: self.temperature as f32, include_self: self.include_self };
        match self.form {
            NdcgForm::Ranks => fused::smooth_metrics::smooth_ndcg(1.0, ranks, positives, negatives),
            NdcgForm::Gains => fused::smooth_gain::smooth_ndcg(self.temperature, positives, negatives),
        }
    }
}

/// Why the form of gains cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "smooth-ndcg in the form `gains` compares each item of a list with each other; draw some hundreds of negatives";

/// One value per list, `[B]`, from `positives [B, P]` and `negatives [B, N]`.
pub fn smooth_ndcg(positives: &Tensor, negatives: &Tensor, settings: &SmoothNdcg) -> Result<Tensor> {
    let ndcg = match settings.form {
        NdcgForm::Ranks => ndcg_of_smooth_ranks(positives, negatives, settings.temperature, settings.include_self),
        NdcgForm::Gains => ndcg_of_smooth_gains(positives, negatives, settings.temperature),
    };
    ndcg?.neg()? + 1.0
}

/// NDCG, `[B]`, of lists whose positives have smooth ranks.
pub(super) fn ndcg_of_smooth_ranks(positives: &Tensor, negatives: &Tensor, temperature: f64, include_self: bool) -> Result<Tensor> {
    let ranks = smooth_ranks(positives, negatives, temperature, include_self)?;
    let dcg = (discounts(&ranks.in_list)? * ranks.is_item)?.sum(D::Minus1)?;
    dcg / ideal_dcg(&ranks.counts, positives.dim(1)?)?
}

#[cfg(test)]
impl super::contract::Contract for SmoothNdcg {
    fn examples() -> Vec<Self> {
        let switches = [(NdcgForm::Ranks, false), (NdcgForm::Ranks, true), (NdcgForm::Gains, false)];
        switches
            .map(|(form, include_self)| SmoothNdcg { temperature: 0.4, form, positives: 3, include_self, similarity: Similarity::Dot })
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, of_example_b};
    use super::*;

    fn settings(form: NdcgForm, temperature: f64) -> SmoothNdcg {
        SmoothNdcg { temperature, form, positives: 3, include_self: false, similarity: Similarity::Dot }
    }

    fn worked(settings: &SmoothNdcg) -> (f64, Vec<f64>) {
        of_example_b(|positives, negatives| smooth_ndcg(positives, negatives, settings))
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = worked(&settings(NdcgForm::Ranks, 1.0));
        assert_close(&[value], &[0.38894987], 5e-9);
        let expected = [-0.04332563, 0.01864336, -0.02755125, 0.01614096, 0.01926671, -0.01643252, 0.01410586, 0.01915251];
        assert_close(&gradient, &expected, 6e-9);
        assert_close(&[worked(&settings(NdcgForm::Ranks, 1.5)).0], &[0.40294922], 5e-9);
    }

    #[test]
    fn worked_example_of_items_that_count_themselves() {
        let literal = SmoothNdcg { include_self: true, ..settings(NdcgForm::Ranks, 1.0) };
        assert_close(&[worked(&literal).0], &[0.42437335], 5e-9);
    }

    /// Items 0, 2 and 5 have the ranks 1, 3 and 6.
    #[test]
    fn without_smoothing_it_is_1_less_ndcg() {
        let dcg: f64 = [1.0f64, 3.0, 6.0].iter().map(|rank| 1.0 / (1.0 + rank).log2()).sum();
        let exact = 1.0 - dcg / (1.0 + 1.0 / 3f64.log2() + 0.5);
        assert_close(&[exact], &[0.12892146], 5e-9);
        for form in [NdcgForm::Ranks, NdcgForm::Gains] {
            assert_close(&[worked(&settings(form, 1e-4)).0], &[exact], 1e-12);
        }
    }

    #[test]
    fn values_that_are_none_are_named() {
        assert!(settings(NdcgForm::Ranks, 0.0).check().unwrap_err().starts_with("temperature is 0:"));
        assert!(SmoothNdcg { positives: 0, ..settings(NdcgForm::Ranks, 1.0) }.check().unwrap_err().starts_with("positives is 0:"));
        assert!(
            SmoothNdcg { include_self: true, ..settings(NdcgForm::Gains, 1.0) }.check().unwrap_err().starts_with("include_self is true:")
        );
    }

    #[test]
    fn defaults_are_the_paper() {
        let expected = SmoothNdcg { positives: 5, ..settings(NdcgForm::Ranks, 1.5) };
        assert_eq!(serde_json::from_str::<SmoothNdcg>(r#"{"temperature": 1.5}"#).unwrap(), expected);
    }
}
