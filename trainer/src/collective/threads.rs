//! Ranks that are threads of one process: each lays its values into a slot, and the last one to come completes the round.
//!
//! A rank that leaves, by an error or a panic, ends the round for those who wait: dropping a [`ThreadMember`] is leaving.

use crate::{Error, Result};
use std::{
    any::Any,
    cell::Cell,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// One rank's seat.
pub(crate) struct ThreadMember {
    rank: u32,
    limit: Duration,
    table: Arc<ExchangeTable>,
    /// Epoch and step.
    place: Cell<(u32, u32)>,
}

/// What the ranks share.
struct ExchangeTable {
    state: Mutex<State>,
    changed: Condvar,
}

/// The round under way.
struct State {
    round: u64,
    /// What each rank has brought to it.
    slots: Vec<Option<Brought>>,
    /// What all brought to the round before.
    last: Vec<Values>,
    /// Why no round is completed any more.
    broken: Option<String>,
}

/// An `Arc<Vec<T>>`, the same T of all ranks.
type Values = Arc<dyn Any + Send + Sync>;

struct Brought {
    what: String,
    place: (u32, u32),
    values: Values,
}

/// The seats of so many ranks, each of which waits no longer than the limit for the others.
pub(crate) fn members(ranks: u32, limit: Duration) -> Vec<ThreadMember> {
    let slots = (0..ranks).map(|_| None).collect();
    let state = Mutex::new(State { round: 0, slots, last: Vec::new(), broken: None });
    let table = Arc::new(ExchangeTable { state, changed: Condvar::new() });
    let member = |rank| ThreadMember { rank, limit, table: table.clone(), place: Cell::new((0, 0)) };
    (0..ranks).map(member).collect()
}

impl ThreadMember {
    /// This rank's number, from 0.
    pub(crate) fn rank(&self) -> u32 {
        self.rank
    }

    /// How many ranks there are.
    pub(crate) fn ranks(&self) -> u32 {
        self.table.lock().slots.len() as u32
    }

    /// Says where the training is.
    pub(crate) fn at(&self, epoch: u32, step: u32) {
        self.place.set((epoch, step));
    }

    /// Epoch and step, as it was told.
    pub(crate) fn place(&self) -> (u32, u32) {
        self.place.get()
    }

    /// Why no rank need be waited for any more, once that is so.
    #[cfg(any(test, feature = "nccl"))]
    pub(crate) fn lost(&self) -> Option<String> {
        self.table.lock().broken.clone()
    }

    /// Gives its values to the other ranks and takes theirs: those of all, in the order of the ranks.
    ///
    /// # Errors
    /// [`Error::Collective`] when not all come, or they bring different things.
    pub(crate) fn exchange<T: Send + Sync + 'static>(&self, what: &str, values: Vec<T>) -> Result<Vec<Arc<Vec<T>>>> {
        let error = |reason: String| {
            let (epoch, step) = self.place();
            Error::Collective { rank: self.rank, epoch, step, operation: what.to_owned(), reason }
        };
        let all = self.meet(Brought { what: what.to_owned(), place: self.place(), values: Arc::new(values) }).map_err(error)?;
        let typed = |values: Values| values.downcast().map_err(|_| error("the ranks brought numbers of different kinds".to_owned()));
        all.into_iter().map(typed).collect()
    }

    /// Brings something to the round and waits for its end.
    fn meet(&self, brought: Brought) -> Result<Vec<Values>, String> {
        let mut state = self.table.lock();
        if let Some(reason) = &state.broken {
            return Err(reason.clone());
        }
        let (round, what) = (state.round, brought.what.clone());
        state.slots[self.rank as usize] = Some(brought);
        if state.slots.iter().all(Option::is_some) {
            state.complete();
            self.table.changed.notify_all();
        } else {
            let waits = |state: &mut State| state.round == round && state.broken.is_none();
            state = self.table.changed.wait_timeout_while(state, self.limit, waits).unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.round > round {
            return Ok(state.last.clone());
        }
        let reason = state.broken.clone().unwrap_or_else(|| {
            let reason = format!("rank {} waited {:?} for {} in `{what}`", self.rank, self.limit, state.missing());
            state.broken = Some(reason.clone());
            reason
        });
        self.table.changed.notify_all();
        Err(reason)
    }
}

impl Drop for ThreadMember {
    /// Leaves; whoever waits for this rank waits no longer.
    fn drop(&mut self) {
        let how = if std::thread::panicking() { "panicked" } else { "left" };
        let (epoch, step) = self.place();
        let mut state = self.table.lock();
        state.broken.get_or_insert_with(|| format!("rank {} {how} at epoch {epoch}, step {step}", self.rank));
        self.table.changed.notify_all();
    }
}

impl ExchangeTable {
    /// No one panics while holding it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// All have come: the next round may begin, if they came for the same.
    fn complete(&mut self) {
        let all: Vec<Brought> = self.slots.iter_mut().filter_map(Option::take).collect();
        let calls = || all.iter().map(|brought| (&brought.what, brought.place));
        if calls().all(|call| Some(call) == calls().next()) {
            self.last = all.into_iter().map(|brought| brought.values).collect();
            self.round += 1;
            return;
        }
        let each =
            calls().enumerate().map(|(rank, (what, (epoch, step)))| format!("rank {rank} with `{what}` at epoch {epoch}, step {step}"));
        self.broken = Some(format!("the ranks are out of step: {}", each.collect::<Vec<_>>().join("; ")));
    }

    /// Those who have not come, in words.
    fn missing(&self) -> String {
        let missing = self.slots.iter().enumerate().filter(|(_, slot)| slot.is_none()).map(|(rank, _)| format!("rank {rank}"));
        missing.collect::<Vec<_>>().join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const LONG: Duration = Duration::from_secs(60);

    fn reason(result: Result<impl Sized>) -> String {
        match result {
            Err(Error::Collective { reason, .. }) => reason,
            Err(error) => error.to_string(),
            Ok(_) => "no error".to_owned(),
        }
    }

    /// Every rank in a thread of its own.
    fn each<T: Send>(members: Vec<ThreadMember>, work: impl Fn(ThreadMember) -> T + Sync) -> Vec<thread::Result<T>> {
        thread::scope(|scope| {
            let threads: Vec<_> = members.into_iter().map(|member| scope.spawn(|| work(member))).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        })
    }

    #[test]
    fn values_come_in_the_order_of_the_ranks_again_and_again() {
        let found = each(members(4, LONG), |member| {
            let round = |round: u32| {
                let values = vec![10 * round + member.rank(); member.rank() as usize];
                member.exchange("numbers", values).unwrap().iter().map(|values| values.to_vec()).collect::<Vec<_>>()
            };
            (0..200).map(round).collect::<Vec<_>>()
        });
        let expected = |round: u32| (0..4u32).map(|rank| vec![10 * round + rank; rank as usize]).collect::<Vec<_>>();
        let expected: Vec<_> = (0..200).map(expected).collect();
        assert!(found.into_iter().all(|found| found.unwrap() == expected));
    }

    #[test]
    fn a_rank_that_panics_or_leaves_ends_the_round_for_all() {
        for (panics, expected) in [(true, "rank 2 panicked at epoch 3, step 7"), (false, "rank 2 left at epoch 3, step 7")] {
            let found = each(members(3, LONG), |member| {
                member.at(3, 7);
                assert!(!(panics && member.rank() == 2), "on purpose");
                if member.rank() == 2 { "gone".to_owned() } else { reason(member.exchange("numbers", vec![1u8])) }
            });
            assert_eq!(found[2].is_err(), panics);
            assert!(found[..2].iter().all(|found| found.as_ref().unwrap() == expected), "{found:?}");
        }
    }

    /// The third rank comes only when the other two have given up, so that no time decides.
    #[test]
    fn a_rank_that_hangs_is_waited_for_no_longer_than_the_limit() {
        let mut members = members(3, Duration::from_millis(20));
        let late = members.pop().unwrap();
        let found: Vec<String> =
            each(members, |member| reason(member.exchange("losses", vec![1u8]))).into_iter().map(|found| found.unwrap()).collect();
        assert!(found.iter().all(|found| found.contains("waited 20ms for rank 2") && found.contains("`losses`")), "{found:?}");
        assert_eq!(late.lost().as_ref(), Some(&found[0]));
        assert_eq!(reason(late.exchange("losses", vec![1u8])), found[0]);
    }

    #[test]
    fn ranks_that_are_out_of_step_are_told_so() {
        let found = each(members(2, LONG), |member| {
            member.at(1, 4 + member.rank());
            reason(member.exchange("losses", vec![0.0f32]))
        });
        let expected = "the ranks are out of step: rank 0 with `losses` at epoch 1, step 4; rank 1 with `losses` at epoch 1, step 5";
        assert!(found.iter().all(|found| found.as_ref().unwrap() == expected), "{found:?}");
    }
}
