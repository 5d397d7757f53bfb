//! Refusals: one line each, and nothing is created.

use crate::{
    ask,
    fake::{Fake, submission},
    server, submit,
};
use cluster::{
    Submission,
    client::{ClientError, call},
};
use std::time::Duration;
use tokio::runtime::Builder;

fn refusal(fake: &Fake, submission: &Submission) -> String {
    let error = ask(fake, async |cluster| submit(&cluster, submission, false).await).unwrap_err();
    fake.with(|world| assert!(world.list("jobs").is_empty() && world.list("configmaps").is_empty(), "{error}"));
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

#[test]
fn a_namespace_that_forbids_the_pods() {
    let fake = server();
    let violation = "would violate PodSecurity \"restricted:latest\": runAsNonRoot != true (container \"ranksweep\" must set it)";
    fake.with(|world| world.forbids_pods = Some(violation.to_owned()));
    let text = refusal(&fake, &submission());
    assert!(text.starts_with(&format!("namespace `team` forbids the sweep's pods: {violation}; ")), "{text}");
}

#[test]
fn an_unreachable_server() {
    let fake = server();
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    for (hangs, reason) in [(false, "connection refused"), (true, "no answer within 30 s")] {
        let error = runtime.block_on(async {
            fake.with(|world| world.go_away(Duration::from_secs(600), hangs));
            submit(&fake.cluster(&call::USER), &submission(), false).await.unwrap_err()
        });
        assert_eq!(
            error.to_string(),
            format!("cannot reach the Kubernetes API at http://fake: {reason}; check the network and the kubeconfig's current context")
        );
    }
}

#[test]
fn a_role_that_is_not_enough() {
    let fake = server();
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let error = runtime.block_on(async { submit(&fake.cluster(&call::DRIVER), &submission(), false).await.unwrap_err() });
    let words = "cannot create resource \"jobs\" in API group \"batch\" in the namespace \"team\"; \
                 ask its administrator for a role that allows this";
    assert!(error.to_string().ends_with(words), "{error}");
    fake.with(|world| assert!(world.list("jobs").is_empty()));
}

#[test]
fn a_namespace_that_does_not_exist() {
    let fake = server();
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let error = runtime.block_on(async { submit(&fake.cluster_in("elsewhere"), &submission(), false).await.unwrap_err() });
    assert!(matches!(&error, ClientError::NoNamespace { namespace, .. } if namespace == "elsewhere"), "{error}");
    assert!(error.to_string().starts_with("namespace `elsewhere` does not exist at http://fake; create it"), "{error}");
}

#[test]
fn what_no_objects_can_be_made_of() {
    let fake = server();
    let text = refusal(&fake, &Submission { name: "Softmax_1".to_owned(), ..submission() });
    assert!(text.starts_with("`Softmax_1` cannot name objects of Kubernetes"), "{text}");
    let text = refusal(&fake, &Submission { text: "#".repeat(1_048_577), ..submission() });
    assert!(text.contains("1048577 bytes"), "{text}");
    assert!(fake.with(|world| world.calls.is_empty()), "known before anything is asked");
}
