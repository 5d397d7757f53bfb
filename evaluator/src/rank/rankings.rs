//! Where the held-out items of every user stand.

use super::depth::Depth;
use crate::Result;
use dataset::Interactions;
use vectors::Ties;

/// The rank of a held-out item that stands behind the last rank asked for.
const BEYOND: u32 = u32::MAX;

/// The ranks of all users that have held-out items, by user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rankings {
    /// The ranked users' dense ids, ascending.
    pub users: Vec<u32>,
    /// All users' ranks one after the other.
    ranks: Vec<u32>,
    /// Where each user's ranks end.
    ends: Vec<usize>,
    candidates: Vec<u32>,
    auc: Vec<f64>,
    tied: Vec<bool>,
    /// All users' lists one after the other.
    lists: Vec<u32>,
    /// Where each user's list ends.
    list_ends: Vec<usize>,
    depth: Depth,
}

/// Where one user's held-out items stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked<'a> {
    /// The user's dense id.
    pub user: u32,
    /// The held-out items' ranks: ascending, distinct, the best possible being 1; `u32::MAX` for all beyond [`Rankings::limit`].
    pub ranks: &'a [u32],
    /// How many items were ranked: all that are not masked, held-out ones included.
    pub candidates: u32,
    /// Share of (held-out, other candidate) pairs in the right order, ties counting half; 0.5 where there is no other candidate, NaN where there is a
    /// limit.
    pub auc: f64,
    /// Whether another candidate has the score of a held-out item; with a limit, of one that is within it under some rule for ties.
    pub tied: bool,
    /// The first items of the user's list, the best first: as many as the ranking [keeps](Depth::list), or all candidates where these are fewer.
    pub list: &'a [u32],
}

/// What a user was ranked among.
pub(super) struct Candidates<'a> {
    pub(super) user: u32,
    /// How many items were ranked.
    pub(super) count: usize,
    /// The first of them, where lists are kept.
    pub(super) list: &'a [u32],
}

impl Rankings {
    pub(super) fn new(depth: Depth) -> Self {
        Self { depth, ..Self::default() }
    }

    /// The last rank that is known; `None` when all are.
    pub fn limit(&self) -> Option<u32> {
        self.depth.ranks
    }

    /// How far the ranking looked.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The number of ranked users.
    pub fn len(&self) -> usize {
        self.users.len()
    }

