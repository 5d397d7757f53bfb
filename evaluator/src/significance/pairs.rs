//! The pairs of methods that a family compares.

use super::{MethodValues, differences::mean};
use crate::{metric::Direction, significance::Family};
use std::collections::HashMap;

/// Pairs of places in a list of methods, the smaller one first.
pub(crate) struct Pairs {
    /// The pairs that are tested, in the order of the methods.
    pub(crate) all: Vec<(usize, usize)>,
    /// Places in `all` of those that are reported. Against the best, which is found in the same data, all are adjusted for.
    pub(crate) reported: Vec<usize>,
}

/// What a pair is among the comparisons of its family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PairKind {
    /// A comparison of its own.
    Own,
    /// One of its own, whose difference is the same for all users, so that drawn users have it too: it is drawn by the variance that such users are taken to have.
    Constant,
    /// The comparison of an earlier pair, as its methods are copies of those.
    Copy(usize),
    /// A method and its copy, which never differ.
    OneMethod,
}

impl PairKind {
    /// The pair whose comparison that of a pair is; `None` for a method and its copy.
    pub(crate) fn comparison(self, pair: usize) -> Option<usize> {
        match self {
            Self::Own | Self::Constant => Some(pair),
            Self::Copy(earlier) => Some(earlier),
            Self::OneMethod => None,
        }
    }

    /// Whether the pair is one more comparison.
    pub(crate) fn counts(self) -> bool {
        matches!(self, Self::Own | Self::Constant)
    }
}

/// The kind of each pair, by the methods' [originals](Spreads::originals).
pub(crate) fn pair_kinds(pairs: &[(usize, usize)], originals: &[usize], is_constant: impl Fn(usize) -> bool) -> Vec<PairKind> {
    let mut first: HashMap<(usize, usize), usize> = HashMap::new();
    let kind = |(number, &(a, b)): (usize, &(usize, usize))| {
        let (a, b) = (originals[a].min(originals[b]), originals[a].max(originals[b]));
        match *first.entry((a, b)).or_insert(number) {
            _ if a == b => PairKind::OneMethod,
            earlier if earlier < number => PairKind::Copy(earlier),
            _ if is_constant(number) => PairKind::Constant,
            _ => PairKind::Own,
        }
    };
    pairs.iter().enumerate().map(kind).collect()
}

impl Pairs {
    /// The pairs of a family; none where it is against a method that has no result. Of several that are best by the same mean the first by name is the best.
    pub(crate) fn new(methods: &[MethodValues<'_>], family: &Family, direction: Direction) -> Self {
        let all = || (0..methods.len()).flat_map(|a| (a + 1..methods.len()).map(move |b| (a, b))).collect::<Vec<_>>();
        let with = |one: usize| move |&(a, b): &(usize, usize)| a == one || b == one;
        match family {
            Family::AllPairs => Self { reported: (0..all().len()).collect(), all: all() },
            Family::Against(name) => {
                let named = methods.iter().position(|method| method.method == *name);
                let all: Vec<(usize, usize)> = all().into_iter().filter(|pair| named.is_some_and(|one| with(one)(pair))).collect();
                Self { reported: (0..all.len()).collect(), all }
            }
            Family::AgainstBest => {
                let order = |a: usize, b: usize| {
                    let by_mean = direction.order(mean(&methods[a].values), mean(&methods[b].values));
                    by_mean.then_with(|| methods[a].method.cmp(&methods[b].method))
                };
                let best = (0..methods.len()).min_by(|&a, &b| order(a, b));
                let all = all();
                let reported = (0..all.len()).filter(|&pair| best.is_some_and(|best| with(best)(&all[pair]))).collect();
                Self { all, reported }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::method::{Replication, tests::method};

    #[test]
    fn families_have_their_pairs() {
        let methods = [("a", 0.2), ("b", 0.5), ("c", 0.3)].map(|(name, value)| method(name, Replication::None, &[&[value, value]]));
        let pairs = |family: Family| Pairs::new(&methods, &family, Direction::HigherIsBetter);
        let all = pairs(Family::AllPairs);
        assert_eq!((all.all, all.reported), (vec![(0, 1), (0, 2), (1, 2)], vec![0, 1, 2]));
        let against = pairs(Family::Against("c".into()));
        assert_eq!((against.all, against.reported), (vec![(0, 2), (1, 2)], vec![0, 1]));
        let best = pairs(Family::AgainstBest);
        assert_eq!((best.all.len(), best.reported), (3, vec![0, 2]));
        assert!(pairs(Family::Against("d".into())).all.is_empty());
        let tied = [("b", 0.5), ("a", 0.5), ("c", 0.3)].map(|(name, value)| method(name, Replication::None, &[&[value, value]]));
        assert_eq!(Pairs::new(&tied, &Family::AgainstBest, Direction::HigherIsBetter).reported, [0, 2], "`a`, at place 1");
        assert_eq!(Pairs::new(&methods, &Family::AgainstBest, Direction::LowerIsBetter).reported, [0, 1]);
        assert!(Pairs::new(&[], &Family::AgainstBest, Direction::Neither).all.is_empty());
    }

    #[test]
    fn pairs_of_copies_are_those_of_their_originals() {
        let (pairs, originals) = ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], [0, 1, 0, 3]);
        let kinds = pair_kinds(&pairs, &originals, |pair| pair == 4);
        use PairKind::{Constant, Copy, OneMethod, Own};
        assert_eq!(kinds, [Own, OneMethod, Own, Copy(0), Constant, Copy(2)]);
    }
}
