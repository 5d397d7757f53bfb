//! What a ranking refuses to start with, or to go on with.

use crate::{
    Error, Result, Scorer,
    scorer::scores::{Scores, Scratch, TILE},
};
use dataset::Interactions;

/// Checks that the scorer knows all users and items of the interactions.
pub(super) fn sizes(scorer: &Scorer, history: &Interactions, masked: &[&Interactions], users: usize) -> Result<()> {
    let refuse = |reason: String| Err(Error::Ranking { reason });
    if scorer.users().is_some_and(|known| known != users) {
        return refuse(format!(
            "the scorer has {} users, the dataset {users}; was it trained on another dataset?",
            scorer.users().unwrap_or(0)
        ));
    }
    let items = scorer.items();
    for interactions in masked.iter().copied().chain([history]) {
        if interactions.users() != users {
            return refuse(format!("interactions of {} users meet interactions of {users}", interactions.users()));
        }
        if let Some(item) = interactions.items().iter().find(|&&item| item as usize >= items) {
            return refuse(format!("item {item} is outside the {items} items of the scorer; was it trained on another dataset?"));
        }
    }
    Ok(())
}

/// Checks that the scorer fits, and that these users exist.
pub(super) fn users(scorer: &Scorer, history: &Interactions, masked: &[&Interactions], users: &[u32]) -> Result<()> {
    sizes(scorer, history, masked, history.users())?;
    match users.iter().find(|&&user| user as usize >= history.users()) {
        Some(user) => Err(Error::Ranking { reason: format!("user {user} is outside the {} users of the dataset", history.users()) }),
        None => Ok(()),
    }
}

/// Checks that every held-out item is a candidate.
///
/// # Errors
/// [`Error::Ranking`] for the first that is outside the `items` of a scorer, or masked.
pub fn held_out(items: usize, masked: &[&Interactions], held_out: &Interactions) -> Result<()> {
    for (user, item) in held_out.pairs() {
        if item as usize >= items {
            let reason = format!("held-out item {item} is outside the {items} items of the scorer; was it trained on another dataset?");
            return Err(Error::Ranking { reason });
        }
        if masked.iter().any(|masked| masked.contains(user as usize, item)) {
            let reason = format!("item {item} of user {user} is held out and masked; an interaction may stand in one part only");
            return Err(Error::Ranking { reason });
        }
    }
    Ok(())
}

/// Where the first NaN or infinite score stands.
pub(super) fn not_finite(scores: &[f32]) -> Option<usize> {
    if any_not_finite(scores) { scores.iter().position(|score| !score.is_finite()) } else { None }
}

/// The error for the first of the loaded users that has such a score, and that user's first item.
#[cold]
pub(super) fn first_not_finite(scores: &dyn Scores, users: &[u32], scratch: &mut Scratch) -> Error {
    let mut first = (usize::MAX, 0);
    for tile in scores.tiles() {
        scores.score(users.len(), tile.clone(), scratch);
        for (position, row) in scratch.scores.chunks_exact(TILE).take(users.len().min(first.0)).enumerate() {
            if let Some(at) = not_finite(&row[..tile.len()]) {
                first = (position, tile.start + at);
                break;
            }
        }
    }
    Error::NotFinite { user: users[first.0], item: first.1 as u32 }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn any_not_finite(scores: &[f32]) -> bool {
    scores.iter().fold(false, |any, score| any | !score.is_finite())
}
