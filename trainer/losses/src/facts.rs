//! What the code of a loss does not know of it: who wrote it, the values that papers print, and what it costs.
//!
//! `docs/kinds.md` is made of these, of the heads of the files and of the settings. In costs N is the number of negatives, P that of a
//! list's positives, n of items and d the length of vectors; the dot products of the scores are not counted. Values of paper SL@K are those
//! of matrix factorisation on Health / Electronic / Gowalla / Book; a dash stands for what is not printed.

/// Where a loss comes from and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The paper, shortly; the file's head has the whole reference.
    pub paper: &'static str,
    /// The best or the usual values of papers.
    pub values: &'static str,
    /// What a row costs beside its scores.
    pub cost: &'static str,
}

/// What losses with quantiles cost.
pub(super) const QUANTILES: &str = "O(N); a user's quantile N + P_u scores";

/// What the ranks of a row cost.
pub(super) const RANKS: &str = "`exact`: O(n d); `sampled`: O(N log N)";
