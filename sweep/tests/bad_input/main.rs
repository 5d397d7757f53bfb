//! Bad input of every kind ends with one message that says where, what, what was expected and what to do, and leaves nothing behind
//! that a later run would trust.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod cluster;
mod data;
mod engine;
mod hostile;
mod init;
#[path = "../support/json_schema.rs"]
mod json_schema;
mod leftovers;
mod remote;
mod storage;
#[path = "../support/mod.rs"]
mod support;
mod sweep_file;
