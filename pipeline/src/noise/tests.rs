//! Draws that are written down, and their law.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A user's id, and the items in train, validation and test.
type Row<'a> = (&'a str, &'a [u32], &'a [u32], &'a [u32]);

fn dataset(items: usize, rows: &[Row<'_>]) -> Dataset {
    let part = |of: fn(&Row<'_>) -> Vec<u32>| {
        let pairs = (0..).zip(rows).flat_map(|(user, row)| of(row).into_iter().map(move |item| (user, item)));
        Interactions::from_pairs(rows.len(), pairs.collect::<Vec<_>>().into_iter())
    };
    Dataset {
        name: "d".into(),
        fingerprint: "f00d".into(),
        user_ids: rows.iter().map(|row| row.0.to_owned()).collect(),
        item_ids: (0..items).map(|item| item.to_string()).collect(),
        train: part(|row| row.1.to_vec()),
        validation: part(|row| row.2.to_vec()),
        one_node_set: false,
        test: part(|row| row.3.to_vec()),
        fold_in: None,
        order: None,
        steps: Vec::new(),
        settings: serde_json::Value::Null,
    }
}

/// What was drawn for each user.
fn drawn(noise: Noise, before: &Dataset) -> Vec<Vec<u32>> {
    let mut after = before.clone();
    noise.add(&mut after).unwrap();
    let new = |user: usize| after.train.row(user).iter().copied().filter(move |&item| !before.train.contains(user, item)).collect();
    (0..before.users()).map(new).collect()
}

/// Adds noise; its steps in the counts.
fn steps(noise: Noise, dataset: &mut Dataset) -> Vec<Counts> {
    let (added, missing) = noise.add(dataset).unwrap();
    [added.counts(noise.step())].into_iter().chain(missing.counts()).collect()
}

/// By an implementation of SipHash and of Floyd's draws in Python.
#[test]
fn the_draws_are_frozen() {
    let rows: [Row<'_>; 1] = [("a", &[0, 3], &[4], &[9])];
    let of = |seed| drawn(Noise { ratio: 1.0, seed }, &dataset(12, &rows));
    assert_eq!(of(0)[0], [1, 2]);
    assert_eq!(of(2024)[0], [1, 6]);
    let rows: [Row<'_>; 1] = [("ü", &[0, 5, 11], &[], &[])];
    let of = |ratio| drawn(Noise { ratio, seed: 2024 }, &dataset(12, &rows));
    assert_eq!(of(1.0), [[2, 3, 9]]);
}

#[test]
fn a_user_gets_the_share_rounded_up() {
    let train: Vec<u32> = (0..25).collect();
    let rows: [Row<'_>; 4] =
        [("a", &train[..3], &[], &[]), ("b", &train[..10], &[50], &[]), ("c", &train, &[], &[60]), ("d", &[], &[], &[1])];
    let mut dataset = dataset(100, &rows);
    let steps = steps(Noise { ratio: 0.1, seed: 0 }, &mut dataset);
    assert_eq!([0, 1, 2, 3].map(|user| dataset.train.row(user).len()), [4, 11, 28, 0]);
    assert_eq!(steps.len(), 1);
    assert_eq!((&*steps[0].step, steps[0].users, steps[0].interactions), ("false positives in train (noise 0.1, seed 0)", 3, 5));
}

#[test]
fn a_user_with_few_items_left_gets_them_all_and_it_is_said() {
    let rows: [Row<'_>; 3] = [("a", &[0, 1, 2, 3], &[5], &[6]), ("b", &[0, 1, 2, 3, 4, 5], &[6], &[7]), ("c", &[4], &[], &[])];
    let mut dataset = dataset(8, &rows);
    let steps = steps(Noise { ratio: 1.0, seed: 3 }, &mut dataset);
    assert_eq!((dataset.train.row(0), dataset.train.row(1)), (&[0, 1, 2, 3, 4, 7][..], &[0, 1, 2, 3, 4, 5][..]));
    assert_eq!((steps[0].users, steps[0].interactions), (2, 3));
    assert_eq!((&*steps[1].step, steps[1].users, steps[1].interactions), ("noise that is missing, of users with too few items left", 2, 8));
}

proptest! {
    #[test]
    fn no_item_of_any_part_is_drawn(parts in prop::collection::vec(prop::collection::vec(0u8..5, 30), 1..8), seed: u64, ratio in 0.0f64..=1.0) {
        let ratio = (ratio * 100.0).round() / 100.0;
        let of = |own: u8| parts.iter().map(move |row| (0..30).filter(|&item| row[item as usize] == own).collect()).collect::<Vec<Vec<u32>>>();
        let [train, validation, test] = [0, 1, 2].map(of);
        let names: Vec<String> = (0..parts.len()).map(|user| user.to_string()).collect();
        let rows: Vec<Row<'_>> =
            (0..parts.len()).map(|user| (&*names[user], &*train[user], &*validation[user], &*test[user])).collect();
        let before = dataset(30, &rows);
        let mut after = before.clone();
        let steps = steps(Noise { ratio, seed }, &mut after);
        prop_assert!(after.check_disjoint().is_ok());
        prop_assert_eq!((&after.validation, &after.test), (&before.validation, &before.test));
        prop_assert!(before.train.pairs().all(|(user, item)| after.train.contains(user as usize, item)));
        prop_assert_eq!(after.train.len() - before.train.len(), steps[0].interactions);
    }
}

/// What never happened has no place among what did.
#[test]
fn noise_leaves_no_order() {
    let mut noisy = dataset(12, &[("a", &[0, 3], &[4], &[9])]);
    noisy.order = Some(dataset::Order { train: vec![1, 0], fold_in: Vec::new(), validation: vec![2], test: vec![3] });
    Noise { ratio: 0.5, seed: 1 }.add(&mut noisy).unwrap();
    assert_eq!(noisy.order, None);
}

#[test]
fn threads_and_other_users_make_no_difference() {
    let names: Vec<String> = (0..1_500).map(|user| format!("u{user}")).collect();
    let rows: Vec<Row<'_>> = names.iter().map(|name| (&**name, &[1, 5, 7][..], &[2][..], &[][..])).collect();
    let of = |threads: usize, rows: &[Row<'_>]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| drawn(Noise { ratio: 0.5, seed: 1 }, &dataset(300, rows)))
    };
    let all = of(1, &rows);
    assert_eq!(all, of(4, &rows));
    assert_eq!(all[700..], of(2, &rows[700..]));
    assert_ne!(all[0], all[1]);
}

/// Of 16 items that are left, each pair as often as any other: 0.1% of chi-square lies above 173 with 119 degrees of freedom.
#[test]
fn every_set_is_as_likely_as_any_other() {
    let names: Vec<String> = (0..12_000).map(|user| user.to_string()).collect();
    let rows: Vec<Row<'_>> = names.iter().map(|name| (&**name, &[0, 9][..], &[4][..], &[19][..])).collect();
    let mut counts: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for pair in drawn(Noise { ratio: 1.0, seed: 7 }, &dataset(20, &rows)) {
        *counts.entry(pair).or_default() += 1.0;
    }
    let expected = 12_000.0 / 120.0;
    let seen: f64 = counts.values().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(counts.len() == 120 && seen < 173.0, "{} pairs, chi-square {seen}", counts.len());
}

#[test]
fn both_forms_are_read() {
    let read = |text: &str| serde_json::from_str::<Noise>(text);
    assert_eq!(read("0.1").unwrap(), Noise { ratio: 0.1, seed: 0 });
    assert_eq!(read("1").unwrap(), Noise { ratio: 1.0, seed: 0 });
    assert_eq!(read(r#"{"ratio": 0.1, "seed": 2024}"#).unwrap(), Noise { ratio: 0.1, seed: 2024 });
    assert!(read(r#"{"seed": 1}"#).unwrap_err().to_string().contains("ratio"));
    assert!(read("\"x\"").unwrap_err().to_string().contains("a number from 0 to 1, or {ratio, seed}"));
}
