//! A sweep on Kubernetes.
//!
//! Plain `batch/v1` and `core/v1`: a ConfigMap with the sweep file, suspended Jobs for the stages, and a driver Job that starts each stage
//! when the one before it is done; of `networking.k8s.io/v1` a NetworkPolicy where trials have several nodes. Nothing here knows what a stage computes; it is known by its command line, its number of indexes and
//! what it asks of a node.
//!
//! [`Resources`] is what a sweep file asks of the cluster, [`Submission`] is all that is submitted, and [`objects`](fn@objects) turns it
//! into the [`Object`]s to create. [`client`] creates them and tells how they fare, [`stages`] are what they come to, and [`drive`]
//! is what the driver's pod does.

pub mod client;
pub mod drive;
mod error;
pub mod exit;
pub mod labels;
mod names;
pub mod objects;
mod reserved;
pub mod resources;
pub mod stages;
mod submission;
mod yaml;

pub use error::{Error, Result};
pub use objects::{Object, objects};
pub use resources::Resources;
pub use submission::{Stage, Submission};
pub use yaml::to_yaml;
