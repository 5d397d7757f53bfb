use crate::{
    ask, drive_to_the_end,
    fake::{submission, submitted},
    server, submit,
};
use cluster::{Resources, Submission, client::cancel, drive::Outcome};

#[test]
fn all_that_is_on_the_cluster_goes_and_can_come_again() {
    let several_nodes = Submission { resources: Resources { nodes: 2, ..Resources::default() }, ..submission() };
    for sweep in [submission(), several_nodes] {
        let fake = server();
        let hash = ask(&fake, async |cluster| submit(&cluster, &sweep, false).await).unwrap().hash;
        fake.with(|world| (0..4).for_each(|_| world.tick()));
        assert_eq!(ask(&fake, async |cluster| cancel(&cluster, "s").await).unwrap(), std::slice::from_ref(&hash));
        for resource in ["jobs", "pods", "configmaps", "services"] {
            assert!(fake.with(|world| world.list(resource)).is_empty(), "{resource}");
        }
        assert_eq!(ask(&fake, async |cluster| cancel(&cluster, "s").await).unwrap(), [""; 0]);
        ask(&fake, async |cluster| submit(&cluster, &sweep, false).await).unwrap();
        assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
    }
}

#[test]
fn what_the_driver_does_not_own_goes_too() {
    let fake = submitted(&submission(), false);
    ask(&fake, async |cluster| cancel(&cluster, "s").await).unwrap();
    assert!(fake.with(|world| world.list("jobs")).is_empty() && fake.with(|world| world.list("configmaps")).is_empty());
}
