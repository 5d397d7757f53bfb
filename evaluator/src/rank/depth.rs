//! How far a ranking looks: at which ranks of held-out items, and at how many items of each user's list.

/// What is asked of a ranking. Less is faster: users leave the work once what is asked of them is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// The last rank of a held-out item that is asked for; `None` for all of them.
    pub ranks: Option<u32>,
    /// How many items of each user's list are kept: the best candidates, equal scores by item.
    pub list: u32,
}

impl From<Option<u32>> for Depth {
    /// Ranks up to a limit, and no list.
    fn from(ranks: Option<u32>) -> Self {
        Self { ranks, list: 0 }
    }
}
