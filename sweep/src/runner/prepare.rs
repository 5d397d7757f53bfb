//! Raw interactions to prepared datasets.

use super::Session;
use anyhow::{Context, Result, ensure};

/// Prepares every dataset of the plan that is not prepared yet.
///
/// # Errors
/// Data that cannot be prepared, each error with the dataset's name; a store that fails.
pub fn prepare(session: &Session) -> Result<()> {
    session.progress.begin(&session.plan, session.storage());
    let limits = session.limits();
    for dataset in &session.plan.datasets {
        let name = &dataset.preparation.name;
        let stage = session.progress.dataset(name);
        let prepared = pipeline::prepare(&dataset.preparation, &session.datasets(), &limits, &mut |counts| stage.step(counts))
            .with_context(|| format!("dataset `{name}`"))?;
        let (planned, found) = (&dataset.fingerprint, &prepared.manifest.fingerprint);
        ensure!(planned == found, "dataset `{name}`: the source files changed while they were read ({planned}, then {found}); run again");
        stage.finish(&prepared);
    }
    Ok(())
}
