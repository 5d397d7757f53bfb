//! The end of the k-core in memory: once the interactions that can still leave fit there, further rounds need no relations.
//!
//! Who has many more interactions than its bound hardly leaves. So only the interactions of users and items within a margin of their bounds are read, with the
//! number that everyone has: these are all that change while nobody beyond the margin leaves. Should somebody do, this is seen, and nothing was done.

use super::{
    Sizes,
    relations::{self, Side},
    scratch_file::ScratchFile,
    workspace::{Relation, Workspace},
};
use crate::{
    Result,
    freed::give_back,
    k_core::{Degrees, KCoreBounds, peel_part},
};
use arrow::{
    array::{AsArray, Int64Array, RecordBatch, UInt64Array},
    datatypes::{Int64Type, UInt64Type},
};
use dataset::Interactions;
use hashbrown::HashMap;
use std::{
    hash::{BuildHasherDefault, Hasher},
    sync::Arc,
};

/// Bytes of an interaction: in the order of reading, by user and by item.
const INTERACTION: usize = 8 + 4 + 4;
/// Degrees above a bound that are told apart.
const WIDEST: usize = 100;
/// Bytes of a user or item, at most: its code and number in a table that may be half empty, its degrees and where its interactions begin.
const NODE: usize = 2 * 17 + 2 * 4 + 3 * 8;

/// How far above its bound a user or item may be for its interactions to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Margin(u32);

impl Margin {
    /// Everyone is within it.
    const ALL: Self = Self(u32::MAX);

    /// The widest one whose interactions fit in memory; none where not even those of who is at its bound do.
    pub(super) fn widest(workspace: &Workspace, sizes: &Sizes, bounds: KCoreBounds, limit: Option<usize>) -> Result<Option<Self>> {
        let Some(limit) = limit else { return Ok(Some(Self::ALL)) };
        let nodes = sizes.nodes();
        if bytes(sizes.interactions, nodes) <= limit {
            return Ok(Some(Self::ALL));
        }
        let Some(edges) = limit.checked_sub(bytes(0, nodes)).map(|bytes| bytes / INTERACTION) else { return Ok(None) };
        let mut sums = [0; WIDEST];
        for (side, bound) in [(Side::Users, bounds.users), (Side::Items, bounds.items)] {
            let near = workspace
                .scan(side.degrees())
                .and_then(|degrees| relations::numbers_of_degrees(degrees, bound.saturating_add(WIDEST as u32)));
            workspace.each(near, |batch| {
                let [degrees, counts] = [0, 1].map(|column| batch.column(column).as_primitive::<Int64Type>().values());
                for (&degree, &count) in degrees.iter().zip(counts) {
                    sums[(degree as usize).saturating_sub(bound as usize)] += degree as usize * count as usize;
                }
                Ok(())
            })?;
        }
        let within = sums.iter().scan(0, |sum, &more| {
            *sum += more;
            Some(*sum)
        });
        let margin = within.take_while(|&sum| sum <= edges).count();
        Ok((margin > 0).then_some(Self(margin as u32)))
    }

    fn holds(self, degree: u32, bound: u32) -> bool {
        degree < bound.saturating_add(self.0)
    }
}

/// Bytes that interactions of so many users and items take while they are peeled.
fn bytes(interactions: usize, nodes: usize) -> usize {
    interactions * INTERACTION + nodes * NODE
}

