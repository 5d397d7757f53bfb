//! One sweep trained by several processes, on one machine or many, that share a storage.
//!
//! Each takes the next trial that has not ended and that nobody holds, by a [claim](claim), and comes back for the trials that others hold
//! until all have ended. A process that is not heard of for a while loses its trials to the others, which go on from what it stored. Should
//! it work after all, it looks at its claim before each write, sees that it has lost it, and writes no more. What it wrote between that look
//! and the other's has a name of its own (`trainer/src/fit/checkpoint/stored_files.rs`), and no marker counts it.

mod alive;
mod announcement;
mod claim;
mod watch;

use super::{
    Interrupted, Session, Standing, on_storage,
    search::{self, Asked},
    train,
};
use crate::{interrupt, plan::PlannedRef, usage::Usage};
use anyhow::Result;
use claim::Claim;
use std::{collections::BTreeSet, time::Duration};
use trainer::{Error, Fence};
use watch::Watch;

use alive::owner;
pub(crate) use alive::{alive, holder};
pub(super) use announcement::Announcement;
pub(crate) use claim::time_of_store;

/// A claim is renewed so many times in the time after which it is taken over.
const RENEWALS: u32 = 6;
/// The longest wait before the trials that others hold are looked at again.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Trains, with others, every trial of the plan that has not ended, and gives how each of them stands, in the plan's order. Whoever renews
/// its claims seldom enough to be silent for `silence` loses them. The rungs of a search are shared one after the other.
///
/// # Errors
/// A store that cannot hold claims; a dataset that is not prepared or cannot be read, a store that fails, or [`Interrupted`]. A trial that
/// fails or has no time left is no error. [`Usage`] for an asynchronous search, whose order is that of one process.
pub fn train_shared(session: &Session, silence: Duration) -> Result<Vec<Standing>> {
    session.devices()?.refuse_processes()?;
    let plan = &session.plan;
    if plan.search.halving().is_some_and(|halving| halving.asynchronous) {
        let reason = "--share: an `asynchronous` search is of one process: leave one of the two out";
        return Err(Usage(reason.to_owned()).into());
    }
    claim::check_store(session.storage())?;
    if plan.rung_epochs.is_empty() {
        let trials: Vec<_> = plan.trials().map(|planned| (planned, None)).collect();
        return train_all(session, silence, &trials);
    }
    search::rung_by_rung(session, &mut |trials| train_all(session, silence, trials))
}

/// Trains trials, each for so many epochs or to its end, with others.
fn train_all(session: &Session, silence: Duration, trials: &[Asked<'_>]) -> Result<Vec<Standing>> {
    let progress = session.progress.trials(&session.plan, trials.len());
    let mut standings: Vec<Option<Standing>> = vec![None; trials.len()];
    let (mut watch, mut open) = (Watch::default(), None);
    let mut waited_for = 0;
    while standings.iter().any(Option::is_none) {
        let mut has_worked = false;
        for (at, &(planned, until)) in trials.iter().enumerate() {
            if standings[at].is_some() {
                continue;
            }
            let _hold = interrupt::hold(); // until the claim is given back
            let claim = match on_storage::whole(session, &planned.2.id, until)? {
                Some(_) => None,
                None => match Claim::take(&session.trial(&planned.2.id), &mut watch, silence / RENEWALS)? {
                    Some(claim) => Some(claim),
                    None => continue,
                },
            };
            let fence = claim.as_ref().map(|claim| claim as &dyn Fence);
            let stands = train::end(session, session.devices()?, planned, until, &progress, &mut open, fence);
            has_worked = true;
            if stands.as_ref().is_err_and(|error| matches!(error.downcast_ref(), Some(Error::TakenOver))) {
                tracing::warn!(trial = planned.2.id, "another process has taken this trial over, as this one was silent for too long");
                continue;
            }
            let given_back = claim.map_or(Ok(()), |claim| claim.finish(matches!(stands, Ok(Some(_)))));
            let ended = standings.iter().flatten().count();
            standings[at] = Some(stands?.ok_or(Interrupted::of_trials(ended, trials.len()))?);
            given_back?;
        }
        if !has_worked {
            let held: Vec<_> =
                trials.iter().zip(&standings).filter(|(_, stands)| stands.is_none()).map(|(&(planned, _), _)| planned).collect();
            if held.len() != waited_for {
                waited_for = held.len();
                say_who_is_waited_for(session, silence, &held)?;
            }
            std::thread::sleep(wait(silence));
        }
    }
    let mut standings: Vec<Standing> = standings.into_iter().flatten().collect();
    ask_others(session, silence, trials, &mut standings)?;
    Ok(standings)
}

/// How long to wait before the trials that others hold are looked at again.
fn wait(silence: Duration) -> Duration {
    LONGEST_WAIT.min(silence / (2 * RENEWALS))
}

/// What broke here, as for want of memory, another process may have trained, or may train now: waits for it, and takes how it ended there.
fn ask_others(session: &Session, silence: Duration, trials: &[Asked<'_>], standings: &mut [Standing]) -> Result<()> {
    let is_broken = |standing: &Standing| matches!(standing, Standing::Broken(_));
    if !standings.iter().any(is_broken) {
        return Ok(());
    }
    std::thread::sleep(wait(silence)); // who is about to take one has taken it then
    let mut watch = Watch::default();
    for (standing, &(planned, until)) in standings.iter_mut().zip(trials).filter(|(standing, _)| is_broken(standing)) {
        let mut is_said = false;
        loop {
            if let Some(ended) = on_storage::whole(session, &planned.2.id, until)? {
                *standing = ended;
                break;
            }
            let hold = interrupt::hold(); // until the claim is given back
            if let Some(claim) = Claim::take(&session.trial(&planned.2.id), &mut watch, silence / RENEWALS)? {
                claim.finish(true)?;
                break;
            }
            drop(hold);
            if !std::mem::replace(&mut is_said, true) {
                say_who_is_waited_for(session, silence, &[planned])?;
            }
            std::thread::sleep(wait(silence));
        }
    }
    Ok(())
}

/// Says which processes hold the trials that are left.
fn say_who_is_waited_for(session: &Session, silence: Duration, held: &[PlannedRef<'_>]) -> Result<()> {
    let owners: Result<Vec<_>> = held.iter().map(|planned| owner(&session.trial(&planned.2.id))).collect();
    let owners: BTreeSet<_> = owners?.into_iter().flatten().collect();
    if !owners.is_empty() {
        let owners = owners.into_iter().collect::<Vec<_>>().join(", ");
        tracing::info!(trials = held.len(), owners, "waiting for trials that others hold; who is silent for {silence:?} loses them");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::spread::tests::{SWEEP, session};

    #[test]
    fn what_broke_here_and_another_process_has_trained_counts_as_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path(), SWEEP);
        let silence = Duration::from_millis(600);
        let trained = train_shared(&session, silence).unwrap();
        let trials: Vec<_> = session.plan.trials().map(|planned| (planned, None)).collect();
        std::fs::remove_dir_all(folder.path().join("runs/trials").join(&trials[1].0.2.id)).unwrap();
        let broken = Standing::Broken("no memory".into());
        let mut standings = trained.clone();
        standings[0] = broken.clone();
        standings[1] = broken.clone();
        ask_others(&session, silence, &trials, &mut standings).unwrap();
        assert_eq!((standings[0].fit().map(|fit| fit.best_epoch), &standings[1]), (trained[0].fit().map(|fit| fit.best_epoch), &broken));
    }
}
