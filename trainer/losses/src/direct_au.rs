//! Direct optimisation of alignment and uniformity (DirectAU).
//!
//! ```text
//! mean_b |p^_b - q^_b|^2 + g (U(users) + U(items)) / 2,   U(X) = log mean_{a < b} exp(-2 |x^_a - x^_b|^2),   |x^ - y^|^2 = 2 - 2 cos(x, y)
//! ```
//! Unit vectors of a pair are drawn together, and those of all users, and of all items, of a batch apart. What is kept apart is the
//! batch itself, so that the sampler is `in-batch`; `negatives: 1` costs least, as scores of negatives are not looked at. A user or
//! an item that is in several pairs of a batch counts as often, with distance 0 from itself, as in the authors' release: pairs are then
//! drawn as the paper's expectation draws them. Such a pair pulls on nothing, but takes its share of the mean. A batch of one pair has
//! nothing to keep apart.
//!
//! Items are ranked by the dot product of vectors that are trained by their directions alone, as in the release: what is drawn often is moved
//! often, always across its vector, and grows by that, so that lengths tell how popular an item is. `ranking: cosine` leaves that out.
//! The release's values for g are 0.01 to 10.
//! Wang et al., "Towards Representation Alignment and Uniformity in Collaborative Filtering", KDD 2022, arXiv:2206.12811.

