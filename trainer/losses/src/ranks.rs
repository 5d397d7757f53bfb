//! Where the ranks of a batch's items come from.

use super::primitives::{MASKED_BELOW, count_items};
use super::scores::{Others, Pair, Scores, given};
use candle_core::{DType, Result, Tensor};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// `ranks` of the lambda losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankSource {
    /// Among all items, train items of the user included: one scoring of the catalogue for each row of each batch.
    Exact(Exact),
    /// Among the row's own items, or also the user's.
    Sampled(Sampled),
}

/// `exact` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exact {}

/// `sampled` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sampled {
    /// Whether ranks are multiplied by the share of the catalogue's items to the ranked ones (paper SL@K, equation D.8).
    #[serde(default = "rescaled")]
    pub rescaled: bool,
    /// Whether the user's other train items are ranked with the row's, as in equation D.8; they are scored for it.
    #[serde(default)]
    pub with_positives: bool,
}

fn rescaled() -> bool {
    true
}

impl Default for RankSource {
    fn default() -> Self {
        Self::Exact(Exact {})
    }
}

impl RankSource {
    /// 1 since no rank is below 1, where there are more draws than items.
    pub(crate) fn revision(self) -> u32 {
        u32::from(matches!(self, Self::Sampled(Sampled { rescaled: true, .. })))
    }

    /// Why it cannot have the sampler `all`.
    pub(crate) fn needs_draws(self) -> Option<&'static str> {
        match self {
            Self::Exact(_) => Some("exact ranks are those of drawn items; over all items take the ranks `sampled`, among the row's items"),
            Self::Sampled(Sampled { with_positives: true, .. }) => {
                Some("ranks `with_positives` are those of drawn items; over all items take the ranks `sampled` without")
            }
            Self::Sampled(_) => None,
        }
    }
}

/// The value of a loss of ranks, with those that its source gives.
pub(crate) fn with_ranks(source: RankSource, scores: &Scores, loss: impl FnOnce(Pair) -> Result<Tensor>) -> Result<Tensor> {
    match source {
        RankSource::Exact(_) => loss(given(scores.given.ranks, "a lambda loss with exact ranks", "the ranks of the batch's items")?),
        RankSource::Sampled(Sampled { rescaled, with_positives }) => {
            let items = rescaled.then_some(scores.items);
            let (positives, negatives) = match with_positives {
                true => {
                    let others =
                        given(scores.given.others, "a lambda loss with ranks `with_positives`", "the places among the user's items")?;
                    ranks_with_others(scores.positives, scores.negatives, others, items)?
                }
                false => sampled_ranks(scores.positives, scores.negatives, items)?,
            };
            loss(Pair { positives: &positives, negatives: &negatives })
        }
    }
}

/// Ranks as of [`sampled_ranks`], among the row's items and the user's other train items.
fn ranks_with_others(positives: &Tensor, negatives: &Tensor, others: Others, items: Option<usize>) -> Result<(Tensor, Tensor)> {
    let (of_positives, of_negatives) = sampled_ranks(positives, negatives, None)?;
    let (of_positives, of_negatives) = ((of_positives + others.above.positives)?, (of_negatives + others.above.negatives)?);
    match items {
        Some(items) => {
            let ranked = ((count_items(negatives)? + others.count)? + 1.0)?;
            let scale = (ranked.recip()? * items as f64)?;
            Ok(((of_positives * &scale)?.maximum(1.0)?, of_negatives.broadcast_mul(&scale.unsqueeze(1)?)?.maximum(1.0)?))
        }
        None => Ok((of_positives, of_negatives)),
    }
}

