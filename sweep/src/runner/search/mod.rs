//! Which trials a search has train, and how far: configurations up to where they are compared, the best of them further, and what is picked
//! once more, with the seeds that nothing was picked by.
//!
//! Successive halving trains every configuration of a method for a few epochs, and the best of them for more. What goes on is decided by
//! validation alone: the best value so far, meaned over splits and seeds, in the order in which values are picked
//! in the end (`score.rs`). A trial stops at a rung as it would be interrupted, with its state, and goes on from it to the bits of a training that
//! was never stopped. It is the trial of the same id as in a grid. So a value at a rung follows from the trial, whatever else was stored,
//! trained further or killed, and a decision follows from values at rungs: nothing of a search is stored, it is replayed.
//!
//! [`synchronous`] ends a rung before it compares. It is what a cluster does, one Indexed Job for each rung, and what one machine does unless
//! asked otherwise: a sweep has one result, wherever it runs. Not to wait for a rung's last trial, which is why Li et al. made it
//! asynchronous, gains nothing where one trial trains at a time, and costs the trainings that go on too early. What [`asynchronous`] has on
//! one machine is an early end: after a few configurations the first of them is trained to its end.
//!
//! With `tuning_seeds` all this is of the trials of the first seeds; the best configuration at the last of these rungs then has its others trained,
//! in one more rung. A grid is a search of one rung.
//!
//! Methods are not compared with each other: each has its own rungs. One that fits without sampling has a single one to compare at.

mod asynchronous;
mod decisions;
mod synchronous;

pub use decisions::{Decisions, LeftOut};

use super::{
    Session, Standing, ending, on_storage,
    score::{Score, best},
};
use crate::{
    plan::{Configuration, Method, Plan, PlannedRef, PlannedTrial},
    usage::Usage,
};
use anyhow::{Result, ensure};
use std::collections::HashMap;

/// A trial, and the epochs up to which it is trained; none for its end.
pub(super) type Asked<'a> = (PlannedRef<'a>, Option<u32>);

/// Has a trial trained for so many epochs in all, or to its end, or finds it so.
pub(super) type Reach<'a> = dyn FnMut(PlannedRef<'_>, Option<u32>) -> Result<Standing> + 'a;

/// Has a configuration trained up to a rung, and says how it does there.
type Climb<'a> = dyn FnMut(usize, usize) -> Result<Score> + 'a;

/// How much is compared.
#[derive(Clone, Copy, Debug)]
struct Shape {
    configurations: usize,
    rungs: usize,
    factor: u32,
}

impl Shape {
    fn of(plan: &Plan, method: &Method) -> Self {
        let factor = plan.search.halving().map_or(1, |halving| halving.factor);
        Self { configurations: method.configurations.len(), rungs: plan.compared(method), factor }
    }

    /// Epochs at a rung; `None` at the last, where trainings end.
    fn until(self, plan: &Plan, rung: usize) -> Option<u32> {
        (rung + 1 < self.rungs).then(|| plan.rung_epochs[rung])
    }
}

/// How every trial of the plan stands when each is reached as far as the search has it train, in the plan's order.
pub(super) fn standings(plan: &Plan, reach: &mut Reach<'_>) -> Result<Vec<Standing>> {
    if plan.rung_epochs.is_empty() {
        return plan.trials().map(|planned| reach(planned, None)).collect();
    }
    let mut all = Vec::new();
    for method in &plan.methods {
        all.extend(of_method(plan, method, reach)?);
    }
    Ok(all)
}

