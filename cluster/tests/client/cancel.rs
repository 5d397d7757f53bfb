use crate::{
    ask, drive_to_the_end, end_driver,
    fake::{Fake, submission, submitted},
    server, submit,
};
use cluster::{Resources, Submission, client::cancel, stages::Outcome};

/// Two sweeps: of one node for each trial, and of two.
fn sweeps() -> [Submission; 2] {
    let resources = Resources { nodes: 2, secret: Some("bucket".to_owned()), ..Resources::default() };
    [submission(), Submission { resources, ..submission() }]
}

fn is_empty(fake: &Fake) {
    for resource in ["jobs", "pods", "configmaps", "services", "networkpolicies"] {
        assert!(fake.with(|world| world.list(resource)).is_empty(), "{resource}");
    }
}

#[test]
fn all_that_is_on_the_cluster_goes_and_can_come_again() {
    for sweep in sweeps() {
        let fake = server();
        let hash = ask(&fake, async |cluster| submit(&cluster, &sweep, false).await).unwrap().hash;
        fake.with(|world| (0..4).for_each(|_| world.tick()));
        assert_eq!(ask(&fake, async |cluster| cancel(&cluster, "s", None).await).unwrap(), std::slice::from_ref(&hash));
        is_empty(&fake);
        assert_eq!(ask(&fake, async |cluster| cancel(&cluster, "s", None).await).unwrap(), [""; 0]);
        ask(&fake, async |cluster| submit(&cluster, &sweep, false).await).unwrap();
        assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
    }
}

#[test]
fn what_the_driver_does_not_own_goes_too() {
    for sweep in sweeps() {
        let fake = submitted(&sweep, false);
        ask(&fake, async |cluster| cancel(&cluster, "s", None).await).unwrap();
        is_empty(&fake);
    }
}

#[test]
fn one_submission_goes_and_the_other_stays() {
    let fake = server();
    let first = ask(&fake, async |cluster| submit(&cluster, &submission(), false).await).unwrap().hash;
    drive_to_the_end(&fake, &first);
    end_driver(&fake, &first, 0);
    let changed = Submission { meaning: "name: s, seeds: [2]".to_owned(), ..submission() };
    let second = ask(&fake, async |cluster| submit(&cluster, &changed, false).await).unwrap().hash;
    assert_eq!(ask(&fake, async |cluster| cancel(&cluster, "s", Some("0")).await).unwrap(), [""; 0]);
    assert_eq!(ask(&fake, async |cluster| cancel(&cluster, "s", Some(&first)).await).unwrap(), std::slice::from_ref(&first));
    let jobs = fake.with(|world| world.list("jobs"));
    assert!(jobs.len() == 4 && jobs.iter().all(|job| job["metadata"]["name"].as_str().unwrap().contains(&second)));
}

#[test]
fn pods_that_do_not_stop_are_named_by_what_finds_them() {
    let fake = server();
    let hash = ask(&fake, async |cluster| submit(&cluster, &submission(), false).await).unwrap().hash;
    fake.with(|world| {
        (0..3).for_each(|_| world.tick());
        world.lose_node(&format!("s-{hash}-drive-0-0"));
    });
    let error = ask(&fake, async |cluster| cancel(&cluster, "s", None).await).unwrap_err().to_string();
    let words = format!("`kubectl get pods --namespace team --selector ranksweep.dev/submission={hash}` shows them");
    assert!(error.contains(&words), "{error}");
}
