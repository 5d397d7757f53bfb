//! How large the tensors of a formula are: candle's operations on a GPU count their numbers in 32 bits.

use super::Sizes;

/// A tensor of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TensorSize {
    /// Numbers.
    pub numbers: u64,
    /// What it holds, such as `the vectors of all users and items`.
    pub what: &'static str,
}

impl TensorSize {
    /// A vector of so many numbers for each user and item.
    pub(super) fn of_nodes(Sizes { users, items, .. }: Sizes, dim: u64) -> Self {
        Self { numbers: (users + items).saturating_mul(dim), what: "the vectors of all users and items" }
    }

    /// The larger of a vector of `dim` numbers for each of so many edges of the train graph, and of one of `width` for each user and item.
    pub(super) fn of_graph(sizes: Sizes, edges: u64, [dim, width]: [u64; 2]) -> Self {
        let of_edges = Self { numbers: edges.saturating_mul(dim), what: "the vectors at all edges of the train graph" };
        of_edges.max(Self::of_nodes(sizes, width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backbone;

    const SIZES: Sizes = Sizes { users: 1000, items: 500, train: 20_000, batch: 64, positives: 64 };

    /// Of 1,500 nodes, 40,000 edges and 1,500 loops, 64 rows against 1,000 users, 64 windows of 50 states, and the attention of two heads over 512 states of these windows.
    #[test]
    fn largest_tensors_are_counted_by_hand() {
        for (model, numbers) in [
            (r#"{"mf": {"dim": 8}}"#, 12_000),
            (r#"{"two-tower": {"dim": 8, "hidden": [32]}}"#, 32_000),
            (r#"{"neu-mf": {"dim": 8, "hidden": [1024]}}"#, 2 * 12_000),
            (r#"{"light-gcn": {"dim": 8, "layers": 2}}"#, 320_000),
            (r#"{"gcn": {"dim": 8, "layers": 2}}"#, 332_000),
            (r#"{"gat": {"dim": 8, "layers": 2, "heads": 4}}"#, 332_000),
            (r#"{"gin": {"dim": 8, "layers": 2}}"#, 320_000),
            (r#"{"dgcf": {"dim": 8, "layers": 2, "factors": 4}}"#, 80_000),
            (r#"{"simplex": {"dim": 8}}"#, 160_000),
            (r#"{"ngcf": {"dim": 8, "layers": 99}}"#, 1_200_000),
            (r#"{"sim-gcl": {"dim": 1, "layers": 2}}"#, 40_000),
            (r#"{"sgl": {"dim": 1, "layers": 2}}"#, 64_000),
            (r#"{"gru4rec": {"dim": 8, "targets": "last"}}"#, 64 * 50 * 8),
            (r#"{"sas-rec": {"dim": 8, "heads": 2}}"#, 2 * 512 * 50),
        ] {
            let backbone: Backbone = serde_json::from_str(model).unwrap();
            assert_eq!(backbone.learned().unwrap().largest_tensor(SIZES).numbers, numbers, "{model}");
        }
    }
}
