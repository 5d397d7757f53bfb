//! Groups of methods that are not told apart: the bars of a critical-difference diagram.

/// The largest groups of two or more methods whose average ranks all lie within less than the critical difference; each best first, in the
/// order of their best.
pub fn groups(ranks: &[f64], critical_difference: f64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by(|&one, &other| ranks[one].total_cmp(&ranks[other]));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut covered = 0; // places of the order up to here stand in a group with all that are between
    for first in 0..order.len() {
        let within = |method: &&usize| ranks[**method] - ranks[order[first]] < critical_difference;
        let end = first + order[first..].iter().take_while(within).count();
        if end > covered && end > first + 1 {
            groups.push(order[first..end].to_vec());
        }
        covered = covered.max(end);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Demsar 2006, Figure 1a: at 0.10 the critical difference is 1.12, and the bars join the best three and the worst two.
    #[test]
    fn worked_example() {
        let ranks = [44.0, 28.0, 40.5, 27.5].map(|sum| sum / 14.0);
        assert_eq!(groups(&ranks, 1.118), [vec![3, 1, 2], vec![2, 0]]);
        assert_eq!(groups(&ranks, 1.2535), [vec![3, 1, 2, 0]]);
    }

    #[test]
    fn only_the_largest_runs_are_groups() {
        assert_eq!(groups(&[1.0, 1.5, 2.0, 4.0], 1.2), [vec![0, 1, 2]]);
        assert_eq!(groups(&[1.0, 2.0, 3.0], 1.0), Vec::<Vec<usize>>::new(), "the critical difference itself tells apart");
        assert_eq!(groups(&[1.0, 2.0, 3.0, 4.0], 1.5), [vec![0, 1], vec![1, 2], vec![2, 3]]);
        assert_eq!(groups(&[2.0, 2.0], 0.5), [vec![0, 1]]);
    }
}
