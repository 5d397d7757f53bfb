//! The order in which items are scored: those that are likely to stand at the head of lists first.
//!
//! Ranks are counts, and do not depend on it. But the sooner as many items as the limit of a ranking stand before a user's held-out
//! items, the sooner the user is done; and where the vectors that are still to come are too short to reach a threshold, nothing is left
//! to count.

use super::TILE;

/// A permutation of the items.
pub(super) struct Order {
    /// The item at each place.
    pub(super) items: Vec<u32>,
    /// Each item's place.
    pub(super) places: Vec<u32>,
    /// Length of the longest vector in each tile or in those behind it.
    longest: Vec<f64>,
}

impl Order {
    /// Orders items by descending keys, equal ones by id.
    pub(super) fn descending(keys: &[f64], lengths: &[f64]) -> Self {
        let mut items: Vec<u32> = (0..keys.len() as u32).collect();
        items.sort_by(|&a, &b| keys[b as usize].total_cmp(&keys[a as usize]));
        let mut places = vec![0; keys.len()];
        items.iter().zip(0..).for_each(|(&item, place)| places[item as usize] = place);
        let of_tile = |items: &[u32]| items.iter().map(|&item| lengths[item as usize]).fold(0.0, f64::max);
        let mut longest: Vec<f64> = items.chunks(TILE).map(of_tile).collect();
        for tile in (1..longest.len()).rev() {
            longest[tile - 1] = longest[tile - 1].max(longest[tile]);
        }
        Self { items, places, longest }
    }

    /// The length of the longest vector at this place, where a tile begins, or behind; 0 behind the last tile.
    pub(super) fn longest_from(&self, place: usize) -> f64 {
        self.longest.get(place.div_ceil(TILE)).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_descend_and_the_longest_is_still_to_come() {
        let keys: Vec<f64> = (0..1000).map(|item| f64::from(item % 7)).collect();
        let order = Order::descending(&keys, &keys);
        assert!(order.items.windows(2).all(|pair| (keys[pair[0] as usize], pair[1]) > (keys[pair[1] as usize], pair[0])));
        assert!((0..1000).all(|item| order.items[order.places[item as usize] as usize] == item));
        assert_eq!(order.longest_from(0), 6.0);
        assert_eq!(order.longest_from(TILE), keys[order.items[TILE] as usize]);
        assert_eq!(order.longest_from(3 * TILE), 0.0);
    }
}
