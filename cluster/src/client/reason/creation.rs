//! Reasons of the Job controller, which may not create a pod.

use super::{Reason, last, one_line};
use crate::objects::ACCOUNT;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Event, Pod},
};

/// The reason of a Job, by the newest event about it, unless a pod was created since.
pub(super) fn reason(job: &Job, pods: &[&Pod], events: &[Event]) -> Option<Reason> {
    let is_own = |event: &&Event| event.involved_object.uid.is_some() && event.involved_object.uid == job.metadata.uid;
    let refused = events.iter().filter(is_own).filter(|event| event.reason.as_deref() == Some("FailedCreate"));
    let newest = refused.max_by(|a, b| last(a).cmp(&last(b)))?;
    let created = pods.iter().filter_map(|pod| pod.metadata.creation_timestamp.as_ref()).max();
    if created.is_some_and(|created| last(newest).is_some_and(|said| said < created)) {
        return None;
    }
    let said = one_line(newest.message.as_deref().unwrap_or_default());
    // Each try has the name of another pod.
    let said = said.split_once(" is forbidden: ").map_or(said.as_str(), |(_, reason)| reason).to_owned();
    let remedy = remedy(&said);
    Some(Reason::new(format!("its pods are refused ({said})"), remedy))
}

fn remedy(said: &str) -> String {
    if said.contains("exceeded quota") {
        return "wait until others of the namespace have ended, ask for less in `resources`, or have the ResourceQuota raised".to_owned();
    }
    if said.contains("service account") && said.contains(ACCOUNT) {
        return "`kubectl apply -k k8s/base` creates it".to_owned();
    }
    if said.contains("service account") {
        return "create the ServiceAccount, or correct `service_account` in `resources`".to_owned();
    }
    if said.contains("PriorityClass") {
        return "create the PriorityClass, or correct `priority_class` in `resources`".to_owned();
    }
    if said.contains("PodSecurity") {
        return "use another namespace, or have its Pod Security level changed".to_owned();
    }
    "they are tried again, ever less often; correct what stands there".to_owned()
}
