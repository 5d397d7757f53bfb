//! The stages of a sweep: what their Jobs look like, and which of them is due.
//!
//! [`step`] decides, as a function of what the Jobs look like ([`SeenJob`]) and of nothing else: a [driver](crate::drive) that is started again goes on
//! where the last one was stopped, and two at once do no harm.
//!
//! | what is seen | what is done |
//! |---|---|
//! | a stage is due and suspended | it is unsuspended; under Kueue it is labelled with its queue instead |
//! | it runs, waits for its queue, or was suspended by somebody | nothing |
//! | of trials over several nodes one is not placed yet | no other is started |
//! | one stays without all of its nodes while others have theirs | it is suspended, and started again later |
//! | some of its trials failed for good | the next stage is due all the same |
//! | it failed as a whole | the end |
//! | its Job was deleted | the end; a new `ranksweep submit` goes on from what is stored |
//! | the API server does not answer | nothing, until it does |

mod seen;
mod step;

pub use seen::{Failure, Indexes, SeenJob, State};
pub(crate) use seen::{condition, driver, names_index, stages, trials_per_gpu, trials_per_pod};
pub use step::{Action, Outcome, Pause, step};
