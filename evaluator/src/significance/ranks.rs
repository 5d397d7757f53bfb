//! Mid-ranks: tied values share the mean of their ranks.

/// Ranks of values, ascending from 1.
pub(crate) struct Ranks {
    /// The rank of each value; a multiple of one half.
    pub(crate) ranks: Vec<f64>,
    /// Sum of `t^3 - t` over the groups of `t` tied values.
    pub(crate) ties: f64,
}

/// Ranks the values; neighbours no further apart than `tolerance` are tied.
pub(crate) fn mid_ranks(values: &[f64], tolerance: f64) -> Ranks {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&left, &right| values[left].total_cmp(&values[right]));
    let mut ranked = Ranks { ranks: vec![0.0; values.len()], ties: 0.0 };
    let mut before = 0;
    for group in order.chunk_by(|&left, &right| values[right] - values[left] <= tolerance) {
        let size = group.len() as f64;
        for &index in group {
            ranked.ranks[index] = before as f64 + (size + 1.0) / 2.0;
        }
        ranked.ties += size.powi(3) - size;
        before += group.len();
    }
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_values_share_the_mean_rank() {
        let ranked = mid_ranks(&[0.5, 0.1, 0.5 + 1e-17, 0.9, 0.5], 1e-12);
        assert_eq!(ranked.ranks, [3.0, 1.0, 3.0, 5.0, 3.0]);
        assert_eq!(ranked.ties, 24.0);
    }
}
