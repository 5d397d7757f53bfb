//! Cases of the benchmarks: random interactions and factors of given sizes, the same in every run.
//!
//! `cargo bench -p benches` times the hot paths in `hot/`; `benches/compare` sets whole tasks beside other libraries and writes
//! `docs/performance.md`; `benches/instructions` holds instruction counts against their budgets. No time decides a test.

use dataset::{Dataset, Interactions};
use evaluator::{Factors, Matrix, Scorer, Similarity};
use streams::{Purpose, Stream};

/// Interactions of each user with about `each` items: popular ones, with low ids, more often than others.
pub fn interactions(users: usize, items: usize, each: usize, seed: u64) -> Interactions {
    let pairs = (0..users as u32).flat_map(move |user| {
        let mut stream = Stream::new(seed, Purpose::Order, 0, 0, user);
        (0..each).map(move |_| (user, (items as f64 * stream.fraction().powi(2)) as u32))
    });
    Interactions::from_pairs(users, pairs)
}

/// A dataset of random train and test interactions, without a validation part.
pub fn random_dataset(users: usize, items: usize, each: usize) -> Dataset {
    let train = interactions(users, items, each, 1);
    let drawn = interactions(users, items, each.div_ceil(4), 2);
    let test = Interactions::from_pairs(users, drawn.pairs().filter(|&(user, item)| !train.contains(user as usize, item)));
    let ids = |count: usize| (0..count).map(|id| id.to_string()).collect();
    Dataset {
        name: "random".to_owned(),
        fingerprint: "random".to_owned(),
        user_ids: ids(users),
        item_ids: ids(items),
        train,
        validation: Interactions::empty(users),
        one_node_set: false,
        test,
        fold_in: None,
        order: None,
        steps: Vec::new(),
        settings: serde_json::Value::Null,
    }
}

/// Random vectors of users and items, uniform in [-1, 1).
pub fn random_tables(users: usize, items: usize, dim: usize) -> [Matrix; 2] {
    let table = |(which, rows): (u32, usize)| {
        let row = |row| {
            let mut stream = Stream::new(3, Purpose::Parameters, 0, which, row);
            (0..dim).map(move |_| (2.0 * stream.fraction() - 1.0) as f32)
        };
        let mut values = Vec::with_capacity(rows * dim);
        values.extend((0..rows as u32).flat_map(row));
        Matrix { rows, dim, values }
    };
    [(0, users), (1, items)].map(table)
}

/// The same, as a model that scores by dot products.
pub fn random_factors(users: usize, items: usize, dim: usize) -> Scorer {
    let [users, items] = random_tables(users, items, dim);
    Scorer::Factors(Factors { users, items, similarity: Similarity::Dot })
}
