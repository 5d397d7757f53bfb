//! What the code of a sampler does not know of it: who wrote it, the values that papers print, what it keeps and what it costs.
//!
//! `docs/kinds.md` is made of these, of the heads of the files and of the settings. In costs N is the number of candidates, n that of items
//! and m of users, d the length of vectors and P_u the user's train items. A dash stands for what papers do not print.

/// Where a sampler comes from and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The paper, shortly; the file's head has the whole reference.
    pub paper: &'static str,
    /// The best or the usual values of papers.
    pub values: &'static str,
    /// What the sampler keeps between draws.
    pub state: &'static str,
    /// What a row costs, and making the state anew.
    pub cost: &'static str,
}

/// What the papers of hard samplers draw and score for each positive.
pub(super) const CANDIDATES: &str = "O(N) and the N scores";
