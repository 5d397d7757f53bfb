//! Users by the length of their histories: the mean of every metric that each user has.

use super::{GroupValue, Grouping, equal::Groups};
use crate::MetricAt;

/// From the ranked users' history lengths, and their values in the same order. Metrics of all users' lists have no part.
pub(crate) fn of_users(lengths: &[u32], values: &[(MetricAt, Vec<f64>)]) -> Vec<GroupValue> {
    let groups = Groups::new(lengths);
    let sizes = groups.sizes();
    let of_metric = |(at, values): &(MetricAt, Vec<f64>)| {
        let mut sums = vec![0.0; sizes.len()];
        groups.of.iter().zip(values).for_each(|(&group, value)| sums[group] += value);
        let (metric, cutoff) = (at.metric.name(), at.cutoff);
        let value = |(group, sum): (usize, f64)| GroupValue {
            of: Grouping::Users,
            group: group as u32 + 1,
            low: *groups.ranges[group].start(),
            high: *groups.ranges[group].end(),
            size: sizes[group],
            metric: metric.to_owned(),
            cutoff,
            value: sum / f64::from(sizes[group]),
        };
        sums.into_iter().enumerate().map(value).collect::<Vec<_>>()
    };
    values.iter().filter(|(at, _)| at.metric.is_per_user()).flat_map(of_metric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three users have 4 items and mean 0.5, one has 9: what `numpy.average` over each says.
    #[test]
    fn each_group_has_the_mean_of_its_users() {
        let values = [("ndcg@20".parse().unwrap(), vec![0.25, 0.75, 0.5, 0.125]), ("coverage@20".parse().unwrap(), vec![0.9])];
        let found = of_users(&[4, 4, 4, 9], &values);
        let rows: Vec<(u32, u32, u32, u32, &str, f64)> =
            found.iter().map(|row| (row.group, row.low, row.high, row.size, row.metric.as_str(), row.value)).collect();
        assert_eq!(rows, [(1, 4, 4, 3, "ndcg", 0.5), (2, 9, 9, 1, "ndcg", 0.125)]);
    }
}
