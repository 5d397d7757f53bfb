//! The URL of a scheduler: `df://host:50050`, or `df://host:50050?partitions=64`.

use std::{fmt, str::FromStr};
use url::Url;

/// The port of Ballista's schedulers.
pub(crate) const PORT: u16 = 50_050;
/// The parts that relations are cut into, where the URL says nothing: as many tasks run at once at most.
const PARTITIONS: usize = 16;
/// More parts are a slip: each is a file of each part that it is shuffled from.
const MOST_PARTITIONS: usize = 4096;
/// Seconds that a step may be given: a month.
const LONGEST_STEP: usize = 2_678_400;

/// Where a scheduler listens, and how work is cut for its executors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) partitions: usize,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = |reason: String| {
            format!("`{text}` is no scheduler's URL: {reason} (expected df://host:50050 or df://host:50050?partitions=64)")
        };
        let url = Url::parse(text).map_err(|error| refuse(error.to_string()))?;
        if url.scheme() != "df" {
            return Err(refuse(format!("its scheme is `{}`", url.scheme())));
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| refuse("it has no host".to_owned()))?;
        if !matches!(url.path(), "" | "/") {
            return Err(refuse(format!("it has the path `{}`", url.path())));
        }
        let mut partitions = PARTITIONS;
        for (key, value) in url.query_pairs() {
            let within = |most: usize| value.parse().ok().filter(|number| (1..=most).contains(number));
            let parsed = match key.as_ref() {
                "partitions" => within(MOST_PARTITIONS).inspect(|&count| partitions = count),
                // The client reads it, and how long it waits is its own matter.
                "step_seconds" => within(LONGEST_STEP),
                _ => None,
            };
            parsed.ok_or_else(|| {
                refuse(format!(
                    "it says `{key}={value}`, and can say partitions from 1 to {MOST_PARTITIONS}, and step_seconds from 1 to {LONGEST_STEP}"
                ))
            })?;
        }
        Ok(Self { host: host.to_owned(), port: url.port().unwrap_or(PORT), partitions })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_host_a_port_and_partitions() {
        let of = |host: &str, port, partitions| Address { host: host.to_owned(), port, partitions };
        assert_eq!("df://scheduler".parse(), Ok(of("scheduler", 50_050, 16)));
        assert_eq!("df://10.0.0.1:5/?partitions=64".parse(), Ok(of("10.0.0.1", 5, 64)));
        assert_eq!("df://host?step_seconds=90&partitions=2".parse(), Ok(of("host", 50_050, 2)));
        assert_eq!("df://[::1]:5".parse::<Address>().unwrap().to_string(), "[::1]:5");
    }

    #[test]
    fn what_is_no_url_of_a_scheduler_is_refused() {
        for (text, reason) in [
            ("host:50050", "its scheme is `host`"),
            ("df://", "no host"),
            ("df://host/x", "the path `/x`"),
            ("df://host?partitions=0", "partitions=0"),
            ("df://host?step_seconds=0", "step_seconds=0"),
            ("df://host?tls=1", "tls=1"),
        ] {
            let message = text.parse::<Address>().unwrap_err();
            assert!(message.contains(reason) && message.contains("expected df://host:50050"), "{message}");
        }
    }
}
