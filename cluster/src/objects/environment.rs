//! The pods' variables.

use super::{RenderContext, command::literal};
use crate::reserved::SCRATCH;
use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar, SecretEnvSource};
use std::collections::BTreeMap;

pub(super) fn variable(name: &str, value: &str) -> EnvVar {
    EnvVar { name: name.to_owned(), value: Some(value.to_owned()), ..EnvVar::default() }
}

/// The environment of a pod that computes: what the sweep file names and sets, and folders that can be written to.
pub(super) fn of_stage(context: &RenderContext<'_>) -> Vec<EnvVar> {
    let submission = context.submission;
    let given: BTreeMap<_, _> = submission.variables.iter().chain(&submission.resources.environment).collect();
    let given = given.into_iter().map(|(name, value)| variable(name, &literal(value)));
    let folders = ["HOME", "TMPDIR", "XDG_CACHE_HOME"].map(|name| variable(name, SCRATCH));
    given.chain(folders).collect()
}

/// The credentials.
pub(super) fn secret(context: &RenderContext<'_>) -> Option<Vec<EnvFromSource>> {
    let name = context.submission.resources.secret.clone()?;
    let secret = SecretEnvSource { name, ..SecretEnvSource::default() };
    Some(vec![EnvFromSource { secret_ref: Some(secret), ..EnvFromSource::default() }])
}
