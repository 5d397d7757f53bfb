//! One sweep trained by several processes, on one machine or many, that share a storage.
//!
//! Each takes the next trial that has not ended and that nobody holds, by a [claim](claim), and comes back for the trials that others hold
//! until all have ended. A process that is not heard of for a while loses its trials to the others, which go on from what it stored. Should
//! it work after all, work is wasted and nothing else: both write the same bytes.

mod alive;
mod claim;
mod watch;

use super::{Session, Standing, ending, halving, train};
use crate::{cli::Usage, plan::PlannedRef};
use anyhow::{Result, ensure};
use claim::Claim;
use std::time::Duration;
use watch::Watch;

pub(crate) use alive::alive;

/// A claim is renewed so many times in the time after which it is taken over.
const RENEWALS: u32 = 6;
/// The longest wait before the trials that others hold are looked at again.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Trains, with others, every trial of the plan that has not ended, rung by rung in successive halving, and gives how each of them stands, in
/// the plan's order. Whoever renews its claims seldom enough to be silent for `silence` loses them.
///
/// # Errors
/// A store that cannot hold claims; a search whose decisions follow one process's order; a dataset that is not prepared or cannot be read, or
/// a store that fails. A trial that fails is no error.
pub fn train_shared(session: &Session, silence: Duration) -> Result<Vec<Standing>> {
    let halving = session.plan.search.halving();
    ensure!(
        !halving.is_some_and(|halving| halving.asynchronous),
        Usage("`--share` needs rungs that end before they are compared: leave `asynchronous` out of `search`".to_owned())
    );
    claim::check_store(session.storage())?;
    let whole = || session.plan.trials().map(|planned| (planned, None)).collect();
    match halving {
        None => share(session, whole(), silence)?,
        Some(_) => (0..session.plan.rungs().len()).try_for_each(|rung| share(session, halving::in_rung(session, rung)?, silence))?,
    }
    ending::standings(session)
}

/// Has each of the trials come as far as asked, by this process or by others.
fn share(session: &Session, mut trials: Vec<(PlannedRef<'_>, Option<u32>)>, silence: Duration) -> Result<()> {
    let progress = session.progress.trials(trials.len());
    let (mut watch, mut open) = (Watch::default(), None);
    while !trials.is_empty() {
        let mut held = Vec::new();
        let count = trials.len();
        for (planned, until) in trials {
            let id = &planned.2.id;
            let claim = match ending::stored(session, id, until)? {
                Some(_) => None,
                None => match Claim::take(&session.trial(id), &mut watch, silence / RENEWALS)? {
                    Some(claim) => Some(claim),
                    None => {
                        held.push((planned, until));
                        continue;
                    }
                },
            };
            let ended = train::end(session, planned, until, &progress, &mut open);
            let given_back = claim.map_or(Ok(()), |claim| claim.finish(ended.is_ok()));
            ended?;
            given_back?;
        }
        if held.len() == count {
            std::thread::sleep(LONGEST_WAIT.min(silence / (2 * RENEWALS)));
        }
        trials = held;
    }
    Ok(())
}
