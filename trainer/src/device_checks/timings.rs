//! How long the kernels of a step and of an epoch's end take, beside what they must move and compute.

mod ranking;

use super::{
    Timing,
    checks::{Sizes, interactions, wave},
};
use crate::{
    Error, Result,
    device::{
        draws::{draws, starts},
        loss::{DeviceLoss, Scored},
        optimizer,
    },
};
use gpu::{
    Buffer, Gpu, adam,
    draws::{Columns, Keys},
    propagation, scores,
    segments::{Segments, Sums, Terms},
    vectors::{self, Similarity},
};
use losses::Loss;
use optimizers::{Adam, Optimizer, Stepper};
use samplers::{Prepared, Sampler, Uniform};
use std::time::Instant;
use streams::{Purpose, Stream};

/// Length of a vector.
const DIM: usize = 64;
/// Runs between two waits for the device, so that the wait does not count; and how often that is done.
const RUNS: u32 = 20;
const REPEATS: usize = 7;

/// Steps after which rows may be left behind for sure, and for how many they are.
const LATE: u64 = 10_000;
const GAP: usize = 40;

/// Bytes of a number.
const NUMBER: usize = 4;

/// Times the kernels of a step of mf with softmax-at-k at such sizes, and what follows an epoch.
pub(super) fn time(gpu: &Gpu, sizes: Sizes) -> Result<Vec<Timing>> {
    let mut batch = TimedBatch::new(gpu, sizes)?;
    let mut timings = vec![
        batch.draws()?,
        batch.unit_vectors()?,
        batch.scores()?,
        batch.losses()?,
        batch.user_gradients()?,
        batch.sort()?,
        batch.item_gradients()?,
        adam_of_items(gpu, sizes.items)?,
        adam_of_few(gpu, sizes.items)?,
        propagation_of_layers(gpu, sizes)?,
    ];
    timings.extend(ranking::time(gpu, sizes)?);
    Ok(timings)
}

/// What a step has of a batch; each kernel leaves what the next one takes.
struct TimedBatch<'a> {
    gpu: &'a Gpu,
    sizes: Sizes,
    users: Buffer<u32>,
    ids: Buffer<u32>,
    tables: [Buffer<f32>; 2],
    queries: vectors::Prepared,
    items: vectors::Prepared,
    scores: Buffer<f32>,
    by_item: Segments,
}

impl<'a> TimedBatch<'a> {
    fn new(gpu: &'a Gpu, sizes: Sizes) -> Result<Self> {
        let Sizes { users: all_users, items, rows, negatives } = sizes;
        let tables = [gpu.upload(&wave(all_users * DIM, 0.1, 1))?, gpu.upload(&wave(items * DIM, 0.1, 2))?];
        let users: Vec<u32> = (0..rows).map(|row| (row * 7_919 % all_users) as u32).collect();
        let users = gpu.upload(&users)?;
        let mut queries = vectors::Prepared::chosen(gpu, rows, DIM, Similarity::Cosine)?;
        queries.choose(gpu, &tables[0], &users, rows)?;
        let count = rows * (1 + negatives);
        let (ids, scores, by_item) = (gpu.zeros(count)?, gpu.zeros(count)?, Segments::new(gpu, count, items)?);
        let items = vectors::Prepared::whole(gpu, items, DIM, Similarity::Cosine)?;
        Ok(Self { gpu, sizes, users, ids, tables, queries, items, scores, by_item })
    }

    fn width(&self) -> usize {
        1 + self.sizes.negatives
    }

    /// Scores of the batch.
    fn count(&self) -> usize {
        self.sizes.rows * self.width()
    }

    /// Bytes of the item table once, the batch's vectors once, and an id and a number of each score.
    fn gathered(&self) -> usize {
        (self.sizes.items * DIM + self.sizes.rows * DIM + 2 * self.count()) * NUMBER
    }

