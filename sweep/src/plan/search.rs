//! Rules between `search` and the rest of a sweep file.

use super::draft::{self, Draft};
use crate::file::{Placed, Result, Search, SuccessiveHalving, SweepFile};
use trainer::Training;

/// Checks `search`.
pub(super) fn check(file: &SweepFile, drafts: &[Draft<'_>]) -> Result<()> {
    let search = &file.search;
    search.value.check().map_err(|reason| search.complain(reason))?;
    if let Some(halving) = search.value.halving() {
        draft::trainings(file, drafts).into_iter().try_for_each(|training| rungs(search, halving, training))?;
    }
    tuning_seeds(search, file.seeds.value.len())?;
    drafts.iter().try_for_each(|draft| can_be_drawn(search, draft))
}

/// Seeds that pick values are some of the seeds.
fn tuning_seeds(search: &Placed<Search>, seeds: usize) -> Result<()> {
    match search.value.tuning_seeds() {
        Some(tuning) if tuning as usize >= seeds => {
            Err(search.complain(format!(
                "tuning_seeds is {tuning}, and `seeds` has {seeds}: expected fewer, so that others are left to repeat what is picked; without the key all of them pick"
            )))
        }
        _ => Ok(()),
    }
}

/// Rungs end where a training evaluates anyway, so that a training that stops there has the bits of one that does not.
fn rungs(search: &Placed<Search>, halving: &SuccessiveHalving, training: &Training) -> Result<()> {
    let (first, every, last) = (halving.epochs, training.evaluate_every.max(1), training.epochs);
    let complain = |reason: String| Err(search.complain(reason));
    if !first.is_multiple_of(every) {
        let near = first.next_multiple_of(every);
        return complain(format!(
            "epochs is {first}, but training evaluates every {every} epochs, and rungs compare evaluations: expected a multiple of {every}, such as {near}"
        ));
    }
    if first >= last {
        return complain(format!("epochs is {first}, and training has {last}: expected fewer, as nothing is stopped otherwise"));
    }
    Ok(())
}

/// A grid has no ranges, and what is drawn must be counted.
fn can_be_drawn(search: &Placed<Search>, draft: &Draft<'_>) -> Result<()> {
    if search.value.draws().is_some() {
        return match draft.listed() <= u64::from(u32::MAX) {
            true => Ok(()),
            false => Err(draft.tuned_place().error(format!("{} combinations of listed values; list fewer, or a range", draft.listed()))),
        };
    }
    match draft.range() {
        Some((place, name)) => Err(place.error(refused_range(search, name))),
        None => Ok(()),
    }
}

fn refused_range(search: &Placed<Search>, name: &str) -> String {
    match search.value {
        Search::SuccessiveHalving(_) => {
            let line = search.place().line;
            format!(
                "`{name}` has no end of values: give `search` (line {line}) the number of configurations to draw, `trials: 27`, or list values here"
            )
        }
        Search::Grid(_) | Search::Random(_) => {
            format!(
                "`{name}` has no end of values, and a grid takes them all: list values, or draw some, `search: {{kind: random, trials: 20}}`"
            )
        }
    }
}
