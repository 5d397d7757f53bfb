//! The fate of a pod that fails. The first rule that matches decides; a pod that matches none is charged, and replaced after a delay that
//! doubles, until its retries are used up.

use super::command::PROGRAM;
use crate::exit::{BAD_CONFIGURATION, INTERRUPTED, REPEATS, TIME_LIMIT};
use k8s_openapi::api::batch::v1::{
    PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule,
};

/// Pods that are replaced only when they have ended: two of them would write the same checkpoint.
pub(super) const REPLACEMENT: &str = "Failed";

/// The rules of a Job with one trial for each index: a trial that fails for good takes no other with it.
pub(super) fn per_index() -> PodFailurePolicy {
    interrupted("Ignore", [on_exit("FailIndex", &[REPEATS, TIME_LIMIT]), on_exit("FailJob", &[BAD_CONFIGURATION])])
}

/// The rules of a Job that is one piece of work.
pub(super) fn whole() -> PodFailurePolicy {
    interrupted("Ignore", [on_exit("FailJob", &[BAD_CONFIGURATION, REPEATS, TIME_LIMIT])])
}

/// The rules of a Job of whose indexes any one does all of the work: one that is interrupted gives way to the next.
pub(super) fn in_turn() -> PodFailurePolicy {
    interrupted("FailIndex", [on_exit("FailJob", &[BAD_CONFIGURATION, REPEATS, TIME_LIMIT])])
}

/// What an interruption does, and then all else. Preemption, drain and eviction are not the pod's fault. Neither is a signal from elsewhere, such
/// as a node that shuts down without saying so, or a deleted pod: exit code 75 says that all is checkpointed. Pods ignored so still wait longer
/// each time.
fn interrupted(action: &str, rules: impl IntoIterator<Item = PodFailurePolicyRule>) -> PodFailurePolicy {
    let disrupted = PodFailurePolicyOnPodConditionsPattern { type_: "DisruptionTarget".to_owned(), status: "True".to_owned() };
    let disrupted =
        PodFailurePolicyRule { action: action.to_owned(), on_pod_conditions: Some(vec![disrupted]), ..PodFailurePolicyRule::default() };
    PodFailurePolicy { rules: [disrupted, on_exit(action, &[INTERRUPTED])].into_iter().chain(rules).collect() }
}

fn on_exit(action: &str, codes: &[i32]) -> PodFailurePolicyRule {
    let codes = PodFailurePolicyOnExitCodesRequirement {
        container_name: Some(PROGRAM.to_owned()),
        operator: "In".to_owned(),
        values: codes.to_vec(),
    };
    PodFailurePolicyRule { action: action.to_owned(), on_exit_codes: Some(codes), ..PodFailurePolicyRule::default() }
}
