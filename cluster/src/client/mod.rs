//! Requests of users and of the driver to a cluster.
//!
//! [`Cluster`] is one namespace of one cluster. [`rehearse`] and [`Rehearsed::create`] create a sweep's objects there,
//! [`wait`](fn@wait) waits for their end, [`status`](fn@status), [`list`](fn@list) and [`logs`](fn@logs) show how they fare and
//! [`Reason`]s why they do not, and [`cancel`](fn@cancel) removes them. All that is ever asked of the API stands in [`call`].

mod adjust;
mod apply;
mod away;
mod batch;
pub mod call;
mod cancel;
mod connection;
mod error;
mod find;
mod list;
mod logs;
mod reason;
mod status;
mod submit;
mod wait;
mod warnings;

pub(crate) use away::Away;
pub use batch::standing_batch;
pub use call::Call;
pub use cancel::cancel;
pub use connection::Cluster;
pub use error::ClientError;
pub(crate) use find::Selector;
pub use list::{Listed, list};
pub use logs::{Whose, logs};
pub use reason::Reason;
pub use status::{PodView, Seen, StageView, status};
pub use submit::{Conditions, How, Rehearsed, Submitted, rehearse};
pub use wait::wait;
