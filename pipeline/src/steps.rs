//! The counts after each step.

use crate::{Error, Result};
use dataset::Counts;

/// The steps so far; each is reported as it is done.
pub(crate) struct Steps<'a> {
    done: Vec<Counts>,
    progress: &'a mut dyn FnMut(&Counts),
}

impl<'a> Steps<'a> {
    pub(crate) fn new(progress: &'a mut dyn FnMut(&Counts)) -> Self {
        Self { done: Vec::new(), progress }
    }

    /// Reports a step.
    pub(crate) fn add(&mut self, counts: Counts) {
        (self.progress)(&counts);
        self.done.push(counts);
    }

    /// Reports a step that narrows what was there before, because `key` of the dataset's entry asks for it.
    ///
    /// # Errors
    /// [`Error::Empty`] when nothing is left.
    pub(crate) fn narrow(&mut self, key: &'static str, counts: Counts) -> Result<()> {
        if let (0, Some(before)) = (counts.interactions, self.done.last()) {
            let &Counts { users, items, interactions, .. } = before;
            return Err(Error::Empty { key, step: counts.step, users, items, interactions });
        }
        self.add(counts);
        Ok(())
    }

    /// All steps so far; there are none afterwards.
    pub(crate) fn take(&mut self) -> Vec<Counts> {
        std::mem::take(&mut self.done)
    }
}
