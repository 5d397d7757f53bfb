//! The times of all interactions, in ascending order.

use super::{
    relations::{self, Frame, Side},
    workspace::{Relation, Workspace},
};
use crate::{Result, split::Times};
use arrow::{
    array::AsArray,
    datatypes::{Float64Type, Int64Type},
};

/// The times of the interactions whose user and item have a degree, in scratch.
pub(super) struct TimesOf<'a> {
    workspace: &'a Workspace,
    pairs: Relation,
    count: usize,
}

impl<'a> TimesOf<'a> {
    /// Those of `pairs`, of which so many have a user and an item with a degree.
    pub(super) fn new(workspace: &'a Workspace, pairs: Relation, count: usize) -> Self {
        Self { workspace, pairs, count }
    }

    fn left(&self) -> Frame {
        let degrees = |side: Side| self.workspace.scan(side.degrees());
        relations::of_those_left(self.workspace.scan(self.pairs)?, degrees(Side::Users)?, degrees(Side::Items)?)
    }
}

impl Times for TimesOf<'_> {
    fn count(&mut self) -> Result<usize> {
        Ok(self.count)
    }

    fn at(&mut self, place: usize) -> Result<(f64, usize)> {
        let (mut found, mut passed) = (None, 0);
        self.workspace.each(self.left().and_then(relations::times), |batch| {
            let times = batch.column(0).as_primitive::<Float64Type>().values();
            let counts = batch.column(1).as_primitive::<Int64Type>().values();
            for (&time, &count) in times.iter().zip(counts) {
                passed += count as usize;
                if passed > place && found.is_none() {
                    found = Some((time, passed));
                }
            }
            Ok(())
        })?;
        Ok(found.expect("the place is below the count"))
    }

    fn before(&mut self, moment: f64) -> Result<usize> {
        self.workspace.count(self.left().and_then(|pairs| relations::before(pairs, moment)))
    }
}
