//! The splits of a dataset. A format is one file here, and its lines in [`ExportFormat`](super::ExportFormat).

pub(super) mod csv;
pub(super) mod elliot;
pub(super) mod lenskit;
pub(super) mod npz;
pub(super) mod recbole;

use anyhow::Result;
use dataset::{Dataset, Interactions, Split};

/// The file of a part.
pub(super) struct PartFile {
    pub(super) name: String,
    /// None of a part that is empty: a file of this name would be one of another export.
    pub(super) content: Option<Vec<u8>>,
}

/// The files of a dataset's parts, by the name and the content of each.
fn files(dataset: &Dataset, name: impl Fn(Split) -> String, content: impl Fn(&Interactions) -> Result<Vec<u8>>) -> Result<Vec<PartFile>> {
    let file = |split| {
        let part = Some(dataset.split(split)).filter(|part| !part.is_empty());
        Ok(PartFile { name: name(split), content: part.map(&content).transpose()? })
    };
    [Split::Train, Split::FoldIn, Split::Validation, Split::Test].into_iter().map(file).collect()
}

/// The interactions of a part by own ids.
fn pairs<'a>(dataset: &'a Dataset, part: &'a Interactions) -> impl Iterator<Item = (&'a str, &'a str)> {
    part.pairs().map(|(user, item)| (dataset.user_ids[user as usize].as_str(), dataset.item_ids[item as usize].as_str()))
}

/// A part as tab-separated lines, each with this behind it.
fn tabs(dataset: &Dataset, part: &Interactions, header: &str, behind: &str) -> Vec<u8> {
    let lines = pairs(dataset, part).map(|(user, item)| format!("{user}\t{item}{behind}\n"));
    std::iter::once(header.to_owned()).chain(lines).collect::<String>().into_bytes()
}

/// Whether an id can stand in tab-separated lines: they have no quotes, and with one at an id's beginning pandas, by which they are read, reads on to the next.
fn fits_tabs(id: &str) -> bool {
    !id.contains(['\t', '\n', '\r']) && !id.starts_with('"')
}
