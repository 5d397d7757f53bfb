//! Uniform negatives, the user's own items rejected. Compared with numba's sampler in the peers' `torch_mf.py`, one thread each.
//!
//! Floor: one multiplication of 64 bits and one probe of a table in the first-level cache for each draw, about 1 ns.

use benches::interactions;
use divan::{Bencher, black_box, counter::ItemsCount};
use trainer::{
    Sampler,
    sampler::{Prepared, Purpose, Row, Stream, Uniform},
};

const USERS: usize = 4_096;
const ITEMS: usize = 40_000;

/// Rows of so many draws, one for each user; the figure per item is that of a draw.
#[divan::bench(args = [1, 32, 1_000])]
fn uniform(bencher: Bencher, negatives: u32) {
    let train = interactions(USERS, ITEMS, 30, 1);
    let sampler = Sampler::Uniform(Uniform { negatives, replacement: true });
    let sampler = Prepared::new(&sampler, &train, ITEMS).expect("every user lacks items");
    let mut ids = vec![0; negatives as usize];
    let mut step = 0;
    bencher.counter(ItemsCount::new(USERS * ids.len())).bench_local(|| {
        step += 1;
        for user in 0..USERS as u32 {
            sampler.draw(&mut Stream::new(1, Purpose::Negatives, 1, step, user), Row::alone(user), black_box(&mut ids), None);
        }
    });
}
