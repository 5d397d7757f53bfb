//! Every kernel against what it computes on the CPU, on random inputs.
//!
//! The same checks run in the tests, where the emulator is the device, and in `ranksweep doctor --check`, on a GPU.

#[cfg(any(test, feature = "nccl"))]
mod all_reduce;
mod draws;
mod gradients;
mod loss_examples;
mod losses;
#[cfg(feature = "nccl")]
mod nccl;
mod ranking;
mod trainings;

use super::comparison::Comparison;
use crate::{Device, Result};
use dataset::Interactions;
use gpu::Gpu;
use streams::{Purpose, Stream};

/// How large the inputs are.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Users.
    pub users: usize,
    /// Items.
    pub items: usize,
    /// Rows of a batch.
    pub rows: usize,
    /// Negatives of a row.
    pub negatives: usize,
}

impl Sizes {
    /// Sizes for the emulator.
    pub const SMALL: Self = Self { users: 40, items: 300, rows: 24, negatives: 45 };
    /// Sizes of whole trainings, for the emulator.
    pub const TINY: Self = Self { users: 20, items: 60, rows: 0, negatives: 0 };
    /// Sizes for a GPU: about slatk-gowalla.
    pub const LARGE: Self = Self { users: 30_000, items: 41_000, rows: 1_024, negatives: 1_000 };
}

/// Compares every kernel with what it computes.
pub fn kernels(gpu: &Gpu, sizes: Sizes) -> Vec<Comparison> {
    let parts = [
        ("draws", draws::check(gpu, sizes)),
        ("losses", losses::check(gpu, sizes)),
        ("gradients", gradients::check(gpu, sizes)),
        ("ranking", ranking::check(gpu, sizes)),
    ];
    parts.into_iter().flat_map(|(what, found)| or_failed(what, found)).collect()
}

/// Compares whole trainings on a device, or on as many as there are ranks, with those on the CPU.
pub fn trainings(device: Device, ranks: u32, sizes: Sizes) -> Vec<Comparison> {
    trainings::check(device, ranks, sizes)
}

/// Compares what ranks get of each other by NCCL with the same by hand.
#[cfg(feature = "nccl")]
pub fn meetings(ordinal: usize) -> Vec<Comparison> {
    or_failed("NCCL", nccl::check(ordinal))
}

/// What was found, or that it could not be: the other checks go on.
fn or_failed(what: &str, found: Result<Vec<Comparison>>) -> Vec<Comparison> {
    found.unwrap_or_else(|error| vec![Comparison::failed(what, &error)])
}

/// Numbers from -`bound` to `bound`, always the same ones of a number.
pub(super) fn wave(length: usize, bound: f32, which: u32) -> Vec<f32> {
    let mut stream = Stream::new(u64::from(which), Purpose::Parameters, 0, 0, 0);
    (0..length).map(|_| (2.0 * stream.fraction() as f32 - 1.0) * bound).collect()
}

/// Users who have more than a few items.
const HEAVY: f64 = 8.0;

/// Items that one user alone has.
const RARE: u32 = 3;

/// Users whose numbers of items go from none to nearly all.
pub(super) fn interactions(sizes: Sizes) -> Interactions {
    let mut stream = Stream::new(3, Purpose::Parameters, 0, 0, 0);
    // The first user alone has the last items but one: the others can draw them, also those who have nearly all else.
    let (items, rare) = (sizes.items as u32, sizes.items as u32 - RARE - 1);
    let of_the_first = (rare..items - 1).map(|item| (0, item));
    let pairs: Vec<(u32, u32)> = (1..sizes.users as u32)
        .flat_map(|user| {
            // As in data, and so that all ways of drawing are taken.
            let heavy = (f64::from(user) + HEAVY - sizes.users as f64).max(0.0) / HEAVY;
            let count = (f64::from(items) * 5.0 * heavy.powi(4)) as usize + (user % 7) as usize;
            (0..count).map(|_| (user, stream.below(rare))).collect::<Vec<_>>()
        })
        .chain(of_the_first)
        .collect();
    Interactions::from_pairs(sizes.users, pairs.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{self, Collective};
    use std::time::Duration;

    #[track_caller]
    fn assert_agree(comparisons: &[Comparison]) {
        let wrong: Vec<&Comparison> = comparisons.iter().filter(|comparison| !comparison.agrees() || comparison.cases == 0).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_kernel_agrees_with_its_twin() {
        assert_agree(&kernels(&Gpu::emulated(), Sizes::SMALL));
    }

    /// The check that a GPU's ranks are held against by NCCL, here with ranks whose sums are made on the host.
    #[test]
    fn gradients_meet_as_they_are_added_up_by_hand() {
        for ranks in [1, 2, 3] {
            let seats = if ranks == 1 { vec![Collective::Single] } else { collective::threads(ranks, Duration::from_secs(60)) };
            let work = |seat: Collective| all_reduce::check(&Gpu::emulated(), &seat);
            assert_agree(&collective::run(seats, work, work).unwrap());
        }
    }

    #[test]
    fn trainings_on_a_device_agree_with_those_on_the_cpu() {
        assert_agree(&trainings(Device::Emulated, 1, Sizes::TINY));
    }

    /// Each rank has a device of its own; sums are made on the host.
    #[test]
    fn trainings_on_several_devices_agree_with_those_on_the_cpu() {
        for ranks in [2, 3] {
            assert_agree(&trainings(Device::Emulated, ranks, Sizes::TINY));
        }
    }
}
