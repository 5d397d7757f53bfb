//! The sweep: a file becomes a grid of trials, trials become tables, tables become a leaderboard and a report.
//!
//! [`mod@file`] reads the sweep file as typed, [`plan`] resolves it to methods and trials, [`runner`] prepares, trains and evaluates them on
//! this machine and writes [`tables`], [`report`] and [`recommend`] say what they hold, [`gc`] removes what was left behind, and [`cli`] is
//! the way in. [`submission`] is a sweep as a cluster gets it, [`status`] how it fares there, [`prometheus`] what
//! Prometheus is told. `study` is what `ranksweep theory` writes and
//! draws, `compare` the methods of several sweeps over their datasets, `diff` two sweeps side by side, `groups` the methods on groups of users, `kinds` what a
//! grid may be made of, [`doctor`] what `ranksweep doctor` finds.

pub mod allocator;
mod chain;
pub mod cli;
mod compare;
mod diff;
pub mod doctor;
mod export;
mod figure;
pub mod file;
pub mod gc;
mod groups;
mod histories;
pub mod init;
pub mod interrupt;
mod kinds;
mod log;
mod mark;
mod model;
mod number;
mod on_users;
pub mod plan;
mod preview;
pub mod prometheus;
pub mod recommend;
pub mod report;
pub mod runner;
pub mod schema;
mod shell;
pub mod status;
mod study;
pub mod submission;
pub mod tables;
mod tested;
mod text_table;
mod typeset;
mod usage;
mod user_rows;