/// Ranks among the row's items, `[B]` and `[B, N]`, from `positives [B]` and `negatives [B, N]`, in a catalogue of `items` if they are to
/// be rescaled. Masked negatives come last and do not count.
pub fn sampled_ranks(positives: &Tensor, negatives: &Tensor, items: Option<usize>) -> Result<(Tensor, Tensor)> {
    let rows = Tensor::cat(&[&positives.unsqueeze(1)?, negatives], 1)?.detach();
    let (dtype, shape, width) = (rows.dtype(), rows.shape().clone(), rows.dim(1)?);
    let scores: Vec<f64> = rows.to_dtype(DType::F64)?.flatten_all()?.to_vec1()?;
    let ranks: Vec<f64> = scores.par_chunks_exact(width).flat_map_iter(|row| ranks_among(row, items)).collect();
    let ranks = Tensor::from_vec(ranks, shape, rows.device())?.to_dtype(dtype)?;
    Ok((ranks.narrow(1, 0, 1)?.squeeze(1)?, ranks.narrow(1, 1, width - 1)?))
}

/// The rank of each score among them, from 1: one more than those above it, times `items` over their number when rescaled, also where that is above `items`.
pub fn ranks_among(scores: &[f64], items: Option<usize>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let present = scores.iter().filter(|&&score| score >= MASKED_BELOW).count();
    let scale = items.map_or(1.0, |items| items as f64 / present.max(1) as f64);
    let mut ranks = vec![0.0; scores.len()];
    let mut above = 0;
    for (place, &at) in order.iter().enumerate() {
        if place == 0 || scores[at] != scores[order[place - 1]] {
            above = place;
        }
        ranks[at] = ((above + 1) as f64 * scale).max(1.0);
    }
    ranks
}

#[cfg(test)]
pub(super) const EXACT: RankSource = RankSource::Exact(Exact {});
#[cfg(test)]
pub(super) const SAMPLED: RankSource = RankSource::Sampled(Sampled { rescaled: true, with_positives: false });
#[cfg(test)]
pub(super) const AMONG_OTHERS: RankSource = RankSource::Sampled(Sampled { rescaled: true, with_positives: true });

#[cfg(test)]
mod tests {
    use super::super::testing::{EXAMPLE_B, assert_close};
    use super::*;
    use candle_core::Device;
    use proptest::prelude::*;

    #[test]
    fn worked_ranks_of_all_and_of_a_sample() {
        assert_eq!(ranks_among(&EXAMPLE_B, None), [1.0, 5.0, 3.0, 7.0, 2.0, 6.0, 8.0, 4.0]);
        let sample = [0, 2, 5, 3, 4, 6].map(|item: usize| EXAMPLE_B[item]);
        let expected = [1.33333333, 4.0, 5.33333333, 6.66666667, 2.66666667, 8.0];
        assert_close(&ranks_among(&sample, Some(8)), &expected, 5e-9);
        assert_eq!(ranks_among(&[3.0, 2.0, 1.0, 0.0], Some(2)), [1.0, 1.0, 1.5, 2.0], "more draws than items");
    }

    #[test]
    fn equal_scores_share_the_best_rank_and_masked_ones_do_not_count() {
        assert_eq!(ranks_among(&[0.5, 0.7, 0.5, 0.1], None), [2.0, 1.0, 2.0, 4.0]);
        assert_eq!(ranks_among(&[0.5, 0.7, -1e30, -1e30], Some(20))[..2], [20.0, 10.0]);
    }

    #[test]
    fn rows_are_ranked_one_by_one() {
        let positives = Tensor::new(&[0.5f32, 0.1], &Device::Cpu).unwrap();
        let negatives = Tensor::new(&[[0.7f32, 0.2], [-0.3, 0.0]], &Device::Cpu).unwrap();
        let (of_positives, of_negatives) = sampled_ranks(&positives, &negatives, None).unwrap();
        assert_eq!(of_positives.to_vec1::<f32>().unwrap(), [2.0, 1.0]);
        assert_eq!(of_negatives.to_vec2::<f32>().unwrap(), [[1.0, 3.0], [3.0, 2.0]]);
    }

