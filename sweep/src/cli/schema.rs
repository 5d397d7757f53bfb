//! `ranksweep schema`

use super::{Ending, output};
use crate::schema;
use anyhow::Result;
use clap::Args;

/// The JSON Schema of sweep files.
#[derive(Debug, Args)]
pub struct Schema {}

impl Schema {
    /// Prints it.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn run(&self) -> Result<Ending> {
        output::print_exact(&(serde_json::to_string(&schema::schema())? + "\n"))?;
        Ok(Ending::Done)
    }
}
