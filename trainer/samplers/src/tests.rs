//! What every sampler promises: its frequencies, never a train item, the same numbers whatever the order of calls.

use super::*;
use dataset::Interactions;
use proptest::prelude::*;
use std::collections::BTreeSet;
use streams::Purpose;
use testing::assert_drawn_from;

fn stream(row: u32) -> Stream {
    Stream::new(7, Purpose::Negatives, 1, 0, row)
}

fn uniform(negatives: u32, replacement: bool) -> Sampler {
    Sampler::Uniform(Uniform { negatives, replacement })
}

fn popularity(negatives: u32, exponent: f64) -> Sampler {
    Sampler::Popularity(Popularity { negatives, exponent, logarithm: false })
}

/// Each item as often as `counts` says: user 0 has `own`, every other user one item.
fn interactions(counts: &[u32], own: &[u32]) -> Interactions {
    let others = |(item, &count): (usize, &u32)| {
        let item = item as u32;
        std::iter::repeat_n(item, (count - u32::from(own.contains(&item))) as usize)
    };
    let items: Vec<u32> = counts.iter().enumerate().flat_map(others).collect();
    let rest = items.iter().enumerate().map(|(user, &item)| (1 + user as u32, item));
    Interactions::from_pairs(1 + items.len(), own.iter().map(|&item| (0, item)).chain(rest))
}

/// How often each item is drawn in `rows` rows for the user.
fn frequencies(prepared: &Prepared, user: u32, rows: u32, negatives: usize) -> Vec<f64> {
    let mut frequencies = vec![0.0; prepared.items as usize];
    let mut ids = vec![0; negatives];
    for row in 0..rows {
        prepared.draw(&mut stream(row), Row::alone(user), &mut ids, None);
        ids.iter().for_each(|&id| frequencies[id as usize] += 1.0);
    }
    frequencies
}

fn without(probabilities: &[f64], own: &[u32]) -> Vec<f64> {
    let kept = |item: usize| if own.contains(&(item as u32)) { 0.0 } else { probabilities[item] };
    let total: f64 = (0..probabilities.len()).map(kept).sum();
    (0..probabilities.len()).map(|item| kept(item) / total).collect()
}

#[test]
fn uniform_draws_are_uniform_on_the_complement() {
    let few = [3, 7, 8, 29];
    let many: Vec<u32> = (0..22).collect(); // above half: drawn by rank
    for (own, negatives) in [(&few[..], 5), (&few[..], 100), (&many[..], 100)] {
        let train = interactions(&[1; 30], own);
        let prepared = Prepared::new(&uniform(negatives, true), &train, 30).unwrap();
        let found = frequencies(&prepared, 0, 200_000 / negatives, negatives as usize);
        assert_drawn_from(&found, &without(&[1.0 / 30.0; 30], own), 1.0);
    }
}

#[test]
fn distinct_draws_are_uniform_on_the_complement_and_distinct() {
    let own = [0, 11, 12];
    let train = interactions(&[1; 30], &own);
    for negatives in [4u32, 20] {
        let prepared = Prepared::new(&uniform(negatives, false), &train, 30).unwrap();
        let found = frequencies(&prepared, 0, 100_000 / negatives, negatives as usize);
        // Counts of distinct draws vary less: (m - N) / (m - 1) of m items, hypergeometric.
        assert_drawn_from(&found, &without(&[1.0 / 30.0; 30], &own), f64::from(27 - negatives) / 26.0);
        let mut ids = vec![0; negatives as usize];
        prepared.draw(&mut stream(0), Row::alone(0), &mut ids, None);
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), negatives as usize);
    }
}

