//! A user's list as metrics see it.

use super::{given::Given, popularity::Popularity};
use crate::rank::Ranked;

/// A user's list, cut, and what is known of the user and of items.
pub(super) struct List<'a> {
    pub(super) items: &'a [u32],
    /// The items that the user is known to have.
    pub(super) history: &'a [u32],
    pub(super) popularity: &'a Popularity,
}

impl<'a> List<'a> {
    pub(super) fn new(ranked: &Ranked<'a>, cutoff: u32, given: &'a Given<'_>) -> Self {
        Self { items: cut(ranked.list, cutoff), history: given.history.row(ranked.user as usize), popularity: given.popularity() }
    }
}

/// The first items of a list.
pub(super) fn cut(list: &[u32], cutoff: u32) -> &[u32] {
    &list[..list.len().min(cutoff as usize)]
}

/// The mean of what items have, added up in their order; 0 of no items.
pub(super) fn mean(items: &[u32], value: impl Fn(u32) -> f64) -> f64 {
    items.iter().fold(0.0, |sum, &item| sum + value(item)) / items.len().max(1) as f64
}
