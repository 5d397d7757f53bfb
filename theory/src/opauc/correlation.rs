//! How closely partial areas follow a metric.

/// A metric of the first K places of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopKMetric {
    /// Hits over positives.
    Recall,
    /// Hits over K.
    Precision,
    /// Discounted gain over the best possible.
    Ndcg,
}

impl TopKMetric {
    /// All metrics.
    pub const ALL: [Self; 3] = [Self::Recall, Self::Precision, Self::Ndcg];

    /// The name in a sweep file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Precision => "precision",
            Self::Ndcg => "ndcg",
        }
    }
}

/// Pearson's correlation of a metric and a partial area over lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// The metric.
    pub metric: TopKMetric,
    /// The length that lists are cut to.
    pub cutoff: u32,
    /// b: best negatives that the area is over.
    pub depth: u32,
    /// The correlation; none where one of both is the same in all lists.
    pub value: Option<f64>,
}

/// The depth with the largest correlation for a metric.
pub fn best(correlations: &[Correlation], metric: TopKMetric, cutoff: u32) -> Option<Correlation> {
    let of = correlations.iter().filter(|row| row.metric == metric && row.cutoff == cutoff && row.value.is_some());
    of.copied()
        .max_by(|one, other| one.value.unwrap_or_default().total_cmp(&other.value.unwrap_or_default()).then(other.depth.cmp(&one.depth)))
}

/// Depths that are looked at, of so many negatives: the grid of the reference, the cutoffs, and all negatives.
pub(super) fn depths(negatives: u32, cutoffs: &[u32]) -> Vec<u32> {
    const GRID: [u32; 20] = [1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 600, 800];
    let mut depths: Vec<u32> = GRID.iter().chain(cutoffs).copied().filter(|&depth| depth < negatives).chain([negatives]).collect();
    depths.sort_unstable();
    depths.dedup();
    depths
}

/// `1 / log2(1 + rank)` of the first places.
pub(super) fn discounts(places: u32) -> Vec<f64> {
    (1..=places).map(|rank| 1.0 / f64::from(rank + 1).log2()).collect()
}
