//! A sweep on a cluster from its file to its tables: the binary against an API server in memory whose pods run the binary.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod batches;
#[path = "../../../cluster/tests/fake/mod.rs"]
mod fake;
mod first_day;
mod halving;
mod interrupted;
mod metrics;
mod nodes;
mod page;
mod plan;
mod refused;
mod setting;
#[path = "../support/mod.rs"]
mod support;
mod whole;
