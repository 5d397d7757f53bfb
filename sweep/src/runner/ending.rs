//! How trials ended.

use super::{Session, halving};
use anyhow::{Context, Result, ensure};
use trainer::{Fit, Outcome};

/// How a trial of the plan ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialEnding {
    /// Trained to its end.
    Done(Fit),
    /// Stopped at a rung of successive halving, where others of its method were better.
    Stopped(Fit),
    /// With an error.
    Failed(String),
}

impl TrialEnding {
    /// The training to its end; none of a trial that was stopped or failed.
    pub fn finished(&self) -> Option<&Fit> {
        match self {
            Self::Done(fit) => Some(fit),
            Self::Stopped(_) | Self::Failed(_) => None,
        }
    }

    /// The training, as far as it went; none of a trial that failed.
    pub fn fit(&self) -> Option<&Fit> {
        match self {
            Self::Done(fit) | Self::Stopped(fit) => Some(fit),
            Self::Failed(_) => None,
        }
    }

    /// Whether there is no model.
    pub fn is_failure(&self) -> bool {
        self.fit().is_none()
    }
}

impl From<Outcome> for TrialEnding {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done(fit) => Self::Done(fit),
            Outcome::Failed(reason) => Self::Failed(reason),
        }
    }
}

/// How the trial of a folder stood after so many epochs, or ended; `None` while it has not come so far.
pub(super) fn stored(session: &Session, id: &str, until: Option<u32>) -> Result<Option<Outcome>> {
    Ok(trainer::stored(&session.trial(id), until)?)
}

/// How every trial of the plan ended, in the plan's order.
///
/// # Errors
/// When one has not ended: values are picked once, from all trials.
pub fn stored_endings(session: &Session) -> Result<Vec<TrialEnding>> {
    if session.plan.search.halving().is_some() {
        return halved_endings(session);
    }
    let mut endings = Vec::new();
    let mut missing = Vec::new();
    for (.., trial) in session.plan.trials() {
        match stored(session, &trial.id, None)? {
            Some(ending) => endings.push(ending.into()),
            None => missing.push(trial.id.as_str()),
        }
    }
    let count = endings.len() + missing.len();
    let first = missing.first().unwrap_or(&"");
    ensure!(missing.is_empty(), "{} of {count} trials are not trained, the first is {first}; run `ranksweep train` first", missing.len());
    Ok(endings)
}

/// What goes on from a rung is known only when the rung is complete, so that the first trial that is missing ends it.
fn halved_endings(session: &Session) -> Result<Vec<TrialEnding>> {
    halving::endings(&session.plan, &mut |(.., trial), until| {
        let far = until.map_or_else(|| "to its end".to_owned(), |epochs| format!("for {epochs} epochs"));
        stored(session, &trial.id, until)?.with_context(|| format!("trial {} is not trained {far}; run `ranksweep train` first", trial.id))
    })
}
