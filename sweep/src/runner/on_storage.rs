//! How a trial stands by what is stored of it.

use super::{Session, Standing};
use anyhow::Result;

/// How a trial stood after so many epochs, or ended; `None` while it has not come so far. One whose marker is damaged is [`Standing::Broken`].
pub(super) fn stored(session: &Session, id: &str, until: Option<u32>) -> Result<Option<Standing>> {
    match trainer::stored(&session.trial(id), id, until) {
        Err(error) if error.is_damage() => {
            // No table says it of a rung, and the search goes on without it, to trials that it may not have trained.
            if until.is_some() {
                tracing::warn!(trial = id, "{error}");
            }
            Ok(Some(Standing::of(error)))
        }
        stored => Ok(stored?.map(Standing::from)),
    }
}

/// How a trial stands for whoever trains it, as `stored` has it; a damaged one has not ended.
pub(super) fn whole(session: &Session, id: &str, until: Option<u32>) -> Result<Option<Standing>> {
    Ok(stored(session, id, until)?.filter(|standing| !matches!(standing, Standing::Broken(_))))
}
