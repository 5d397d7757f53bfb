//! Forward push: a user's PageRank from below, by moving only what is large.
//!
//! ```text
//! start     r = e_u, p = 0
//! push v    p_v += c r_v;   r_w += (1 - c) r_v / d_v for the neighbours w of v;   r_v = 0
//! end       r_v <= a d_v for every v
//! ```
//! At any time `pi = p + sum_v r_v pi_v`, and `d_v pi_v(j) = d_j pi_j(v)`, so that in the end `0 <= pi_j - p_j <= a d_j`. Each push stores
//! more than `a c d_v` for good and costs `d_v`, so that all pushes of a user cost at most `1 / (a c)` edges, however large the graph is.
//! Andersen, Chung and Lang, FOCS 2006.
//!
//! A push of a user reaches items alone and the other way round, so a sweep pushes all that is large on one side. Sweeps read the
//! residuals in order, which is faster than a queue of those that are large.

use dataset::Interactions;

/// Residuals that are looked at together: most sweeps find nothing in most blocks.
const BLOCK: usize = 16;

/// Least part of `accuracy` that an item has for each of its users. Rounding could leave nothing, and nothing has no logarithm.
const LEAST: f64 = 1e-6;

/// The graph and when to stop.
pub(super) struct Push<'a> {
    /// Items of users, users of items.
    sides: [&'a Interactions; 2],
    /// a d, of users and items
    thresholds: [Vec<f64>; 2],
    restart: f64,
    accuracy: f64,
}

/// What one thread needs.
pub(super) struct Space {
    /// r, of users and items
    residuals: [Vec<f64>; 2],
    /// p of the items
    items: Vec<f64>,
}

/// A user's PageRank of the items: `pi_j` is about `items[j] + background * d_j`.
///
/// What was not pushed is `background` for each interaction: what is left ends on items with the known probability
/// `(1 - c) / (2 - c)`, as a walk is on the side of the items at odd steps, and a residual in proportion to the degrees would spread just
/// so. The sum over the items is thus exact, and the error of an item is at most `a d_j`.
pub(super) struct Estimate<'a> {
    pub(super) items: &'a [f64],
    pub(super) background: f64,
}

impl<'a> Push<'a> {
    pub(super) fn new(users: &'a Interactions, items: &'a Interactions, restart: f64, accuracy: f64) -> Self {
        let sides = [users, items];
        let thresholds = sides.map(|side| (0..side.users()).map(|node| accuracy * side.row(node).len() as f64).collect());
        Self { sides, thresholds, restart, accuracy }
    }

    pub(super) fn space(&self) -> Space {
        let [users, items] = self.sides.map(Interactions::users);
        Space { residuals: [vec![0.0; users], vec![0.0; items]], items: vec![0.0; items] }
    }

