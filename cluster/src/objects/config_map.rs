//! The sweep file, as the pods read it.

use super::{Sheet, metadata::metadata};
use k8s_openapi::api::core::v1::ConfigMap;

/// The file's name in the ConfigMap and in the pods' folder.
pub(super) const FILE: &str = "sweep.yaml";

/// The ConfigMap's name.
pub(super) fn name(sheet: &Sheet<'_>) -> String {
    format!("{}-{}", sheet.submission.name, sheet.hash)
}

/// Immutable: another text has another hash, and so another ConfigMap.
pub(super) fn config_map(sheet: &Sheet<'_>) -> ConfigMap {
    ConfigMap {
        metadata: metadata(sheet, name(sheet), None),
        data: Some([(FILE.to_owned(), sheet.submission.text.clone())].into()),
        immutable: Some(true),
        ..ConfigMap::default()
    }
}
