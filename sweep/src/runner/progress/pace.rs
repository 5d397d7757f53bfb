//! How long the rest of a bar will take, by what was done since it began. What had been done before and was only found took no time, and
//! says nothing of what is left.

use indicatif::{HumanDuration, ProgressBar, ProgressState};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Steps that were done here, and when.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    begun: Instant,
    done: Arc<Mutex<Done>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Done {
    steps: u32,
    /// Time from the beginning to the end of the last step.
    spent: Duration,
}

impl Pace {
    /// The pace of a bar that begins now, and shows `{left}`.
    pub(super) fn of(bar: Option<&ProgressBar>) -> Self {
        let pace = Self { begun: Instant::now(), done: Arc::default() };
        if let Some(bar) = bar {
            let shown = pace.clone();
            bar.set_style(bar.style().with_key("left", move |state: &ProgressState, out: &mut dyn fmt::Write| shown.show(state, out)));
        }
        pace
    }

    /// A step was done, and not found.
    pub(super) fn step(&self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done = Done { steps: done.steps + 1, spent: self.begun.elapsed() };
    }

    /// The time that so many steps will take from now on; `None` before the first step was done.
    pub(super) fn left(&self, steps: u32) -> Option<Duration> {
        let done = *self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.left(steps, self.begun.elapsed())
    }

    fn show(&self, state: &ProgressState, out: &mut dyn fmt::Write) {
        let steps = state.len().unwrap_or_default().saturating_sub(state.pos());
        let _ = match self.left(steps as u32) {
            Some(left) => write!(out, "{:#}", HumanDuration(left)),
            None => out.write_char('?'), // a bar takes all text
        };
    }
}

impl Done {
    /// The time that so many steps will take, so long after the beginning; `None` before the first step was done.
    fn left(self, steps: u32, since: Duration) -> Option<Duration> {
        let each = self.spent.checked_div(self.steps)?;
        Some((each * steps).saturating_sub(since.saturating_sub(self.spent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_takes_the_mean_of_those_before_it() {
        let done = Done { steps: 2, spent: Duration::from_secs(20) };
        assert_eq!(done.left(3, Duration::from_secs(24)), Some(Duration::from_secs(26)));
        assert_eq!(done.left(1, Duration::from_secs(34)), Some(Duration::ZERO), "the step takes longer than those before it");
    }

    #[test]
    fn nothing_is_known_before_a_step_was_done() {
        assert_eq!(Done::default().left(5, Duration::from_secs(60)), None);
        let pace = Pace::of(None);
        assert_eq!(pace.left(5), None);
        pace.step();
        assert!(pace.left(5).is_some());
    }
}
