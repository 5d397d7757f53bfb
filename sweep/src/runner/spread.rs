//! Several trials at once, in one process: each slot has GPUs of its own, or a share of one, and takes the next trial that has not ended.
//!
//! A trial is the same whichever slot trains it, and whatever is trained beside it, so the results are those of one after the other. What the CPU trains is
//! trained by one slot at a time, as it takes all threads and its memory.

use super::{
    Devices, Interrupted, Session, Standing,
    progress::TrialStage,
    search::{self, Asked},
    train::{self, is_on_cpu},
};
use crate::plan::PlannedTrial;
use anyhow::Result;
use dataset::panics;
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// Trains every trial of the plan that has not ended, and gives how each of them stands, in the plan's order. Rungs of a search come one after the other.
///
/// # Errors
/// Those of [`train`](super::train()).
pub(super) fn train(session: &Session, slots: &[Devices]) -> Result<Vec<Standing>> {
    let plan = &session.plan;
    if plan.rung_epochs.is_empty() {
        let trials: Vec<_> = plan.trials().map(|planned| (planned, None)).collect();
        return train_all(session, slots, &trials);
    }
    let standings = search::rung_by_rung(session, &mut |trials| train_all(session, slots, trials))?;
    session.progress.searched(plan, &standings);
    Ok(standings)
}

/// The trials that slots take one after the other.
struct Queue<'a> {
    session: &'a Session,
    progress: TrialStage<'a>,
    trials: &'a [Asked<'a>],
    next: AtomicUsize,
    /// Whether a slot has come to an end without all trials, so that the others begin no more.
    is_over: AtomicBool,
    cpu: Mutex<()>,
    /// Whether the CPU trains a trial of a slot, and no other at the same time.
    is_on_cpu: fn(&Devices, &PlannedTrial) -> bool,
    standings: Mutex<Vec<Option<Standing>>>,
}

