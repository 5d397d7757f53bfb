//! `ranksweep kinds [NAME]`

use super::{Ending, Usage, output};
use crate::{kinds, report::Style};
use anyhow::Result;
use clap::Args;

/// The kinds that a sweep file may hold under `losses`, `samplers`, `backbones` and `optimizer`.
#[derive(Debug, Args)]
pub struct Kinds {
    /// A loss, sampler, model or optimizer, as sweep files name it; a list of all when left out
    name: Option<String>,
}

impl Kinds {
    /// Prints the list, or what there is to know of one.
    ///
    /// # Errors
    /// A name that no kind has.
    pub fn run(&self) -> Result<Ending> {
        let style = Style { width: output::width(), color: output::is_colored() };
        let text = self.name.as_ref().map_or_else(|| Ok(kinds::list(style)), |name| kinds::described(name, style));
        output::print(&text.map_err(Usage)?)?;
        Ok(Ending::Done)
    }
}
