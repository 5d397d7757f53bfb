//! One resolved trial: everything that determines the result of a training.

mod check;

use dataset::{Files, Manifest, quote::kind};
use evaluator::MetricAt;
use losses::{Loss, Per, StateSpec, Update};
use models::{Backbone, NewNodes, Stored};
use optimizers::Optimizer;
use samplers::Sampler;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Raised when the same trial would give other numbers than before, or would be stored in another way: 8, as rows of `sampled-softmax` are made without a
/// graph and round otherwise. Where one [loss](losses::LossKind::revision), one [model](models::BackboneKind::revision) or one
/// [way to draw](Learning::sampler_revision) alone gives others, its revision is raised.
pub const TRAINER_VERSION: u32 = 8;

/// A method with every value fixed and one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// [`TRAINER_VERSION`] of the build that made the plan.
    pub version: u32,
    /// The [revision](Learning::loss_revision) of the loss; 0 for backbones that have none.
    #[serde(default, skip_serializing_if = "is_first")]
    pub revision: u32,
    /// The [revision](models::BackboneKind::revision) of the model.
    #[serde(default, skip_serializing_if = "is_first")]
    pub backbone_revision: u32,
    /// The [revision](Learning::sampler_revision) of what is drawn; 0 for backbones that have none.
    #[serde(default, skip_serializing_if = "is_first")]
    pub sampler_revision: u32,
    /// Fingerprint of the prepared dataset.
    pub dataset: String,
    /// The model.
    pub backbone: Backbone,
    /// How the backbone learns; `None` for backbones that fit without sampling.
    pub learning: Option<Learning>,
    /// How long the backbone learns towards an objective of its own; `None` for all other backbones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Iterations>,
    /// What the files of a model hold that another program trained; `None` for all other backbones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<ModelFiles>,
    /// What the penalty of a new user's vector weighs, where the split holds users out and the model folds them in by ridge regression; `None` for
    /// all other trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
    /// How new users come to the train graph, where that is not by attaching them and the model is over it; `None` for all other trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_in: Option<NewNodes>,
    /// The validation metric that stops training and picks values.
    pub select_by: MetricAt,
}

/// A trial whose kinds have no later revision is named as before there were any.
fn is_first(revision: &u32) -> bool {
    *revision == 0
}

/// How a backbone learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// What is minimised.
    pub loss: Loss,
    /// Where negatives come from.
    pub sampler: Sampler,
    /// How parameters move.
    pub optimizer: Optimizer,
    /// Epochs, batches and stopping.
    pub training: Training,
    /// Seed of the parameters, the order of the pairs and the negatives.
    pub seed: u64,
}

/// Epochs and stopping of a backbone that has an objective of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iterations {
    /// Passes over the train interactions, at most.
    pub epochs: u32,
    /// Epochs between two evaluations on validation.
    pub evaluate_every: u32,
    /// Evaluations without improvement after which training stops; `None` trains to the end.
    #[serde(default)]
    pub patience: Option<u32>,
    /// Seed of the parameters and of all draws.
    pub seed: u64,
}

/// The files of a model that another program trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFiles {
    /// The seed in their names; `None` where these have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Size and checksum of each, by its key in the sweep file.
    pub files: Files,
}

impl Iterations {
    /// The iterations of a `training` block.
    pub fn of(training: &Training, seed: u64) -> Self {
        let Training { epochs, evaluate_every, patience, .. } = *training;
        Self { epochs, evaluate_every, patience, seed }
    }
}

/// Epochs, batches and stopping: the `training` block without `select_by`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Passes over the train interactions, at most.
    pub epochs: u32,
    /// Pairs of a step.
    pub batch_size: u32,
    /// Epochs between two evaluations on validation.
    pub evaluate_every: u32,
    /// Evaluations without improvement after which training stops; `None` trains to the end.
    #[serde(default)]
    pub patience: Option<u32>,
    /// What the rows of an epoch are, for losses of pairs.
    #[serde(default, skip_serializing_if = "EpochRows::is_pairs")]
    pub rows: EpochRows,
}

/// `rows` of [`Training`]: as many as there are train interactions, either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EpochRows {
    /// Every train interaction once, in random order.
    #[default]
    Pairs,
    /// Each a user, uniform over those with train items, and one of its train items, uniformly: light users count as much as heavy ones. So
    /// LightGCN's release has it.
    Users,
}

impl EpochRows {
    /// A trial is named as before there was a choice.
    fn is_pairs(&self) -> bool {
        *self == Self::Pairs
    }
}

impl Trial {
    /// Epochs at most; `None` for backbones that fit at once.
    pub fn epochs(&self) -> Option<u32> {
        let learned = self.learning.as_ref().map(|learning| learning.training.epochs);
        learned.or_else(|| self.iterations.as_ref().map(|iterations| iterations.epochs))
    }

