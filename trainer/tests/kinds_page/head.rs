//! What stands at the head of a kind's file: its title, its equation, and the words on its settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a kind's file says.
pub(super) struct Head {
    /// From the repository's root.
    pub(super) path: String,
    pub(super) title: String,
    pub(super) equation: Option<String>,
    /// The documentation of each field of its settings.
    pub(super) fields: BTreeMap<String, String>,
}

impl Head {
    /// Finds the file in a crate below `trainer/` by the line before the settings.
    pub(super) fn find(part: &str, kind: &str) -> Self {
        let folder = match part {
            "loss" => "losses",
            "sampler" => "samplers",
            "optimizer" => "optimizers",
            _ => "models",
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("src");
        let settings = format!("/// `{kind}` in a sweep file.\n");
        let found = files(&root).into_iter().find_map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            text.contains(&settings).then_some((file, text))
        });
        let (file, text) = found.unwrap_or_else(|| panic!("no file below {} has the line {settings}", root.display()));
        let path = file.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).unwrap().to_str().unwrap().to_owned();
        let head: Vec<&str> =
            text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        let title: Vec<&str> = head.iter().copied().take_while(|line| !line.is_empty()).collect();
        let (_, after) = text.split_once(&settings).unwrap();
        let settings = match wrapped(after) {
            None => after.to_owned(),
            Some(inner) => {
                files(&root).iter().map(|file| std::fs::read_to_string(file).unwrap()).find(|text| text.contains(&inner)).unwrap()
            }
        };
        Self { path, title: title.join(" "), equation: equation(&head), fields: fields(&settings) }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    files.sort();
    files
}

/// The first block of text.
fn equation(head: &[&str]) -> Option<String> {
    let start = head.iter().position(|line| *line == "```text")? + 1;
    let lines: Vec<&str> = head[start..].iter().copied().take_while(|line| *line != "```").collect();
    Some(lines.join("\n"))
}

/// The first line of the settings that the struct which comes next has for its own.
fn wrapped(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("pub struct "))?;
    let (_, inner) = line.strip_suffix(");")?.split_once("(pub ")?;
    Some(format!("pub struct {inner} {{\n"))
}

/// The documentation of the fields of the struct that comes next.
fn fields(text: &str) -> BTreeMap<String, String> {
    let (mut fields, mut words) = (BTreeMap::new(), Vec::new());
    for line in text.lines().skip_while(|line| !line.starts_with("pub struct ")).skip(1).take_while(|line| *line != "}") {
        if let Some(more) = line.trim().strip_prefix("/// ") {
            words.push(more);
        } else if let Some((name, _)) = line.trim().strip_prefix("pub ").and_then(|field| field.split_once(':')) {
            fields.insert(name.to_owned(), std::mem::take(&mut words).join(" "));
        }
    }
    fields
}
