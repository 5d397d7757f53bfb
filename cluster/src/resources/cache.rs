//! Datasets that have been read, kept for the next pod.

use serde::{Deserialize, Serialize};

/// `cache` in `resources`: a folder of the node, or a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// A folder of each node, which is there and which the pods' group 65532 may write to.
    #[serde(default)]
    pub host_path: Option<String>,
    /// A PersistentVolumeClaim that the trials' pods can have at the same time.
    #[serde(default)]
    pub claim: Option<String>,
}

impl Cache {
    /// That one of the two is given, and a folder by its whole path.
    pub(super) fn check(&self) -> Result<(), String> {
        match (&self.host_path, &self.claim) {
            (Some(path), None) if !is_whole(path) => {
                Err(format!("cache.host_path is `{path}`: expected an absolute path such as `/var/cache/ranksweep`, without `..`"))
            }
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err("cache: expected either `host_path`, a folder of each node, or `claim`, a PersistentVolumeClaim".to_owned()),
        }
    }
}

/// Whether a path starts at the root, and names a folder below it.
fn is_whole(path: &str) -> bool {
    path.starts_with('/') && path.len() > 1 && !path.split('/').any(|step| step == "..")
}
