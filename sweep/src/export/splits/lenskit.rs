//! Parquet tables with the columns `user_id` and `item_id`, which LensKit's `from_interactions_df` and `ItemListCollection.from_df` take; where the order of
//! interactions is known, `timestamp` is the place of each in its user's history.
//!
//! Ids are texts: read from comma-separated text, `007` would be another item.

use super::{ExportedPart, PartFile};
use anyhow::Result;
use arrow::array::{ArrayRef, StringArray, UInt32Array};
use dataset::{Dataset, table};
use std::sync::Arc;

pub(in super::super) fn files(_name: &str, dataset: &Dataset) -> Result<Vec<PartFile>> {
    let content = |part: &ExportedPart| {
        let (users, items): (Vec<&str>, Vec<&str>) = part.pairs().unzip();
        let ids: [(&str, ArrayRef); 2] = [("user_id", Arc::new(StringArray::from(users))), ("item_id", Arc::new(StringArray::from(items)))];
        let places = part.places.map(|places| ("timestamp", Arc::new(UInt32Array::from(places.to_vec())) as ArrayRef));
        Ok(table::encode(&table::batch(ids.into_iter().chain(places).map(|(name, column)| (name, column, false)).collect()))?)
    };
    super::files(dataset, |split| format!("{}.parquet", split.name()), content)
}
