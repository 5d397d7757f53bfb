//! Own ids in text files.

use super::File;
use anyhow::{Result, bail};
use dataset::{Dataset, quote};

/// The ids of users and items, one in a line, by their dense ids.
pub(super) fn files(dataset: &Dataset) -> Result<[File; 2]> {
    check(dataset, |id| !id.contains(['\n', '\r']), "a text file of ids, which every export has: correct it in the source")?;
    let lines = |ids: &[String]| ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]).flatten().copied().collect();
    Ok([("user_ids.txt".to_owned(), lines(&dataset.user_ids)), ("item_ids.txt".to_owned(), lines(&dataset.item_ids))])
}

/// That every id can stand in `what`.
///
/// # Errors
/// The first that cannot.
pub(super) fn check(dataset: &Dataset, can_stand: impl Fn(&str) -> bool, what: &str) -> Result<()> {
    for (noun, ids) in [("user", &dataset.user_ids), ("item", &dataset.item_ids)] {
        if let Some(id) = ids.iter().find(|id| !can_stand(id)) {
            bail!("the {noun} id `{}` cannot stand in {what}", quote::value(id));
        }
    }
    Ok(())
}
