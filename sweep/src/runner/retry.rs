//! Trials that are remembered as failed, tried again.

use super::{Session, Standing, on_storage};
use anyhow::Result;

/// Forgets how the failed trials of the plan ended, so that they are trained anew. What has a model stays.
///
/// # Errors
/// When the store fails.
pub fn forget_failures(session: &Session) -> Result<()> {
    for (.., trial) in session.plan.trials() {
        if let Some(Standing::Failed(reason)) = on_storage::stored(session, &trial.id, None)? {
            tracing::info!(trial = trial.id, "tried again; it had failed: {reason}");
            trainer::forget(&session.trial(&trial.id))?;
        }
    }
    Ok(())
}
