//! Compact letter display: methods that share a letter do not differ significantly.
//!
//! Insert and absorb: start with one letter for all; each significant pair splits every letter that both have into two, one without the
//! first and one without the second; a letter whose methods another has too is dropped.
//! Piepho, J. Comput. Graph. Stat. 2004, doi:10.1198/1061860043515.

/// The letters of each method, in the order of `means`. Two methods share a letter exactly when `significant(i, j)` is false; it is asked
/// with `i < j`. The method with the largest mean has an `a`.
pub fn letters(means: &[f64], significant: &dyn Fn(usize, usize) -> bool) -> Vec<String> {
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&left, &right| means[right].total_cmp(&means[left]));
    let differ = |left: usize, right: usize| significant(order[left].min(order[right]), order[left].max(order[right]));
    let mut groups = groups(means.len(), &differ);
    groups.sort();
    let mut letters = vec![String::new(); means.len()];
    for (number, group) in groups.iter().enumerate() {
        for &place in group {
            letters[order[place]].push_str(&letter(number));
        }
    }
    letters
}

/// The largest groups of methods that do not differ, each ascending.
fn groups(methods: usize, differ: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups = vec![(0..methods).collect::<Vec<_>>()];
    for left in 0..methods {
        for right in left + 1..methods {
            if differ(left, right) {
                split(&mut groups, left, right);
            }
        }
    }
    groups
}

/// Takes `left` and `right` apart wherever they are together, and drops what is part of another group.
fn split(groups: &mut Vec<Vec<usize>>, left: usize, right: usize) {
    let (both, mut kept): (Vec<_>, Vec<_>) =
        groups.drain(..).partition(|group| group.binary_search(&left).is_ok() && group.binary_search(&right).is_ok());
    for group in both {
        for out in [left, right] {
            let rest: Vec<usize> = group.iter().copied().filter(|&method| method != out).collect();
            if !kept.iter().any(|other| contains(other, &rest)) {
                kept.retain(|other| !contains(&rest, other));
                kept.push(rest);
            }
        }
    }
    *groups = kept;
}

fn contains(group: &[usize], part: &[usize]) -> bool {
    part.iter().all(|method| group.binary_search(method).is_ok())
}

/// `a` to `z`, `A` to `Z`, then numbers in brackets.
fn letter(number: usize) -> String {
    match ('a'..='z').chain('A'..='Z').nth(number) {
        Some(letter) => letter.into(),
        None => format!("({})", number + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Piepho 2004: the middle method differs from neither end, the ends from each other.
    #[test]
    fn a_chain_shares_letters() {
        let significant = |left: usize, right: usize| (left, right) == (0, 2);
        assert_eq!(letters(&[0.1, 0.2, 0.3], &significant), ["b", "ab", "a"]);
    }

    #[test]
    fn all_and_none() {
        assert_eq!(letters(&[0.1, 0.3, 0.2], &|_, _| false), ["a", "a", "a"]);
        assert_eq!(letters(&[0.1, 0.3, 0.2], &|_, _| true), ["c", "a", "b"]);
        assert_eq!(letters(&[], &|_, _| true), Vec::<String>::new());
        assert_eq!(letters(&[0.5], &|_, _| true), ["a"]);
    }

    #[test]
    fn more_methods_than_letters() {
        let means: Vec<f64> = (0..60).map(|method| -f64::from(method)).collect();
        let letters = letters(&means, &|_, _| true);
        assert_eq!([&letters[25], &letters[26], &letters[51], &letters[52]], ["z", "A", "Z", "(53)"]);
    }

    proptest! {
        #[test]
        fn a_shared_letter_means_not_significant(
            means in prop::collection::vec(0.0..1.0f64, 1..9),
            table in prop::collection::vec(any::<bool>(), 81),
        ) {
            let letters = letters(&means, &|left, right| { assert!(left < right); table[9 * left + right] });
            for left in 0..means.len() {
                prop_assert!(!letters[left].is_empty());
                for right in left + 1..means.len() {
                    let share = letters[left].chars().any(|letter| letters[right].contains(letter));
                    prop_assert_eq!(share, !table[9 * left + right]);
                }
            }
            let best = (0..means.len()).max_by(|&left, &right| means[left].total_cmp(&means[right])).unwrap();
            prop_assert!(letters[best].contains('a'));
        }
    }
}
