//! Several ranks that train one trial together.

mod ranks;

pub use ranks::{Ranks, Rendezvous};