    #[test]
    fn exact_is_the_default_and_sampled_ranks_are_rescaled() {
        assert_eq!(RankSource::default(), RankSource::Exact(Exact {}));
        let sampled: RankSource = serde_json::from_str(r#"{"sampled": {}}"#).unwrap();
        assert_eq!(sampled, RankSource::Sampled(Sampled { rescaled: true, with_positives: false }));
    }

    /// The reference's sample: items 0, 2 and 5 of the user and 3, 4 and 6, each positive with all negatives and the other two.
    #[test]
    fn worked_loss_of_ranks_with_the_users_other_items() {
        let (scores, own) = (EXAMPLE_B, [0, 2, 5]);
        let drawn = [3, 4, 6].map(|item: usize| scores[item]);
        let above = |item: usize| own.iter().filter(|&&other| other != item && scores[other] > scores[item]).count() as f64;
        let of_rows = own.map(|positive| {
            let among = |score: f64| own.iter().filter(|&&other| other != positive && scores[other] > score).count() as f64;
            (scores[positive], above(positive), drawn.map(among))
        });
        let column = |values: &[f64]| Tensor::new(values, &Device::Cpu).unwrap();
        let positives = column(&of_rows.map(|row| row.0));
        let negatives = Tensor::new(&[drawn; 3], &Device::Cpu).unwrap();
        let (of_positives, of_negatives) =
            (column(&of_rows.map(|row| row.1)), Tensor::new(&of_rows.map(|row| row.2), &Device::Cpu).unwrap());
        let others = Others { above: Pair { positives: &of_positives, negatives: &of_negatives }, count: &column(&[2.0; 3]) };
        let (p, n) = ranks_with_others(&positives, &negatives, others, Some(8)).unwrap();
        assert_close(&p.to_vec1::<f64>().unwrap(), &[1.33333333, 4.0, 5.33333333], 6e-9);
        assert_close(&n.to_vec2::<f64>().unwrap()[1], &[6.66666667, 2.66666667, 8.0], 6e-9);
        let ranks = Pair { positives: &p, negatives: &n };
        let loss = super::super::lambda_loss_at_k(&positives, &negatives, None, ranks, 3, super::super::lambda::Weights::Paper).unwrap();
        assert_close(&[loss.sum_all().unwrap().to_scalar().unwrap()], &[0.94321365], 5e-9);
        assert_eq!(ranks_with_others(&positives, &negatives, others, None).unwrap().0.to_vec1::<f64>().unwrap(), [1.0, 3.0, 4.0]);
    }

    /// What is masked is not ranked.
    #[test]
    fn masked_negatives_do_not_count_with_the_users_other_items() {
        let column = |values: &[f64]| Tensor::new(values, &Device::Cpu).unwrap();
        let row = |values: &[f64]| column(values).unsqueeze(0).unwrap();
        let above = |drawn: &[f64]| row(&vec![1.0; drawn.len()]);
        let ranks = |drawn: &[f64]| {
            let (own, above) = (column(&[0.0]), above(drawn));
            let others = Others { above: Pair { positives: &own, negatives: &above }, count: &column(&[3.0]) };
            ranks_with_others(&column(&[0.5]), &row(drawn), others, Some(60)).unwrap().1.to_vec2::<f64>().unwrap()[0][..2].to_vec()
        };
        assert_eq!(ranks(&[0.7, 0.1, -1e30, -1e30]), [20.0, 40.0]); // 2 and 4 of 6
        assert_eq!(ranks(&[0.7, 0.1]), [20.0, 40.0]);
    }

    proptest! {
        #[test]
        fn a_rank_is_one_more_than_the_scores_above(scores in prop::collection::vec(-9i32..9, 1..40)) {
            let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let expected: Vec<f64> = scores.iter().map(|a| (1 + scores.iter().filter(|b| *b > a).count()) as f64).collect();
            prop_assert_eq!(ranks_among(&scores, None), expected);
        }
    }
}
