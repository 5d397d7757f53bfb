//! Every item that is not a train positive of the user.

use serde::{Deserialize, Serialize};

/// `all` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct All {}