/// Trains these trials that have not ended, and gives how each of them stands, in their order.
///
/// # Errors
/// Those of [`train`](super::train()).
pub(super) fn train_all(session: &Session, slots: &[Devices], trials: &[Asked<'_>]) -> Result<Vec<Standing>> {
    Queue::new(session, trials).train(slots)
}

impl<'a> Queue<'a> {
    fn new(session: &'a Session, trials: &'a [Asked<'a>]) -> Self {
        Self {
            session,
            progress: session.progress.trials(&session.plan, trials.len()),
            trials,
            next: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            cpu: Mutex::new(()),
            is_on_cpu,
            standings: Mutex::new(vec![None; trials.len()]),
        }
    }

    /// Has the slots train all trials, and gives how each of them stands.
    fn train(self, slots: &[Devices]) -> Result<Vec<Standing>> {
        let ended: Vec<Result<()>> = thread::scope(|scope| {
            let slots: Vec<_> = slots.iter().take(self.trials.len()).map(|slot| scope.spawn(|| self.work(slot))).collect();
            let of_slot = |slot: thread::ScopedJoinHandle<'_, Result<()>>| {
                slot.join().unwrap_or_else(|_| Err(anyhow::anyhow!("this is a mistake of ranksweep: {}", panics::last())))
            };
            slots.into_iter().map(of_slot).collect()
        });
        ended.into_iter().collect::<Result<()>>()?;
        let standings = self.standings.into_inner().unwrap_or_else(PoisonError::into_inner);
        let known = standings.iter().flatten().count();
        if known < self.trials.len() {
            return Err(Interrupted::of_trials(known, self.trials.len()).into());
        }
        Ok(standings.into_iter().flatten().collect())
    }

    /// Trains trials with the devices of a slot until none is left, a signal comes, or the store fails.
    fn work(&self, slot: &Devices) -> Result<()> {
        let mut open = None;
        while !self.is_over.load(Ordering::Relaxed) {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&(planned, until)) = self.trials.get(place) else { break };
            let alone = (self.is_on_cpu)(slot, planned.2).then(|| self.cpu.lock().unwrap_or_else(PoisonError::into_inner));
            let standing = train::end(self.session, slot, planned, until, &self.progress, &mut open, None);
            drop(alone);
            match standing {
                Ok(Some(standing)) => self.standings.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(standing),
                Ok(None) => self.is_over.store(true, Ordering::Relaxed),
                Err(error) => {
                    self.is_over.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::runner::{Machine, Progress, prepare};
    use std::{collections::BTreeMap, fs, path::Path, time::Duration};

    pub(in crate::runner) const SWEEP: &str = "\
name: spread
datasets: [{name: d, source: {format: synthetic, users: 60, items: 40, interactions: 900}, split: {kind: random, test: 0.2, validation: 0.1}}]
grid:
  - backbones: [{kind: popularity}, {kind: ease, regularization: [1, 10]}]
  - backbones: [{kind: mf, dim: 4}, {kind: light-gcn, dim: 4, layers: 1}]
    losses: [{kind: bpr}, {kind: softmax, temperature: 0.2}]
    samplers: [{kind: uniform, negatives: 4}]
    optimizer: {kind: adam, learning_rate: [0.01, 0.1]}
training: {epochs: 4, batch_size: 64, evaluate_every: 1, select_by: ndcg@5}
seeds: [1, 2]
";

    pub(in crate::runner) fn session(folder: &Path, sweep: &str) -> Session {
        let file = folder.join("s.yaml");
        fs::write(&file, sweep).unwrap();
        let connect = |_: &str, _: Duration| Err("there is no cluster".to_owned());
        let machine = Machine { threads: 2, memory: 1 << 30, cache: None, engine: None, connect, patience: Duration::ZERO };
        let storage = folder.join("runs");
        let session = Session::open(file.to_str().unwrap(), storage.to_str(), machine, Progress::lines()).unwrap();
        prepare(&session).unwrap();
        session
    }

    /// The models of all trials, by their files.
    fn models(folder: &Path) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![folder.join("runs/trials")];
        while let Some(folder) = open.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                match path.is_dir() {
                    true => open.push(path),
                    false if path.ends_with("scorer.safetensors") => {
                        let trial = path.iter().rev().nth(3).unwrap().to_str().unwrap().to_owned();
                        assert!(found.insert(trial, fs::read(&path).unwrap()).is_none());
                    }
                    false => {}
                }
            }
        }
        found
    }

    fn on(sweep: &str, slots: usize) -> (Vec<Standing>, BTreeMap<String, Vec<u8>>) {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path(), sweep);
        let cpu = session.devices().unwrap().clone();
        let standings = if slots == 0 { crate::runner::train(&session) } else { train(&session, &vec![cpu; slots]) };
        (standings.unwrap(), models(folder.path()))
    }

    /// Standings without the times that trainings took.
    fn validation(standings: &[Standing]) -> Vec<Option<(u32, Option<f64>)>> {
        standings.iter().map(|standing| standing.fit().map(|fit| (fit.best_epoch, fit.validation))).collect()
    }

    #[test]
    fn several_slots_train_the_same_models() {
        let (one, expected) = on(SWEEP, 0);
        assert_eq!((one.len(), expected.len()), (19, 19));
        for slots in [1, 3] {
            let (standings, models) = on(SWEEP, slots);
            assert_eq!(validation(&standings), validation(&one), "{slots} slots, in the plan's order");
            assert!(models == expected, "{slots} slots");
        }
    }

    /// As on GPUs, where no slot waits for another: with threads of the CPU in the place of a GPU that four trials share.
    #[test]
    fn trials_that_share_a_device_are_the_same_bits() {
        let (one, expected) = on(SWEEP, 0);
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path(), SWEEP);
        let trials: Vec<_> = session.plan.trials().map(|planned| (planned, None)).collect();
        let slots = vec![session.devices().unwrap().clone(); 4];
        let shared = Queue { is_on_cpu: |_, _| false, ..Queue::new(&session, &trials) }.train(&slots).unwrap();
        assert_eq!(validation(&shared), validation(&one));
        assert!(models(folder.path()) == expected);
    }

    #[test]
    fn rungs_come_one_after_the_other() {
        let halved = SWEEP.replace("seeds: [1, 2]", "seeds: [1, 2]\nsearch: {kind: successive-halving, trials: 2, epochs: 1, factor: 2}");
        let (one, expected) = on(&halved, 0);
        let (three, models) = on(&halved, 3);
        assert_eq!(validation(&three), validation(&one));
        let stopped = |standings: &[Standing]| standings.iter().filter(|standing| matches!(standing, Standing::Stopped(_))).count();
        assert!(stopped(&one) > 0 && stopped(&three) == stopped(&one) && models == expected);
    }

    /// How all trials stand where the last one of the first rung broke and is not stored; how that one stood there; and how many rungs were trained.
    fn with_a_broken_one(folder: &Path, session: &Session) -> (Vec<Standing>, Standing, u32) {
        let slots = vec![session.devices().unwrap().clone(); 2];
        let broken = Standing::Broken("no memory".into());
        let mut rungs = 0;
        let mut train = |trials: &[Asked<'_>]| {
            let mut standings = train_all(session, &slots, trials)?;
            if rungs == 0 {
                fs::remove_dir_all(folder.join("runs/trials").join(&trials.last().unwrap().0.2.id)).unwrap();
                *standings.last_mut().unwrap() = broken.clone();
            }
            rungs += 1;
            Ok(standings)
        };
        let standings = search::rung_by_rung(session, &mut train).unwrap();
        (standings, broken, rungs)
    }

    /// What broke is not stored, and is told all the same; what was not picked for it is not needed.
    #[test]
    fn a_trial_that_broke_in_a_rung_is_told_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path(), &SWEEP.replace("seeds: [1, 2]", "seeds: [1, 2]\nsearch: {kind: grid, tuning_seeds: 1}"));
        let (standings, broken, rungs) = with_a_broken_one(folder.path(), &session);
        let count = |of: fn(&Standing) -> bool| standings.iter().filter(|standing| of(standing)).count();
        assert_eq!(standings.iter().filter(|standing| **standing == broken).count(), 1);
        assert_eq!((rungs, count(|standing| *standing == Standing::Missing)), (2, 0));
        assert_eq!(count(|standing| *standing == Standing::Skipped), 4, "of four methods with two values each");
    }

    /// The other seed of its configuration goes on without it.
    #[test]
    fn a_seed_that_broke_in_a_rung_is_told_with_its_reason_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let halved = SWEEP.replace("seeds: [1, 2]", "seeds: [1, 2]\nsearch: {kind: successive-halving, trials: 1, epochs: 1, factor: 2}");
        let session = session(folder.path(), &halved);
        let (standings, broken, rungs) = with_a_broken_one(folder.path(), &session);
        let count = |wanted: &Standing| standings.iter().filter(|standing| *standing == wanted).count();
        assert_eq!((count(&broken), count(&Standing::Missing)), (1, 0));
        assert!(rungs > 1);
    }

    #[test]
    fn a_store_that_fails_ends_all_slots() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path(), SWEEP);
        fs::remove_dir_all(folder.path().join("runs/datasets")).unwrap();
        let cpu = session.devices().unwrap().clone();
        let error = train(&session, &vec![cpu; 3]).unwrap_err().to_string();
        assert!(error.contains("is not prepared"), "{error}");
    }
}
