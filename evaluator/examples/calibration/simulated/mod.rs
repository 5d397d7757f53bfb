//! Sets of methods of which the truth is known, and how often the tests err on them.
//!
//! A value is that of a method `m`, trained with a seed `s`, for a user `u`. Its latent score has known components:
//!
//! ```text
//! latent = offset_m + user_u + method x user_mu + seed_ms + interaction_msu      all but the offset normal, independent
//! ```
//! The metric is the latent score itself, or what it makes of a rank ([`Form`]). Where methods do not differ, their means over all users and
//! seeds are equal.

pub(crate) mod draws;
pub(crate) mod family;
mod form;
pub(crate) mod pair;
mod population;
mod rate;

pub(crate) use form::Form;
pub(crate) use population::{Interaction, Population, Scenario, Variances};
pub(crate) use rate::Rate;

/// The level of all tests; intervals hold the truth with one less it.
pub(crate) const ALPHA: f64 = 0.05;
