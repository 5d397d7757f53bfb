//! The files that a path stands for: one; all below a folder, written with `/` at its end; or those that match a pattern.
//!
//! ```text
//! ratings.csv    logs/2024/    s3://bucket/events/year=*/part-*.parquet
//! ```
//! `*` and `?` stand for anything within a name, `[ab]` for one of some characters. Names that begin with `_` or `.` are passed over, as writers leave
//! markers under them. A file or a folder that has the pattern itself for its name is that one, and no other.

use super::archive;
use crate::{Error, Result};
use dataset::{Location, is_unfinished};
use glob::{MatchOptions, Pattern};
use std::{collections::HashSet, io::ErrorKind};

/// What a pattern has, and few names.
const SIGNS: [char; 3] = ['*', '?', '['];

/// How names are matched: `*` does not go into folders.
const OPTIONS: MatchOptions = MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Each file with its name below what all have in common, in the order of their paths.
///
/// # Errors
/// [`Error::Absent`] where no file is found, [`Error::Setting`] for a pattern that is none, or the storage's error.
pub(crate) fn named(key: &'static str, path: &str) -> Result<Vec<(String, Location)>> {
    let at = Location::parse(path)?;
    let (folder, pattern) = match (path.ends_with('/'), path.find(SIGNS)) {
        (false, None) => return Ok(vec![(at.name().to_owned(), at)]),
        (false, Some(_)) if !has_query(path) && archive::exists(&at)? => return Ok(vec![(at.name().to_owned(), at)]),
        (_, Some(sign)) => path.split_at(path[..sign].rfind('/').map_or(0, |slash| slash + 1)),
        (true, None) => (path, ""),
    };
    let folder = Location::parse(if folder.is_empty() { "." } else { folder })?;
    let wanted = pattern_of(pattern).map_err(|error| Error::setting(key, format!("`{path}` is no pattern: {error}")))?;
    let mut files = match steps_of(pattern) {
        Some(steps) => matching(&folder, &steps)?,
        None => {
            // A link without a suffix may be that of a folder, below which files would be meant.
            let may_be_folder = |name: &str| !name.rsplit('/').next().unwrap_or_default().contains('.');
            check_links(&folder, true, &|name| may_be_folder(name) || is_match(&wanted, name))?;
            folder.list()?.into_iter().filter(|file| is_match(&wanted, &below(&folder, file))).collect()
        }
    };
    files.sort_by_cached_key(|file| file.store().1.clone());
    let files: Vec<_> = files.into_iter().map(|file| (below(&folder, &file), file)).filter(|(name, _)| is_data(name)).collect();
    if files.is_empty() {
        let found = if pattern.is_empty() { "has no files" } else { "matches no file" };
        return Err(Error::Absent { key, at: path.to_owned(), found });
    }
    Ok(files)
}

/// Whether a URL has a `?`: a sign of the pattern, behind which [`Location::parse`] reads nothing, so that it is the place of another file.
fn has_query(path: &str) -> bool {
    path.contains("://") && path.contains('?')
}

/// The name of a place below a folder.
fn below(folder: &Location, place: &Location) -> String {
    let (folder, place) = (folder.to_string(), place.to_string());
    place.strip_prefix(&folder).unwrap_or(&place).trim_start_matches('/').to_owned()
}

fn is_match(wanted: &Pattern, name: &str) -> bool {
    wanted.matches_with(name, OPTIONS)
}

/// The steps of a pattern and their own patterns, where each stands for one folder or file; the last one is empty where all below a folder is meant.
fn steps_of(pattern: &str) -> Option<Vec<(&str, Pattern)>> {
    if pattern.contains("**") {
        return None;
    }
    pattern.split('/').map(|step| Some((step, Pattern::new(step).ok()?))).collect()
}

/// The files that match step by step, so that no folder is listed that the pattern does not name. A name that is the step itself counts before what it matches.
fn matching(folder: &Location, steps: &[(&str, Pattern)]) -> Result<Vec<Location>> {
    let whole = || -> Result<Vec<Location>> {
        check_links(folder, true, &|_| true)?;
        Ok(folder.list()?)
    };
    let Some(((step, pattern), rest)) = steps.split_first() else { return whole() };
    if step.is_empty() {
        return if rest.is_empty() { whole() } else { matching(folder, rest) };
    }
    check_links(folder, false, &|name| is_match(pattern, name))?;
    let mut found = if rest.is_empty() { folder.files()? } else { folder.folders()? };
    match found.iter().position(|place| below(folder, place) == *step) {
        Some(same) => found = vec![found.swap_remove(same)],
        None => found.retain(|place| is_match(pattern, &below(folder, place))),
    }
    if rest.is_empty() {
        return Ok(found);
    }
    let files = found.iter().map(|folder| matching(folder, rest)).collect::<Result<Vec<_>>>()?;
    Ok(files.into_iter().flatten().collect())
}

