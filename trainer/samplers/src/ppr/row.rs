//! A user's own part of the distribution, in whole numbers: what is drawn and what is said of it are the same distribution, bit for bit.
//!
//! ```text
//! q_j = share * width_j + (1 - share) * base_j
//! ```
//! The share is a multiple of 2^-32. The circle of the 2^32 points is cut into an arc for each stored item; an item is drawn by a point,
//! found from a guide that says where each of as many equal parts begins (Chen and Asau, AIIE Transactions 6(2), 1974): two arcs are
//! looked at on average, whatever the widths.

/// 2^32
const POINTS: f64 = (1u64 << 32) as f64;

/// Most items of a row: their places are 16 bits.
pub(super) const MOST: usize = 1 << 16;

/// The stored items of one user, ascending, with where their arcs start.
#[derive(Clone, Copy, Debug)]
pub(super) struct PprRow<'a> {
    pub(super) items: &'a [u32],
    pub(super) starts: &'a [u32],
    /// The arc at the first point of each part.
    pub(super) guide: &'a [u16],
    /// Draws of 2^32 that go to the stored items.
    pub(super) share: u32,
}

impl PprRow<'_> {
    /// The stored item at one of 2^32 points.
    #[inline]
    pub(super) fn item(&self, point: u32) -> u32 {
        let part = (u64::from(point) * self.guide.len() as u64) >> 32;
        let mut arc = self.guide[part as usize] as usize;
        while self.starts.get(arc + 1).is_some_and(|&start| start <= point) {
            arc += 1;
        }
        self.items[arc]
    }

    /// The share of all stored items.
    pub(super) fn share(&self) -> f64 {
        f64::from(self.share) / POINTS
    }

    /// The part of the share that an item has; 0 if it is not stored.
    pub(super) fn width(&self, item: u32) -> f64 {
        let Ok(arc) = self.items.binary_search(&item) else { return 0.0 };
        let end = self.starts.get(arc + 1).map_or(POINTS, |&start| f64::from(start));
        (end - f64::from(self.starts[arc])) / POINTS
    }
}

/// Draws of 2^32 for a share of them; one at least is left for the other items.
pub(super) fn share(share: f64) -> u32 {
    (share * POINTS) as u32
}

/// Where the arcs of weights above 0 start.
pub(super) fn starts(weights: &[(u32, f64)]) -> Vec<u32> {
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let sums = weights.iter().scan(0.0, |sum, (_, weight)| Some(std::mem::replace(sum, *sum + weight)));
    sums.map(|sum| (sum / total * POINTS) as u32).collect()
}

/// The guide to arcs that start at 0 or later, ascending.
pub(super) fn guide(starts: &[u32]) -> Vec<u16> {
    let parts = starts.len() as u64;
    let mut arc = 0;
    let places = (0..parts).map(|part| {
        let first = (part << 32).div_ceil(parts);
        while starts.get(arc + 1).is_some_and(|&start| u64::from(start) <= first) {
            arc += 1;
        }
        arc as u16
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(weights: &[f64], points: &[u32]) {
        let weighted: Vec<(u32, f64)> = weights.iter().enumerate().map(|(item, &weight)| (3 * item as u32, weight)).collect();
        let (items, starts): (Vec<u32>, _) = (weighted.iter().map(|(item, _)| *item).collect(), starts(&weighted));
        let row = PprRow { items: &items, starts: &starts, guide: &guide(&starts), share: 0 };
        for &point in points.iter().chain([0, u32::MAX].iter()).chain(&starts) {
            let arc = starts.iter().rposition(|&start| start <= point).unwrap();
            assert_eq!(row.item(point), items[arc], "point {point}");
        }
        let total: f64 = weights.iter().sum();
        for (item, weight) in &weighted {
            assert!((row.width(*item) - weight / total).abs() < 1e-9);
            assert_eq!(row.width(item + 1), 0.0);
        }
        assert_eq!(items.iter().map(|&item| row.width(item)).sum::<f64>(), 1.0);
    }

    #[test]
    fn skewed_rows_are_found() {
        check(&[1.0], &[7]);
        check(&[1e-12, 1.0, 1e-12, 1e-12], &[1, 1 << 31]);
        check(&[1.0, 1e-15, 1e-15, 1.0], &[1 << 31, (1 << 31) - 1]);
    }

    #[test]
    fn shares_leave_something() {
        assert_eq!((share(0.0), share(0.5), share(1.0)), (0, 1 << 31, u32::MAX));
    }

    proptest! {
        #[test]
        fn points_lead_to_the_arc_that_holds_them(
            weights in prop::collection::vec(prop_oneof![1e-9..1e-6f64, 1e-3..1e3f64], 1..80),
            points in prop::collection::vec(any::<u32>(), 1..50),
        ) {
            check(&weights, &points);
        }
    }
}
