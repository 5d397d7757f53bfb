//! The items' train counts.

use serde::{Deserialize, Serialize};

/// `popularity` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Popularity {}