    fn draws(&mut self) -> Result<Timing> {
        let Sizes { items, rows, negatives, .. } = self.sizes;
        let train = interactions(self.sizes);
        let sampler = Sampler::Uniform(Uniform { negatives: negatives as u32, replacement: true });
        let pool = Prepared::new(&sampler, &train, items).map_err(Error::impossible)?;
        let pool = draws(self.gpu, &train, items, &pool)?;
        let keys = Keys { key: Stream::key(1, Purpose::Negatives, 1), step: 1, first_row: 0, by_user: false };
        let columns = Columns { width: self.width(), first: 1, count: negatives };
        let count = self.count();
        timed(self.gpu, "draws: uniform, train items rejected", [count * NUMBER, 0], || {
            Ok(pool.draw(self.gpu, &self.users, rows, keys, &mut self.ids, columns)?)
        })
    }

    fn unit_vectors(&mut self) -> Result<Timing> {
        let table = self.sizes.items * DIM;
        timed(self.gpu, "unit vectors of all items", [2 * table * NUMBER, 3 * table], || {
            Ok(self.items.prepare(self.gpu, &self.tables[1])?)
        })
    }

    fn scores(&mut self) -> Result<Timing> {
        let (work, width) = ([self.gathered(), 2 * self.count() * DIM], self.width());
        let Self { gpu, sizes, ids, tables, queries, items, scores, .. } = self;
        let (queries, items) = (queries.view(&tables[0]), items.view(&tables[1]));
        timed(gpu, "scores: cosines", work, || {
            Ok(scores::score(gpu, queries, items, scores::Rows { ids, rows: sizes.rows, width }, scores)?)
        })
    }

