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

/// A part as it is written.
struct ExportedPart<'a> {
    dataset: &'a Dataset,
    interactions: &'a Interactions,
    /// The place of each interaction in its user's history, which goes over all parts, where it is known.
    places: Option<&'a [u32]>,
}

impl<'a> ExportedPart<'a> {
    /// The interactions by own ids.
    fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let dataset = self.dataset;
        self.interactions.pairs().map(|(user, item)| (dataset.user_ids[user as usize].as_str(), dataset.item_ids[item as usize].as_str()))
    }

    /// Tab-separated lines: of each pair user, item, this behind it, and its place, where that is known.
    fn tabs(&self, header: Option<Vec<&str>>, behind: &str) -> Vec<u8> {
        let lines = self.pairs().enumerate().map(|(at, (user, item))| {
            let place = self.places.map_or_else(String::new, |places| format!("\t{}", places[at]));
            format!("{user}\t{item}{behind}{place}\n")
        });
        header.map(|names| names.join("\t") + "\n").into_iter().chain(lines).collect::<String>().into_bytes()
    }
}

/// The files of a dataset's parts, by the name and the content of each.
fn files(dataset: &Dataset, name: impl Fn(Split) -> String, content: impl Fn(&ExportedPart) -> Result<Vec<u8>>) -> Result<Vec<PartFile>> {
    let file = |split| {
        let places = dataset.order.as_ref().map(|order| order.split(split));
        let part = Some(ExportedPart { dataset, interactions: dataset.split(split), places }).filter(|part| !part.interactions.is_empty());
        Ok(PartFile { name: name(split), content: part.as_ref().map(&content).transpose()? })
    };
    [Split::Train, Split::FoldIn, Split::Validation, Split::Test].into_iter().map(file).collect()
}

/// Whether an id can stand in tab-separated lines: they have no quotes, and with one at an id's beginning pandas, by which they are read, reads on to the next.
fn fits_tabs(id: &str) -> bool {
    !id.contains(['\t', '\n', '\r']) && !id.starts_with('"')
}
