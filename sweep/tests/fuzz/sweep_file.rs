//! Damaged sweep files: read, checked and planned.

use crate::{
    harness::Reader,
    mutation::{Draws, text},
};
use std::path::Path;
use sweep::{file::SweepFile, plan};

/// Reads the damaged text of each number.
pub(crate) fn reader() -> Reader {
    let texts = seeds();
    Box::new(move |input| plan(&text(&texts, &mut Draws::of(input))))
}

/// The repository's own sweep files, and hostile ones.
fn seeds() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = ["../configs", "tests/hostile"]
        .iter()
        .flat_map(|folder| here.join(folder).read_dir().unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files.iter().map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned()).collect()
}

fn plan(text: &str) {
    let Ok(file) = SweepFile::parse(text, "s.yaml") else { return };
    let Ok(checked) = plan::check(&file) else { return };
    let fingerprints: Vec<String> = (0..file.splits().count()).map(|split| format!("{split:016x}")).collect();
    if let Ok(plan) = checked.plan(&fingerprints) {
        assert!(!plan.to_json().is_empty() && file.variables().len() < text.len());
    }
}
