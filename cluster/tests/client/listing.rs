//! `list`: the sweeps of a namespace.

use crate::{
    ask, drive_to_the_end, end_driver,
    fake::{Act, Fake, submission},
    server, submit,
};
use cluster::{
    Submission,
    client::{Listed, list},
};

fn listed(fake: &Fake) -> Vec<Listed> {
    ask(fake, async |cluster| list(&cluster).await).unwrap()
}

#[test]
fn every_submission_is_listed_with_how_far_it_is() {
    let fake = server();
    assert_eq!(listed(&fake), []);
    let first = ask(&fake, async |cluster| submit(&cluster, &submission(), false).await).unwrap().hash;
    let states = |fake: &Fake| listed(fake).into_iter().map(|one| (one.sweep, one.state)).collect::<Vec<_>>();
    assert_eq!(states(&fake), [("s".to_owned(), "prepare waits for its turn".to_owned())]);
    fake.with(|world| world.pods(|run| if run.job.ends_with("drive") { Act::Run } else { Act::Exit(42 * u8::from(run.index == 2)) }));
    drive_to_the_end(&fake, &first);
    end_driver(&fake, &first, 42);
    let other = Submission { name: "other".to_owned(), meaning: "name: other".to_owned(), ..submission() };
    ask(&fake, async |cluster| submit(&cluster, &other, false).await).unwrap();
    let all = listed(&fake);
    assert_eq!(all.iter().map(|one| (one.sweep.as_str(), one.ended)).collect::<Vec<_>>(), [("other", false), ("s", true)]);
    assert_eq!((all[1].state.as_str(), &all[1].submission), ("done, but for 1 trial", &first));
    assert_eq!(all[1].ttl_seconds_after_finished, Some(604_800));
}
