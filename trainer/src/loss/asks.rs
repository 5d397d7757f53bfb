//! What each loss asks of the training loop beside scores, and which samplers it can have.
//!
//! The defaults are those of a formula on the scores of pairs; a loss stands where it differs.

use super::*;

impl Loss {
    /// When the users' quantiles are brought up to date, and which; `None` for losses without.
    pub fn quantiles(&self) -> Option<QuantileSchedule> {
        match self {
            Loss::SoftmaxAtK(settings) => Some(settings.quantiles()),
            Loss::SogSoftmaxAtK(settings) => Some(settings.quantiles()),
            _ => None,
        }
    }

    /// The positives of a row, for losses whose rows are users with several of their positives; `None` where a row is one pair.
    pub fn list(&self) -> Option<usize> {
        let positives = match self {
            Loss::Bsl(settings) => settings.list()?,
            Loss::SmoothNdcg(settings) => settings.positives,
            Loss::SmoothAp(settings) => settings.positives,
            Loss::SmoothRecall(settings) => settings.positives,
            Loss::ApproxNdcg(settings) => settings.positives,
            Loss::NeuralNdcg(settings) => settings.positives,
            _ => return None,
        };
        Some(positives as usize)
    }

    /// Bytes that a list of so many scores needs beside them.
    pub fn list_memory(&self, scores: u64) -> u64 {
        match self {
            Loss::NeuralNdcg(settings) => settings.memory(scores),
            Loss::SmoothNdcg(_) | Loss::SmoothAp(_) | Loss::SmoothRecall(_) | Loss::ApproxNdcg(_) => {
                self.list().map_or(0, |positives| positives as u64 * scores * 4)
            }
            _ => 0,
        }
    }

    /// The numbers that it keeps of its own.
    pub fn columns(&self) -> Vec<Column> {
        match self {
            Loss::Uib(settings) => settings.columns(),
            Loss::Sml(settings) => settings.columns(),
            Loss::SogClr(_) | Loss::SogSoftmaxAtK(_) => sog_clr::columns(),
            Loss::AdapTau(_) => adap_tau::columns(),
            Loss::Llpauc(settings) => settings.columns(),
            Loss::GuidedRec(settings) => settings.columns(),
            _ => Vec::new(),
        }
    }

    /// Brings the numbers of its columns back to where they may be together, after a step; each is within its own bounds already.
    pub fn clip(&self, numbers: &mut [&mut [f32]]) {
        if let Loss::Llpauc(_) = self {
            llpauc::clip(numbers);
        }
    }

    /// New values `[B]` of its columns that are [remembered](Motion::Remembered) or [summed](Motion::Summed), in their order.
    ///
    /// # Errors
    /// When the shapes do not fit, or something that it needs is not given.
    pub fn remembered(&self, scores: &Scores) -> Result<Vec<Tensor>> {
        match self {
            Loss::SogClr(settings) => Ok(vec![settings.averages(scores)?]),
            Loss::SogSoftmaxAtK(settings) => Ok(vec![settings.averages(scores)?]),
            Loss::AdapTau(_) => Ok(vec![adap_tau_plain(scores.positives, scores.negatives)?.detach()]),
            _ => Ok(Vec::new()),
        }
    }

    /// The parts of a step in an epoch, counted from 1.
    pub fn phases(&self, epoch: u32) -> Vec<Phase> {
        match self {
            Loss::AdvInfoNce(settings) => settings.schedule.phases(epoch),
            Loss::GuidedRec(_) => guided_rec::PHASES.to_vec(),
            _ => vec![needs::ONE_PHASE],
        }
    }

    /// Which scores among users and among items it looks at.
    pub fn relations(&self) -> Related {
        match self {
            Loss::Sml(_) => Related { of_negatives: true, of_rows: false },
            Loss::DirectAu(_) => Related { of_negatives: false, of_rows: true },
            _ => Related::default(),
        }
    }

    /// The second model that it is trained against.
    pub fn adversary(&self) -> Option<Adversary> {
        match self {
            Loss::AdvInfoNce(settings) => Some(settings.adversary()),
            _ => None,
        }
    }

    /// Whether it looks at places among all items.
    pub fn needs_ranks(&self) -> bool {
        matches!(self.rank_source(), Some(lambda::RankSource::Exact(_)))
    }

