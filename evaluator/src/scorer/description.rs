//! `scorer.json`: which scorer the tensors beside it make, of which sizes.

use super::{Network, Scorer, Similarity};
use crate::{Error, Result};
use dataset::{FileEntry, Location, marker};
use serde::{Deserialize, Serialize};

/// The version of this contract: 2, as the description has a checksum of its own.
const SCHEMA_VERSION: u32 = 2;
/// What to do where a checkpoint is damaged.
pub(super) const REMEDY: &str = "delete the trial's folder and train it again";

/// `scorer.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    schema_version: u32,
    pub(super) scorer: Kind,
    pub(super) tensors: FileEntry,
}

/// What every version of a description has.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Factors(Factors),
    Histories(Factors),
    Network(NetworkSizes),
    ItemWeights(ItemWeights),
    SparseItemWeights(SparseItemWeights),
    UserNeighbours(UserNeighbours),
    Lists(ListSizes),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Factors {
    pub(super) similarity: Similarity,
    pub(super) users: usize,
    pub(super) items: usize,
    pub(super) dim: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkSizes {
    pub(super) users: usize,
    pub(super) items: usize,
    pub(super) product: usize,
    /// Numbers of each hidden layer.
    pub(super) hidden: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ItemWeights {
    pub(super) items: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SparseItemWeights {
    pub(super) items: usize,
    pub(super) entries: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserNeighbours {
    pub(super) users: usize,
    pub(super) items: usize,
    pub(super) entries: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSizes {
    pub(super) users: usize,
    pub(super) items: usize,
    pub(super) entries: usize,
}

impl Description {
    /// Describes a scorer whose tensors stand in this file.
    pub(super) fn new(scorer: &Scorer, tensors: FileEntry) -> Self {
        Self { schema_version: SCHEMA_VERSION, scorer: Kind::of(scorer), tensors }
    }

    /// Reads a description and checks its version and its own checksum.
    pub(super) fn read(at: &Location) -> Result<Self> {
        let refuse = |reason| Error::Scorer { at: at.to_string(), reason };
        // The version first: another one may have other keys, and an older one no checksum of its own.
        match serde_json::from_slice::<Version>(&at.read()?).map(|stored| stored.schema_version) {
            Ok(newer) if newer > SCHEMA_VERSION => {
                let reason =
                    format!("schema version {newer} is newer than {SCHEMA_VERSION}, which this build reads; use a newer ranksweep");
                Err(refuse(reason))
            }
            Ok(older) if older < SCHEMA_VERSION => {
                Err(refuse(format!("schema version {older} where this build reads {SCHEMA_VERSION}; train the trial again")))
            }
            _ => Ok(marker::read(at, REMEDY)?),
        }
    }
}

impl Kind {
    fn of(scorer: &Scorer) -> Self {
        match scorer {
            Scorer::Factors { users, items, similarity } => {
                Self::Factors(Factors { similarity: *similarity, users: users.rows, items: items.rows, dim: items.dim })
            }
            Scorer::Histories { test, items, similarity, .. } => {
                Self::Histories(Factors { similarity: *similarity, users: test.rows, items: items.rows, dim: items.dim })
            }
            Scorer::Network { users, items, network: Network { product, layers } } => Self::Network(NetworkSizes {
                users: users.rows,
                items: items.rows,
                product: *product,
                hidden: layers.iter().map(|layer| layer.weights.dim).collect(),
            }),
            Scorer::ItemWeights { weights } => Self::ItemWeights(ItemWeights { items: weights.rows }),
            Scorer::SparseItemWeights { weights } => {
                Self::SparseItemWeights(SparseItemWeights { items: weights.rows(), entries: weights.entries() })
            }
            Scorer::UserNeighbours { weights, items } => {
                Self::UserNeighbours(UserNeighbours { users: weights.rows(), items: *items, entries: weights.entries() })
            }
            Scorer::Lists(lists) => Self::Lists(ListSizes { users: lists.users(), items: lists.items(), entries: lists.entries() }),
        }
    }
}
