//! Which claims are renewed, for whoever must not work beside their owners.

use super::{
    claim::{Content, claims_of},
    watch::every,
};
use anyhow::Result;
use dataset::Location;
use std::time::{Duration, Instant};

/// The longest look at claims, whatever their owners promise.
const LONGEST_LOOK: Duration = Duration::from_secs(600);

/// The owners of the trials in these folders who renew their claims while this looks on; each has twice the time it promised.
pub(crate) fn alive(trials: &[Location]) -> Result<Vec<String>> {
    let mut held = Vec::new();
    for folder in trials {
        let Some((_, at)) = claims_of(folder)?.pop() else { continue };
        held.extend(Content::read(&at)?.filter(|content| !content.released).map(|content| (at, content)));
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
