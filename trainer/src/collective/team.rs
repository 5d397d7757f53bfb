//! The ranks of this process, a thread for each.

use crate::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{panic::resume_unwind, thread};

/// Has every seat's rank work, and returns what the first does.
///
/// A rank waits for the others within a parallel loop, so that it has threads of its own: an equal part of those that there are.
///
/// # Errors
/// When a rank fails. An error of its own goes before those of the ranks that lost it, and the lowest rank's before others.
///
/// # Panics
/// When a rank does.
pub(crate) fn run<S: Send, T: Send>(
    seats: Vec<S>,
    first: impl FnOnce(S) -> Result<T> + Send,
    other: impl Fn(S) -> Result<T> + Sync,
) -> Result<T> {
    let threads = (rayon::current_num_threads() / seats.len().max(1)).max(1);
    let mut seats = seats.into_iter();
    let Some(seat) = seats.next() else { return Err(Error::Ranks("there are none: expected at least 1".to_owned())) };
    let results: Vec<thread::Result<Result<T>>> = thread::scope(|scope| {
        let other = &other;
        let others: Vec<_> = seats.map(|seat| scope.spawn(move || pool(threads)?.install(|| other(seat)))).collect();
        let first = scope.spawn(move || pool(threads)?.install(|| first(seat)));
        std::iter::once(first).chain(others).map(|thread| thread.join()).collect()
    });
    let results: Vec<Result<T>> = results.into_iter().map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect();
    first_cause(results)
}

/// Threads of one rank.
fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Ranks(format!("no {threads} threads could be started for a rank: {error}")))
}

/// What the first rank returned, or the error that was first: those who lost a rank did not fail themselves.
fn first_cause<T>(results: Vec<Result<T>>) -> Result<T> {
    let is_cause = |result: &Result<T>| result.as_ref().is_err_and(|error| !matches!(error, Error::Collective { .. }));
    let at = results.iter().position(is_cause).or_else(|| results.iter().position(Result::is_err)).unwrap_or(0);
    results.into_iter().nth(at).expect("there is a first rank")
}

#[cfg(test)]
mod tests {
    use super::{super::threads::members, *};
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    /// Also where there are fewer threads than ranks.
    #[test]
    fn ranks_wait_for_each_other_on_any_number_of_threads() {
        for threads in [1, 3] {
            let sum = |member: super::super::threads::ThreadMember| {
                let all = member.exchange("ranks", vec![member.rank()])?;
                Ok(all.iter().map(|values| values[0]).sum::<u32>())
            };
            assert_eq!(pool(threads).unwrap().install(|| run(members(4, LONG), sum, sum)).unwrap(), 6);
        }
    }

    #[test]
    fn an_error_of_a_rank_s_own_is_returned_and_not_that_it_left() {
        let wait = |member: super::super::threads::ThreadMember| member.exchange("numbers", vec![0u8]).map(|_| ());
        let fail = |member: super::super::threads::ThreadMember| match member.rank() {
            2 => Err(Error::impossible("of its own")),
            _ => wait(member),
        };
        assert_eq!(run(members(4, LONG), wait, fail).unwrap_err().to_string(), "of its own");
    }

    #[test]
    fn a_panic_of_a_rank_is_the_team_s() {
        let wait = |member: super::super::threads::ThreadMember| member.exchange("numbers", vec![0u8]).map(|_| ());
        let panics = std::panic::catch_unwind(|| run(members(2, LONG), wait, |_| panic!("on purpose")));
        assert_eq!(panics.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
