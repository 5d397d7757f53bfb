//! Links between the nodes of one set are held out, each as a whole.
//!
//! Users and items are the same nodes: a row of the source is a link, and a link of a node to itself is left out before anything is counted. A link holds in both directions, whichever
//! of the two the source has, and both stand in the same part; with `directed: true` it leads from the user to the item alone, and one in the other direction is another link. A node is
//! ranked for others, and never for itself.
//!
//! Each link is drawn for itself, by the first 53 bits `h` of SipHash-2-4 with the key (seed, 0) over the id of one node, the byte 0xFF and the id of the other; the id that is less
//! byte by byte comes first, or the user's where links are directed. With t = floor(test 2^53), a link is test where h < t, and else validation where h - t < floor(validation (2^53 - t)).
//! So parts have about their shares, whatever the order of the rows. A node may lose all its links, and is a user without train interactions then.
//!
//! Paper RG (004) ranks the directed links of Simple Wiki by MAP@10 and MRR@10; it parts each page's links by shares, as `random` does, and does not tell of links of a page to itself.

use super::{Borders, Ratio, SplitKind};
use crate::{Error, Result, edges::Edges, links::Links, order::Order};
use dataset::Split;
use serde::{Deserialize, Serialize};

/// Values of `h`.
const HASHES: usize = 1 << 53;

/// `link-prediction` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkPrediction {
    /// The share of links that is test, about.
    pub test: f64,
    /// The share of the other links that is validation, about.
    #[serde(default)]
    pub validation: f64,
    /// Whether a link leads from the user to the item alone.
    #[serde(default)]
    pub directed: bool,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
}

impl SplitKind for LinkPrediction {
    fn has_validation(&self) -> bool {
        self.validation > 0.0
    }

    fn links(&self) -> Option<Links> {
        Some(Links { symmetric: !self.directed })
    }

    fn seed(&self) -> Option<u64> {
        Some(self.seed)
    }

    fn check(&self) -> Result<()> {
        if Ratio::new("split.test", self.test)?.is_zero() {
            return Err(Error::setting("split.test", "0 leaves nothing to test on (expected a number between 0 and 1)"));
        }
        Ratio::new("split.validation", self.validation).map(|_| ())
    }

    fn hold_out(&self, edges: &mut Edges, _: &Borders) -> Result<()> {
        let (test, validation) = (Ratio::new("split.test", self.test)?, Ratio::new("split.validation", self.validation)?);
        let of_test = test.of(HASHES);
        let of_validation = validation.of(HASHES - of_test);
        edges.each_user(|row, item_ids| {
            for (item, part) in row.items.iter().zip(row.parts) {
                match self.hash(row.user_id, &item_ids[*item as usize]) {
                    hash if hash < of_test => *part = Split::Test,
                    hash if hash - of_test < of_validation => *part = Split::Validation,
                    _ => {}
                }
            }
        });
        Ok(())
    }
}

impl LinkPrediction {
    /// The h of a link.
    fn hash(&self, user: &str, item: &str) -> usize {
        let (first, then) = if self.directed || user <= item { (user, item) } else { (item, user) };
        (Order::new([self.seed, 0], first).hash(then) >> 11) as usize
    }
}
