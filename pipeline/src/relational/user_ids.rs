//! The own ids of all users.

use super::workspace::{Relation, Workspace};
use crate::{Result, split::UserIds};
use arrow::array::AsArray;

/// The ids of users in scratch.
pub(super) struct UserIdsOf<'a> {
    workspace: &'a Workspace,
}

impl<'a> UserIdsOf<'a> {
    pub(super) fn new(workspace: &'a Workspace) -> Self {
        Self { workspace }
    }
}

impl UserIds for UserIdsOf<'_> {
    fn each(&mut self, give: &mut dyn FnMut(&str)) -> Result<()> {
        self.workspace.each(self.workspace.scan(Relation::UserIds), |batch| {
            batch.column(0).as_string::<i32>().iter().flatten().for_each(&mut *give);
            Ok(())
        })
    }
}