    /// Whether it looks at places among the user's train items.
    pub fn needs_others(&self) -> bool {
        matches!(self.rank_source(), Some(lambda::RankSource::Sampled(lambda::Sampled { with_positives: true, .. })))
    }

    fn rank_source(&self) -> Option<lambda::RankSource> {
        match self {
            Loss::LambdaRank(settings) => Some(settings.ranks),
            Loss::LambdaLoss(settings) => Some(settings.ranks),
            Loss::LambdaLossAtK(settings) => Some(settings.ranks),
            _ => None,
        }
    }

    /// The number of negatives that it is made for, where that is not any.
    pub fn negatives(&self) -> Option<usize> {
        match self {
            Loss::GuidedRec(settings) => Some(settings.negatives as usize),
            _ => None,
        }
    }

    /// Whether it looks at the rank that the sampler `warp` estimates.
    pub fn needs_estimated_ranks(&self) -> bool {
        matches!(self, Loss::Warp(_))
    }

    /// The norm that no row of the tables may exceed after a step.
    pub fn max_norm(&self) -> Option<f32> {
        matches!(self, Loss::Cml(_) | Loss::Sml(_)).then_some(1.0)
    }

    /// Whether it looks at the scores of a batch, its users' quantiles and its draws alone, in one phase.
    pub fn is_by_row(&self) -> bool {
        self.columns().is_empty()
            && self.phases(1) == [needs::ONE_PHASE]
            && self.relations() == Related::default()
            && self.adversary().is_none()
            && !self.needs_ranks()
            && !self.needs_others()
    }

    /// Whether its negatives' part is a sum or a mean, in which each of them can have a weight.
    pub fn weighs_negatives(&self) -> bool {
        matches!(
            self,
            Loss::Bce(_)
                | Loss::Bpr(_)
                | Loss::Ccl(_)
                | Loss::Mse(_)
                | Loss::Uib(_)
                | Loss::LambdaRank(_)
                | Loss::LambdaLoss(_)
                | Loss::LambdaLossAtK(_)
        )
    }

    /// Whether it looks at the log-probabilities of the draws.
    pub fn needs_log_probabilities(&self) -> bool {
        matches!(self, Loss::SampledSoftmax(_))
    }

    /// Whether the value of a row depends on the other rows of its batch.
    pub fn sees_the_batch(&self) -> bool {
        match self {
            Loss::Psl(settings) => settings.whole_batch,
            Loss::Sml(_) | Loss::DirectAu(_) | Loss::SogSoftmaxAtK(_) => true,
            _ => false,
        }
    }

    /// Whether it compares the rows of a batch with each other, and looks at no negative's score.
    pub fn is_of_the_batch(&self) -> bool {
        matches!(self, Loss::DirectAu(_))
    }

    /// Why its negatives must be drawn, for losses that cannot have all items in their place.
    pub fn needs_draws(&self) -> Option<&'static str> {
        match self {
            Loss::Gbce(_) => Some(gbce::NEEDS_DRAWS),
            Loss::Psl(settings) if settings.whole_batch => Some(psl::NEEDS_DRAWS),
            Loss::SampledSoftmax(_) => Some(sampled_softmax::NEEDS_DRAWS),
            Loss::Uib(_) => Some(uib::NEEDS_DRAWS),
            Loss::Sml(_) => Some(sml::NEEDS_DRAWS),
            Loss::Warp(_) => Some(warp::NEEDS_DRAWS),
            Loss::DirectAu(_) => Some(direct_au::NEEDS_DRAWS),
            Loss::SmoothNdcg(settings) => settings.needs_draws(),
            Loss::NeuralNdcg(_) => Some(neural_ndcg::NEEDS_DRAWS),
            Loss::SogClr(_) => Some(sog_clr::NEEDS_DRAWS),
            Loss::SogSoftmaxAtK(_) => Some(sog_softmax_at_k::NEEDS_DRAWS),
            Loss::AdapTau(_) => Some(adap_tau::NEEDS_DRAWS),
            Loss::AdvInfoNce(_) => Some(adv_info_nce::NEEDS_DRAWS),
            Loss::Llpauc(_) => Some(llpauc::NEEDS_DRAWS),
            Loss::GuidedRec(_) => Some(guided_rec::NEEDS_DRAWS),
            Loss::LambdaRank(_) | Loss::LambdaLoss(_) | Loss::LambdaLossAtK(_) => {
                self.rank_source().and_then(|source| source.needs_draws())
            }
            _ => None,
        }
    }
}
