//! Trials that are remembered as failed, tried again.

use super::{Session, Standing, ending};
use anyhow::Result;
use dataset::Location;

/// Forgets how the failed trials of the plan ended, so that they are trained anew. What has a model stays.
///
/// # Errors
/// When the store fails.
pub fn forget_failures(session: &Session) -> Result<()> {
    for (.., trial) in session.plan.trials() {
        if let Some(Standing::Failed(reason)) = ending::stored(session, &trial.id, None)? {
            tracing::info!(trial = trial.id, "tried again; it had failed: {reason}");
            forget(&session.trial(&trial.id))?;
        }
    }
    Ok(())
}

/// The marker goes last: a trial that has one has ended.
fn forget(folder: &Location) -> Result<()> {
    folder.join("rungs").list()?.iter().try_for_each(Location::delete)?;
    Ok(folder.join("done.json").delete()?)
}
