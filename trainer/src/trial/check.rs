//! Whether the parts of a trial are possible and fit together.

use super::{EpochRows, Iterations, Learning, Training, Trial};
use dataset::quote::kind;
use embeddings::LARGEST_BATCH;
use std::collections::BTreeSet;
use vectors::Similarity;

impl Trial {
    /// Whether the parts are possible and fit together.
    ///
    /// # Errors
    /// A sentence that names the key, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        self.backbone.check()?;
        if let Some(ridge) = self.ridge.filter(|ridge| !(*ridge > 0.0 && ridge.is_finite())) {
            return Err(format!("ridge is {ridge}, expected a number above 0"));
        }
        match (&self.learning, self.backbone.fits_without_sampling()) {
            (Some(_), true) => Err("this backbone fits without sampling: give it a block with `backbones` alone".to_owned()),
            (None, false) => Err("this backbone learns: its block needs `losses`, `samplers` and `optimizer`".to_owned()),
            (None, true) if self.backbone.is_pretrained() || self.files.is_some() => self.check_files(),
            (None, true) => match (&self.iterations, self.backbone.has_epochs()) {
                (Some(iterations), true) => iterations.check(),
                (None, false) => Ok(()),
                (Some(_), false) => Err("this backbone fits at once: it has no `iterations`".to_owned()),
                (None, true) => Err("this backbone learns in epochs: it needs `iterations`".to_owned()),
            },
            (Some(_), false) if self.files.is_some() => Err("this backbone is trained here: it has no `files`".to_owned()),
            (Some(_), false) if self.iterations.is_some() => Err("this backbone learns from a loss: it has no `iterations`".to_owned()),
            (Some(learning), false) => {
                learning.check()?;
                self.check_mixes(learning)?;
                self.check_batch_l2(learning)?;
                self.check_order(learning)?;
                if self.backbone.has_network() { self.check_network(learning) } else { Ok(()) }
            }
        }
    }

    /// Whether a model that another program trained has all of its files, and no other has any.
    fn check_files(&self) -> Result<(), String> {
        let expected: BTreeSet<&str> = self.backbone.files().iter().map(|file| file.key).collect();
        let found: BTreeSet<&str> = self.files.iter().flat_map(|files| files.files.keys()).map(String::as_str).collect();
        match (expected.is_empty(), expected == found, &self.iterations) {
            (true, ..) => Err("this backbone is trained here: it has no `files`".to_owned()),
            (_, false, _) => Err(format!("this backbone is read from the files {expected:?}, and has {found:?}")),
            (_, _, Some(_)) => Err("this backbone is read at once: it has no `iterations`".to_owned()),
            (_, true, None) => Ok(()),
        }
    }

    /// Whether the vectors are made of layers, where the sampler mixes negatives from them.
    fn check_mixes(&self, learning: &Learning) -> Result<(), String> {
        match learning.sampler.mixes() && self.backbone.mean_of_layers().is_none() {
            true => Err(format!(
                "the sampler `{}` mixes negatives layer by layer, and the vectors of the backbone `{}` are no mean of layers: take `mf`, `light-gcn`, \
                 or another sampler",
                kind(&learning.sampler),
                kind(&self.backbone)
            )),
            false => Ok(()),
        }
    }

    /// Whether a batch has rows whose vectors can be kept short.
    fn check_batch_l2(&self, learning: &Learning) -> Result<(), String> {
        let (backbone, sampler) = (kind(&self.backbone), kind(&learning.sampler));
        let reason = if learning.optimizer.batch_l2().is_none() {
            return Ok(());
        } else if self.backbone.reads_order() || self.backbone.has_network() {
            format!("the backbone `{backbone}` has no vector of its own for each user and item")
        } else if learning.candidates().is_none() {
            format!("the sampler `{sampler}` draws nothing, so that the batch has every item")
        } else if learning.sampler.rule(0).is_some() {
            format!("the sampler `{sampler}` keeps or weighs some of what it draws by their scores")
        } else {
            return Ok(());
        };
        Err(format!("batch_l2 is on the vectors of a batch's users, positives and negatives, and {reason}: take `weight_decay`"))
    }

    /// Whether each row is one interaction, where a model predicts what comes next.
    fn check_order(&self, learning: &Learning) -> Result<(), String> {
        if self.backbone.reads_order() && learning.training.rows == EpochRows::Users {
            return Err(format!(
                "rows is `users`, and the backbone `{}` predicts every item of a history from those before it: leave it out",
                kind(&self.backbone)
            ));
        }
        match self.backbone.reads_order() && learning.loss.list().is_some() {
            true => Err(format!(
                "the loss `{}` has rows of users with several positives in any order, and the backbone `{}` predicts the next item of a history: take \
                 another loss",
                kind(&learning.loss),
                kind(&self.backbone)
            )),
            false => Ok(()),
        }
    }

    /// Whether loss and sampler look at scores alone, where a network makes them.
    fn check_network(&self, learning: &Learning) -> Result<(), String> {
        let (loss, sampler) = (kind(&learning.loss), kind(&learning.sampler));
        let reason = if !learning.loss.looks_at_scores_alone() || learning.loss.max_norm().is_some() {
            format!("the loss `{loss}` looks at more than the scores of each row: take another loss")
        } else if learning.loss.quantiles().is_some() {
            format!("the loss `{loss}` needs quantiles of scores of all items: take another loss")
        } else if learning.loss.similarity() != Similarity::Dot {
            format!("the loss `{loss}` compares vectors by another similarity: give it `similarity: dot`")
        } else if learning.candidates().is_none() {
            format!("the sampler `{sampler}` scores every item in every step: take one that draws")
        } else if learning.sampler.needs_tables() {
            format!("the sampler `{sampler}` looks at vectors: take another sampler")
        } else {
            return Ok(());
        };
        Err(format!("the backbone `{}` scores pairs by a network, and {reason}", kind(&self.backbone)))
    }
}