fn of_method(plan: &Plan, method: &Method, reach: &mut Reach<'_>) -> Result<Vec<Standing>> {
    let shape = Shape::of(plan, method);
    let mut tuned: Vec<Vec<Standing>> = vec![Vec::new(); shape.configurations];
    let mut climb = |configuration: usize, rung: usize| {
        tuned[configuration] = trials_at(plan, method, configuration, rung, reach)?;
        Ok(score(&tuned[configuration]))
    };
    let reached = match plan.search.halving().is_some_and(|halving| halving.asynchronous) {
        true => asynchronous::halve(shape, &mut climb)?,
        false => synchronous::halve(shape, &mut climb)?,
    };
    let picked = picked(shape, &reached, &tuned);
    // What is not picked needs no more seeds, once that is sure.
    let is_open = tuned.iter().flatten().any(|standing| *standing == Standing::Missing);
    let others = if is_open { Standing::Missing } else { Standing::Skipped };
    let (tunes, mut all) = (plan.tunes(method), Vec::new());
    for (index, (standings, rung)) in tuned.into_iter().zip(reached).enumerate() {
        let configuration = &method.configurations[index];
        let mut standings = standings.into_iter();
        for (trial, &tunes) in configuration.trials.iter().zip(&tunes) {
            let of_tuned = if tunes { standings.next() } else { None };
            all.push(match of_tuned {
                Some(standing) => left(standing, rung + 1 < shape.rungs),
                None if picked == Some(index) => reach((method, configuration, trial), None)?,
                None => others.clone(),
            });
        }
    }
    Ok(all)
}

/// The best of the configurations that were compared to the end.
fn picked(shape: Shape, reached: &[usize], tuned: &[Vec<Standing>]) -> Option<usize> {
    let ended = tuned.iter().enumerate().filter(|(at, _)| reached[*at] + 1 == shape.rungs);
    best(&ended.map(|(at, standings)| (at, score(standings))).collect::<Vec<_>>(), 1).first().copied()
}

/// How a trial is left, at a rung below the last or at its end.
fn left(standing: Standing, below: bool) -> Standing {
    match standing {
        Standing::Done(fit) if below => Standing::Stopped(fit),
        other => other,
    }
}

/// The trials of a configuration that values are picked by, or those that repeat it.
fn which<'a>(plan: &Plan, method: &Method, configuration: &'a Configuration, tunes: bool) -> Vec<&'a PlannedTrial> {
    let trials = configuration.trials.iter().zip(plan.tunes(method));
    trials.filter(|(_, tuning)| *tuning == tunes).map(|(trial, _)| trial).collect()
}

/// The trials of a configuration at a rung where it is compared.
fn trials_at(plan: &Plan, method: &Method, configuration: usize, rung: usize, reach: &mut Reach<'_>) -> Result<Vec<Standing>> {
    let until = Shape::of(plan, method).until(plan, rung);
    let configuration = &method.configurations[configuration];
    which(plan, method, configuration, true).into_iter().map(|trial| reach((method, configuration, trial), until)).collect()
}

fn score(trials: &[Standing]) -> Score {
    Score::of(trials.iter().filter_map(Standing::fit))
}

/// The trials that train in a rung of a search that awaits its rungs, in the plan's order, and until when: in the first all that values are picked
/// by, in a later one those of the configurations that went on, in the last those that repeat what is picked. One that failed is not among them.
fn trials_of<'a>(plan: &'a Plan, rung: usize, reach: &mut Reach<'_>) -> Result<Vec<Asked<'a>>> {
    let mut trials = Vec::new();
    for method in &plan.methods {
        let shape = Shape::of(plan, method);
        if rung > shape.rungs {
            continue;
        }
        let mut stands: Vec<Vec<Standing>> = vec![Vec::new(); shape.configurations];
        let mut climb = |configuration, rung| {
            stands[configuration] = trials_at(plan, method, configuration, rung, reach)?;
            Ok(score(&stands[configuration]))
        };
        if rung == shape.rungs {
            let reached = synchronous::halve(shape, &mut climb)?;
            if let Some(index) = picked(shape, &reached, &stands) {
                let configuration = &method.configurations[index];
                let repeating = which(plan, method, configuration, false).into_iter();
                trials.extend(repeating.map(|trial| ((method, configuration, trial), None)));
            }
            continue;
        }
        for index in synchronous::entrants(shape, rung, &mut climb)? {
            let configuration = &method.configurations[index];
            let failed = |place: usize| stands[index].get(place).is_some_and(|standing| standing.fit().is_none());
            let living = which(plan, method, configuration, true).into_iter().enumerate().filter(|(place, _)| !failed(*place));
            trials.extend(living.map(|(_, trial)| ((method, configuration, trial), shape.until(plan, rung))));
        }
    }
    Ok(trials)
}

