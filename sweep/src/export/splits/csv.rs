//! Comma-separated files with the header `user_id,item_id`, and `position` where the order of interactions is known: the place of each in its user's history.

use super::{ExportedPart, PartFile};
use anyhow::Result;
use dataset::Dataset;

pub(in super::super) fn files(_name: &str, dataset: &Dataset) -> Result<Vec<PartFile>> {
    let content = |part: &ExportedPart| {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(["user_id", "item_id"].into_iter().chain(part.places.map(|_| "position")))?;
        for (at, (user, item)) in part.pairs().enumerate() {
            let place = part.places.map(|places| places[at].to_string());
            writer.write_record([user, item].into_iter().chain(place.as_deref()))?;
        }
        Ok(writer.into_inner()?)
    };
    super::files(dataset, |split| format!("{}.csv", split.name()), content)
}