impl Iterations {
    fn check(&self) -> Result<(), String> {
        check_epochs(self.epochs, self.evaluate_every, self.patience)
    }
}

impl Learning {
    fn check(&self) -> Result<(), String> {
        self.loss.check()?;
        self.sampler.check()?;
        self.optimizer.check()?;
        self.training.check()?;
        self.sampler.check_batch(self.training.batch_size)?;
        self.check_estimated_ranks()?;
        self.check_draws()?;
        self.check_rule()?;
        self.check_rows()?;
        match (self.loss.quantiles(), self.candidates()) {
            (Some(schedule), Some(negatives)) if negatives < schedule.cutoff as usize => Err(format!(
                "cutoff is {} and the sampler draws {negatives} negatives: a top-{} quantile needs at least as many",
                schedule.cutoff, schedule.cutoff
            )),
            _ => Ok(()),
        }
    }

    /// Whether a loss that weighs by the rank of the first violator has a sampler that looks for one, by the same margin.
    fn check_estimated_ranks(&self) -> Result<(), String> {
        match (self.loss.estimated_rank_margin(), self.sampler.estimated_rank_margin()) {
            (Some(loss), Some(sampler)) if loss != sampler => Err(format!(
                "margin is {loss} of the loss and {sampler} of the sampler: expected the same, as the sampler looks for what the loss penalises"
            )),
            (Some(_), None) => Err(format!(
                "the loss `{}` weighs by a rank, which the sampler `{}` does not estimate: it needs the sampler `warp`",
                kind(&self.loss),
                kind(&self.sampler)
            )),
            _ => Ok(()),
        }
    }

    /// Whether the loss can have as many negatives as are drawn, or none drawn at all.
    fn check_draws(&self) -> Result<(), String> {
        let (loss, sampler) = (kind(&self.loss), kind(&self.sampler));
        if self.loss.compares_rows_alone() && !self.sampler.compares_rows() {
            return Err(format!(
                "the loss `{loss}` compares the rows of a batch with each other, which the sampler `{sampler}` does not: it needs the sampler \
                 `in-batch`, best with `negatives: 1`"
            ));
        }
        if let (Some(reason), None) = (self.loss.needs_draws(), self.candidates()) {
            return Err(match self.sampler.looks_at_scores() {
                false => format!("the sampler `{sampler}` draws nothing, and {reason}; take one that draws"),
                true => format!("the sampler `{sampler}` draws nothing from the pool `all`, and {reason}; take a pool that draws"),
            });
        }
        match (self.loss.negatives(), self.negatives()) {
            (Some(made_for), Some(given)) if made_for != given => Err(format!(
                "the loss `{loss}` is made for {made_for} negatives and the sampler `{sampler}` gives {given}: make both alike"
            )),
            _ => Ok(()),
        }
    }

