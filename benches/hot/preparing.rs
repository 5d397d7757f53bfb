//! CSV to a 10-core split dataset in memory, the k-core by itself, and a dataset's way to Parquet and back. Compared with `k_core.py` of the peers (Polars and
//! pandas).
//!
//! Floor: one pass over the bytes of the text; what is above it is parsing, the ids' dictionaries, the k-core and zstd.

use benches::{interactions, random_dataset};
use dataset::{Dataset, Location};
use divan::{
    Bencher,
    counter::{BytesCount, ItemsCount},
};
use pipeline::{KCore, Limits, Preparation, hot, prepare};
use serde_json::json;
use std::fmt::Write as _;

fn folder(name: &str) -> Location {
    Location::parse(&format!("memory:///hot/{name}")).expect("a location")
}

/// Bytes per second of text with about a million rows.
#[divan::bench(sample_count = 10)]
fn csv_to_10_core(bencher: Bencher) {
    let mut text = "user,item,rating\n".to_owned();
    for (user, item) in interactions(20_000, 10_000, 60, 1).pairs() {
        writeln!(text, "u{user},i{item},{}", 1 + (user + item) % 5).expect("memory takes it");
    }
    let (bytes, csv) = (text.len(), folder("ratings.csv"));
    csv.write(text).expect("memory takes it");
    let preparation: Preparation = serde_json::from_value(json!({
        "name": "hot",
        "source": {"delimited": {"path": csv.to_string(), "columns": {"user": "user", "item": "item", "rating": "rating"}}},
        "min_rating": 2.0,
        "k_core": 10,
        "split": {"random": {"test": 0.2}},
    }))
    .expect("a preparation");
    let limits = Limits { threads: rayon::current_num_threads(), memory: None, engine: None, scratch: None };
    let datasets = folder("datasets");
    bencher
        .counter(BytesCount::new(bytes))
        .with_inputs(|| {
            for stored in datasets.folders().expect("memory answers") {
                stored.join("manifest.json").delete().expect("memory forgets");
            }
        })
        .bench_local_values(|()| prepare(&preparation, &datasets, &limits, &mut |_| {}).expect("a preparation"));
}

/// Interactions per second of the peel with the transpose that it needs. Floor: each interaction is read three times and written once.
#[divan::bench(sample_count = 10)]
fn k_core(bencher: Bencher) {
    let (users, items) = (100_000, 50_000);
    let rows = interactions(users, items, 15, 1);
    bencher.counter(ItemsCount::new(rows.len())).bench(|| hot::k_core(&rows, items, KCore::Both(10).bounds()));
}

/// Bytes per second, at 8 bytes an interaction, of encoding, checksums and storing.
#[divan::bench(sample_count = 10)]
fn write_parquet(bencher: Bencher) {
    let dataset = random_dataset(50_000, 20_000, 40);
    bencher.counter(BytesCount::new(8 * (dataset.train.len() + dataset.test.len()))).bench(|| dataset.write(&folder("write")));
}

/// Bytes per second, at 8 bytes an interaction, of reading a stored dataset back with all checks.
#[divan::bench(sample_count = 10)]
fn read_parquet(bencher: Bencher) {
    let (dataset, stored) = (random_dataset(50_000, 20_000, 40), folder("read"));
    dataset.write(&stored).expect("memory takes it");
    bencher.counter(BytesCount::new(8 * (dataset.train.len() + dataset.test.len()))).bench(|| Dataset::read(&stored));
}
