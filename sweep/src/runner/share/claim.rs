//! Who works on a trial: `trials/<id>/claims/<number>.json`.
//!
//! A claim is created where none stands, which a store lets happen once, and is rewritten by its owner again and again while it works. A
//! claim that was given back or that nobody renews is not removed but overtaken: by the next number, which again one process alone creates.
//! The claims of a trial go when it has ended. Whoever finds a newer claim than its own, or its own no more, has lost the trial.

use super::watch::Watch;
use anyhow::{Context, Result, ensure};
use dataset::Location;
use serde::{Deserialize, Serialize};
use std::{
    hash::{BuildHasher, RandomState},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::{Duration, SystemTime},
};
use trainer::Fence;

/// The seconds between two renewals that are taken for promised by a claim that cannot be read.
const DAMAGED_EVERY: f64 = 30.0;

/// The content of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    /// The machine and the process, for people.
    pub(super) owner: String,
    /// A random text, which tells this claim from all others.
    nonce: String,
    /// How often it was renewed.
    renewals: u64,
    /// The seconds between two renewals, as its owner promises.
    pub(super) renewed_every: f64,
    /// Whether it was given back before the trial ended.
    pub(super) released: bool,
}

/// A trial that is this process's, renewed in the background.
#[derive(Debug)]
pub(super) struct Claim {
    folder: Location,
    at: Location,
    content: Content,
    /// Dropped when the renewals shall end.
    stop: Sender<()>,
    renewals: JoinHandle<()>,
}

impl Claim {
    /// Takes the trial of a folder, unless another process holds it.
    pub(super) fn take(folder: &Location, watch: &mut Watch, every: Duration) -> Result<Option<Self>> {
        let number = match claims_of(folder)?.pop() {
            None => 1,
            Some((number, at)) => match Content::read(&at)? {
                Some(other) if watch.is_left(&at, &other) => {
                    tracing::info!(trial = folder.name(), owner = other.owner, "taking over a trial that was left");
                    number + 1
                }
                _ => return Ok(None),
            },
        };
        Self::create(folder, number, every)
    }

    /// Takes the trial of a folder, whose claims its caller has found to be left; `None` where another process takes it at the same moment.
    pub(super) fn overtake(folder: &Location, every: Duration) -> Result<Option<Self>> {
        let newest = claims_of(folder)?.pop().map_or(0, |(number, _)| number);
        Self::create(folder, newest + 1, every)
    }

    fn create(folder: &Location, number: u64, every: Duration) -> Result<Option<Self>> {
        let at = folder.join("claims").join(&format!("{number:06}.json"));
        let content = Content::new(every);
        if !at.create(content.to_json())? {
            return Ok(None);
        }
        let (stop, renewals) = renew(folder.clone(), at.clone(), content.clone(), every);
        Ok(Some(Self { folder: folder.clone(), at, content, stop, renewals }))
    }

    /// Ends the renewals. With the trial go all its claims; a trial that has not ended is given back.
    pub(super) fn finish(self, has_ended: bool) -> Result<()> {
        drop(self.stop);
        // A renewal that panicked is no reason to keep the trial.
        let _ = self.renewals.join();
        if !stands(&self.folder, &self.at, &self.content)? {
            return Ok(()); // the trial is another's, and its claims are
        }
        if !has_ended {
            return Ok(self.at.write(Content { released: true, ..self.content }.to_json())?);
        }
        for (_, at) in claims_of(&self.folder)? {
            at.delete()?;
        }
        Ok(())
    }
}

impl Fence for Claim {
    fn holds(&self) -> dataset::Result<bool> {
        stands(&self.folder, &self.at, &self.content)
    }
}

