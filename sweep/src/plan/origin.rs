//! What the tables of a plan were made of, as their Parquet metadata says it.

use super::{Plan, PlannedDataset};
use dataset::Origin;

/// The version of the layout of result tables. Within a version columns are added, and none is renamed, removed or given another meaning.
const LAYOUT: &str = "1";

impl Plan {
    /// The layout of tables, the plan, and the fingerprint of each dataset; of repeated splits those of all, each after its seed.
    pub(crate) fn origin(&self) -> Origin {
        let of_dataset = |name: &str| {
            let splits = self.datasets.iter().filter(|planned| planned.name() == name);
            let fingerprint = |planned: &PlannedDataset| match planned.split_seed {
                Some(seed) => format!("{seed}={}", planned.fingerprint),
                None => planned.fingerprint.clone(),
            };
            splits.map(fingerprint).collect::<Vec<_>>().join(" ")
        };
        let datasets = self.dataset_names().into_iter().map(|name| (format!("ranksweep.dataset.{name}"), of_dataset(name)));
        let own = [("ranksweep.layout".to_owned(), LAYOUT.to_owned()), ("ranksweep.plan".to_owned(), self.hash())];
        own.into_iter().chain(datasets).collect()
    }
}
