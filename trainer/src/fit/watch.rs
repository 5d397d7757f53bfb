//! What bounds one call of a training, and when its state is to be written.

use crate::fit::Resources;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// Looks at the flag and at the clock after each step: a relaxed load, and the time only where a limit or a schedule asks for it.
pub(crate) struct Watch<'a> {
    interrupt: Option<&'a AtomicBool>,
    checkpoint_every: Option<Duration>,
    time_limit: Option<Duration>,
    start: Instant,
    /// Seconds of training in earlier calls.
    before: f64,
    written: Instant,
}

/// What has to be done before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Write the state and leave.
    Interrupt,
    /// Write the state and leave: so much time was given.
    TimeLimit(Duration),
    /// Write the state and go on.
    Checkpoint,
}

impl<'a> Watch<'a> {
    /// Watches a training from now on, after so many seconds of it in earlier calls.
    pub(crate) fn new(resources: &Resources<'a>, before: f64) -> Self {
        let Resources { interrupt, checkpoint_every, time_limit, .. } = *resources;
        Self { interrupt, checkpoint_every, time_limit, start: Instant::now(), before, written: Instant::now() }
    }

    /// Seconds of training in all.
    pub(crate) fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    /// Whether the time limit is over and a state of so many seconds says that it is not, which no later state would correct.
    pub(crate) fn is_over_since(&self, seconds: f64) -> bool {
        self.time_limit.is_some_and(|limit| seconds < limit.as_secs_f64() && self.seconds() >= limit.as_secs_f64())
    }

    /// The state has been written.
    pub(crate) fn wrote(&mut self) {
        self.written = Instant::now();
    }

    /// What is due; an interrupt before all else.
    pub(crate) fn due(&self) -> Option<Due> {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Due::Interrupt);
        }
        if let Some(limit) = self.time_limit.filter(|limit| self.seconds() >= limit.as_secs_f64()) {
            return Some(Due::TimeLimit(limit));
        }
        self.checkpoint_every.filter(|every| self.written.elapsed() >= *every).map(|_| Due::Checkpoint)
    }
}

impl Due {
    /// The number that stands for what is due, above 0.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Interrupt => 1,
            Self::TimeLimit(_) => 2,
            Self::Checkpoint => 3,
        }
    }

    /// What a number stands for, under such a time limit; nothing for 0.
    pub(crate) fn of_code(code: u8, time_limit: Option<Duration>) -> Option<Self> {
        match code {
            1 => Some(Self::Interrupt),
            2 => time_limit.map(Self::TimeLimit),
            3 => Some(Self::Checkpoint),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_promises_time_which_is_over_is_known() {
        let limited = |limit: Option<u64>| Resources { time_limit: limit.map(Duration::from_secs), ..Resources::new(1 << 20) };
        let since = |limit: Option<u64>, seconds: f64| Watch::new(&limited(limit), 10.0).is_over_since(seconds);
        assert!(since(Some(10), 9.99), "ten seconds of training are over");
        assert!(!since(Some(10), 10.0), "the state says so itself");
        assert!(!since(Some(3600), 9.99) && !since(None, 9.99), "there is time left");
    }
}
