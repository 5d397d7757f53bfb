//! Coordinate descent for one item's weights.
//!
//! ```text
//! w_i <- max(0, (c_i + G_ii w_i - l1) / (G_ii + l2))        c_i = G_ij - sum over k of G_ik w_k
//! ```
//! G is the Gram matrix, of counts: an item i with `G_ij <= l1` has the weight 0 at the optimum, as the derivative `l1 - c_i` there is at least
//! `l1 - G_ij` whatever the others' weights, none of which is negative. So only the items with more common users than `l1` are candidates, of which each
//! has a user in common with j. A sweep goes over all candidates, the most similar first, as those get no weight that another takes from them; then over those
//! with a weight until they rest, and so on until all rest.

use super::{Slim, gram::Gram};

/// Numbers of the Gram matrix, between candidates, that a thread keeps while it finds an item's weights; further rows are read anew each time.
pub(super) const KEPT: usize = 1 << 24;
/// What is no candidate's place, and no row's.
const NONE: u32 = u32::MAX;

/// What a thread needs for one item's weights.
pub(super) struct Descent {
    /// Each item's place among the candidates. `[items]`
    places: Vec<u32>,
    candidates: Vec<Candidate>,
    /// c, by candidate.
    correlations: Vec<f64>,
    /// Rows of the Gram matrix between candidates, `[rows, candidates]`.
    rows: Vec<f32>,
    /// How many numbers they have at most.
    most: usize,
    /// A row that is not kept.
    spare: Vec<f32>,
}

/// An item that may have a weight.
struct Candidate {
    item: u32,
    /// Its row among the kept ones.
    row: u32,
    /// G_ii, its users.
    users: f64,
    weight: f64,
}

impl Descent {
    /// Bytes for so many items: places, candidates, correlations and a row; and the rows that are kept, in a list that grows by doubling.
    pub(super) fn bytes(items: u64) -> u64 {
        items * (4 + 2 * (size_of::<Candidate>() as u64 + 8) + 4) + 2 * 4 * (items * items).min(KEPT as u64)
    }

    /// Makes room for so many items, with at most so many numbers of kept rows.
    pub(super) fn new(items: usize, most: usize) -> Self {
        let (candidates, correlations, rows, spare) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { places: vec![NONE; items], candidates, correlations, rows, most, spare }
    }

    /// The weights from other items to this one that are above 0, ascending by item.
    pub(super) fn weights(&mut self, slim: &Slim, gram: &Gram, item: usize) -> Vec<(u32, f32)> {
        self.start(slim, gram, item);
        let mut is_whole = true;
        for _ in 0..slim.max_iterations {
            let rests = self.sweep(slim, gram, is_whole) <= slim.tolerance;
            if rests && is_whole {
                break;
            }
            is_whole = rests;
        }
        self.candidates.iter().for_each(|candidate| self.places[candidate.item as usize] = NONE);
        let found = self.candidates.iter().map(|candidate| (candidate.item, candidate.weight as f32));
        let mut found: Vec<(u32, f32)> = found.filter(|&(_, weight)| weight > 0.0).collect();
        found.sort_unstable_by_key(|&(item, _)| item);
        found
    }

    /// Makes the candidates of an item, without weights.
    fn start(&mut self, slim: &Slim, gram: &Gram, item: usize) {
        let Self { places, candidates, correlations, rows, .. } = self;
        let mut found: Vec<(u32, f32)> =
            gram.row(item).filter(|&(other, count)| other as usize != item && f64::from(count) > slim.l1).collect();
        let similarity = |&(other, count): &(u32, f32)| f64::from(count) * f64::from(count) / f64::from(gram.users(other));
        found.sort_unstable_by(|one, other| similarity(other).total_cmp(&similarity(one)).then(one.0.cmp(&other.0)));
        rows.clear();
        candidates.clear();
        candidates.extend(found.iter().map(|&(item, _)| Candidate { item, row: NONE, users: f64::from(gram.users(item)), weight: 0.0 }));
        candidates.iter().zip(0..).for_each(|(candidate, place)| places[candidate.item as usize] = place);
        correlations.clear();
        correlations.extend(found.iter().map(|&(_, count)| f64::from(count)));
    }

    /// Moves all candidates to where they are best while the others stay, or those with a weight alone; gives the longest move.
    fn sweep(&mut self, slim: &Slim, gram: &Gram, is_whole: bool) -> f64 {
        let mut longest = 0.0f64;
        for place in 0..self.candidates.len() {
            let Candidate { users, weight, .. } = self.candidates[place];
            if !is_whole && weight == 0.0 {
                continue;
            }
            let best = ((self.correlations[place] + users * weight - slim.l1) / (users + slim.l2)).max(0.0);
            if best != weight {
                self.candidates[place].weight = best;
                self.subtract(gram, place, best - weight);
                longest = longest.max((best - weight).abs());
            }
        }
        longest
    }

    /// Takes a candidate's row of the Gram matrix, times a number, from the correlations.
    fn subtract(&mut self, gram: &Gram, place: usize, times: f64) {
        let length = self.candidates.len();
        let candidate = &mut self.candidates[place];
        if candidate.row == NONE {
            self.spare.clear();
            self.spare.resize(length, 0.0);
            for (other, count) in gram.row(candidate.item as usize) {
                if let Some(number) = self.spare.get_mut(self.places[other as usize] as usize) {
                    *number = count;
                }
            }
            if self.rows.len() + length <= self.most {
                candidate.row = (self.rows.len() / length) as u32;
                self.rows.extend_from_slice(&self.spare);
            }
        }
        let kept = candidate.row as usize * length;
        subtract_row(&mut self.correlations, if candidate.row == NONE { &self.spare } else { &self.rows[kept..kept + length] }, times);
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn subtract_row(correlations: &mut [f64], row: &[f32], times: f64) {
    for (correlation, &count) in correlations.iter_mut().zip(row) {
        *correlation -= times * f64::from(count);
    }
}