/// Peels to the fixed point, and stores the degrees of who is left. How many rounds it took, and how many interactions are left: all those of `pairs` whose
/// user and item are. Nothing where somebody beyond the margin would leave.
pub(super) fn core(workspace: &Workspace, pairs: Relation, bounds: KCoreBounds, margin: Margin) -> Result<Option<(usize, usize)>> {
    // What relations took is free, and still the process's.
    give_back();
    let (users, items) = (Nodes::of(workspace, Side::Users)?, Nodes::of(workspace, Side::Items)?);
    let mut degrees = Degrees { users: users.degrees.clone(), items: items.degrees.clone() };
    let mut edges = Vec::new();
    let mut numbers = [Vec::new(), Vec::new()];
    workspace.each(workspace.scan_here(pairs).and_then(|pairs| pairs.select_columns(&["user", "item"])), |batch| {
        let [user, item] = &mut numbers;
        let [of_users, of_items] = codes(batch);
        rayon::join(|| users.number_all(of_users, user), || items.number_all(of_items, item));
        let may_leave = |user: u32, item: u32| {
            margin.holds(users.degrees[user as usize], bounds.users) || margin.holds(items.degrees[item as usize], bounds.items)
        };
        edges.extend(user.iter().copied().zip(item.iter().copied()).filter(|&(user, item)| may_leave(user, item)));
        Ok(())
    })?;
    let rows = Interactions::from_pairs(users.degrees.len(), edges.iter().copied());
    drop(edges);
    let rounds = peel_part(&rows, &mut degrees, bounds);
    drop(rows);
    let sides = [(&users, &degrees.users, bounds.users), (&items, &degrees.items, bounds.items)];
    if sides
        .iter()
        .any(|(nodes, left, bound)| nodes.degrees.iter().zip(*left).any(|(&degree, &left)| left == 0 && !margin.holds(degree, *bound)))
    {
        return Ok(None);
    }
    if rounds > 0 {
        for ((side, nodes), degrees) in Side::BOTH.into_iter().zip([&users, &items]).zip([&degrees.users, &degrees.items]) {
            workspace.remove(side.degrees())?;
            let of_side: Vec<(u64, u32)> =
                nodes.numbers.iter().map(|(&code, &number)| (code, degrees[number as usize])).filter(|(_, degree)| *degree > 0).collect();
            let mut file = ScratchFile::new(side.degrees(), 0);
            let codes = UInt64Array::from_iter_values(of_side.iter().map(|(code, _)| *code));
            let counts = Int64Array::from_iter_values(of_side.iter().map(|(_, degree)| i64::from(*degree)));
            file.write(workspace, vec![Arc::new(codes), Arc::new(counts)])?;
            file.finish(workspace)?;
        }
    }
    Ok(Some((rounds, degrees.users.iter().map(|&degree| degree as usize).sum())))
}

/// The codes of users and of items.
fn codes(batch: &RecordBatch) -> [&[u64]; 2] {
    [0, 1].map(|column| &batch.column(column).as_primitive::<UInt64Type>().values()[..])
}

/// Users, or items: numbers of their codes, and by these how many interactions each has.
struct Nodes {
    numbers: HashMap<u64, u32, BuildHasherDefault<Itself>>,
    degrees: Vec<u32>,
}

impl Nodes {
    fn of(workspace: &Workspace, side: Side) -> Result<Self> {
        let count = workspace.rows(side.degrees())?;
        let mut nodes =
            Self { numbers: HashMap::with_capacity_and_hasher(count, BuildHasherDefault::default()), degrees: Vec::with_capacity(count) };
        workspace.each(workspace.scan_here(side.degrees()), |batch| {
            let codes = batch.column(0).as_primitive::<UInt64Type>().values();
            let degrees = batch.column(1).as_primitive::<Int64Type>().values();
            nodes.numbers.extend(codes.iter().copied().zip(nodes.degrees.len() as u32..));
            nodes.degrees.extend(degrees.iter().map(|&degree| degree as u32));
            Ok(())
        })?;
        Ok(nodes)
    }

    /// The numbers of codes, in place of those that were there.
    fn number_all(&self, codes: &[u64], numbers: &mut Vec<u32>) {
        numbers.clear();
        numbers.extend(codes.iter().map(|code| self.numbers[code]));
    }
}

/// A code is a hash already.
#[derive(Default)]
struct Itself(u64);

