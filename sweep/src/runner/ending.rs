//! How trials ended.

use super::Session;
use anyhow::{Result, ensure};
use trainer::{Fit, Outcome};

/// How one trial ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialEnding {
    /// With a stored model.
    Done(Fit),
    /// With an error.
    Failed(String),
}

impl TrialEnding {
    /// Whether it has no model.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// The training, where it has a model.
    pub fn fit(&self) -> Option<&Fit> {
        match self {
            Self::Done(fit) => Some(fit),
            Self::Failed(_) => None,
        }
    }
}

impl From<Outcome> for TrialEnding {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done(fit) => Self::Done(fit),
            Outcome::Failed(error) => Self::Failed(error),
        }
    }
}

/// How the trial of a folder ended; `None` while it has not.
pub(super) fn stored(session: &Session, id: &str) -> Result<Option<TrialEnding>> {
    Ok(Outcome::read(&session.trial(id))?.map(TrialEnding::from))
}

/// How every trial of the plan ended, in the plan's order.
///
/// # Errors
/// When one has not ended: values are picked once, from all trials.
pub fn stored_endings(session: &Session) -> Result<Vec<TrialEnding>> {
    let mut endings = Vec::new();
    let mut missing = Vec::new();
    for (.., trial) in session.plan.trials() {
        match stored(session, &trial.id)? {
            Some(ending) => endings.push(ending),
            None => missing.push(trial.id.as_str()),
        }
    }
    let count = endings.len() + missing.len();
    let first = missing.first().unwrap_or(&"");
    ensure!(missing.is_empty(), "{} of {count} trials are not trained, the first is {first}; run `ranksweep train` first", missing.len());
    Ok(endings)
}