/// Pairs too, not only single items: all 6 sets of two of four items.
#[test]
fn every_set_of_distinct_draws_is_equally_likely() {
    let train = interactions(&[1; 6], &[1, 4]);
    let prepared = Prepared::new(&uniform(2, false), &train, 6).unwrap();
    let sets = [[0, 2], [0, 3], [0, 5], [2, 3], [2, 5], [3, 5]];
    let mut found = [0.0; 6];
    for row in 0..60_000 {
        let mut ids = [0; 2];
        prepared.draw(&mut stream(row), Row::alone(0), &mut ids, None);
        ids.sort_unstable();
        found[sets.iter().position(|set| *set == ids).unwrap()] += 1.0;
    }
    assert_drawn_from(&found, &[1.0 / 6.0; 6], 1.0);
}

#[test]
fn popularity_draws_are_the_worked_probabilities() {
    let worked = [
        (1.0, false, [0.66666667, 0.26666667, 0.06666667, 0.0]),
        (0.75, false, [0.59495432, 0.29924618, 0.1057995, 0.0]),
        (0.5, false, [0.51316702, 0.32455532, 0.16227766, 0.0]),
        (1.0, true, [0.51013834, 0.3423986, 0.14746305, 0.0]),
    ];
    let train = interactions(&[10, 4, 1, 0], &[]);
    for (exponent, logarithm, expected) in worked {
        let proposal = super::popularity::PopularityProposal::new(&train.item_counts(4), exponent, logarithm);
        for (found, expected) in proposal.probabilities().iter().zip(expected) {
            assert!((found - expected).abs() < 6e-9, "{found} {expected}");
        }
        let sampler = Sampler::Popularity(Popularity { negatives: 50, exponent, logarithm });
        let prepared = Prepared::new(&sampler, &train, 4).unwrap();
        assert_drawn_from(&frequencies(&prepared, 0, 4000, 50), &expected, 1.0);
    }
}

#[test]
fn popularity_draws_leave_out_the_users_items() {
    let counts = [40, 10, 4, 1, 0, 8];
    for own in [&[1, 3][..], &[0, 5]] {
        let train = interactions(&counts, own);
        let prepared = Prepared::new(&popularity(50, 0.75), &train, 6).unwrap();
        let weights = counts.map(|count| f64::from(count).powf(0.75));
        assert_drawn_from(&frequencies(&prepared, 0, 4000, 50), &without(&weights, own), 1.0);
    }
}

/// The user's items have all but a millionth of the weight: the exact proposal takes over, and ends.
#[test]
fn popularity_draws_end_for_users_of_the_popular_items() {
    let counts = [2_000, 2, 1, 0];
    let train = interactions(&counts, &[0]);
    let prepared = Prepared::new(&popularity(50, 2.5), &train, 4).unwrap();
    let expected = without(&counts.map(|count| f64::from(count).powf(2.5)), &[0]);
    let mut log_probabilities = [0.0; 1];
    let mut ids = [0; 1];
    assert_drawn_from(&frequencies(&prepared, 0, 400, 50), &expected, 1.0);
    prepared.draw(&mut stream(1), Row::alone(0), &mut ids, Some(&mut log_probabilities));
    assert!((f64::from(log_probabilities[0]) - expected[ids[0] as usize].ln()).abs() < 1e-6);
}

#[test]
fn log_probabilities_are_those_of_the_proposal() {
    let train = interactions(&[10, 4, 1, 0], &[1]);
    let mut ids = [0; 40];
    let mut log_probabilities = [0.0; 40];
    let cases = [(uniform(40, true), [1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]), (popularity(40, 1.0), [10.0 / 11.0, 0.0, 1.0 / 11.0, 0.0])];
    for (sampler, expected) in cases {
        let prepared = Prepared::new(&sampler, &train, 4).unwrap();
        prepared.draw(&mut stream(3), Row::alone(0), &mut ids, Some(&mut log_probabilities));
        for (&id, &found) in ids.iter().zip(&log_probabilities) {
            assert!((f64::from(found) - f64::ln(expected[id as usize])).abs() < 1e-6, "{sampler:?}: item {id}, {found}");
            assert_eq!(prepared.log_probability(0, id), found, "{sampler:?}: item {id}");
        }
        // The user's own item 1 has the weight of another item: as much as any, and 4 of the others' 11.
        let own = if matches!(sampler, Sampler::Uniform(_)) { 1.0 / 3.0 } else { 4.0 / 11.0 };
        assert!((f64::from(prepared.log_probability(0, 1)) - f64::ln(own)).abs() < 1e-6, "{sampler:?}");
    }
}

