//! Who trains a trial without others: a [claim](super::claim) for those that look, which binds its owner to nothing.
//!
//! With it `status` says that a plain `run` works on a trial, `gc` keeps off the storage, and processes that share a sweep leave the trial to its
//! owner. It comes when a training has lasted for a while, so that short trials write nothing of the kind, and when no other claim is renewed. A store
//! that cannot hold claims, or that fails, is no reason not to train.

use super::{
    claim::{Claim, claims_of},
    holder,
};
use anyhow::Result;
use dataset::Location;
use std::{
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::Duration,
};

/// The seconds after which a training is announced, and between two renewals.
const EVERY: Duration = Duration::from_secs(10);

/// A training that is, or will be, announced.
#[derive(Debug)]
pub(crate) struct Announcement {
    folder: Location,
    /// Dropped when the training has come to a stop.
    stop: Sender<()>,
    claim: JoinHandle<Option<Claim>>,
}

impl Announcement {
    /// Announces the training of the trial of a folder, if it lasts.
    pub(crate) fn of(folder: Location) -> Self {
        Self::after(folder, EVERY)
    }

    fn after(folder: Location, every: Duration) -> Self {
        let (stop, stopped) = channel();
        let at = folder.clone();
        let claim = std::thread::spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                match claim(&at, every) {
                    Ok(Some(claim)) => return Some(claim),
                    Ok(None) => {}
                    Err(error) => tracing::debug!("{error}: others do not see who trains this trial"),
                }
            }
            None
        });
        Self { folder, stop, claim }
    }

    /// Takes the announcement back. With a trial that has ended go all its claims, those of earlier trainings too.
    pub(crate) fn withdraw(self, has_ended: bool) {
        drop(self.stop);
        let withdrawn = match self.claim.join() {
            Ok(Some(claim)) => claim.finish(has_ended),
            _ if has_ended => forget(&self.folder),
            _ => Ok(()),
        };
        if let Err(error) = withdrawn {
            tracing::debug!("{error}: a claim on this trial stands until it is old");
        }
    }
}

/// A claim on the trial of a folder, unless another is renewed.
fn claim(folder: &Location, every: Duration) -> Result<Option<Claim>> {
    if holder(folder)?.is_some() { Ok(None) } else { Claim::overtake(folder, every) }
}

/// Removes the claims on a trial that has ended.
fn forget(folder: &Location) -> Result<()> {
    claims_of(folder)?.into_iter().try_for_each(|(_, at)| Ok(at.delete()?))
}

#[cfg(test)]
mod tests {
    use super::{super::watch::Watch, *};

    const LONG: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_millis(1);

    fn folder(name: &str) -> (tempfile::TempDir, Location) {
        let storage = tempfile::tempdir().unwrap();
        let folder = Location::parse(storage.path().to_str().unwrap()).unwrap().join(name);
        (storage, folder)
    }

    fn claims(folder: &Location) -> usize {
        folder.join("claims").list().unwrap().len()
    }

    #[test]
    fn a_long_training_has_a_holder_until_it_ends() {
        let (_storage, folder) = folder("long");
        let announced = Announcement::after(folder.clone(), Duration::from_millis(300));
        while claims(&folder) == 0 {
            std::thread::yield_now();
        }
        assert!(holder(&folder).unwrap().unwrap().ends_with(&format!("(process {})", std::process::id())));
        assert!(Claim::take(&folder, &mut Watch::default(), LONG).unwrap().is_none(), "others leave it alone");
        announced.withdraw(true);
        assert_eq!((holder(&folder).unwrap(), claims(&folder)), (None, 0));
    }

    #[test]
    fn a_short_training_writes_nothing() {
        let (_storage, folder) = folder("short");
        Announcement::after(folder.clone(), LONG).withdraw(true);
        assert_eq!(claims(&folder), 0);
    }

    #[test]
    fn a_trial_that_is_shared_is_announced_once_its_owner_is_gone() {
        let (_storage, folder) = folder("shared");
        let shared = Claim::take(&folder, &mut Watch::default(), LONG).unwrap().unwrap();
        let announced = Announcement::after(folder.clone(), SHORT);
        std::thread::sleep(20 * SHORT);
        assert!(trainer::Fence::holds(&shared).unwrap(), "a claim that is renewed stands");
        shared.finish(false).unwrap();
        while claims(&folder) < 2 {
            std::thread::yield_now();
        }
        announced.withdraw(false);
        assert_eq!(holder(&folder).unwrap(), None, "it was given back");
        assert!(Claim::take(&folder, &mut Watch::default(), LONG).unwrap().is_some());
    }

    #[test]
    fn with_a_short_training_that_ends_go_the_claims_of_a_longer_one_before() {
        let (_storage, folder) = folder("before");
        Claim::take(&folder, &mut Watch::default(), LONG).unwrap().unwrap().finish(false).unwrap();
        Announcement::after(folder.clone(), LONG).withdraw(false);
        assert_eq!(claims(&folder), 1, "the trial goes on");
        Announcement::after(folder.clone(), LONG).withdraw(true);
        assert_eq!(claims(&folder), 0);
    }
}
