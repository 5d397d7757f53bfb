//! A trial by one rank, or by several together.

use super::{Observer, Resources, Stand, learner::Learner};
use crate::{
    Error, Learning, Result, Trial,
    collective::{self, Collective},
};
use dataset::{Dataset, Location};

/// Trains, with as many ranks as there are to be. Rank 0 writes and is observed.
pub(super) fn learn(
    (trial, learning): (&Trial, &Learning),
    dataset: &Dataset,
    folder: &Location,
    resources: &Resources,
    observer: &mut dyn Observer,
) -> Result<Stand> {
    let run = |observer: &mut dyn Observer, collective: Collective| {
        Learner::new(trial, learning, dataset, folder, resources, (observer, collective)).and_then(|mut learner| learner.run())
    };
    let ranks = &resources.ranks;
    if ranks.count() == 1 {
        return run(observer, Collective::Single);
    }
    learning.splits().map_err(Error::Ranks)?;
    if ranks.nodes.is_some() {
        return Err(Error::Ranks("several processes train one trial on GPUs alone: give `device: cuda`, or one process".to_owned()));
    }
    let members = collective::threads(ranks.local, ranks.limit);
    collective::run(members, |first| run(observer, first), |other| run(&mut (), other))
}