use super::fused::Uniformity;
use super::{Facts, LossKind, Related, Scores, scores};
use candle_core::{DType, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `direct-au` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectAu {
    /// The weight of uniformity, above 0; that of alignment is 1.
    pub uniformity: f64,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
    /// How two vectors make the score that items are ranked by; by dot products the lengths of vectors count.
    #[serde(default = "super::dot")]
    pub ranking: Similarity,
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "direct-au keeps the rows of a batch apart: its sampler is `{kind: in-batch, negatives: 1}`";

impl LossKind for DirectAu {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn ranking(&self) -> Similarity {
        self.ranking
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Wang et al., KDD 2022", values: "`uniformity` tuned from 0.01 to 10", cost: "O(B d) for a batch of B" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.ranking == Similarity::NegativeSquaredDistance {
            return Err("ranking is negative-squared-distance: expected dot or cosine".to_owned());
        }
        let other = match self.similarity {
            Similarity::Cosine => return super::check_above_zero("uniformity", self.uniformity),
            Similarity::Dot => "dot",
            Similarity::NegativeSquaredDistance => "negative-squared-distance",
        };
        Err(format!("similarity is {other}: expected cosine, as direct-au sees directions alone"))
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, given, .. } = *scores;
        let users = scores::given(given.relations.of_users, "direct-au", "the similarities of a batch's users")?;
        let items = scores::given(given.relations.of_positives, "direct-au", "the similarities of a batch's positives")?;
        direct_au(positives, users, items, self.uniformity)
    }

    fn relations(&self) -> Related {
        Related { of_negatives: false, of_rows: true }
    }

    fn couples_rows(&self) -> bool {
        true
    }

    fn compares_rows_alone(&self) -> bool {
        true
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

/// One value per positive, `[B]`, from `positives [B]` and the similarities `[B, B]` of the rows' users and of their positives; the rows
/// are the whole batch, and uniformity is a part of each value.
pub fn direct_au(positives: &Tensor, users: &Tensor, items: &Tensor, uniformity_weight: f64) -> Result<Tensor> {
    let alignment = ((1.0 - positives)? * 2.0)?;
    let apart = ((uniformity(users)? + uniformity(items)?)? * (uniformity_weight / 2.0))?;
    alignment.broadcast_add(&apart)
}

/// `log mean_{a != b} exp(-2 (2 - 2 cos_ab))`, `[]` from `[B, B]`. Of cosines no term is above 1 or below exp(-8): nothing overflows.
fn uniformity(cosines: &Tensor) -> Result<Tensor> {
    let rows = cosines.dim(0)?;
    if rows < 2 {
        return Tensor::zeros((), cosines.dtype(), cosines.device());
    }
    if cosines.dtype() == DType::F32 && cosines.device().is_cpu() {
        return cosines.contiguous()?.apply_op1(Uniformity);
    }
    let others = (1.0 - Tensor::eye(rows, cosines.dtype(), cosines.device())?)?;
    (cosines.affine(4.0, -4.0)?.exp()? * others)?.sum_all()?.affine(1.0 / (rows * (rows - 1)) as f64, 0.0)?.log()
}

#[cfg(test)]
impl super::contract::Contract for DirectAu {
    fn examples() -> Vec<Self> {
        vec![DirectAu { uniformity: 0.7, similarity: Similarity::Cosine, ranking: Similarity::Dot }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, assert_gradients, differentiate};
    use super::*;
    use proptest::prelude::*;

    /// Cosines of the reference's three pairs: of each pair, of its users, and of its items.
    const PAIRS: [f64; 3] = [0.996240588195683, 0.9666204422334296, 0.8265992475892193];
    const USERS: [f64; 9] = matrix([0.29271427209411177, -0.4770918629042341, 0.7007080148842542]);
    const ITEMS: [f64; 9] = matrix([0.4523761374446806, -0.9253051386606719, -0.08038418992031005]);

    const fn matrix([ab, ac, bc]: [f64; 3]) -> [f64; 9] {
        [1.0, ab, ac, ab, 1.0, bc, ac, bc, 1.0]
    }

    fn evaluate(positives: &[f64], users: &[f64], items: &[f64], weight: f64) -> (f64, Vec<Vec<f64>>) {
        let rows = positives.len();
        let inputs = [(positives, &[rows][..]), (users, &[rows, rows]), (items, &[rows, rows])];
        differentiate(&inputs, |t| direct_au(&t[0], &t[1], &t[2], weight))
    }

    #[test]
    fn worked_example() {
        let alignment = evaluate(&PAIRS, &USERS, &ITEMS, 0.0).0 / 3.0;
        assert_close(&[alignment], &[0.140359814654], 1e-12);
        let of_users = differentiate(&[(&USERS, &[3, 3])], |t| uniformity(&t[0])).0;
        assert_close(&[of_users], &[-2.109684982124], 1e-12);
    }

    /// The reference's data in whole: literals and central differences worked out apart from this code.
    #[test]
    fn the_mean_over_rows_is_the_loss() {
        let (sum, gradient) = evaluate(&PAIRS, &USERS, &ITEMS, 0.7);
        assert_close(&[sum / 3.0], &[-1.708692160588], 1e-12);
        assert_close(&gradient[0], &[-2.0; 3], 1e-12);
        let (ab, ac, bc) = (0.340911327, 0.015680186, 1.743408487);
        assert_close(&gradient[1], &[0.0, ab, ac, ab, 0.0, bc, ac, bc, 0.0], 2e-9);
        let (ab, ac, bc) = (1.870396176, 0.007562338, 0.222041486);
        assert_close(&gradient[2], &[0.0, ab, ac, ab, 0.0, bc, ac, bc, 0.0], 2e-9);
    }

    /// Two pairs of the same user: the mean of `exp(0)` is 1 for users, and `exp(-4 (1 - 0.5))` for items.
    #[test]
    fn a_user_that_is_in_two_pairs_is_at_distance_0_from_itself() {
        let (sum, _) = evaluate(&[1.0, 1.0], &[1.0; 4], &[1.0, 0.5, 0.5, 1.0], 2.0);
        assert_close(&[sum / 2.0], &[-2.0], 1e-12);
    }

    #[test]
    fn a_batch_of_one_pair_is_aligned_alone() {
        assert_eq!(evaluate(&[0.25], &[1.0], &[1.0], 5.0), (1.5, vec![vec![-2.0], vec![0.0], vec![0.0]]));
    }

    /// All vectors the same, and as far apart as can be: exp(0) and exp(-8), in the precision of the training.
    #[test]
    fn values_and_gradients_are_finite_at_extreme_cosines() {
        for (cosine, expected) in [(1.0, 0.0), (-1.0, -8.0)] {
            let cosines = candle_core::Var::new(vec![vec![cosine as f32; 3]; 3], &candle_core::Device::Cpu).unwrap();
            let value = uniformity(&cosines).unwrap();
            let gradients = value.backward().unwrap();
            let gradient: Vec<f32> = gradients.get(&cosines).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            assert_close(&[value.to_scalar::<f32>().unwrap().into()], &[expected], 1e-6);
            let sixth = 4.0 / 6.0;
            let expected = [0.0, sixth, sixth, sixth, 0.0, sixth, sixth, sixth, 0.0];
            assert_close(&gradient.into_iter().map(f64::from).collect::<Vec<_>>(), &expected, 1e-6);
        }
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |uniformity, similarity| DirectAu { uniformity, similarity, ranking: Similarity::Dot }.check().unwrap_err();
        assert!(message(0.0, Similarity::Cosine).starts_with("uniformity is 0:"));
        assert!(message(1.0, Similarity::Dot).starts_with("similarity is dot: expected cosine"));
        let by_distance = DirectAu { uniformity: 1.0, similarity: Similarity::Cosine, ranking: Similarity::NegativeSquaredDistance };
        assert_eq!(by_distance.check().unwrap_err(), "ranking is negative-squared-distance: expected dot or cosine");
    }

    /// Of more rows than a vector has lanes, in the precision of the training and in that of the formula.
    #[test]
    fn the_operation_is_the_formula() {
        let rows = 37;
        let cosines: Vec<f64> = (0..rows * rows).map(|at| (at as f64 * 0.7).sin()).collect();
        let (expected, of_formula) = differentiate(&[(&cosines, &[rows, rows])], |t| uniformity(&t[0]));
        let single: Vec<f32> = cosines.iter().map(|&cosine| cosine as f32).collect();
        let single = candle_core::Var::from_vec(single, (rows, rows), &candle_core::Device::Cpu).unwrap();
        let value = uniformity(&single).unwrap();
        assert_close(&[value.to_scalar::<f32>().unwrap().into()], &[expected], 1e-6);
        let gradients = (value * 3.0).unwrap().backward().unwrap();
        let gradient: Vec<f32> = gradients.get(&single).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        let gradient: Vec<f64> = gradient.iter().map(|&derivative| f64::from(derivative) / 3.0).collect();
        assert_close(&gradient, &of_formula[0], 1e-8);
    }

    proptest! {
        #[test]
        fn gradients_are_central_differences(scores in prop::collection::vec(-1.0f64..1.0, 36), weight in 0.1f64..10.0) {
            let inputs = [(&scores[..4], &[4][..]), (&scores[4..20], &[4, 4]), (&scores[20..], &[4, 4])];
            assert_gradients(&inputs, 1e-8, |t| direct_au(&t[0], &t[1], &t[2], weight));
        }
    }
}