    /// Whether no user has held-out items.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// All ranked users, in the order of [`users`](Self::users).
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Ranked<'_>> {
        (0..self.len()).map(|at| Ranked {
            user: self.users[at],
            ranks: row(&self.ranks, &self.ends, at),
            candidates: self.candidates[at],
            auc: self.auc[at],
            tied: self.tied[at],
            list: row(&self.lists, &self.list_ends, at),
        })
    }

    /// How many users are [tied](Ranked::tied).
    pub fn tied_users(&self) -> usize {
        self.tied.iter().filter(|&&tied| tied).count()
    }

    /// Makes rankings from what stands before each held-out item, in the order of `held_out`: how many other candidates have at least its score, and
    /// how many are above it. Candidates are all `items` but the masked ones, of which none is held out; `limit` is as for
    /// [`rank_within`](super::rank_within).
    ///
    /// # Panics
    /// When there are not as many counts as held-out items, or the parts have other users.
    pub fn from_counts(
        held_out: &Interactions,
        masked: &Interactions,
        items: usize,
        before: &[(u32, u32)],
        ties: Ties,
        limit: Option<u32>,
    ) -> Self {
        assert_eq!((before.len(), masked.users()), (held_out.len(), held_out.users()), "counts of all held-out items");
        let mut rankings = Self::new(limit.into());
        for user in (0..held_out.users()).filter(|&user| !held_out.row(user).is_empty()) {
            let mut before = before[held_out.offsets()[user]..held_out.offsets()[user + 1]].to_vec();
            before.sort_unstable(); // the best first; equal scores have equal counts
            let is_asked = |&(place, &(_, above)): &(u32, &(u32, u32))| limit.is_none_or(|limit| above + place <= limit);
            let asked = (1..).zip(&before).take_while(is_asked).count();
            let candidates = Candidates { user: user as u32, count: items - masked.row(user).len(), list: &[] };
            rankings.add(candidates, before.len(), &before[..asked], ties);
        }
        rankings
    }

    /// Adds a user with so many held-out items; those that are asked for, the best first, by how many other candidates have at least their score and
    /// how many are above it.
    pub(super) fn add(&mut self, candidates: Candidates<'_>, held_out: usize, asked: &[(u32, u32)], ties: Ties) {
        let auc = if self.limit().is_none() { auc(asked, (candidates.count - held_out) as u64) } else { f64::NAN };
        self.add_ranks(candidates, held_out, asked, auc, ties);
    }

    /// Adds a user of whose held-out items only the first were retrieved: the others have no rank, and count in the area by what stands before them.
    pub(super) fn add_retrieved(&mut self, candidates: Candidates<'_>, before: &[(u32, u32)], retrieved: usize, ties: Ties) {
        let limit = self.limit().unwrap_or(BEYOND);
        let asked = before[..retrieved].iter().zip(1..).take_while(|((_, above), place)| above + place <= limit).count();
        let auc = if self.limit().is_none() { auc(before, (candidates.count - before.len()) as u64) } else { f64::NAN };
        self.add_ranks(candidates, before.len(), &before[..asked], auc, ties);
    }

    fn add_ranks(&mut self, candidates: Candidates<'_>, held_out: usize, asked: &[(u32, u32)], auc: f64, ties: Ties) {
        let before = |&(at_least, above): &(u32, u32)| match ties {
            Ties::Pessimistic => at_least,
            Ties::Optimistic => above,
        };
        let limit = self.limit().unwrap_or(BEYOND);
        let ranks = asked.iter().map(before).zip(1..).map(|(before, place)| before + place);
        let mut ranks: Vec<u32> = ranks.take_while(|&rank| rank <= limit).collect();
        ranks.resize(held_out, BEYOND);
        let tied = asked.iter().any(|(at_least, above)| at_least != above);
        let Candidates { user, count, list } = candidates;
        self.push(Ranked { user, ranks: &ranks, candidates: count as u32, auc, tied, list });
    }

    fn push(&mut self, ranked: Ranked<'_>) {
        self.users.push(ranked.user);
        self.ranks.extend_from_slice(ranked.ranks);
        self.ends.push(self.ranks.len());
        self.candidates.push(ranked.candidates);
        self.auc.push(ranked.auc);
        self.tied.push(ranked.tied);
        self.lists.extend_from_slice(ranked.list);
        self.list_ends.push(self.lists.len());
    }

    /// Joins the blocks of users, all of this depth; the first block's error wins.
    pub(super) fn concat(blocks: Vec<Result<Self>>, depth: Depth) -> Result<Self> {
        let mut all = Self::new(depth);
        for block in blocks {
            block?.iter().for_each(|ranked| all.push(ranked));
        }
        Ok(all)
    }

    /// Joins rankings of the same depth, each of users from 0 on, as those of users from a first one on.
    pub fn joined(parts: impl IntoIterator<Item = (u32, Self)>) -> Self {
        let mut all = Self::default();
        for (first, part) in parts {
            all.depth = part.depth;
            part.iter().for_each(|ranked| all.push(Ranked { user: first + ranked.user, ..ranked }));
        }
        all
    }
}

/// The row at a place of rows that follow each other, each up to its end.
fn row<'a>(rows: &'a [u32], ends: &[usize], at: usize) -> &'a [u32] {
    &rows[if at == 0 { 0 } else { ends[at - 1] }..ends[at]]
}

/// AUC of held-out items by what stands before them among so many others.
fn auc(asked: &[(u32, u32)], others: u64) -> f64 {
    // Twice the number of (held-out, other) pairs in the right order, a tie being half of one.
    let ordered: u64 = asked.iter().map(|&(least, above)| 2 * others - u64::from(least) - u64::from(above)).sum();
    let pairs = 2 * others * asked.len() as u64;
    if pairs == 0 { 0.5 } else { ordered as f64 / pairs as f64 }
}