/// Has every rung's trials trained, one rung after the other, and gives how every trial of the plan stands, in its order: as it ended here, which is
/// not all stored, or by what is stored.
///
/// # Errors
/// Those of the trainings; [`Usage`] for a plan without rungs that are awaited.
pub(super) fn rung_by_rung<'a>(
    session: &'a Session,
    train: &mut dyn FnMut(&[Asked<'a>]) -> Result<Vec<Standing>>,
) -> Result<Vec<Standing>> {
    let mut ended: HashMap<(&str, Option<u32>), Standing> = HashMap::new();
    // What broke in a rung, the last one counting: it is not stored, and may not be asked for in a later one.
    let mut broken: HashMap<&str, Standing> = HashMap::new();
    for rung in 0..session.plan.rung_epochs.len() {
        let (trials, _) = of_rung(session, rung)?;
        let asked = trials.iter().map(|((.., trial), until)| (trial.id.as_str(), *until));
        let found: Vec<_> = asked.zip(train(&trials)?).collect();
        let is_broken = |standing: &Standing| matches!(standing, Standing::Broken(_));
        broken.extend(found.iter().filter(|(_, standing)| is_broken(standing)).map(|((id, _), standing)| (*id, standing.clone())));
        ended.extend(found);
    }
    standings(&session.plan, &mut |planned, until| {
        let id = planned.2.id.as_str();
        let found = ended.get(&(id, until)).or_else(|| broken.get(id));
        found.map_or_else(|| ending::standing(session, planned.2, until), |standing| Ok(standing.clone()))
    })
}

/// The trials that train in a rung, by what is stored of the rungs before it, and until when: the same for whoever asks. One that was lost
/// there counts as failed: on a cluster the rung begins when all are done that can be.
///
/// # Errors
/// [`Usage`] for a plan without the rung; where nobody waits for the rungs before it, one in which nothing has trained yet.
pub(super) fn in_rung(session: &Session, rung: usize) -> Result<Vec<Asked<'_>>> {
    let (trials, trained) = of_rung(session, rung)?;
    ensure!(
        rung == 0 || trained > 0 || session.is_submitted(),
        "nothing has trained in rung {} yet; run `ranksweep train --index N --rung {}` first",
        rung - 1,
        rung - 1
    );
    Ok(trials)
}

/// The trials of a rung, and how many trials are stored of the rungs before it.
fn of_rung(session: &Session, rung: usize) -> Result<(Vec<Asked<'_>>, usize)> {
    let plan = &session.plan;
    let refuse = |reason: String| Err(Usage(format!("--rung {rung}: {reason}")).into());
    match plan.search.halving() {
        Some(halving) if halving.asynchronous => {
            return refuse("an `asynchronous` search has no complete rungs; it runs on one machine, by `ranksweep run`".to_owned());
        }
        _ if plan.rung_epochs.is_empty() => {
            return refuse("the sweep has no rungs, as its `search` is not `successive-halving` and has no `tuning_seeds`".to_owned());
        }
        _ if rung >= plan.rung_epochs.len() => {
            return refuse(format!("the sweep has {} rungs, counted from 0", plan.rung_epochs.len()));
        }
        _ => {}
    }
    let mut trained = 0;
    let trials = trials_of(plan, rung, &mut |(.., trial), until| {
        let stands = on_storage::stored(session, &trial.id, until)?;
        trained += usize::from(stands.is_some());
        Ok(stands.unwrap_or(Standing::Missing))
    })?;
    Ok((trials, trained))
}

#[cfg(test)]
mod tests;
