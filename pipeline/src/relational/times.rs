//! The times of all interactions, in ascending order.

use super::{
    relations,
    workspace::{Relation, Workspace},
};
use crate::{Result, split::Times};
use arrow::{
    array::AsArray,
    datatypes::{Float64Type, Int64Type},
};

/// The times of the sorted interactions in scratch.
pub(super) struct TimesOf<'a> {
    workspace: &'a Workspace,
}

impl<'a> TimesOf<'a> {
    pub(super) fn new(workspace: &'a Workspace) -> Self {
        Self { workspace }
    }
}

impl Times for TimesOf<'_> {
    fn count(&mut self) -> Result<usize> {
        self.workspace.rows(Relation::Edges)
    }

    fn at(&mut self, place: usize) -> Result<(f64, usize)> {
        let (mut found, mut passed) = (None, 0);
        self.workspace.each(self.workspace.scan(Relation::Edges).and_then(relations::times), |batch| {
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
        self.workspace.count(self.workspace.scan(Relation::Edges).and_then(|edges| relations::before(edges, moment)))
    }
}
