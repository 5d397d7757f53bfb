//! Configurations drawn at random from what a method lists, and from its ranges.
//!
//! No configuration is drawn twice. A draw follows from the seed, the method as written and the number of the draw: other methods do not
//! matter, and more trials keep those that there were. The numbers are part of results: a change here is a change of every random sweep.

use super::draft::{Choice, Draft};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use streams::{Purpose, Stream};

/// Draws in a row that had all been drawn before, after which nothing new is expected.
const TRIES: usize = 1_000;

/// As many configurations of a method as `trials`, or all that there are.
pub(super) fn choices(draft: &Draft<'_>, trials: u32, seed: u64) -> Vec<Choice> {
    let draws = Draws::new(draft, seed);
    if draft.range().is_some() { with_ranges(draft, trials, &draws) } else { of_lists(draft, trials, &draws) }
}

/// The generators of a method's draws.
struct Draws {
    seed: u64,
    method: [u32; 2],
}

impl Draws {
    fn new(draft: &Draft<'_>, seed: u64) -> Self {
        let hash = Sha256::digest(draft.key());
        let word = |at: usize| u32::from_be_bytes([hash[at], hash[at + 1], hash[at + 2], hash[at + 3]]);
        Self { seed, method: [word(0), word(4)] }
    }

    fn stream(&self, number: u32) -> Stream {
        Stream::new(self.seed, Purpose::Search, self.method[0], self.method[1], number)
    }
}

/// The first places of a shuffle of all combinations, in written order.
fn of_lists(draft: &Draft<'_>, trials: u32, draws: &Draws) -> Vec<Choice> {
    let all = draft.listed() as u32; // checked by the plan
    let mut moved: HashMap<u32, u32> = HashMap::new(); // what stands at a place, where it is not the place's own number
    let mut drawn: Vec<u32> = Vec::new();
    for place in 0..trials.min(all) {
        let other = place + draws.stream(place).below(all - place);
        let own = *moved.get(&place).unwrap_or(&place);
        drawn.push(moved.insert(other, own).unwrap_or(other));
    }
    drawn.sort_unstable();
    drawn.into_iter().map(|index| draft.drawn(index.into(), &mut draws.stream(index))).collect()
}

/// Combinations with values of their ranges, in the order of the draws.
fn with_ranges(draft: &Draft<'_>, trials: u32, draws: &Draws) -> Vec<Choice> {
    let all = draft.listed() as u32; // checked by the plan
    let mut seen = HashSet::new();
    let mut fresh = |number: u32| {
        let mut stream = draws.stream(number);
        let mut tries = (0..TRIES).map(|_| {
            let index = stream.below(all);
            draft.drawn(index.into(), &mut stream)
        });
        tries.find(|choice| seen.insert(choice.key()))
    };
    (0..trials).map_while(&mut fresh).collect()
}
