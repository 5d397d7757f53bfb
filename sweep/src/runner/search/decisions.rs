//! The decisions of a search so far, by what is stored: for whoever looks on, and trains nothing.
//!
//! A decision stands when all that it compares have come to their rung. Before that, those that are there are compared without the
//! others, and it may still be another.

use super::{Shape, of_method, trials_of};
use crate::{
    plan::{Method, PlannedRef, PlannedTrial},
    runner::{Session, Standing, on_storage},
};
use anyhow::Result;
use rayon::prelude::*;
use std::collections::HashMap;
use trainer::Fit;

/// Why a search trains a trial no further.
#[derive(Clone, Debug, PartialEq)]
pub enum LeftOut {
    /// It was stopped at a rung, with the model that it had.
    Stopped(Fit),
    /// Another configuration was picked by other seeds.
    Skipped,
}

/// How trials stood at rungs, read once.
pub struct Decisions<'a> {
    session: &'a Session,
    known: HashMap<(String, Option<u32>), Standing>,
}

impl<'a> Decisions<'a> {
    /// Reads how all trials of the first rung stood there, side by side, as servers are far away; later rungs have few, and are read when asked
    /// for. Nothing is read where every trial is trained to its end at once.
    ///
    /// # Errors
    /// When the store fails.
    pub fn of(session: &'a Session) -> Result<Self> {
        let plan = &session.plan;
        let tunes = |(method, configuration, trial): &PlannedRef<'a>| {
            let place = configuration.trials.iter().position(|other| other.id == trial.id);
            place.is_some_and(|place| plan.tunes(method)[place])
        };
        let planned: Vec<PlannedRef<'a>> = if plan.rung_epochs.is_empty() { Vec::new() } else { plan.trials().filter(tunes).collect() };
        let first = |(method, _, trial): PlannedRef<'a>| {
            let until = Shape::of(plan, method).until(plan, 0);
            Ok(((trial.id.clone(), until), stored(session, &trial.id, until)?))
        };
        Ok(Self { session, known: planned.into_par_iter().map(first).collect::<Result<_>>()? })
    }

    /// The trials that the search has stopped or skipped, by id. Rungs before `begun` are decided, whoever is
    /// missing in them: a cluster begins a rung when all have come to the one before it that can.
    ///
    /// # Errors
    /// When the store fails.
    pub fn left_out(&mut self, begun: usize) -> Result<HashMap<&'a str, LeftOut>> {
        let mut all = HashMap::new();
        if !self.session.plan.rung_epochs.is_empty() {
            for method in &self.session.plan.methods {
                all.extend(self.left_out_of(method, begun)?);
            }
        }
        Ok(all)
    }

    fn left_out_of(&mut self, method: &'a Method, begun: usize) -> Result<Vec<(&'a str, LeftOut)>> {
        let plan = &self.session.plan;
        let undecided = plan.rung_epochs.get(begun).copied();
        // The rung that each trial comes to, and the first rung that others are yet to come to.
        let (mut reached, mut awaited) = (HashMap::new(), None);
        let standings = of_method(plan, method, &mut |(.., trial), until| {
            let standing = self.at(&trial.id, until)?;
            if standing == Standing::Missing && until.is_some() && until >= undecided {
                awaited = awaited.min(until).or(until);
            }
            reached.insert(trial.id.clone(), until);
            Ok(standing)
        })?;
        // Where trials go on as they come, each that is missing may change all that follows.
        let is_asynchronous = plan.search.halving().is_some_and(|halving| halving.asynchronous);
        let stands = |id: &str| awaited.is_none() || (!is_asynchronous && reached[id] < awaited);
        let is_picked = begun >= plan.compared(method); // whoever is missing
        let tunes = plan.tunes(method);
        let trials = method.configurations.iter().flat_map(|configuration| configuration.trials.iter().zip(&tunes));
        let why = |((trial, &tunes), standing): ((&'a PlannedTrial, &bool), Standing)| {
            let id = trial.id.as_str();
            let left_out = match standing {
                Standing::Stopped(fit) if stands(id) => LeftOut::Stopped(fit),
                Standing::Skipped => LeftOut::Skipped,
                Standing::Missing if is_picked && !tunes && !reached.contains_key(id) => LeftOut::Skipped,
                _ => return None,
            };
            Some((id, left_out))
        };
        Ok(trials.zip(standings).filter_map(why).collect())
    }

    /// The ids of the trials of a rung, in the order of their indexes on a cluster; all of the plan where it has no rungs.
    ///
    /// # Errors
    /// When the store fails.
    pub fn in_rung(&mut self, rung: usize) -> Result<Vec<&'a str>> {
        let plan = &self.session.plan;
        if plan.rung_epochs.is_empty() {
            return Ok(plan.trials().map(|(.., trial)| trial.id.as_str()).collect());
        }
        let trials = trials_of(plan, rung, &mut |(.., trial), until| self.at(&trial.id, until))?;
        Ok(trials.into_iter().map(|((.., trial), _)| trial.id.as_str()).collect())
    }

    fn at(&mut self, id: &str, until: Option<u32>) -> Result<Standing> {
        let key = (id.to_owned(), until);
        if let Some(standing) = self.known.get(&key) {
            return Ok(standing.clone());
        }
        let standing = stored(self.session, id, until)?;
        self.known.insert(key, standing.clone());
        Ok(standing)
    }
}

fn stored(session: &Session, id: &str, until: Option<u32>) -> Result<Standing> {
    Ok(on_storage::stored(session, id, until)?.unwrap_or(Standing::Missing))
}
