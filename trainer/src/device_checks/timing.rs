//! How long a computation takes, beside how short it could be.

use serde::Serialize;

/// What a kernel takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// The kernel and its sizes.
    pub what: String,
    /// Seconds of one run: the median of many.
    pub seconds: f64,
    /// Bytes that any way to compute it reads and writes.
    pub bytes: u64,
    /// Additions and multiplications of one run.
    pub flops: u64,
}

impl Timing {
    /// The share of what a device with so many bytes a second could move in the time; none where that is not known.
    pub fn share_of_bandwidth(&self, bandwidth: f64) -> Option<f64> {
        share(self.bytes, self.seconds, bandwidth)
    }

    /// The share of what a device with so many additions and multiplications a second could compute in the time.
    pub fn share_of_flops(&self, flops: f64) -> Option<f64> {
        share(self.flops, self.seconds, flops)
    }
}

fn share(done: u64, seconds: f64, most: f64) -> Option<f64> {
    (seconds > 0.0 && most > 0.0).then(|| done as f64 / seconds / most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_the_device_could_do_in_the_time() {
        let timing = Timing { what: "x".to_owned(), seconds: 0.5, bytes: 1_000, flops: 300 };
        assert_eq!(timing.share_of_bandwidth(4_000.0), Some(0.5));
        assert_eq!(timing.share_of_flops(1_200.0), Some(0.5));
        assert_eq!(timing.share_of_bandwidth(0.0), None);
    }
}