/// Whether a claim stands and none is newer. Where a trial's claims have gone, another process may have made one of the same number.
fn stands(folder: &Location, at: &Location, content: &Content) -> dataset::Result<bool> {
    if claims_of(folder)?.last().is_none_or(|(_, newest)| newest.name() != at.name()) {
        return Ok(false);
    }
    match at.read() {
        Ok(text) => Ok(serde_json::from_slice::<Content>(&text).is_ok_and(|found| found.nonce == content.nonce)),
        Err(dataset::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes the claim anew at every interval, until the sender is dropped or the claim is lost.
fn renew(folder: Location, at: Location, mut content: Content, every: Duration) -> (Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = channel();
    let renewals = std::thread::spawn(move || {
        while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            content.renewals += 1;
            let renewed =
                stands(&folder, &at, &content).and_then(|holds| if holds { at.write(content.to_json()).map(|()| true) } else { Ok(false) });
            match renewed {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => tracing::warn!("{}; while a claim is not renewed another process may take its trial over", error.whole()),
            }
        }
    });
    (stop, renewals)
}

/// The claims in a trial's folder by their numbers, the newest last.
pub(super) fn claims_of(folder: &Location) -> dataset::Result<Vec<(u64, Location)>> {
    let files = folder.join("claims").list()?;
    let mut claims: Vec<_> = files.into_iter().filter_map(|at| Some((at.name().strip_suffix(".json")?.parse().ok()?, at))).collect();
    claims.sort_by_key(|(number, _)| *number);
    Ok(claims)
}

impl Content {
    fn new(every: Duration) -> Self {
        let owner = format!("{} (process {})", machine(), std::process::id());
        Self { owner, nonce: nonce(), renewals: 0, renewed_every: every.as_secs_f64(), released: false }
    }

    /// `None` where the claim has gone meanwhile. One that cannot be read, as a machine that lost its power can leave it, is of an owner who renews it no more.
    pub(super) fn read(at: &Location) -> Result<Option<Self>> {
        match at.read() {
            Ok(text) => Ok(Some(serde_json::from_slice(&text).unwrap_or_else(|_| Self::damaged(&text)))),
            Err(dataset::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn damaged(text: &[u8]) -> Self {
        Self {
            owner: "an unknown process, whose claim is damaged".to_owned(),
            nonce: String::from_utf8_lossy(text).into_owned(),
            renewals: 0,
            renewed_every: DAMAGED_EVERY,
            released: false,
        }
    }

    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a claim is plain data")
    }
}

fn machine() -> String {
    let name = std::env::var("HOSTNAME").or_else(|_| std::fs::read_to_string("/proc/sys/kernel/hostname"));
    name.map_or_else(|_| "unknown machine".to_owned(), |name| name.trim().to_owned())
}

/// 128 random bits; the standard library seeds its hashers from the system.
fn nonce() -> String {
    format!("{:016x}{:016x}", RandomState::new().hash_one(std::process::id()), RandomState::new().hash_one(SystemTime::now()))
}

/// That a store creates a file once and not twice, which some ignore without a word.
///
/// # Errors
/// A store that lets a file be created twice, or that knows no condition at all.
pub(super) fn check_store(storage: &Location) -> Result<()> {
    let probe = probe(storage);
    let advice = "use a storage that honours If-None-Match (AWS S3, MinIO, R2, Google, Azure, a local disk), or train without --share";
    let tried = || -> dataset::Result<bool> { Ok(probe.create("first")? && !probe.create("second")?) };
    let honoured = match tried() {
        // Where no file can be written at all, conditions are not what is wrong.
        Err(error) => probe.write("first").map(|()| Err(error).with_context(|| format!("{storage} cannot hold claims; {advice}")))?,
        Ok(honoured) => Ok(honoured),
    };
    probe.delete()?;
    ensure!(honoured?, "{storage} ignores conditions on writes, so that two processes could take the same trial; {advice}");
    Ok(())
}

/// The time by the clock that a store stamps its files with.
///
/// # Errors
/// A store that takes no file.
pub(crate) fn time_of_store(storage: &Location) -> dataset::Result<SystemTime> {
    let probe = probe(storage);
    probe.write("first")?;
    let time = probe.modified();
    probe.delete()?;
    time
}

/// A file whose place tells that it can go.
fn probe(storage: &Location) -> Location {
    storage.join("claims").join(&format!("probe-{}", nonce()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn folder(name: &str) -> Location {
        Location::parse("memory:///claims").unwrap().join(name)
    }

    #[test]
    fn a_trial_is_held_by_one_until_it_is_given_back() {
        let folder = folder("held");
        let mut watch = Watch::default();
        let first = Claim::take(&folder, &mut watch, LONG).unwrap().unwrap();
        assert!(Claim::take(&folder, &mut watch, LONG).unwrap().is_none());
        first.finish(false).unwrap();
        let second = Claim::take(&folder, &mut watch, LONG).unwrap().unwrap();
        assert_eq!(second.at.name(), "000002.json");
        second.finish(true).unwrap();
        assert_eq!(folder.list().unwrap().len(), 0);
    }

    #[test]
    fn of_many_at_once_one_takes_a_trial_that_was_left() {
        for round in 0..30 {
            let folder = folder(&format!("left{round}"));
            let left = Content { released: true, ..Content::new(LONG) };
            folder.join("claims/000004.json").write(left.to_json()).unwrap();
            let taken = std::thread::scope(|threads| {
                let take = || Claim::take(&folder, &mut Watch::default(), LONG).unwrap();
                let takers: Vec<_> = (0..12).map(|_| threads.spawn(take)).collect();
                takers.into_iter().filter_map(|taker| taker.join().unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(taken.len(), 1);
            assert_eq!(taken[0].at.name(), "000005.json");
        }
    }

    #[test]
    fn a_claim_is_renewed_while_it_is_held() {
        let folder = folder("renewed");
        let claim = Claim::take(&folder, &mut Watch::default(), Duration::from_millis(1)).unwrap().unwrap();
        let renewals = || Content::read(&claim.at).unwrap().unwrap().renewals;
        while renewals() < 3 {
            std::thread::yield_now();
        }
        claim.finish(true).unwrap();
    }

    #[test]
    fn who_lost_a_claim_knows_and_leaves_the_others_alone() {
        for has_ended in [false, true] {
            let folder = folder(&format!("lost{has_ended}"));
            let first = Claim::take(&folder, &mut Watch::default(), LONG).unwrap().unwrap();
            assert!(first.holds().unwrap());
            let second = Content::new(LONG);
            folder.join("claims/000002.json").write(second.to_json()).unwrap();
            assert!(!first.holds().unwrap());
            first.finish(has_ended).unwrap();
            assert_eq!(Content::read(&folder.join("claims/000002.json")).unwrap(), Some(second));
            assert!(!Content::read(&folder.join("claims/000001.json")).unwrap().unwrap().released);
        }
    }

    #[test]
    fn a_claim_that_was_taken_away_is_not_written_again() {
        let folder = folder("gone");
        let claim = Claim::take(&folder, &mut Watch::default(), Duration::from_millis(1)).unwrap().unwrap();
        claim.at.delete().unwrap();
        while !claim.renewals.is_finished() {
            std::thread::yield_now();
        }
        // A renewal under way may have put it back once; then it stands as any that nobody renews.
        claim.at.delete().unwrap();
        assert!(!claim.holds().unwrap());
    }

    #[test]
    fn a_damaged_claim_is_one_that_nobody_renews() {
        let folder = folder("damaged");
        let at = folder.join("claims/000003.json");
        let mut watch = Watch::default();
        for damaged in ["", "{\"owner\":"] {
            at.write(damaged).unwrap();
            assert!(Claim::take(&folder, &mut watch, LONG).unwrap().is_none(), "its owner may live");
        }
        let content = Content::read(&at).unwrap().unwrap();
        let later = std::time::Instant::now() + Duration::from_secs(50);
        assert!(watch.unchanged(&at, &content, later) > Duration::from_secs(49), "and is watched as any other");
    }

    #[test]
    fn a_store_that_keeps_conditions_may_hold_claims() {
        let storage = folder("probe");
        check_store(&storage).unwrap();
        assert_eq!(storage.list().unwrap().len(), 0);
    }
}
