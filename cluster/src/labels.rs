//! The labels and annotations by which a sweep's objects are found again.

/// On every object and pod: the sweep's name.
pub const SWEEP: &str = "ranksweep.dev/sweep";
/// On every object and pod: the first digits of the hash of what was submitted.
pub const SUBMISSION: &str = "ranksweep.dev/submission";
/// On every Job and pod: `prepare`, `train`, `evaluate`, `driver`.
pub const STAGE: &str = "ranksweep.dev/stage";
/// Annotation of the driver's Job: the names of the stages' Jobs. Spaces stand between stages, in their order; commas between Jobs that run
/// side by side.
pub const STAGES: &str = "ranksweep.dev/stages";
/// Annotation of a stage's Job that the driver has unsuspended: one that is suspended again was so by somebody else.
pub const STARTED: &str = "ranksweep.dev/started";
/// Annotation of a stage's Job: the Kueue queue that takes it; the driver labels the Job with it where another would unsuspend it.
pub const QUEUE: &str = "ranksweep.dev/queue";
/// Kueue's own label: a Job with it is unsuspended by Kueue, when the queue named here has room, and by nobody else.
pub const KUEUE_QUEUE: &str = "kueue.x-k8s.io/queue-name";
/// Kueue's own annotation of a Job that it may start with fewer pods than the Job could have, where it has partial admission: how many at least.
pub(crate) const LEAST_PARALLELISM: &str = "kueue.x-k8s.io/job-min-parallelism";
/// The value of [`STAGE`] on the driver's Job and pod.
pub const DRIVER: &str = "driver";
/// Annotation of the driver's Job: how many trials may run at once. It is changed while the sweep runs.
pub const PARALLELISM: &str = "ranksweep.dev/parallelism";
/// Annotation of the driver's Job: for how many seconds the objects of a sweep that has ended are kept. It is changed while the sweep runs.
pub const TTL: &str = "ranksweep.dev/ttl-seconds-after-finished";
/// Annotation of a Job whose pods train several trials each: how many.
pub const TRIALS_PER_POD: &str = "ranksweep.dev/trials-per-pod";
/// Annotation of a Job of whose trials several share a GPU: how many.
pub const TRIALS_PER_GPU: &str = "ranksweep.dev/trials-per-gpu";
