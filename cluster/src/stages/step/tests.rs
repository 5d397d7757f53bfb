use super::*;
use crate::stages::Indexes;

const RUNNING: State = State::Running { active: 1, ready: 1, done: 0, of: 1 };

fn job(name: &str, order: usize, started: bool, state: State) -> SeenJob {
    let (is_one_trial, has_batches, queue, at_once, is_stuck, is_held) = (false, false, None, u32::MAX, false, false);
    let namespace = "team".to_owned();
    let (name, indexes) = (name.to_owned(), Indexes::default());
    SeenJob { name, namespace, order, is_one_trial, has_batches, queue, started, at_once, is_stuck, is_held, state, indexes }
}

/// Prepare, train and evaluate; those before the last begun were started.
fn sweep(states: [State; 3]) -> Vec<SeenJob> {
    let names = ["prepare", "train", "evaluate"];
    let begun = |state: &State| !matches!(state, State::Suspended | State::Missing { .. });
    names.iter().zip(states).enumerate().map(|(order, (name, state))| job(name, order, begun(&state), state)).collect()
}

fn failed(reason: &str, message: &str, indexes: u32) -> State {
    State::Failed(Failure { reason: reason.to_owned(), message: message.to_owned(), indexes })
}

fn of_indexes(count: u32) -> State {
    failed("FailedIndexes", "Job has failed indexes", count)
}

#[test]
fn stages_are_unsuspended_one_after_the_other() {
    use State::{Done, Suspended};
    assert_eq!(step(&sweep([Suspended, Suspended, Suspended])), [Action::Unsuspend("prepare".to_owned())]);
    let runs = Pause::Runs { job: "prepare".to_owned(), active: 1, done: 0, of: 1 };
    assert_eq!(step(&sweep([RUNNING, Suspended, Suspended])), [Action::Wait(runs)]);
    assert_eq!(step(&sweep([Done, Suspended, Suspended])), [Action::Unsuspend("train".to_owned())]);
    assert_eq!(step(&sweep([Done, Done, Suspended])), [Action::Unsuspend("evaluate".to_owned())]);
    assert_eq!(step(&sweep([Done, Done, Done])), [Action::Finish(Outcome::Done)]);
}

#[test]
fn failed_indexes_go_on_and_are_reported() {
    use State::{Done, Suspended};
    assert_eq!(step(&sweep([Done, of_indexes(2), Suspended])), [Action::Unsuspend("evaluate".to_owned())]);
    assert_eq!(step(&sweep([Done, of_indexes(2), Done])), [Action::Finish(Outcome::FailedTrials(2))]);
    let rungs = [job("r0", 0, true, of_indexes(1)), job("r1", 1, true, of_indexes(2)), job("e", 2, true, Done)];
    assert_eq!(step(&rungs), [Action::Finish(Outcome::FailedTrials(3))]);
}

#[test]
fn a_stage_that_fails_as_a_whole_is_the_end() {
    let message = "Container c for pod n/p failed with exit code 2 matching FailJob rule at index 1";
    for state in
        [failed("PodFailurePolicy", message, 1), failed("BackoffLimitExceeded", "too often", 0), failed("DeadlineExceeded", "late", 0)]
    {
        let State::Failed(failure) = state.clone() else { unreachable!() };
        let end = Outcome::Failed { job: "train".to_owned(), failure };
        assert_eq!(step(&sweep([State::Done, state, State::Suspended])), [Action::Finish(end)]);
    }
}

#[test]
fn a_group_of_pods_that_fails_is_one_trial() {
    let one = |name: &str, state: State| SeenJob { is_one_trial: true, ..job(name, 1, true, state) };
    let other = "Container c for pod n/p failed with exit code 42 matching FailJob rule at index 1";
    let jobs = |last: State| {
        let group = [one("t0", failed("PodFailurePolicy", other, 0)), one("t1", failed("BackoffLimitExceeded", "", 0)), one("t2", last)];
        let mut jobs = vec![job("prepare", 0, true, State::Done)];
        jobs.extend(group);
        jobs.push(job("evaluate", 2, false, State::Suspended));
        jobs
    };
    let runs = Pause::Runs { job: "t2".to_owned(), active: 1, done: 0, of: 1 };
    assert_eq!(step(&jobs(RUNNING)), [Action::Wait(runs)]);
    assert_eq!(step(&jobs(State::Done)), [Action::Unsuspend("evaluate".to_owned())]);
    let bad = failed("PodFailurePolicy", &other.replace("42", "2"), 0);
    assert!(matches!(step(&jobs(bad))[..], [Action::Finish(Outcome::Failed { .. })]));
    assert_eq!(step(&jobs(State::Suspended)[..3]), [Action::Finish(Outcome::FailedTrials(2))]);
}

/// Trials over two nodes, of which at most three run at once; each with how many of its pods run, or none that was not started.
fn gangs(ready: [Option<u32>; 4]) -> Vec<SeenJob> {
    let state = |ready: Option<u32>| ready.map_or(State::Suspended, |ready| State::Running { active: 2, ready, done: 0, of: 2 });
    let gang = |(place, ready): (usize, Option<u32>)| SeenJob {
        is_one_trial: true,
        at_once: 3,
        ..job(&format!("t{place}"), 0, ready.is_some(), state(ready))
    };
    ready.into_iter().enumerate().map(gang).collect()
}

