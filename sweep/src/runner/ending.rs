//! How trials ended.

use super::Session;
use anyhow::{Result, ensure};
use trainer::Outcome;

/// How the trial of a folder ended; `None` while it has not.
pub(super) fn stored(session: &Session, id: &str) -> Result<Option<Outcome>> {
    Ok(Outcome::read(&session.trial(id))?)
}

/// How every trial of the plan ended, in the plan's order.
///
/// # Errors
/// When one has not ended: values are picked once, from all trials.
pub fn stored_endings(session: &Session) -> Result<Vec<Outcome>> {
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
