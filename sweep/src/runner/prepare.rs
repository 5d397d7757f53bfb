//! Raw interactions to prepared datasets.

use super::{Changed, Session, session::place};
use crate::mark;
use anyhow::{Error, Result, ensure};

/// Prepares every dataset of the plan that is not prepared yet, and marks the storage as one of ranksweep. With a stored plan, the sources of those that are need not be there.
///
/// # Errors
/// Data that cannot be prepared, each error with the dataset's name; [`Changed`] where it is not that of a stored plan; a store that fails.
pub fn prepare(session: &Session) -> Result<()> {
    session.progress.begin(&session.plan, session.storage());
    mark::mark(session.storage())?; // `gc` knows by it that what a preparation leaves is of ranksweep
    let limits = session.limits();
    let entries = session.file.splits().map(|(entry, _)| entry);
    for ((dataset, preparation), entry) in session.preparations().zip(entries) {
        if session.is_submitted() && session.is_prepared(dataset)? {
            continue;
        }
        let quoted = dataset.quoted();
        let stage = session.progress.dataset(dataset);
        let prepared = pipeline::prepare(preparation, &session.datasets(), &limits, &mut |counts| stage.step(counts)).map_err(|error| {
            let at = place(entry, &error).map_or_else(String::new, |place| format!("{}: ", place.position()));
            Error::from(error).context(format!("{at}dataset {quoted}"))
        })?;
        let (planned, found) = (&dataset.fingerprint, &prepared.manifest.fingerprint);
        if session.is_submitted() && planned != found {
            let words = "the source files have changed since the sweep was submitted";
            return Err(Changed(format!("dataset {quoted}: {words} ({planned}, now {found}); submit it again")).into());
        }
        ensure!(planned == found, "dataset {quoted}: the source files changed while they were read ({planned}, then {found}); run again");
        stage.finish(&prepared);
    }
    Ok(())
}