impl Hasher for Itself {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("codes alone are hashed");
    }

    fn write_u64(&mut self, code: u64) {
        self.0 = code;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use arrow::array::{Float64Array, UInt8Array};
    use dataset::Location;
    use std::collections::BTreeMap;

    type Pairs = Vec<(u64, u64)>;

    fn stored(pairs: &Pairs) -> (Workspace, Sizes) {
        let limits = Limits { threads: 1, memory: None, engine: None, scratch: None };
        let workspace = Workspace::new(&limits, 1, &Location::parse("memory:///relational/peeled").unwrap()).unwrap();
        let mut file = ScratchFile::new(Relation::Pairs(0), 0);
        let column = |of: fn(&(u64, u64)) -> u64| Arc::new(pairs.iter().map(of).collect::<UInt64Array>());
        let part = UInt8Array::from_value(0, pairs.len());
        let time = Float64Array::from_value(0.0, pairs.len());
        file.write(&workspace, vec![column(|pair| pair.0), column(|pair| pair.1), Arc::new(part), Arc::new(time)]).unwrap();
        file.finish(&workspace).unwrap();
        let sizes = Sizes::of(&workspace, Relation::Pairs(0)).unwrap();
        (workspace, sizes)
    }

    /// The core in rounds, by counting all in each: who is left, and the rounds.
    fn naive(mut pairs: Pairs, bounds: KCoreBounds) -> (BTreeMap<u64, i64>, usize) {
        let degrees = |pairs: &Pairs, of: fn(&(u64, u64)) -> u64| {
            pairs.iter().map(of).fold(BTreeMap::<u64, i64>::new(), |mut all, node| {
                *all.entry(node).or_default() += 1;
                all
            })
        };
        for rounds in 0.. {
            let (users, items) = (degrees(&pairs, |pair| pair.0), degrees(&pairs, |pair| pair.1));
            let left: Pairs = pairs
                .iter()
                .copied()
                .filter(|(user, item)| users[user] >= i64::from(bounds.users) && items[item] >= i64::from(bounds.items))
                .collect();
            if left.len() == pairs.len() {
                return (users, rounds);
            }
            pairs = left;
        }
        unreachable!("each round takes something away")
    }

    fn users_left(workspace: &Workspace) -> BTreeMap<u64, i64> {
        let mut left = BTreeMap::new();
        workspace
            .each(workspace.scan(Relation::Degrees(Side::Users)), |batch| {
                let degrees = batch.column(1).as_primitive::<Int64Type>().values();
                left.extend(batch.column(0).as_primitive::<UInt64Type>().values().iter().copied().zip(degrees.iter().copied()));
                Ok(())
            })
            .unwrap();
        left
    }

    /// Random graphs whose cores take several rounds.
    #[test]
    fn a_margin_gives_the_core_or_nothing() {
        let bounds = KCoreBounds { users: 4, items: 3 };
        let mut outcomes = [0; 2];
        for seed in 0..12u64 {
            let draw = |n: u64| (n + 1_000 * seed).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xD134_2543_DE82_EF95);
            // Low numbers come more often than high ones.
            let skewed = |draw: u64, most: u64| (draw % most) * (draw / most % most) / most;
            let mut pairs: Pairs = (0..330).map(|n| (skewed(draw(n), 80), 1_000 + skewed(draw(n) >> 20, 60))).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let (expected, rounds) = naive(pairs.clone(), bounds);
            for margin in [Margin(1), Margin(3), Margin::ALL] {
                let (workspace, _) = stored(&pairs);
                let before = users_left(&workspace);
                let found = core(&workspace, Relation::Pairs(0), bounds, margin).unwrap();
                match found {
                    None => assert_eq!(users_left(&workspace), before),
                    Some((found, interactions)) => {
                        assert_eq!((found, users_left(&workspace)), (rounds, expected.clone()), "{seed} {margin:?}");
                        assert_eq!(interactions as i64, expected.values().sum::<i64>());
                    }
                }
                assert!(found.is_some() || margin != Margin::ALL);
                outcomes[usize::from(found.is_some() && margin != Margin::ALL)] += 1;
            }
        }
        assert!(outcomes.iter().all(|&count| count > 3), "{outcomes:?}");
    }

    /// Six users of one, two, .. interactions with the items 1, 2, ..: 21 interactions, 12 nodes.
    #[test]
    fn the_widest_margin_that_fits() {
        let pairs: Pairs = (1..=6).flat_map(|user| (1..=user).map(move |item| (user, 100 + item))).collect();
        let (workspace, sizes) = stored(&pairs);
        let bounds = KCoreBounds { users: 2, items: 1 };
        let widest = |edges: usize| Margin::widest(&workspace, &sizes, bounds, Some(bytes(edges, 12))).unwrap();
        // Users with one and two interactions, and the item with one, have four; the next ones, three and two, make it nine.
        assert_eq!(
            [3, 4, 8, 9, 20, 21].map(widest),
            [None, Some(Margin(1)), Some(Margin(1)), Some(Margin(2)), Some(Margin(3)), Some(Margin::ALL)]
        );
        assert_eq!(Margin::widest(&workspace, &sizes, bounds, Some(11 * NODE)).unwrap(), None);
        assert_eq!(Margin::widest(&workspace, &sizes, bounds, None).unwrap(), Some(Margin::ALL));
    }
}
