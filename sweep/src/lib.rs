//! The sweep: a file becomes a grid of trials, trials become tables, tables become a leaderboard and a report.
//!
//! [`mod@file`] reads the sweep file as typed, [`plan`] resolves it to methods and trials, [`runner`] prepares, trains and evaluates them on
//! this machine and writes [`tables`], [`report`] and [`recommend`] say what they hold, and [`cli`] is the way in.

mod chain;
pub mod cli;
pub mod file;
pub mod plan;
pub mod recommend;
pub mod report;
pub mod runner;
pub mod tables;
