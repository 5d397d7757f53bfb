//! What an output may not be written over: the sweep file, what the sweep reads, and what its storage keeps.

use super::{Session, history::named_tables, marker};
use crate::usage::Usage;
use anyhow::Result;
use dataset::Location;

/// Refuses places of `--out` whose content a sweep needs, or where it would be read as the sweep's.
///
/// # Errors
/// [`Usage`] that says what stands there; a store that fails.
pub(crate) fn check_out(session: &Session, sweep: &str, outs: &[Location]) -> Result<()> {
    let folders: Vec<Location> = read_whole(session)?;
    let mut existing = Vec::new();
    for out in outs {
        check_out_of_storage(session.storage(), out)?;
        if folders.iter().any(|folder| below(folder, out).is_some()) {
            return Err(refusal(out, "in a folder of which the sweep reads all files"));
        }
        // To look into a pipe is to open it.
        if !out.is_pipe_or_device() && out.exists()? {
            existing.push(out);
        }
    }
    if existing.is_empty() {
        return Ok(());
    }
    for (place, what) in read(session, sweep) {
        if let Some(out) = existing.iter().find(|out| place.is_same(out)) {
            return Err(refusal(out, what));
        }
    }
    Ok(())
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

/// The folders of which a sweep reads all files.
fn read_whole(session: &Session) -> Result<Vec<Location>> {
    let paths = session.preparations().flat_map(|(_, preparation)| preparation.source.files());
    let folders = paths.filter_map(|(_, path)| path.strip_suffix('/')).filter(|folder| !folder.is_empty());
    folders.map(|folder| Ok(Location::parse(folder)?)).collect()
}

/// The files that a sweep reads, and what each of them is.
fn read(session: &Session, sweep: &str) -> Vec<(Location, &'static str)> {
    let file = Location::parse(sweep).ok().map(|file| (file, "the sweep file, which would be lost"));
    let sources = session.preparations().flat_map(|(_, preparation)| preparation.source.places());
    let models = session.plan.trials().filter_map(|(.., planned)| session.model_files(planned).ok()).flat_map(|files| files.into_values());
    let sources = sources.map(|file| (file, "a source file of the sweep, which would be lost"));
    let models = models.map(|file| (file, "a file of a model of the sweep, which would be lost"));
    file.into_iter().chain(sources).chain(models).collect()
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