/// That no link below a folder of this machine, whose name is meant, leads to nothing, and that nothing there is a pipe, a device or called as files are
/// that are being written: listings pass over all of these without a word.
///
/// # Errors
/// [`Error::File`] with the first.
fn check_links(folder: &Location, is_deep: bool, is_meant: &dyn Fn(&str) -> bool) -> Result<()> {
    let Some(root) = folder.local_path() else { return Ok(()) };
    let (mut folders, mut seen) = (vec![(root, String::new())], HashSet::new());
    while let Some((path, below)) = folders.pop() {
        // What cannot be read is told by whoever lists it; links may go in circles.
        let Ok(entries) = path.read_dir() else { continue };
        if !path.canonicalize().is_ok_and(|path| seen.insert(path)) {
            continue;
        }
        for entry in entries.flatten() {
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            let reason = match entry.path().metadata() {
                // A file may go between the two looks, a link that leads nowhere stays.
                Err(error) if error.kind() == ErrorKind::NotFound && entry.path().is_symlink() => {
                    "leads to a file that is not there (restore it, or remove the link)"
                }
                Ok(found) if found.is_dir() => {
                    if is_deep {
                        folders.push((entry.path(), format!("{name}/")));
                    }
                    continue;
                }
                Ok(found) if !found.is_file() => "is a pipe or a device (expected files alone)",
                Ok(_) if is_unfinished(&name) => {
                    "has a name that ends in `#` and a number, as that of a file which is being written (rename it, or remove it)"
                }
                _ => continue,
            };
            if is_data(&name) && is_meant(&name) {
                return Err(Error::file(&folder.join(&name), reason));
            }
        }
    }
    Ok(())
}

/// The files of [`named`] alone.
pub(crate) fn all(key: &'static str, path: &str) -> Result<Vec<Location>> {
    Ok(named(key, path)?.into_iter().map(|(_, file)| file).collect())
}

/// Whether a path stands for any number of files.
pub(crate) fn are_several(path: &str) -> bool {
    path.ends_with('/') || is_pattern(path)
}

/// Whether a path has what a pattern has.
pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(SIGNS)
}

/// That a path names one file, for a format that comes in one.
///
/// # Errors
/// [`Error::Setting`] for a folder or a pattern.
pub(super) fn check_is_one(key: &'static str, path: &str, expected: &str) -> Result<()> {
    if path.ends_with('/') || path.contains(['*', '?']) {
        return Err(Error::setting(
            key,
            format!("`{path}` stands for several files, and this format is read from one (expected {expected})"),
        ));
    }
    Ok(())
}

/// That a place can be read several times.
///
/// # Errors
/// [`Error::Absent`] for a pipe or a device.
pub(crate) fn check_is_file(key: &'static str, at: &Location) -> Result<()> {
    let found = "is a pipe or a device, expected a file, as it is read several times";
    if at.is_pipe_or_device() { Err(Error::Absent { key, at: at.to_string(), found }) } else { Ok(()) }
}

/// A pattern that ends with `/` is that of folders, of which all files are meant.
fn pattern_of(text: &str) -> Result<Pattern, glob::PatternError> {
    if text.ends_with('/') { Pattern::new(&format!("{text}**/*")) } else { Pattern::new(text) }
}

