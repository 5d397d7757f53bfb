//! Which claims are renewed, for whoever must not work beside their owners, and for people who want to know what is trained.

use super::{
    RENEWALS,
    claim::{Content, claims_of},
    watch::every,
};
use anyhow::Result;
use dataset::Location;
use std::time::{Duration, Instant, SystemTime};

/// The longest look at claims, whatever their owners promise.
const LONGEST_LOOK: Duration = Duration::from_secs(600);

/// The owners of the trials in these folders who renew their claims while this looks on; each has twice the time it promised.
pub(crate) fn alive(trials: &[Location]) -> Result<Vec<String>> {
    let mut held = Vec::new();
    for folder in trials {
        held.extend(unreleased(folder)?);
    }
    let start = Instant::now();
    let mut alive = Vec::new();
    while alive.is_empty() && !held.is_empty() {
        let mut waiting = Vec::new();
        for (at, content) in held {
            match Content::read(&at)? {
                Some(now) if now != content && !now.released => alive.push(now.owner),
                Some(now) if now == content && start.elapsed() < LONGEST_LOOK.min(2 * every(&content)) => waiting.push((at, content)),
                _ => {}
            }
        }
        held = waiting;
        if alive.is_empty() && !held.is_empty() {
            std::thread::sleep(Duration::from_millis(500));
        }
    }
    Ok(alive)
}

/// Who trains the trial of a folder, for people: the owner of a claim that was last renewed no longer ago than one that is taken over. The clocks of the store
/// and of this machine are compared, so that nothing may depend on it.
pub(crate) fn holder(folder: &Location) -> Result<Option<String>> {
    let Some((at, content)) = unreleased(folder)? else { return Ok(None) };
    let renewed = match at.modified() {
        Err(dataset::Error::NotFound { .. }) => return Ok(None), // the trial has ended meanwhile
        renewed => renewed?,
    };
    let age = SystemTime::now().duration_since(renewed).unwrap_or_default();
    Ok((age < RENEWALS * every(&content)).then_some(content.owner))
}

/// Who claims the trial of a folder, whether or not the claim is still renewed.
pub(super) fn owner(folder: &Location) -> Result<Option<String>> {
    Ok(unreleased(folder)?.map(|(_, content)| content.owner))
}

/// The newest claim on the trial of a folder, unless it was given back.
fn unreleased(folder: &Location) -> Result<Option<(Location, Content)>> {
    let Some((_, at)) = claims_of(folder)?.pop() else { return Ok(None) };
    Ok(Content::read(&at)?.filter(|content| !content.released).map(|content| (at, content)))
}
