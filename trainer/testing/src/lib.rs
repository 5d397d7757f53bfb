//! What the tests of several crates share. No other code may have it.

use dataset::{Dataset, Interactions};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::path::PathBuf;

/// A file of the real datasets, which are not part of the project: `RANKSWEEP_DATA` names the folder that holds them, `../shared/data` when it is unset.
/// `None`, with a word, where it is missing.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn real_data(name: &str) -> Option<String> {
    let folder =
        std::env::var("RANKSWEEP_DATA").unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").to_owned());
    let file = PathBuf::from(folder).join(name);
    if file.exists() {
        return Some(file.display().to_string());
    }
    eprintln!("skipped: {} is missing; set RANKSWEEP_DATA to the folder with the datasets", file.display());
    None
}

/// Chi-square test of frequencies against probabilities, which may have zeros; `variance` is that of one draw over the independent one's.
#[track_caller]
pub fn assert_drawn_from(frequencies: &[f64], probabilities: &[f64], variance: f64) {
    let draws: f64 = frequencies.iter().sum();
    let mut statistic = 0.0;
    for (&found, &probability) in frequencies.iter().zip(probabilities) {
        if probability == 0.0 {
            assert_eq!(found, 0.0, "drew what has no probability: {frequencies:?}");
        } else {
            statistic += (found - draws * probability).powi(2) / (draws * probability);
        }
    }
    let freedom = probabilities.iter().filter(|&&probability| probability > 0.0).count() - 1;
    let p = ChiSquared::new(freedom as f64).expect("more than one value is possible").sf(statistic / variance);
    assert!((1e-4..0.9999).contains(&p), "p = {p}: {frequencies:?}");
}

/// A dataset of so many users and items with these train pairs.
pub fn dataset_of([users, items]: [usize; 2], pairs: &[(u32, u32)]) -> Dataset {
    let ids = |letter: &str, count: usize| (0..count).map(|at| format!("{letter}{at}")).collect::<Vec<_>>();
    Dataset {
        name: "small".into(),
        fingerprint: "small".into(),
        user_ids: ids("u", users),
        item_ids: ids("i", items),
        train: Interactions::from_pairs(users, pairs.iter().copied()),
        validation: Interactions::empty(users),
        one_node_set: false,
        test: Interactions::empty(users),
        fold_in: None,
        order: None,
        steps: vec![],
        settings: serde_json::Value::Null,
    }
}