    /// The PageRank of one user.
    pub(super) fn run<'s>(&self, user: u32, space: &'s mut Space) -> Estimate<'s> {
        space.residuals.iter_mut().for_each(|residuals| residuals.fill(0.0));
        space.items.fill(0.0);
        space.residuals[0][user as usize] = 1.0;
        let (mut side, mut idle) = (0, 0);
        while idle < 2 {
            idle = if self.sweep(side, space) { 0 } else { idle + 1 };
            side = 1 - side;
        }
        let all = (1.0 - self.restart) / (2.0 - self.restart);
        let left = all - space.items.iter().sum::<f64>();
        let background = (left / self.sides[0].len() as f64).max(LEAST * self.accuracy);
        Estimate { items: &space.items, background }
    }

    /// Pushes every large residual of a side; whether there was one.
    fn sweep(&self, side: usize, space: &mut Space) -> bool {
        let Space { residuals: [users, items], items: stored } = space;
        let (from, to) = if side == 0 { (users, items) } else { (items, users) };
        let mut pushed = false;
        for (block, (residuals, thresholds)) in from.chunks_mut(BLOCK).zip(self.thresholds[side].chunks(BLOCK)).enumerate() {
            let large = residuals.iter().zip(thresholds).fold(false, |any, (residual, threshold)| any | (residual > threshold));
            if !large {
                continue;
            }
            pushed = true;
            for (node, (residual, threshold)) in (block * BLOCK..).zip(residuals.iter_mut().zip(thresholds)) {
                if *residual > *threshold {
                    let mass = std::mem::take(residual);
                    if side == 1 {
                        stored[node] += self.restart * mass;
                    }
                    self.spread(self.sides[side].row(node), mass, to);
                }
            }
        }
        pushed
    }

    fn spread(&self, neighbours: &[u32], mass: f64, to: &mut [f64]) {
        let part = (1.0 - self.restart) * mass / neighbours.len() as f64;
        for &neighbour in neighbours {
            to[neighbour as usize] += part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chain, iterated};
    use super::*;
    use proptest::prelude::*;

    fn pushed(users: &Interactions, items: &Interactions, user: u32, accuracy: f64) -> (Vec<f64>, f64) {
        let push = Push::new(users, items, 0.15, accuracy);
        let mut space = push.space();
        let estimate = push.run(user, &mut space);
        (estimate.items.to_vec(), estimate.background)
    }

    const WORKED_USERS: [f64; 3] = [0.37440202, 0.11915806, 0.04698046];
    const WORKED_ITEMS: [f64; 4] = [0.15912086, 0.20976303, 0.07060887, 0.0199667];

    #[test]
    fn power_iteration_nears_the_worked_values_at_its_rate() {
        let (users, items) = (chain(), chain().transpose(4));
        let error = |times: u32| {
            let [of_users, of_items] = iterated(&users, &items, 0, 0.15, times);
            let errors = of_users.iter().zip(WORKED_USERS).chain(of_items.iter().zip(WORKED_ITEMS));
            errors.map(|(found, expected)| (found - expected).abs()).sum::<f64>()
        };
        assert!((error(50) - 2.718e-4).abs() < 1e-7, "{}", error(50));
        assert!(error(50) < 5.915e-4);
        assert!(error(200) < 3e-8);
    }

    #[test]
    fn push_is_below_the_worked_values_by_at_most_its_accuracy() {
        let (users, items) = (chain(), chain().transpose(4));
        let (found, background) = pushed(&users, &items, 0, 1e-4);
        assert!((0.0..=1e-4).contains(&background), "{background}");
        let mut largest: f64 = 0.0;
        for (item, (found, expected)) in found.iter().zip(WORKED_ITEMS).enumerate() {
            let error = expected - found;
            assert!((-5e-9..=1e-4 * items.row(item).len() as f64).contains(&error), "item {item}: {error}");
            largest = largest.max(error);
        }
        assert!(largest > 1e-6, "a push that is exact was not cut: {largest}");
        let (found, _) = pushed(&users, &items, 0, 1e-12);
        assert!(found.iter().zip(WORKED_ITEMS).all(|(found, expected)| (found - expected).abs() < 6e-9), "{found:?}");
    }

    #[test]
    fn items_have_what_their_parity_says() {
        let (users, items) = (chain(), chain().transpose(4));
        assert!((WORKED_ITEMS.iter().sum::<f64>() - 0.45945946).abs() < 2e-8);
        for accuracy in [1e-2, 1e-4, 1e-9] {
            let (found, background) = pushed(&users, &items, 1, accuracy);
            assert!((found.iter().sum::<f64>() + 6.0 * background - 17.0 / 37.0).abs() < 1e-12);
        }
    }

    #[test]
    fn users_without_items_have_the_background_alone() {
        let users = Interactions::from_pairs(2, [(1, 0)].into_iter());
        let (found, background) = pushed(&users, &users.transpose(2), 0, 1e-6);
        assert_eq!((found, background), (vec![0.0, 0.0], 0.85 / 1.85));
    }

    proptest! {
        #[test]
        fn push_is_within_its_bounds_of_power_iteration(
            pairs in prop::collection::btree_set((0u32..9, 0u32..12), 1..60), user in 0u32..9, exponent in 1i32..7, restart in 0.05f64..0.9,
        ) {
            let users = Interactions::from_pairs(9, pairs.iter().copied());
            prop_assume!(!users.row(user as usize).is_empty());
            let items = users.transpose(12);
            let accuracy = 0.1f64.powi(exponent);
            let push = Push::new(&users, &items, restart, accuracy);
            let mut space = push.space();
            let estimate = push.run(user, &mut space);
            let [_, expected] = iterated(&users, &items, user as usize, restart, 700);
            for (item, expected) in expected.iter().enumerate() {
                let (degree, from_below) = (items.row(item).len() as f64, estimate.items[item]);
                prop_assert!((-1e-12..=accuracy * degree + 1e-12).contains(&(expected - from_below)));
                prop_assert!((expected - from_below - estimate.background * degree).abs() <= accuracy * degree + 1e-12);
            }
        }
    }
}
