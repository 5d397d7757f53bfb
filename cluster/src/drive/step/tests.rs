use super::*;

const RUNNING: State = State::Running { active: 1, done: 0, of: 1 };

fn job(name: &str, order: usize, started: bool, state: State) -> SeenJob {
    SeenJob { name: name.to_owned(), order, is_one_trial: false, queue: None, started, state }
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

#[test]
fn jobs_of_one_stage_start_together() {
    let jobs = [job("t0", 0, true, RUNNING), job("t1", 0, false, State::Suspended), job("t2", 0, false, State::Suspended)];
    let starts = |action: &&Action| matches!(action, Action::Unsuspend(_));
    assert_eq!(step(&jobs).iter().filter(starts).count(), 2);
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
    assert_eq!(step(&jobs), [Action::Wait(Pause::Suspended("train".to_owned()))]);
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
