//! The labels and annotations by which a sweep's objects are found again.

/// On every object and pod: the sweep's name.
pub const SWEEP: &str = "ranksweep.dev/sweep";
/// On every object and pod: the first digits of the hash of what was submitted.
pub const SUBMISSION: &str = "ranksweep.dev/submission";
/// On every Job and pod: `prepare`, `train`, `evaluate`, `driver`.
pub const STAGE: &str = "ranksweep.dev/stage";
/// Annotation of a stage's Job: its place in the order of stages, from 0. Jobs of the same place run side by side.
pub const ORDER: &str = "ranksweep.dev/order";
/// Annotation of a stage's Job: the Kueue queue that takes it; the driver labels the Job with it where another would unsuspend it.
pub const QUEUE: &str = "ranksweep.dev/queue";
