//! What a loss is to the training loop: its formula, what it asks for beside scores, and which samplers it can have.
//!
//! Each loss says it in its own file. The defaults are those of a formula on the scores of pairs.

use super::{
    Adversary, Facts, FusedLoss, FusedLossOfDraws, FusedLossWithState, Kernel, ModelStatistics, Phase, QuantileSchedule, Related, Scores,
    StateSpec,
    needs::ONE_PHASE,
    ranks::{RankSource, Sampled},
};
use candle_core::{Result, Tensor};
use vectors::Similarity;

/// A loss with its values.
pub trait LossKind {
    /// How two vectors make a score, in training.
    fn similarity(&self) -> Similarity;

    /// How two vectors make the score that items are ranked by; that of training where a loss does not rank by another.
    fn ranking(&self) -> Similarity {
        self.similarity()
    }

    /// Where it comes from and what it costs.
    fn facts(&self) -> Facts;

    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    fn check(&self) -> std::result::Result<(), String> {
        Ok(())
    }

    /// Raised when a trial with it would give other numbers than before, and one without it would not: what is stored of the others stays good.
    fn revision(&self) -> u32 {
        0
    }

    /// One value per positive, `[B]`.
    ///
    /// # Errors
    /// When the shapes do not fit, or something that it needs is not given.
    fn forward(&self, scores: &Scores) -> Result<Tensor>;

    /// The loss on plain slices, value and gradient in one pass; `None` where there is none.
    fn fused(&self) -> Option<&dyn FusedLoss> {
        None
    }

    /// The loss on plain slices, value and gradient in one pass, where it looks at the log-probabilities of the draws; `None` where there is none.
    fn fused_of_draws(&self) -> Option<&dyn FusedLossOfDraws> {
        None
    }

    /// The loss on plain slices, value and gradient in one pass, with numbers of its own or with an adversary; `None` where there is none.
    fn fused_with_state(&self) -> Option<&dyn FusedLossWithState> {
        None
    }

    /// The kernel that a GPU runs for it; `None` where a GPU computes the formula.
    fn kernel(&self) -> Option<Kernel> {
        None
    }

    /// When the users' quantiles are brought up to date, and which; `None` for losses without.
    fn quantiles(&self) -> Option<QuantileSchedule> {
        None
    }

    /// The positives of a row, for losses whose rows are users with several of their positives; `None` where a row is one pair.
    fn list(&self) -> Option<usize> {
        None
    }

    /// Bytes that a list of so many scores needs beside them.
    fn list_memory(&self, _scores: u64) -> u64 {
        0
    }

    /// Numbers of the largest tensor that its formula makes of a row or list of so many scores, beside what it makes of whole batches.
    fn numbers_of_row(&self, scores: u64) -> u64 {
        scores
    }

    /// The numbers that it keeps of its own.
    fn columns(&self) -> Vec<StateSpec> {
        Vec::new()
    }

    /// Brings the numbers of its columns back to where they may be together, after a step; each is within its own bounds already.
    fn clip(&self, _numbers: &mut [&mut [f32]]) {}

    /// New values `[B]` of its columns that are [remembered](super::Update::Remembered) or [summed](super::Update::Summed), in their order.
    ///
    /// # Errors
    /// When the shapes do not fit, or something that it needs is not given.
    fn remembered(&self, _scores: &Scores) -> Result<Vec<Tensor>> {
        Ok(Vec::new())
    }

    /// Sets the numbers of its columns that are [set](super::Update::Set), and starts those that are [summed](super::Update::Summed) anew: after so many
    /// epochs, and after none before the first.
    fn set_columns(&self, _numbers: &mut [&mut [f32]], _model: &dyn ModelStatistics, _epochs: u32) {}

    /// The parts of a step in an epoch, counted from 1.
    fn phases(&self, _epoch: u32) -> Vec<Phase> {
        vec![ONE_PHASE]
    }

    /// Which scores among users and among items it looks at.
    fn relations(&self) -> Related {
        Related::default()
    }

    /// The second model that it is trained against.
    fn adversary(&self) -> Option<Adversary> {
        None
    }

    /// Where its ranks come from, for losses that weigh by ranks.
    fn rank_source(&self) -> Option<RankSource> {
        None
    }

    /// Whether it looks at places among all items.
    fn needs_ranks(&self) -> bool {
        matches!(self.rank_source(), Some(RankSource::Exact(_)))
    }

    /// Whether it looks at places among the user's train items.
    fn needs_others(&self) -> bool {
        matches!(self.rank_source(), Some(RankSource::Sampled(Sampled { with_positives: true, .. })))
    }

    /// The number of negatives that it is made for, where that is not any.
    fn negatives(&self) -> Option<usize> {
        None
    }

    /// The margin by which a negative violates the order, for losses that look at the rank which a sampler estimates from the first that does.
    fn estimated_rank_margin(&self) -> Option<f64> {
        None
    }

    /// The norm that no row of the tables may exceed after a step.
    fn max_norm(&self) -> Option<f32> {
        None
    }

    /// Whether it looks at the scores of a batch, its users' quantiles and its draws alone, in one phase: not at ranks, vectors or numbers that it keeps.
    fn looks_at_scores_alone(&self) -> bool {
        self.columns().is_empty()
            && self.phases(1) == [ONE_PHASE]
            && self.relations() == Related::default()
            && self.adversary().is_none()
            && !self.needs_ranks()
            && !self.needs_others()
    }

    /// Whether its negatives' part is a sum or a mean, in which each of them can have a weight.
    fn weighs_negatives(&self) -> bool {
        false
    }

    /// Whether it looks at the log-probabilities of the draws.
    fn needs_log_probabilities(&self) -> bool {
        false
    }

    /// Whether the value of a row depends on the other rows of its batch.
    fn couples_rows(&self) -> bool {
        false
    }

    /// Whether it compares the rows of a batch with each other, and looks at no negative's score.
    fn compares_rows_alone(&self) -> bool {
        false
    }

    /// Why no kernel of a GPU can have it, beside what follows from its other answers: `sorts its scores`.
    fn lacks_kernel(&self) -> Option<&'static str> {
        None
    }

    /// Why its negatives must be drawn, for losses that cannot have all items in their place.
    fn needs_draws(&self) -> Option<&'static str> {
        self.rank_source().and_then(RankSource::needs_draws)
    }
}
