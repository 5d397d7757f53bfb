//! What the pods have already, and no sweep file may give another meaning: folders, a port, variables, and a place in their names.

/// The folder of the sweep file.
pub(crate) const SWEEP_FOLDER: &str = "/sweep";
/// Temporary files, and the cache of datasets.
pub(crate) const SCRATCH: &str = "/tmp";
/// Datasets that other pods have read, where there is such a cache.
pub(crate) const CACHE: &str = "/var/cache/ranksweep";
/// Paths of the pods that have another use.
pub(crate) const TAKEN: [&str; 6] = [SWEEP_FOLDER, SCRATCH, "/dev", "/proc", "/sys", "/usr"];

/// The port where rank 0 listens, as torchrun has it.
pub(crate) const RENDEZVOUS: u16 = 29_500;
/// The ports of Ballista's scheduler and executors, where a preparation has some.
pub(crate) const BALLISTA: std::ops::RangeInclusive<u16> = 50_050..=50_052;
/// Variables that the pods have already.
pub(crate) const OWN_VARIABLES: [&str; 9] = [
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "JOB_COMPLETION_INDEX",
    "MASTER_ADDR",
    "MASTER_PORT",
    "RANK",
    "WORLD_SIZE",
    "KUBERNETES_SERVICE_HOST",
];

/// Drivers that may follow each other, each after an interruption of the one before it. A driver keeps nothing in memory that it cannot see
/// anew.
pub(crate) const DRIVERS: u32 = 1000;