/// The Jobs that are started, and those that are suspended.
fn changed(jobs: &[SeenJob]) -> (Vec<String>, Vec<String>) {
    let (mut started, mut suspended) = (Vec::new(), Vec::new());
    for action in step(jobs) {
        match action {
            Action::Unsuspend(job) | Action::Label { job, .. } => started.push(job),
            Action::Suspend(job) => suspended.push(job),
            Action::Wait(_) => {}
            Action::Finish(outcome) => panic!("{outcome}"),
        }
    }
    (started, suspended)
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).into()
}

#[test]
fn one_gang_at_a_time_gets_its_nodes() {
    assert_eq!(changed(&gangs([None; 4])), (names(["t0"]), names([])));
    assert_eq!(changed(&gangs([Some(1), None, None, None])), (names([]), names([])), "half of it has no node");
    assert_eq!(changed(&gangs([Some(2), None, None, None])), (names(["t1"]), names([])));
    assert_eq!(changed(&gangs([Some(2), Some(2), Some(2), None])), (names([]), names([])), "parallelism is 3");
    let turn = Action::Wait(Pause::Turn { waiting: 1, at_once: 3 });
    assert!(step(&gangs([Some(2), Some(2), Some(2), None])).contains(&turn));
}

#[test]
fn a_gang_that_gets_no_nodes_gives_way() {
    let with = |ready, stuck: usize, held: usize| {
        let mut jobs = gangs(ready);
        (jobs[stuck].is_stuck, jobs[held].is_held) = (true, true);
        jobs
    };
    assert_eq!(changed(&with([Some(2), Some(1), None, None], 1, 3)), (names([]), names(["t1"])));
    assert_eq!(changed(&with([Some(1), Some(1), None, None], 0, 3)), (names([]), names(["t0"])));
    assert_eq!(changed(&with([Some(1), None, None, None], 0, 3)), (names([]), names([])), "nobody is there to give way to");
    // It is not started again while another runs that was there before.
    assert_eq!(changed(&with([Some(2), None, None, None], 0, 1)), (names(["t2"]), names([])));
    assert_eq!(changed(&with([None, None, None, None], 3, 0)), (names(["t0"]), names([])));
}

#[test]
fn gangs_of_a_queue_are_placed_by_kueue() {
    let mut jobs = gangs([Some(1), None, None, None]);
    jobs.iter_mut().for_each(|job| job.queue = Some("gpus".to_owned()));
    assert_eq!(changed(&jobs), (names(["t1", "t2"]), names([])));
}

#[test]
fn kueue_owns_the_suspension_of_its_jobs() {
    let queue = || Some("gpus".to_owned());
    let with = |started: bool, state: State| [SeenJob { queue: queue(), ..job("train", 0, started, state) }];
    let label = Action::Label { job: "train".to_owned(), queue: "gpus".to_owned() };
    assert_eq!(step(&with(false, State::Suspended)), [label]);
    let queued = Pause::Queued { job: "train".to_owned(), queue: "gpus".to_owned() };
    assert_eq!(step(&with(true, State::Suspended)), [Action::Wait(queued)]);
    assert!(matches!(step(&with(true, RUNNING))[..], [Action::Wait(Pause::Runs { .. })]));
}

#[test]
fn what_somebody_suspended_is_left_alone() {
    let jobs = [job("train", 0, true, State::Suspended)];
    let pause = Pause::Suspended { job: "train".to_owned(), namespace: "team".to_owned() };
    let hint = "`kubectl patch job train --namespace team --patch '{\"spec\":{\"suspend\":false}}'` goes on";
    assert!(pause.to_string().ends_with(hint), "{pause}");
    assert_eq!(step(&jobs), [Action::Wait(pause)]);
}

#[test]
fn a_missing_job_is_waited_for_and_then_the_end() {
    use State::{Done, Missing, Suspended};
    let gone = || Action::Finish(Outcome::Gone("train".to_owned()));
    let waits = || Action::Wait(Pause::Missing("train".to_owned()));
    assert_eq!(step(&sweep([Done, Missing { overdue: false }, Suspended])), [waits()]);
    assert_eq!(step(&sweep([Done, Missing { overdue: true }, Suspended])), [gone()]);
    // Not before it is due.
    assert!(matches!(step(&sweep([RUNNING, Missing { overdue: true }, Suspended]))[..], [Action::Wait(Pause::Runs { .. })]));
    // Nor after: somebody cleaned up behind the sweep.
    assert!(matches!(step(&sweep([Done, Missing { overdue: true }, RUNNING]))[..], [Action::Wait(Pause::Runs { .. })]));
    assert_eq!(step(&sweep([Missing { overdue: true }, Missing { overdue: true }, Done])), [Action::Finish(Outcome::Done)]);
}
