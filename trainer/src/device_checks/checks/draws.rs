//! Draws: the ids of the CPU's samplers.

use super::{Comparison, Sizes, interactions};
use crate::{Result, device::draws::draws};
use gpu::{
    Gpu,
    draws::{Columns, Keys},
};
use samplers::{Popularity, Prepared, Row, Sampler, Uniform};
use streams::{Purpose, Stream};

pub(super) fn check(gpu: &Gpu, sizes: Sizes) -> Result<Vec<Comparison>> {
    let negatives = sizes.negatives as u32;
    let samplers = [
        ("uniform draws", Sampler::Uniform(Uniform { negatives, replacement: true })),
        ("draws by popularity", Sampler::Popularity(Popularity { negatives, exponent: 0.75, logarithm: false })),
    ];
    samplers.into_iter().map(|(what, sampler)| of_sampler(gpu, sizes, what, &sampler)).collect()
}

fn of_sampler(gpu: &Gpu, sizes: Sizes, what: &str, sampler: &Sampler) -> Result<Comparison> {
    let train = interactions(sizes);
    let prepared = Prepared::new(sampler, &train, sizes.items).map_err(crate::Error::impossible)?;
    let draws = draws(gpu, &train, sizes.items, &prepared)?;
    // The last users, who have most items, are among them.
    let users: Vec<u32> = (0..sizes.rows).map(|row| (sizes.users - 1 - row * (sizes.users / sizes.rows)) as u32).collect();
    let (width, first, mut ids) = (1 + sizes.negatives, 5, gpu.zeros(sizes.rows * (1 + sizes.negatives))?);
    let keys = Keys { key: Stream::key(9, Purpose::Negatives, 4), step: 6, first_row: first, by_user: false };
    draws.draw(gpu, &gpu.upload(&users)?, sizes.rows, keys, &mut ids, Columns { width, first: 1, count: sizes.negatives })?;
    let mut expected = vec![0; sizes.rows * width];
    for (row, (&user, ids)) in users.iter().zip(expected.chunks_exact_mut(width)).enumerate() {
        let mut stream = Stream::new(9, Purpose::Negatives, 4, 6, (first + row) as u32);
        prepared.draw(&mut stream, Row::alone(user), &mut ids[1..], None);
    }
    Ok(Comparison::of_ids(what, &gpu.read(&ids)?, &expected))
}
