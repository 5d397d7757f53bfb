//! Samplers that cannot draw from a dataset.

/// Why a sampler has nothing to draw.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was prepared before could not be read or kept.
    #[error(transparent)]
    Store(#[from] dataset::Error),
    /// Some users have every item that could be drawn.
    #[error(
        "{count} users without any possible negative, the first is user {user} with {positives} train items of {items}: \
         remove such users, or give the dataset more items"
    )]
    NoNegatives {
        /// Users like this.
        count: usize,
        /// The first one's dense id.
        user: u32,
        /// Train items of the first such user.
        positives: usize,
        /// Items of the dataset.
        items: usize,
    },
    /// Some users have fewer items to draw than are drawn without replacement.
    #[error(
        "{count} users with fewer than {negatives} possible negatives, the first is user {user} with {available}: \
         draw with `replacement: true` or lower `negatives`"
    )]
    TooFewNegatives {
        /// Users like this.
        count: usize,
        /// The first one's dense id.
        user: u32,
        /// Items it can be given.
        available: usize,
        /// Items that are asked for.
        negatives: usize,
    },
}
