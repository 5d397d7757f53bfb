//! One sweep trained by several processes, on one machine or many, that share a storage.
//!
//! Each takes the next trial that has not ended and that nobody holds, by a [claim](claim), and comes back for the trials that others hold
//! until all have ended. A process that is not heard of for a while loses its trials to the others, which go on from what it stored. Should
//! it work after all, work is wasted and nothing else: both write the same bytes.

mod alive;
mod claim;
mod watch;

use super::{Session, ending, train};
use anyhow::Result;
use claim::Claim;
use std::time::Duration;
use trainer::Outcome;
use watch::Watch;

pub(crate) use alive::alive;

/// A claim is renewed so many times in the time after which it is taken over.
const RENEWALS: u32 = 6;
/// The longest wait before the trials that others hold are looked at again.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Trains, with others, every trial of the plan that has not ended, and gives how each of them ended, in the plan's order. Whoever renews its
/// claims seldom enough to be silent for `silence` loses them.
///
/// # Errors
/// A store that cannot hold claims; a dataset that is not prepared or cannot be read, or a store that fails. A trial that fails is no error.
pub fn train_shared(session: &Session, silence: Duration) -> Result<Vec<Outcome>> {
    claim::check_store(session.storage())?;
    let planned: Vec<_> = session.plan.trials().collect();
    let progress = session.progress.trials(planned.len());
    let mut endings: Vec<Option<Outcome>> = vec![None; planned.len()];
    let (mut watch, mut open) = (Watch::default(), None);
    while endings.iter().any(Option::is_none) {
        let mut has_worked = false;
        for (ending, &trial) in endings.iter_mut().zip(&planned).filter(|(ending, _)| ending.is_none()) {
            let folder = session.trial(&trial.2.id);
            let claim = match ending::stored(session, &trial.2.id)? {
                Some(_) => None,
                None => match Claim::take(&folder, &mut watch, silence / RENEWALS)? {
                    Some(claim) => Some(claim),
                    None => continue,
                },
            };
            let ended = train::end(session, trial, &progress, &mut open);
            has_worked = true;
            let given_back = claim.map_or(Ok(()), |claim| claim.finish(ended.is_ok()));
            *ending = Some(ended?);
            given_back?;
        }
        if !has_worked {
            std::thread::sleep(LONGEST_WAIT.min(silence / (2 * RENEWALS)));
        }
    }
    Ok(endings.into_iter().flatten().collect())
}
