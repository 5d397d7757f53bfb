//! `training.checkpoint_minutes` and `training.time_limit_minutes`: of a run, not of its trials' identity.

use super::{error::Result, fields::Fields};
use std::time::Duration;

/// When a training leaves its state, and when it has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The state is written when so much time has passed since it was last written; 10 minutes when left out.
    pub checkpoint_every: Duration,
    /// The longest training of one trial; none when left out.
    pub time_limit: Option<Duration>,
}

impl Default for Timing {
    fn default() -> Self {
        Self { checkpoint_every: Duration::from_secs(600), time_limit: None }
    }
}

/// The keys.
pub(super) const KEYS: [&str; 2] = ["checkpoint_minutes", "time_limit_minutes"];

/// More minutes than in a year are a slip.
const MOST: f64 = 527_040.0;

impl Timing {
    pub(super) fn read(training: &Fields<'_>) -> Result<Self> {
        let [checkpoint, limit] = KEYS.map(|key| minutes(training, key));
        Ok(Self { checkpoint_every: checkpoint?.unwrap_or(Self::default().checkpoint_every), time_limit: limit? })
    }
}

fn minutes(fields: &Fields<'_>, key: &str) -> Result<Option<Duration>> {
    let Some(node) = fields.get(key) else { return Ok(None) };
    match node.read::<Option<f64>>()? {
        None => Ok(None),
        Some(minutes) if minutes > 0.0 && minutes <= MOST => Ok(Some(Duration::from_secs_f64(60.0 * minutes))),
        Some(minutes) => Err(node.place.error(format!("expected minutes above 0 and up to {MOST}, found {minutes}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SweepFile;

    fn read(training: &str) -> Result<Timing> {
        let text = format!(
            "name: s\ndatasets: [{{name: d, source: {{format: synthetic}}}}]\ngrid: [{{backbones: [{{kind: popularity}}]}}]\n{training}"
        );
        Ok(SweepFile::parse(&text, "s.yaml")?.timing)
    }

    #[test]
    fn minutes_are_times() {
        let timing = |checkpoint, limit: Option<f64>| Timing {
            checkpoint_every: Duration::from_secs_f64(checkpoint),
            time_limit: limit.map(Duration::from_secs_f64),
        };
        assert_eq!(read("").unwrap(), timing(600.0, None));
        assert_eq!(read("training: {epochs: 3}").unwrap(), timing(600.0, None));
        assert_eq!(read("training: {checkpoint_minutes: 0.5, time_limit_minutes: 90}").unwrap(), timing(30.0, Some(5400.0)));
        assert_eq!(read("training: {time_limit_minutes: ~}").unwrap(), timing(600.0, None));
    }

    #[test]
    fn other_numbers_are_refused() {
        let message = |training: &str| read(training).unwrap_err().to_string();
        assert_eq!(
            message("training: {checkpoint_minutes: 0}"),
            "s.yaml:4:32: training.checkpoint_minutes: expected minutes above 0 and up to 527040, found 0"
        );
        assert!(message("training: {time_limit_minutes: .nan}").contains("expected a number"));
        assert!(message("training: {time_limit_minutes: -1}").contains("found -1"));
        assert!(message("training: {time_limit_minute: 5}").contains("did you mean `time_limit_minutes`?"));
    }
}