    /// The seed of the parameters and of all draws, or of the files that were read; `None` for backbones that fit at once, and files without one.
    pub fn seed(&self) -> Option<u64> {
        let learned = self.learning.as_ref().map(|learning| learning.seed);
        let iterated = || self.iterations.as_ref().map(|iterations| iterations.seed);
        learned.or_else(iterated).or_else(|| self.files.as_ref()?.seed)
    }

    /// What is stored of the model on a dataset, and ranked.
    pub fn stored(&self, manifest: &Manifest) -> Stored {
        match (self.backbone.pretrained(), &self.files) {
            (Some(model), Some(files)) => model.size(&files.files, manifest.users as u64, manifest.items as u64),
            _ => self.backbone.stored(),
        }
    }

    /// Hash of everything that determines the result, 16 hex digits: the folder's name under `trials/`.
    pub fn id(&self) -> String {
        let text = serde_json::to_string(self).expect("a trial is plain data");
        hex::encode(&Sha256::digest(text)[..8])
    }
}

impl Learning {
    /// Items that are drawn and scored for each positive; `None` when nothing is drawn and every item is scored.
    pub fn candidates(&self) -> Option<usize> {
        self.sampler.candidates(self.training.batch_size)
    }

    /// Negatives that the loss sees of each positive; `None` when it sees every item.
    pub fn negatives(&self) -> Option<usize> {
        self.sampler.negatives(self.training.batch_size)
    }

    /// Rows of a batch, pairs or users, and the positives of each, where there are so many users and train interactions.
    pub(crate) fn batch(&self, users: u64, train: u64) -> (u64, u64) {
        let (rows, own) = self.loss.list().map_or((train, 1), |list| (users, list as u64));
        (u64::from(self.training.batch_size).min(rows), own)
    }

    /// The [revision](losses::LossKind::revision) of the loss, and one more where it has an adversary and the model a vector for each row of a batch: the adversary
    /// took these rows for users; or where it has lists and the model counts how often a batch has an item: what fills short lists was counted. One more, too, where it
    /// learns numbers of users or items, or an adversary, by an optimizer that moves rows with a gradient alone: some without one moved.
    pub fn loss_revision(&self, backbone: &Backbone) -> u32 {
        let took_rows = backbone.reads_order() && self.loss.adversary().is_some();
        let counted_padding = backbone.counts_repeats() && self.loss.list().is_some();
        let learns = |spec: &StateSpec| matches!(spec.update, Update::Learned(_)) && !matches!(spec.per, Per::Whole(_));
        let learns_rows = self.loss.adversary().is_some() || self.loss.columns().iter().any(learns);
        let moved_empty = !self.optimizer.moves_all_rows() && learns_rows;
        self.loss.revision() + u32::from(took_rows || counted_padding) + u32::from(moved_empty)
    }

    /// The [revision](samplers::Sampler::revision) of the sampler, and one more where its rule leaves candidates aside under an optimizer that moves rows with a gradient
    /// alone: what is left aside was taken for a gradient. Of a rule that asks for a sum that one is in the sampler's. One more, too, where the probabilities of items in
    /// a batch are asked for and its rows are targets of histories: all train interactions were counted.
    pub fn sampler_revision(&self, backbone: &Backbone) -> u32 {
        let sums = self.sampler.rule(0).is_some_and(|rule| rule.sums());
        let moved_aside = !sums && self.narrows() && !self.optimizer.moves_all_rows();
        let counts_rows = backbone.reads_order() && self.corrects_in_batch();
        self.sampler.revision() + u32::from(moved_aside) + u32::from(counts_rows)
    }

    /// Whether the probabilities of in-batch negatives are asked for.
    pub(crate) fn corrects_in_batch(&self) -> bool {
        let of_rule = || self.sampler.rule(0).is_some_and(|rule| rule.needs_log_probabilities());
        self.sampler.draws_in_batch() && (self.loss.needs_log_probabilities() || of_rule())
    }

    /// Whether the sampler's rule leaves aside some of what is drawn: with a derivative of zero these are not in the loss.
    pub(crate) fn narrows(&self) -> bool {
        self.candidates() > self.negatives()
    }

    /// Whether several ranks can train it, each with a part of the rows of a batch.
    ///
    /// # Errors
    /// A sentence that says why not and what to do.
    pub fn splits(&self) -> Result<(), String> {
        match self.loss.couples_rows() {
            true => Err(format!(
                "the loss `{}` looks at all rows of a batch together, which several ranks share out: train it with one rank, and other trials \
                 beside it",
                kind(&self.loss)
            )),
            false => Ok(()),
        }
    }
}