#[test]
fn users_without_a_possible_negative_are_named() {
    let train = Interactions::from_pairs(3, [(0, 1), (1, 0), (1, 1), (1, 2)].into_iter());
    for sampler in [Sampler::All(All::default()), uniform(5, true), popularity(5, 1.0)] {
        let error = Prepared::new(&sampler, &train, 3).unwrap_err();
        assert!(matches!(error, Error::NoNegatives { count: 1, user: 1, positives: 3, items: 3 }));
    }
    // Item 3 has no train user: popularity cannot draw it, uniform can.
    let error = Prepared::new(&popularity(5, 1.0), &train, 4).unwrap_err();
    assert!(matches!(error, Error::NoNegatives { count: 1, user: 1, positives: 3, items: 4 }));
    assert!(Prepared::new(&uniform(5, true), &train, 4).is_ok());
}

#[test]
fn users_with_too_few_distinct_negatives_are_named() {
    let train = Interactions::from_pairs(3, [(0, 1), (1, 0), (1, 1), (1, 2)].into_iter());
    let error = Prepared::new(&uniform(3, false), &train, 5).unwrap_err();
    assert!(matches!(error, Error::TooFewNegatives { count: 1, user: 1, available: 2, negatives: 3 }));
    assert!(error.to_string().contains("user 1 with 2"), "{error}");
}

#[test]
fn wrong_values_are_named() {
    let message = |sampler: Sampler| sampler.check().unwrap_err();
    assert!(message(uniform(0, true)).contains("negatives is 0"));
    assert!(message(popularity(0, 1.0)).contains("negatives is 0"));
    assert!(message(popularity(1, f64::NAN)).contains("exponent is NaN"));
    assert!(message(popularity(1, -0.5)).contains("exponent is -0.5"));
    assert_eq!(Sampler::All(All::default()).check(), Ok(()));
}

proptest! {
    #[test]
    fn no_train_item_is_ever_drawn(own in prop::collection::btree_set(0u32..40, 1..39), negatives in 1usize..200, row: u32, kind in 0..2) {
        let own: Vec<u32> = own.into_iter().collect();
        let train = interactions(&[1; 40], &own);
        let sampler = [uniform(negatives as u32, true), popularity(negatives as u32, 1.0)][kind as usize].clone();
        let prepared = Prepared::new(&sampler, &train, 40).unwrap();
        let mut ids = vec![0; negatives];
        prepared.draw(&mut stream(row), Row::alone(0), &mut ids, None);
        prop_assert!(ids.iter().all(|id| *id < 40 && !own.contains(id)));
    }

    #[test]
    fn rows_do_not_depend_on_the_order_of_calls(rows in prop::collection::vec(0u32..50, 1..20), kind in 0..3) {
        let train = interactions(&[3; 12], &[2, 5]);
        let sampler = [uniform(6, true), uniform(6, false), popularity(6, 0.5)][kind as usize].clone();
        let prepared = Prepared::new(&sampler, &train, 12).unwrap();
        let drawn = |row: u32| {
            let mut ids = [0; 6];
            prepared.draw(&mut stream(row), Row::alone(row % 2), &mut ids, None);
            ids
        };
        let backwards: Vec<_> = rows.iter().rev().map(|&row| drawn(row)).collect();
        prop_assert!(rows.iter().map(|&row| drawn(row)).eq(backwards.into_iter().rev()));
    }
}
