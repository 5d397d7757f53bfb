//! A sweep on this machine: prepare, train, pick, rank, report.
//!
//! Every stage first looks at what is stored and does only what is missing, so a run that was killed goes on where it stopped. All
//! writes are atomic, and a marker says which files count: two runs of one sweep on the same storage at once waste work, and neither
//! harms what the other ended; [`train_shared`] wastes none.

mod all_trials;
mod changed;
mod device;
mod ending;
mod evaluate;
mod history;
mod left;
mod marker;
mod on_storage;
mod overwrite;
mod pilots;
mod planned;
mod prepare;
mod progress;
mod ran;
mod refit;
mod results;
mod retry;
mod rows;
mod score;
mod search;
mod select;
mod session;
mod share;
mod spread;
mod standing;
mod stored;
mod torchrun;
mod train;

pub use all_trials::rank_all;
pub use changed::Changed;
pub use device::Devices;
pub(crate) use ending::out_of_time;
pub use ending::{Ending, standings, stored_endings};
pub use evaluate::evaluate;
pub(crate) use history::{COMPARED, COMPARISON, find_tables_of_plan, kept, named_tables, sweep_above, tables_of_plan};
pub(crate) use left::{left_to_one_rank, left_to_the_cpu};
pub(crate) use overwrite::{check_out, check_out_of_storage};
pub use pilots::pilots;
pub use prepare::prepare;
pub use progress::Progress;
pub(crate) use refit::refitted;
pub use refit::{Refit, refit};
pub use results::{Results, report, stored_trials};
pub use retry::forget_failures;
pub use search::{Decisions, LeftOut};
pub use session::{Machine, Session};
pub use share::train_shared;
pub(crate) use share::{alive as claims_alive, holder, time_of_store};
pub use standing::Standing;
pub(crate) use standing::failed;
pub(crate) use stored::{StoredSweep, read_plan, stored_metrics};
pub use train::{Interrupted, train, train_batch, train_in_rung, train_one};
