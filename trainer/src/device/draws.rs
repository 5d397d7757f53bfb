//! A sampler's pool on the device.

use crate::Result;
use dataset::Interactions;
use gpu::{
    Gpu,
    draws::{Distribution, Draws},
};
use samplers::Prepared;

/// Puts the draws of a pool that [has kernels](super::has_kernels) on the device.
pub(crate) fn draws(gpu: &Gpu, train: &Interactions, items: usize, pool: &Prepared) -> Result<Draws> {
    let distribution = pool.alias_table();
    let distribution = distribution.as_ref().map(|(alias, weights)| Distribution { alias, weights });
    Ok(Draws::new(gpu, &starts(train), train.items(), items, distribution)?)
}

/// Where each user's items begin, `[users + 1]`.
pub(crate) fn starts(train: &Interactions) -> Vec<u32> {
    let mut end = 0;
    let ends = (0..train.users()).map(|user| {
        end += train.row(user).len() as u32;
        end
    });
    std::iter::once(0).chain(ends).collect()
}
