//! Every sweep file of the repository holds together.

#![allow(clippy::unwrap_used)] // a test file outside of `cfg(test)`

use sweep::{file::SweepFile, plan};

#[test]
fn the_sweep_files_of_the_repository_are_good() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sweeps: Vec<_> = files.filter(|path| path.extension().is_some_and(|suffix| suffix == "yaml")).collect();
    assert!(!sweeps.is_empty());
    for path in sweeps {
        // Nothing is read from these places, so any name will do.
        let text = std::fs::read_to_string(&path).unwrap().replace("${RATINGS}", "ratings.dat").replace("${RANKSWEEP_DATA}", "data");
        let file = SweepFile::parse(&text, path.to_str().unwrap()).unwrap();
        assert!(plan::check(&file).is_ok(), "{}", plan::check(&file).err().unwrap());
    }
}
