//! Own ids in text files.

use super::File;
use anyhow::{Result, bail};
use dataset::{Dataset, quote};

/// The ids of users and items, one in a line, by their dense ids.
pub(super) fn files(dataset: &Dataset) -> Result<[File; 2]> {
    check(dataset, &['\n', '\r'], "a text file of ids")?;
    let lines = |ids: &[String]| ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]).flatten().copied().collect();
    Ok([("user_ids.txt".to_owned(), lines(&dataset.user_ids)), ("item_ids.txt".to_owned(), lines(&dataset.item_ids))])
}

/// That no id has one of these letters, which `what` cannot hold.
///
/// # Errors
/// The first that has.
pub(super) fn check(dataset: &Dataset, letters: &[char], what: &str) -> Result<()> {
    for (noun, ids) in [("user", &dataset.user_ids), ("item", &dataset.item_ids)] {
        if let Some(id) = ids.iter().find(|id| id.contains(letters)) {
            bail!("the {noun} id `{}` cannot stand in {what}: take another format", quote::value(id));
        }
    }
    Ok(())
}
