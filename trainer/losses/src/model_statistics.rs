//! What a loss may ask of the model between epochs.

/// A model's scores of whole sets of pairs. Marks of users are `[users]`.
pub trait ModelStatistics {
    /// Train items of each user, `[users]`.
    fn train_counts(&self) -> &[u32];

    /// Items of the catalogue.
    fn items(&self) -> usize;

    /// The mean cosine of the train pairs of the marked users.
    fn mean_cosine_of_train_pairs(&self, users: &[bool]) -> f64;

    /// The mean cosine of the marked users with every item.
    fn mean_cosine_of_all_pairs(&self, users: &[bool]) -> f64;
}