/// Whether a name below a folder or in an archive is that of data.
pub(super) fn is_data(name: &str) -> bool {
    // Hadoop marks a folder of an object store by an empty file beside it.
    name.split('/').all(|step| !step.starts_with(['_', '.']) && !step.ends_with("_$folder$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(folder: &str) {
        for name in
            ["year=2023/part-0.csv", "year=2024/part-0.csv", "year=2024/part-1.csv.gz", "year=2024/_SUCCESS", ".crc", "a[1].csv", "a1.csv"]
        {
            Location::parse(&format!("{folder}/{name}")).unwrap().write("x").unwrap();
        }
    }

    fn names(path: &str) -> Result<Vec<String>> {
        Ok(named("source.path", path)?.into_iter().map(|(name, _)| name).collect())
    }

    /// A listing passes over them without a word, and a part of the data would be missing.
    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_are_told() {
        let local = tempfile::tempdir().unwrap();
        let folder = local.path().to_str().unwrap();
        stored(folder);
        for (link, patterns) in
            [("year=2024/part-2.csv", ["/", "/year=2024/part-*.csv", "/**/*.csv"]), ("year=2025", ["/", "/year=*/part-*.csv", "/**/*.csv"])]
        {
            let link = local.path().join(link);
            std::os::unix::fs::symlink("/nowhere/at/all", &link).unwrap();
            for pattern in patterns {
                let complaint = names(&format!("{folder}{pattern}")).unwrap_err().to_string();
                assert!(
                    complaint.starts_with(link.to_str().unwrap()) && complaint.contains("leads to a file that is not there"),
                    "{complaint}"
                );
            }
            assert_eq!(names(&format!("{folder}/year=2023/*.csv")).unwrap().len(), 1, "what is not meant is no matter");
            std::fs::remove_file(link).unwrap();
        }
        // Links that go in a circle, and those under names that are passed over.
        std::os::unix::fs::symlink("/nowhere/at/all", local.path().join("_temporary")).unwrap();
        std::os::unix::fs::symlink(local.path().join("year=2023/part-0.csv"), local.path().join("linked.csv")).unwrap();
        assert!(names(&format!("{folder}/")).unwrap().contains(&"linked.csv".to_owned()));
    }

    #[test]
    fn files_that_no_listing_has_are_told() {
        let local = tempfile::tempdir().unwrap();
        let folder = local.path().to_str().unwrap();
        stored(folder);
        std::fs::write(local.path().join("year=2024/part#2"), "x").unwrap();
        for pattern in ["/", "/year=*/part*", "/**/part*"] {
            let complaint = names(&format!("{folder}{pattern}")).unwrap_err().to_string();
            assert!(complaint.contains("year=2024/part%232: has a name that ends in `#` and a number"), "{complaint}");
        }
        assert_eq!(names(&format!("{folder}/year=2024/*.csv")).unwrap().len(), 1, "what is not meant is no matter");
    }

    #[test]
    fn marks_of_folders_are_passed_over() {
        let folder = "memory:///marked";
        Location::parse(&format!("{folder}/day=1/x.csv")).unwrap().write("x").unwrap();
        Location::parse(&format!("{folder}/day=1-old/y.csv")).unwrap().write("y").unwrap();
        for mark in ["day=1", "day=1_$folder$"] {
            Location::parse(&format!("{folder}/{mark}")).unwrap().write("").unwrap();
        }
        assert_eq!(names("memory:///marked/").unwrap(), ["day=1-old/y.csv", "day=1/x.csv"]);
        assert_eq!(names("memory:///marked/day=1/").unwrap(), ["x.csv"]);
    }

    #[test]
    fn folders_and_patterns() {
        let local = tempfile::tempdir().unwrap();
        for folder in ["memory:///files", local.path().to_str().unwrap()] {
            stored(folder);
            let of = |path: &str| names(&format!("{folder}/{path}")).unwrap();
            assert_eq!(of("year=2024/"), ["part-0.csv", "part-1.csv.gz"], "{folder}");
            assert_eq!(of("year=*/part-0.csv"), ["year=2023/part-0.csv", "year=2024/part-0.csv"]);
            assert_eq!(of("year=202[4-9]/*.gz"), ["year=2024/part-1.csv.gz"]);
            assert_eq!(of("year=202?/"), ["year=2023/part-0.csv", "year=2024/part-0.csv", "year=2024/part-1.csv.gz"]);
            assert_eq!(of("*.csv"), ["a1.csv", "a[1].csv"]);
            assert_eq!((of("a[1].csv"), of("a[12].csv")), (vec!["a[1].csv".to_owned()], vec!["a1.csv".to_owned()]));
            assert_eq!(of("year=2024/**/*.csv"), ["part-0.csv"]);
            assert_eq!(of("").len(), 5);
        }
    }

    #[test]
    fn a_folder_may_have_the_signs_of_a_pattern_in_its_name() {
        for name in ["d[1]/a.csv", "d1/b.csv"] {
            Location::parse(&format!("memory:///files-signs/{name}")).unwrap().write("x").unwrap();
        }
        let of = |path: &str| names(&format!("memory:///files-signs/{path}")).unwrap();
        assert_eq!((of("d[1]/"), of("d[1]/*.csv")), (vec!["d[1]/a.csv".to_owned()], vec!["d[1]/a.csv".to_owned()]));
        assert_eq!(of("d[12]/"), ["d1/b.csv"]);
    }

    #[test]
    fn signs_in_a_url_belong_to_the_name() {
        for name in ["part", "part1", "h#1.csv"] {
            Location::parse(&format!("memory:///files-url/{name}")).unwrap().write("x").unwrap();
        }
        assert_eq!(names("memory:///files-url/part?").unwrap(), ["part1"]);
        assert_eq!(names("memory:///files-url/h#*.csv").unwrap(), ["h#1.csv"]);
    }

    /// What a pattern does not name is not looked at.
    #[cfg(unix)]
    #[test]
    fn a_pattern_passes_over_folders_that_it_does_not_name() {
        let local = tempfile::tempdir().unwrap();
        let folder = local.path().to_str().unwrap();
        stored(folder);
        std::os::unix::fs::symlink(local.path(), local.path().join("year=2024/loop")).unwrap();
        assert_eq!(names(&format!("{folder}/*.csv")).unwrap(), ["a1.csv", "a[1].csv"]);
        assert_eq!(names(&format!("{folder}/year=2023/*.csv")).unwrap(), ["part-0.csv"]);
        assert_eq!(names(&format!("{folder}/year=202[3]//part-0.csv")).unwrap(), ["year=2023/part-0.csv"]);
    }

    #[test]
    fn one_file_is_itself_and_may_be_missing() {
        assert_eq!(names("memory:///files-one/none.csv").unwrap(), ["none.csv"]);
    }

    #[test]
    fn no_file_and_no_pattern() {
        let of = |path: &str| names(path).unwrap_err().to_string();
        assert!(of("memory:///files-none/").starts_with("memory:///files-none/ has no files; correct `source.path`"));
        assert!(of("memory:///files-none/*.csv").starts_with("memory:///files-none/*.csv matches no file; correct `source.path`"));
        assert!(of("memory:///files-none/[z-a.csv").contains("is no pattern"));
    }
}
