//! The published sizes of real datasets. Their files are not part of the project: `RANKSWEEP_DATA` names the folder that holds them.

use dataset::{Location, Manifest};
use pipeline::{Limits, Preparation, prepare};
use serde_json::{Value, json};
use testing::real_data;

fn prepared(settings: Value) -> Manifest {
    let preparation: Preparation = serde_json::from_value(settings).expect("settings of a preparation");
    let datasets = Location::parse("memory:///real").expect("a good URL");
    let limits = Limits { threads: 2, memory: Some(256 << 20), engine: None, scratch: None };
    prepare(&preparation, &datasets, &limits, &mut |_| {}).expect("real data are sound").manifest
}

/// Users, items and interactions.
fn size(manifest: &Manifest) -> (usize, usize, usize) {
    (manifest.users, manifest.items, manifest.train + manifest.validation + manifest.test)
}

#[test]
fn ml_100k() {
    let Some(path) = real_data("ml-100k/ml-100k.inter.gz") else { return };
    let split = json!({"random": {"test": 0.2, "validation": 0.1, "seed": 2024}});
    let manifest =
        prepared(json!({"name": "ml-100k", "source": {"recbole": {"path": path}}, "min_rating": 3, "k_core": 10, "split": split}));
    assert_eq!(size(&manifest), (939, 1_016, 80_393));
    let raw = &manifest.steps[0];
    assert_eq!((raw.users, raw.items, raw.interactions), (943, 1_682, 100_000));
}

#[test]
fn ml_1m() {
    let Some(path) = real_data("ml-1m/ratings.dat.gz") else { return };
    let split = json!({"leave-last": {"validation": true}});
    let manifest =
        prepared(json!({"name": "ml-1m", "source": {"movielens": {"path": path}}, "min_rating": 3, "k_core": 10, "split": split}));
    assert_eq!(size(&manifest), (6_033, 3_123, 834_449));
    assert_eq!((manifest.validation, manifest.test), (6_033, 6_033));
    let raw = &manifest.steps[0];
    assert_eq!((raw.users, raw.items, raw.interactions), (6_040, 3_706, 1_000_209));
}

#[test]
fn ml_latest_small() {
    let Some(path) = real_data("ml-latest-small/ratings.csv.gz") else { return };
    let split = json!({"temporal": {"test": 0.2, "validation": 0.1}});
    let manifest = prepared(json!({"name": "latest", "source": {"movielens": {"path": path}}, "split": split}));
    assert_eq!(size(&manifest), (610, 9_724, 100_836));
    let leak = manifest.steps.last().expect("steps");
    assert_eq!((&leak.step[..], leak.interactions), ("test, before the latest train interaction of all users", 0));
}

#[test]
fn foursquare_keeps_one_of_repeated_visits() {
    let Some(path) = real_data("foursquare-nyc/interactions.tsv.gz") else { return };
    let columns = json!({"user": "user_id", "item": "item_id", "timestamp": "time_min"});
    let source = json!({"delimited": {"path": path, "separator": "\t", "columns": columns}});
    let manifest = prepared(json!({"name": "nyc", "source": source, "split": {"leave-last": {}}}));
    assert_eq!(manifest.steps[0].interactions, 147_938);
    assert_eq!(size(&manifest), (1_083, 5_135, 36_140));
}

#[test]
fn slatk_movielens_100k() {
    let (Some(train), Some(test)) = (real_data("slatk-movielens-100k/train.tsv.gz"), real_data("slatk-movielens-100k/test.tsv.gz")) else {
        return;
    };
    let source = json!({"splits": {"train": train, "test": test}});
    let manifest = prepared(json!({"name": "slatk", "source": source}));
    assert_eq!((manifest.users, manifest.items, manifest.train, manifest.test), (939, 1_016, 63_944, 16_449));
    let manifest = prepared(json!({"name": "slatk", "source": source, "split": {"given": {"validation": 0.1, "seed": 1}}}));
    assert_eq!((manifest.train + manifest.validation, manifest.test), (63_944, 16_449));
    // max(floor(n / 10), 1) of each user's n train interactions, summed over the file's own users with awk.
    assert_eq!(manifest.validation, 5997);
}

#[test]
fn lightgcn_yelp2018() {
    let (Some(train), Some(test)) = (real_data("lightgcn-yelp2018/train.txt.gz"), real_data("lightgcn-yelp2018/test.txt.gz")) else {
        return;
    };
    let manifest = prepared(json!({"name": "yelp", "source": {"adjacency": {"train": train, "test": test}}}));
    assert_eq!((manifest.users, manifest.items, manifest.train, manifest.test), (31_668, 38_048, 1_237_259, 324_147));
}
