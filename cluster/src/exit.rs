//! The exit codes of `ranksweep` to which a Job's failure policy answers.

/// A bad sweep file or command line: every other pod would end the same way.
pub const BAD_CONFIGURATION: i32 = 2;
/// A failure that would repeat.
pub const REPEATS: i32 = 42;
/// Interrupted by a signal; everything is checkpointed.
pub const INTERRUPTED: i32 = 75;
/// The trial's time limit is over.
pub const TIME_LIMIT: i32 = 124;
