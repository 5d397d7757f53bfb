//! Every sweep file of the repository holds together.

#![allow(clippy::unwrap_used)] // a test file outside of `cfg(test)`

use std::path::{Path, PathBuf};
use sweep::{file::SweepFile, plan};

#[test]
fn the_sweep_files_of_the_repository_are_good() {
    let sweeps = sweep_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../configs")));
    assert!(sweeps.len() > 20, "{sweeps:?}");
    for path in sweeps {
        // Nothing is read from these places, so any name will do.
        let text = std::fs::read_to_string(&path).unwrap().replace("${RATINGS}", "ratings.dat").replace("${RANKSWEEP_DATA}", "data");
        let file = SweepFile::parse(&text, path.to_str().unwrap()).unwrap();
        let fingerprints: Vec<String> = (0..file.splits().count()).map(|place| place.to_string()).collect();
        let planned = plan::check(&file).and_then(|checked| checked.plan_with_printed(&fingerprints));
        assert!(planned.is_ok(), "{}", planned.err().unwrap());
    }
}

/// The sweep files of a folder and of the folders in it.
fn sweep_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| match path.is_dir() {
        true => sweep_files(&path),
        false => Vec::from_iter(Some(path).filter(|path| path.extension().is_some_and(|suffix| suffix == "yaml"))),
    };
    entries.flat_map(of).collect()
}
