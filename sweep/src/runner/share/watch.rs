//! Whether a claim is still renewed, as far as this process saw. No two machines' clocks are compared.

use super::{RENEWALS, claim::Content};
use dataset::Location;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The claims of others as they were last seen.
#[derive(Default)]
pub(super) struct Watch {
    seen: HashMap<String, SeenClaim>,
}

struct SeenClaim {
    content: Content,
    last: Instant,
    unchanged: Duration,
}

impl Watch {
    /// Whether a claim was given back, or has not been renewed for as long as its owner would need to renew it [`RENEWALS`] times.
    pub(super) fn is_left(&mut self, at: &Location, content: &Content) -> bool {
        content.released || self.unchanged(at, content, Instant::now()) >= RENEWALS * every(content)
    }

    /// For how long a claim was seen not to change. Between two looks no more counts than two renewals: a storage that was away kept the owner
    /// from renewing, too.
    pub(super) fn unchanged(&mut self, at: &Location, content: &Content, now: Instant) -> Duration {
        let new = || SeenClaim { content: content.clone(), last: now, unchanged: Duration::ZERO };
        let seen = self.seen.entry(at.to_string()).or_insert_with(new);
        if seen.content != *content {
            *seen = new();
        }
        seen.unchanged += (now - seen.last).min(2 * every(content));
        seen.last = now;
        seen.unchanged
    }
}

/// The interval that a claim's owner promises, of at most a day.
pub(super) fn every(content: &Content) -> Duration {
    Duration::from_secs_f64(content.renewed_every.clamp(0.001, 86_400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(renewals: u64) -> Content {
        let text = format!(r#"{{"owner":"o","nonce":"n","renewals":{renewals},"renewed_every":10.0,"released":false}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn what_is_renewed_starts_anew_and_a_long_absence_counts_little() {
        let (mut watch, start) = (Watch::default(), Instant::now());
        let at = Location::parse("memory:///watch/1").unwrap();
        let mut after =
            |seconds: u64, renewals: u64| watch.unchanged(&at, &content(renewals), start + Duration::from_secs(seconds)).as_secs();
        assert_eq!((after(0, 0), after(9, 0), after(18, 0)), (0, 9, 18));
        assert_eq!((after(25, 1), after(35, 1)), (0, 10));
        assert_eq!((after(3_600, 1), after(3_615, 1)), (30, 45));
    }
}
