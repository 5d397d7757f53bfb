//! Plans that are stored: where they were made by whoever submitted, and where by the pod that prepares.

use crate::{
    plan::{Checked, Plan, model_files},
    usage::Usage,
};
use anyhow::Result;
use dataset::{FileEntry, Location};
use std::collections::HashMap;

/// How the names of plans begin that the pod that prepares makes, as they were rendered without a look at the source files.
pub(super) const OFFLINE: &str = "offline-";

/// The entry in place of a file that was not looked at.
pub(super) fn unread() -> FileEntry {
    FileEntry { bytes: 0, sha256: String::new() }
}

/// The plan without a look at any file.
pub(super) fn unread_plan(checked: &Checked<'_>) -> Result<Plan> {
    let fingerprints: Vec<String> = (0..checked.splits()).map(|split| format!("unread-{split}")).collect();
    Ok(checked.plan_of(&fingerprints, &mut |_| Ok(unread()))?)
}

/// The name under which such a plan is stored once it is made.
pub(super) fn offline_name(checked: &Checked<'_>) -> Result<String> {
    Ok(format!("{OFFLINE}{}.json", unread_plan(checked)?.hash()))
}

/// A stored plan, which must be the one that the sweep file gives with the plan's own fingerprints. What papers print is taken from it.
pub(super) fn stored(checked: &Checked<'_>, url: &str) -> Result<Plan> {
    let refuse = |reason: &str| Usage(format!("--plan: {url} {reason}; submit the sweep again"));
    let text = match Location::parse(url).and_then(|at| at.read()) {
        Err(dataset::Error::NotFound { .. }) => return Err(refuse("is not there").into()),
        other => other?,
    };
    let plan: Plan = serde_json::from_slice(&text).map_err(|error| refuse(&format!("is no plan of this version ({error})")))?;
    let name = Location::parse(url)?.name().to_owned();
    let own = if name.starts_with(OFFLINE) { offline_name(checked)? } else { format!("{}.json", plan.hash()) };
    if name != own {
        return Err(refuse("is not the plan that its name says").into());
    }
    if is_of(&plan, checked)? { Ok(plan) } else { Err(refuse("is the plan of another sweep file").into()) }
}

/// Whether a plan is the one that a sweep file gives with the plan's own fingerprints.
pub(super) fn is_of(plan: &Plan, checked: &Checked<'_>) -> Result<bool> {
    let fingerprints: Vec<String> = plan.datasets.iter().map(|dataset| dataset.fingerprint.clone()).collect();
    if fingerprints.len() != checked.splits() {
        return Ok(false);
    }
    let known = known_files(plan);
    let mut contents = |path: &str| known.get(path).cloned().ok_or_else(|| format!("the stored plan has no file `{path}`"));
    Ok(Plan { printed: plan.printed.clone(), ..checked.plan_of(&fingerprints, &mut contents)? } == *plan)
}

/// The files of models that other programs trained, as a plan knows them, by their paths as typed.
fn known_files(plan: &Plan) -> HashMap<String, FileEntry> {
    let mut known = HashMap::new();
    for (.., planned) in plan.trials() {
        let on = plan.datasets.iter().find(|dataset| dataset.is_of(planned));
        let (Some(on), Some(files)) = (on, &planned.trial.files) else { continue };
        for file in planned.trial.backbone.files() {
            let path = model_files::path(file.path, on, planned.seed());
            known.extend(files.files.get(file.key).map(|entry| (path, entry.clone())));
        }
    }
    known
}
