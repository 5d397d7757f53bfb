//! What an output may not be written over: the sweep file, what the sweep reads, and what its storage keeps.

use super::{Session, history::named_tables, marker};
use crate::usage::Usage;
use anyhow::Result;
use dataset::Location;

/// Refuses a place of `--out` whose content a sweep needs, or where it would be read as the sweep's.
///
/// # Errors
/// [`Usage`] that says what stands there; a store that fails.
pub(crate) fn check_out(session: &Session, sweep: &str, out: &Location) -> Result<()> {
    check_out_of_storage(session.storage(), out)?;
    needed(session, sweep, out)?.map_or(Ok(()), |what| Err(refusal(out, what)))
}

/// Refuses a place of `--out` that a storage keeps for itself.
///
/// # Errors
/// As for [`check_out`].
pub(crate) fn check_out_of_storage(storage: &Location, out: &Location) -> Result<()> {
    let below = below(storage, out);
    match below.as_deref().and_then(|below| below.split_once('/')) {
        Some(("datasets", _)) => Err(refusal(out, "in the folder of the storage's prepared datasets, where nothing else may stand")),
        Some(("trials", _)) => Err(refusal(out, "in the folder of the storage's trials, where nothing else may stand")),
        Some(("sweeps", file)) if is_table(storage, file)? => Err(refusal(out, "a stored table of a sweep, which would be lost")),
        _ => Ok(()),
    }
}

fn refusal(out: &Location, what: &str) -> anyhow::Error {
    Usage(format!("--out: {out} is {what}; name another place")).into()
}

/// What of a sweep a place is, where it is something that it reads.
fn needed(session: &Session, sweep: &str, out: &Location) -> Result<Option<&'static str>> {
    for (_, preparation) in session.preparations() {
        for (_, path) in preparation.source.files() {
            if let Some(folder) = path.strip_suffix('/').filter(|folder| !folder.is_empty())
                && below(&Location::parse(folder)?, out).is_some()
            {
                return Ok(Some("in a folder of which the sweep reads all files"));
            }
        }
    }
    // To look into a pipe is to open it.
    if out.is_pipe_or_device() || !out.exists()? {
        return Ok(None);
    }
    let is = |place: &Location| place.is_same(out);
    if Location::parse(sweep).is_ok_and(|file| is(&file)) {
        return Ok(Some("the sweep file, which would be lost"));
    }
    let sources = session.preparations().flat_map(|(_, preparation)| preparation.source.places());
    if sources.into_iter().any(|file| is(&file)) {
        return Ok(Some("a source file of the sweep, which would be lost"));
    }
    for (.., planned) in session.plan.trials() {
        if session.model_files(planned).is_ok_and(|files| files.values().any(is)) {
            return Ok(Some("a file of a model of the sweep, which would be lost"));
        }
    }
    Ok(None)
}

/// Whether a path below `sweeps` is what a marker speaks for, or the marker.
fn is_table(storage: &Location, file: &str) -> Result<bool> {
    let steps: Vec<&str> = file.split('/').collect();
    // The sweep's own folder, and one of its history.
    for folder in [1, 3].into_iter().filter(|&folder| folder < steps.len()) {
        let (sweep, name) = (steps[..folder].join("/"), steps[folder..].join("/"));
        let named = named_tables(&storage.join("sweeps").join(&sweep))?;
        if named.is_some_and(|tables| name == marker::FILE || tables.contains(&name)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The path of a place below a folder; none of one that is elsewhere.
fn below(folder: &Location, place: &Location) -> Option<String> {
    let [folder, place] = [folder.resolved(), place.resolved()];
    Some(place.strip_prefix(folder.strip_suffix('/').unwrap_or(&folder))?.strip_prefix('/')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_below_a_folder() {
        let of = |folder: &str, place: &str| below(&Location::parse(folder).unwrap(), &Location::parse(place).unwrap());
        assert_eq!(of("memory:///runs", "memory:///runs/datasets/a/users.parquet").as_deref(), Some("datasets/a/users.parquet"));
        assert_eq!((of("memory:///runs", "memory:///runs-2/x"), of("memory:///runs", "memory:///other")), (None, None));
        assert_eq!(of("memory:///", "memory:///trials/x").as_deref(), Some("trials/x"), "a storage may be a whole bucket");
        #[cfg(unix)]
        {
            let local = tempfile::tempdir().unwrap();
            let (folder, link) = (local.path().join("runs"), local.path().join("link"));
            std::fs::create_dir(&folder).unwrap();
            std::os::unix::fs::symlink(&folder, &link).unwrap();
            let found = of(folder.to_str().unwrap(), link.join("trials/x/new.csv").to_str().unwrap());
            assert_eq!(found.as_deref(), Some("trials/x/new.csv"), "a link is the folder that it leads to");
        }
    }
}
