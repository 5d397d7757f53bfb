//! The splits of a dataset. A format is one file here, and its lines in [`ExportFormat`](super::ExportFormat).

pub(super) mod csv;
pub(super) mod elliot;
pub(super) mod lenskit;
pub(super) mod npz;
pub(super) mod recbole;

use dataset::{Dataset, Interactions, Split};

/// The parts of a dataset that are not empty.
fn parts(dataset: &Dataset) -> impl Iterator<Item = (Split, &Interactions)> {
    let all = [Split::Train, Split::FoldIn, Split::Validation, Split::Test].into_iter().map(|split| (split, dataset.split(split)));
    all.filter(|(_, part)| !part.is_empty())
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

/// Characters that tab-separated lines without quotes cannot hold.
const SEPARATORS: [char; 3] = ['\t', '\n', '\r'];
