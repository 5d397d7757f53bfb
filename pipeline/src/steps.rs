//! The counts after each step.

use crate::{Error, Result};
use dataset::Counts;

/// The steps so far; each is reported as it is done.
pub(crate) struct Steps<'a> {
    dataset: &'a str,
    done: Vec<Counts>,
    progress: &'a mut dyn FnMut(&Counts),
}

impl<'a> Steps<'a> {
    pub(crate) fn new(dataset: &'a str, progress: &'a mut dyn FnMut(&Counts)) -> Self {
        Self { dataset, done: Vec::new(), progress }
    }

    /// Reports a step.
    pub(crate) fn add(&mut self, counts: Counts) {
        (self.progress)(&counts);
        self.done.push(counts);
    }

    /// Reports a step that narrows what was there before.
    ///
    /// # Errors
    /// [`Error::Empty`] when nothing is left.
    pub(crate) fn narrow(&mut self, counts: Counts) -> Result<()> {
        if let (0, Some(before)) = (counts.interactions, self.done.last()) {
            let &Counts { users, items, interactions, .. } = before;
            return Err(Error::Empty { dataset: self.dataset.to_owned(), step: counts.step, users, items, interactions });
        }
        self.add(counts);
        Ok(())
    }

    pub(crate) fn into_done(self) -> Vec<Counts> {
        self.done
    }
}
