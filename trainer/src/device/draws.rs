//! A sampler's pool on the device.

use crate::{Result, sampler::Prepared};
use dataset::Interactions;
use gpu::{Gpu, draws::Draws};

/// Of a pool that [fits](super::fits_gpu).
pub(super) fn draws(gpu: &Gpu, train: &Interactions, items: usize, pool: &Prepared) -> Result<Draws> {
    Ok(Draws::new(gpu, &starts(train), train.items(), items, pool.alias_columns().as_deref())?)
}

/// Where each user's items begin, `[users + 1]`.
pub(super) fn starts(train: &Interactions) -> Vec<u32> {
    let mut end = 0;
    let ends = (0..train.users()).map(|user| {
        end += train.row(user).len() as u32;
        end
    });
    std::iter::once(0).chain(ends).collect()
}
