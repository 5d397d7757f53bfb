//! How long an API server that does not answer is waited for.

use super::ClientError;
use std::time::Duration;

/// Time between the first two questions that are not answered; doubled for each further one.
const FIRST: Duration = Duration::from_secs(1);
/// Longest time between two questions that are not answered.
const LONGEST: Duration = Duration::from_secs(60);
/// How often in a row credentials are refused before they are taken for wrong: roles arrive late at a server that has just started.
const REFUSALS: u32 = 6;

/// The questions in a row that were not answered.
#[derive(Debug, Default)]
pub(crate) struct Away {
    failures: u32,
    refusals: u32,
}

impl Away {
    /// An answer came.
    pub(crate) fn answered(&mut self) {
        if self.failures > 0 {
            tracing::info!(unanswered = self.failures, "the API server answers again");
        }
        *self = Self::default();
    }

    /// No answer came: how long to wait before the next question.
    ///
    /// # Errors
    /// The given one, where asking again would not help.
    pub(crate) fn failed(&mut self, error: ClientError) -> Result<Duration, ClientError> {
        self.refusals = if error.is_of_credentials() { self.refusals + 1 } else { 0 };
        if !error.is_transient() && (self.refusals == 0 || self.refusals == REFUSALS) {
            return Err(error);
        }
        if self.failures == 0 {
            tracing::warn!("{error}; this is asked again, at least once a minute, until it is answered; running pods do not mind");
        }
        let delay = FIRST.saturating_mul(1 << self.failures.min(6)).min(LONGEST);
        self.failures += 1;
        Ok(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::call::LIST_JOBS;

    fn unreachable() -> ClientError {
        ClientError::Unreachable { at: "here".to_owned(), reason: "refused".to_owned() }
    }

    fn forbidden() -> ClientError {
        ClientError::Forbidden { message: "no".to_owned() }
    }

    #[test]
    fn an_absent_server_is_asked_ever_less_often_and_never_given_up() {
        let mut away = Away::default();
        let delays: Vec<u64> = (0..9).map(|_| away.failed(unreachable()).unwrap().as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        away.answered();
        assert_eq!(away.failed(unreachable()).unwrap().as_secs(), 1);
    }

    #[test]
    fn refused_credentials_are_believed_after_a_while() {
        let mut away = Away::default();
        assert!((0..5).all(|_| away.failed(forbidden()).is_ok()));
        assert!(away.failed(forbidden()).is_err());
    }

    #[test]
    fn a_refused_question_is_not_asked_again() {
        let refused = |code| ClientError::Refused { call: LIST_JOBS, code, message: String::new() };
        assert!(Away::default().failed(refused(422)).is_err());
        assert!([500, 503, 429].iter().all(|code| Away::default().failed(refused(*code)).is_ok()));
    }
}
