//! The sweep file, as the pods read it.

use super::{RenderContext, metadata::metadata};
use k8s_openapi::api::core::v1::ConfigMap;

/// The file's name in the ConfigMap and in the pods' folder.
pub(super) const FILE: &str = "sweep.yaml";

/// The ConfigMap's name.
pub(super) fn name(context: &RenderContext<'_>) -> String {
    format!("{}-{}", context.submission.name, context.hash)
}

/// Immutable: pods of one submission read one text. Another meaning has another hash, and so another ConfigMap; of another wording the old one is removed
/// when the submission starts again.
pub(super) fn config_map(context: &RenderContext<'_>) -> ConfigMap {
    ConfigMap {
        metadata: metadata(context, name(context), None),
        data: Some([(FILE.to_owned(), context.submission.text.clone())].into()),
        immutable: Some(true),
        ..ConfigMap::default()
    }
}