    /// Whether the loss can have what the sampler's rule and pool give.
    fn check_rule(&self) -> Result<(), String> {
        let (loss, sampler) = (kind(&self.loss), kind(&self.sampler));
        let takes_weights = self.loss.weighs_negatives() || self.loss.estimated_rank_margin().is_some();
        if self.sampler.rule(0).is_some_and(|rule| rule.subset().is_none() || rule.may_leave_none()) && !takes_weights {
            return Err(format!(
                "the sampler `{sampler}` weighs its candidates, and the loss `{loss}` neither sums over its negatives nor takes their mean, so \
                 that they have no weights in it: take one of bpr, bce, mse, ccl, uib and the lambda losses, or a sampler that keeps some of \
                 its candidates, as `softmax` does with `negatives` and `ada-sir` with `weights: none`"
            ));
        }
        if self.sampler.rule(0).is_some_and(|rule| rule.sums()) && !takes_weights {
            return Err(format!(
                "sum is true, and the loss `{loss}`, which neither sums over its negatives nor takes their mean, is the same with it: leave it out, or take \
                 one of bpr, bce, mse, ccl, uib and the lambda losses"
            ));
        }
        if self.sampler.mixes() {
            self.check_mixed()?;
        }
        if self.loss.needs_log_probabilities() {
            if let Some(reason) = self.sampler.lacks_probabilities() {
                return Err(format!("the sampler `{sampler}` {reason}, by which the loss `{loss}` corrects: take another sampler"));
            }
            if self.sampler.rule(0).is_some() {
                return Err(format!(
                    "the loss `{loss}` corrects for how items are drawn, and the sampler `{sampler}` chooses among them by their scores: take a \
                     sampler that looks at no scores, or another loss, as cce"
                ));
            }
        }
        match (self.sampler.needs_pairs(), self.loss.list()) {
            (Some(reason), Some(_)) => Err(format!(
                "the loss `{loss}` has rows of users with several positives, which the sampler `{sampler}` cannot have, as {reason}: take \
                 another sampler, or a loss of pairs"
            )),
            _ => Ok(()),
        }
    }

    /// Whether rows can be draws of a user and one of its items.
    fn check_rows(&self) -> Result<(), String> {
        let (loss, sampler) = (kind(&self.loss), kind(&self.sampler));
        match self.training.rows {
            EpochRows::Pairs => Ok(()),
            EpochRows::Users if self.loss.list().is_some() => {
                Err(format!("rows is `users`, and those of the loss `{loss}` are users with several positives as it is: leave it out"))
            }
            EpochRows::Users if self.corrects_in_batch() => Err(format!(
                "rows is `users`, and the sampler `{sampler}` takes the probabilities of in-batch negatives from the items' train counts, by which \
                 rows come that are `pairs`: leave it out"
            )),
            EpochRows::Users => Ok(()),
        }
    }

    /// Whether the loss can have negatives that are mixed from vectors, and are no items.
    fn check_mixed(&self) -> Result<(), String> {
        let reason = if !self.loss.looks_at_scores_alone() || self.loss.max_norm().is_some() {
            "looks at more than the scores of each row: take another sampler"
        } else if self.loss.needs_log_probabilities() {
            "corrects for how items are drawn, as these are not: take another sampler"
        } else if self.loss.similarity() != Similarity::Dot {
            "has other scores than dot products, in which alone the layers of a vector add up: give it `similarity: dot`"
        } else {
            return Ok(());
        };
        Err(format!("the sampler `{}` mixes negatives from vectors, and the loss `{}` {reason}", kind(&self.sampler), kind(&self.loss)))
    }
}

impl Training {
    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        check_epochs(self.epochs, self.evaluate_every, self.patience)?;
        positive("batch_size", self.batch_size)?;
        match self.batch_size >= LARGEST_BATCH {
            true => Err(format!("batch_size is {}, expected below {LARGEST_BATCH}", self.batch_size)),
            false => Ok(()),
        }
    }
}

fn positive(key: &str, value: u32) -> Result<(), String> {
    if value > 0 { Ok(()) } else { Err(format!("{key} is 0, expected at least 1")) }
}

fn check_epochs(epochs: u32, evaluate_every: u32, patience: Option<u32>) -> Result<(), String> {
    positive("epochs", epochs)?;
    positive("evaluate_every", evaluate_every)?;
    patience.map_or(Ok(()), |patience| positive("patience", patience))
}
