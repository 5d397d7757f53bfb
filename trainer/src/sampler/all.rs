//! Every item that is not a train positive of the user.
//!
//! Nothing is drawn: every item of the catalogue is scored, and the scores of the user's train items, the positive's own among them, are
//! masked. This is the full form of a loss, at a cost of the whole catalogue for each positive.

use serde::{Deserialize, Serialize};

/// `all` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct All {}
