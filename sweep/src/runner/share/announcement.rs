//! Who trains a trial without others: a [claim](super::claim) for those that look, which binds its owner to nothing.
//!
//! With it `status` says that a plain `run` works on a trial, `gc` keeps off the storage, and processes that share a sweep leave the trial to its
//! owner. It comes when a training has lasted for a while, so that short trials write nothing of the kind. A store that cannot hold claims, or that
//! fails, is no reason not to train.

use super::claim::Claim;
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
        let claim = std::thread::spawn(move || {
            if stopped.recv_timeout(every) != Err(RecvTimeoutError::Timeout) {
                return None;
            }
            Claim::overtake(&folder, every).unwrap_or_else(|error| {
                tracing::debug!("{error}: others do not see who trains this trial");
                None
            })
        });
        Self { stop, claim }
    }

    /// Takes the announcement back. With a trial that has ended go all its claims.
    pub(crate) fn withdraw(self, has_ended: bool) {
        drop(self.stop);
        let Ok(Some(claim)) = self.claim.join() else { return };
        if let Err(error) = claim.finish(has_ended) {
            tracing::debug!("{error}: the claim on this trial stands until it is old");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{holder, watch::Watch},
        *,
    };

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
        let announced = Announcement::after(folder.clone(), Duration::from_millis(20));
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
    fn a_training_without_others_takes_a_trial_from_whoever_shares_it() {
        let (_storage, folder) = folder("shared");
        let shared = Claim::take(&folder, &mut Watch::default(), LONG).unwrap().unwrap();
        let announced = Announcement::after(folder.clone(), SHORT);
        while trainer::Fence::holds(&shared).unwrap() {
            std::thread::yield_now();
        }
        announced.withdraw(false);
        shared.finish(false).unwrap();
        assert_eq!(holder(&folder).unwrap(), None, "it was given back");
        assert!(Claim::take(&folder, &mut Watch::default(), LONG).unwrap().is_some());
    }
}