    fn losses(&mut self) -> Result<Timing> {
        let (count, width, rows) = (self.count(), self.width(), self.sizes.rows);
        let (quantiles, mut losses) = (self.gpu.zeros(self.sizes.users)?, self.gpu.zeros(rows)?);
        let loss: Loss =
            serde_json::from_str(r#"{"softmax-at-k": {"cutoff": 20, "temperature": 0.2, "weight_temperature": 1, "quantile_every": 5}}"#)
                .expect("a loss");
        let loss = DeviceLoss::new(&loss, self.sizes.items);
        timed(self.gpu, "loss: softmax at k", [2 * count * NUMBER, 4 * count], || {
            let scored = Scored { scores: &mut self.scores, rows, width, quantiles: Some(&quantiles), users: &self.users };
            loss.score_gradients(self.gpu, scored, 1.0 / rows as f32, &mut losses)
        })
    }

    fn user_gradients(&mut self) -> Result<Timing> {
        let (work, width, rows) = ([self.gathered(), 2 * self.count() * DIM], self.width(), self.sizes.rows);
        let (mut gradients, mut totals) = (self.gpu.zeros(rows * DIM)?, self.gpu.zeros(rows)?);
        let Self { gpu, ids, tables, items, scores, .. } = self;
        let items = items.view(&tables[1]);
        timed(gpu, "gradients of the batch's users", work, || {
            Ok(scores::gather(gpu, items, scores::Rows { ids, rows, width }, scores, &mut gradients, &mut totals)?)
        })
    }

    fn sort(&mut self) -> Result<Timing> {
        let count = self.count();
        timed(self.gpu, "sort by item", [4 * count * NUMBER, 0], || Ok(self.by_item.sort(self.gpu, &self.ids, count)?))
    }

    fn item_gradients(&mut self) -> Result<Timing> {
        let (items, width) = (self.sizes.items, self.width());
        let work = [self.gathered() + items * DIM * NUMBER, 2 * self.count() * DIM];
        let (mut out, mut touched, mut totals) = (self.gpu.zeros(items * DIM)?, self.gpu.zeros(items)?, self.gpu.zeros(items)?);
        let Self { gpu, tables, queries, scores, by_item, .. } = self;
        let terms = Terms { weights: scores, vectors: queries.view(&tables[0]).vectors, width, dim: DIM };
        timed(gpu, "gradients of the items", work, || {
            Ok(by_item.sum(gpu, terms, Sums { out: &mut out, touched: &mut touched, totals: &mut totals })?)
        })
    }
}

fn adam_of_items(gpu: &Gpu, items: usize) -> Result<Timing> {
    let count = items * DIM;
    let (mut values, mut first, mut second) = (gpu.zeros(count)?, gpu.zeros(count)?, gpu.zeros(count)?);
    let (gradient, touched) = (gpu.upload(&wave(count, 0.1, 3))?, gpu.upload(&vec![1u8; items])?);
    let step = optimizer::step(Stepper::new(&Optimizer::Adam(Adam::new(0.001)), 100).next_step());
    timed(gpu, "adam: all items", [7 * count * NUMBER, 12 * count], || {
        let table = adam::Table { values: &mut values, first: &mut first, second: &mut second, dim: DIM };
        Ok(adam::step(gpu, table, &gradient, &touched, &step, true)?)
    })
}

/// As many rows as a batch has, each left behind a few steps before.
fn adam_of_few(gpu: &Gpu, items: usize) -> Result<Timing> {
    let (count, listed) = (items * DIM, (items / 16).max(1));
    let mut stepper = Stepper::new(&Optimizer::Adam(Adam::new(0.001)), LATE);
    let mut leaps = adam::Leaps::new(gpu, stepper.epsilon(), &stepper.decays(GAP))?;
    for _ in 0..GAP {
        stepper.finish_step();
        leaps.advance(gpu, &optimizer::leaps(&stepper.recent_leaps()))?;
    }
    let (mut values, mut first, mut second) = (gpu.zeros(count)?, gpu.zeros(count)?, gpu.zeros(count)?);
    let gradient = gpu.upload(&wave(count, 0.1, 3))?;
    let rows: Vec<u32> = (0..listed).map(|row| (row * (items / listed)) as u32).collect();
    let (rows, number, mut left) = (gpu.upload(&rows)?, gpu.upload(&[listed as u32])?, gpu.zeros(items)?);
    timed(gpu, "adam: a sixteenth of the items, row by row", [7 * listed * DIM * NUMBER, 12 * listed * DIM], || {
        let table = adam::Table { values: &mut values, first: &mut first, second: &mut second, dim: DIM };
        leaps.move_rows(gpu, table, &mut left, (&rows, &number), &gradient, &optimizer::step(stepper.next_step()))?;
        Ok(gpu.clear(&mut left)?)
    })
}

/// Two layers of light-gcn, of tables that the second-level cache holds.
fn propagation_of_layers(gpu: &Gpu, sizes: Sizes) -> Result<Timing> {
    const LAYERS: usize = 2;
    let train = interactions(sizes);
    let of_items = train.transpose(sizes.items);
    let sides = ((&starts(&train)[..], train.items()), (&starts(&of_items)[..], of_items.items()));
    let mut graph = propagation::Graph::new(gpu, sides.0, sides.1, LAYERS)?;
    let [users, items] = [sizes.users * DIM, sizes.items * DIM];
    let tables = [gpu.upload(&wave(users, 0.1, 1))?, gpu.upload(&wave(items, 0.1, 2))?];
    let mut out = [gpu.zeros(users)?, gpu.zeros(items)?];
    let work = [LAYERS * (2 * (users + items) + 2 * train.len()) * NUMBER, LAYERS * 2 * train.len() * DIM];
    timed(gpu, "propagation: two layers", work, || Ok(graph.forward(gpu, tables.each_ref(), None, out.each_mut(), DIM)?))
}

/// The median of some runs.
fn timed(gpu: &Gpu, what: &str, [bytes, flops]: [usize; 2], mut run: impl FnMut() -> Result<()>) -> Result<Timing> {
    run()?; // compiles
    gpu.wait()?;
    let mut seconds = [0.0; REPEATS];
    for seconds in &mut seconds {
        let start = Instant::now();
        (0..RUNS).try_for_each(|_| run())?;
        gpu.wait()?;
        *seconds = start.elapsed().as_secs_f64() / f64::from(RUNS);
    }
    seconds.sort_by(f64::total_cmp);
    Ok(Timing { what: what.to_owned(), seconds: seconds[REPEATS / 2], bytes: bytes as u64, flops: flops as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures mean nothing there; that every kernel runs does.
    #[test]
    fn every_kernel_is_timed() {
        let sizes = Sizes { users: 9, items: 40, rows: 3, negatives: 5 };
        let timings = time(&Gpu::emulated(), sizes).unwrap();
        assert_eq!(timings.len(), 13);
        assert!(timings.iter().all(|timing| timing.seconds > 0.0 && timing.bytes > 0));
    }
}
