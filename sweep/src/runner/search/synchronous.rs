//! A rung is complete before anything goes on from it: of all that came to it, the best one in `factor`, at least one.

use super::{Climb, Score, Shape, best};
use crate::plan::promoted;
use anyhow::Result;

/// The last rung that each configuration reaches.
pub(super) fn halve(shape: Shape, climb: &mut Climb<'_>) -> Result<Vec<usize>> {
    let mut reached = vec![0; shape.configurations];
    let last = shape.rungs - 1;
    for configuration in up_to(shape, last, climb, &mut reached)? {
        climb(configuration, last)?;
    }
    Ok(reached)
}

/// The configurations that come to a rung, in the plan's order; those of the rungs before it climb.
pub(super) fn entrants(shape: Shape, rung: usize, climb: &mut Climb<'_>) -> Result<Vec<usize>> {
    up_to(shape, rung, climb, &mut vec![0; shape.configurations])
}

/// The configurations that come to a rung. Its size follows from the plan, not from how many are left: it is known before anything is trained.
fn up_to(shape: Shape, rung: usize, climb: &mut Climb<'_>, reached: &mut [usize]) -> Result<Vec<usize>> {
    let mut planned = shape.configurations;
    let mut here: Vec<usize> = (0..shape.configurations).collect();
    for below in 0..rung {
        let scores: Vec<(usize, Score)> = here.iter().map(|&at| Ok((at, climb(at, below)?))).collect::<Result<_>>()?;
        planned = promoted(planned, shape.factor);
        here = best(&scores, planned);
        here.sort_unstable();
        here.iter().for_each(|&at| reached[at] = below + 1);
    }
    Ok(here)
}
