//! A trial by one rank, or by several together: threads of this process, and of others that meet it.

use crate::fit::{Finished, Fit, Observer, Outcome, Reached, Resources, learner::Learner, views::Views};
use crate::{
    Error, Learning, Result, Trial,
    collective::{self, Collective, Link},
};
use dataset::Location;
use std::sync::Arc;

/// Meets the other processes, where there are any.
pub(crate) fn meet(trial: &Trial, resources: &Resources) -> Result<Option<Arc<Link>>> {
    let ranks = &resources.ranks;
    if let (Some(learning), true) = (&trial.learning, ranks.count() > 1) {
        learning.splits().map_err(Error::Ranks)?;
    }
    match &ranks.nodes {
        Some(nodes) if nodes.world > 1 => {
            let link = collective::meet(nodes, &trial.id(), ranks.local, &|| resources.is_interrupted())?;
            Ok(Some(Arc::new(link)))
        }
        _ => Ok(None),
    }
}

/// Trains with all ranks of this process. Rank 0 writes and is observed.
pub(crate) fn learn(
    trial: &Trial,
    learning: &Learning,
    views: &Views<'_>,
    folder: &Location,
    resources: &Resources,
    link: Option<&Arc<Link>>,
    observer: &mut dyn Observer,
) -> Result<Reached> {
    let run = |observer: &mut dyn Observer, collective: Collective| {
        Learner::new(trial, learning, views, folder, resources, observer, collective).and_then(|mut learner| learner.run())
    };
    let mut members = collective::members(&resources.ranks, link);
    match members.pop_if(|member| member.ranks() == 1) {
        Some(alone) => run(observer, alone),
        None => collective::run(members, |first| run(observer, first), |other| run(&mut (), other)),
    }
}

/// Any process but the first: does what that one tells, and touches no store.
pub(crate) fn follow(trial: &Trial, views: &Views<'_>, folder: &Location, resources: &Resources, link: &Arc<Link>) -> Result<Fit> {
    match link.hear(resources.ranks.limit, resources.interrupt)? {
        Some(Outcome::Done(fit)) => return Ok(fit),
        Some(Outcome::Failed(reason)) => return Err(Error::FailedBefore(reason)),
        None => {}
    }
    match &trial.learning {
        None => link.hear(resources.ranks.limit, resources.interrupt),
        Some(learning) => {
            let stand = learn(trial, learning, views, folder, resources, Some(link), &mut ());
            stand.map(|(Reached::Ended(Finished { fit, .. }) | Reached::Paused(fit))| fit)
        }
    }
}
