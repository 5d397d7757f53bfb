//! Thousands of damaged inputs: none may end in a panic, an abort, more than 10 seconds or more than 2 GiB.
//!
//! `cargo test --workspace --test fuzz` reads 1,000 of each kind; for more,
//!
//! ```sh
//! RANKSWEEP_FUZZ=10000 cargo test --workspace --test fuzz -- --nocapture
//! ```
//! An input follows from its number alone, and a failure names it: `RANKSWEEP_FUZZ=812..813` reads that one again.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod harness;
mod mutation;
mod stored_tables;
mod sweep_file;

#[test]
fn sweep_files() {
    harness::run("sweep_files", sweep_file::reader);
}

#[test]
fn stored_tables_and_sources() {
    harness::run("stored_tables_and_sources", stored_tables::reader);
}
