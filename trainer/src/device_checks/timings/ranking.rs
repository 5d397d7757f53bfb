//! Full ranking, best items and quantiles of a catalogue like slatk-gowalla's.

use super::{DIM, NUMBER, timed};
use crate::{
    Result,
    device::draws::starts,
    device_checks::{
        Timing,
        checks::{Sizes, wave},
    },
};
use dataset::Interactions;
use gpu::{
    Gpu,
    draws::Draws,
    quantiles::{Sample, of_samples},
    ranking::{HeldOut, Lists, count_before, top_k},
    vectors::{Prepared, Similarity},
};

/// Train items and held-out items of a user: the means of slatk-gowalla.
const TRAIN: usize = 27;
const HELD_OUT: usize = 7;
const K: usize = 20;
/// Bytes of working space.
const MEMORY: usize = 1 << 30;

pub(super) fn time(gpu: &Gpu, sizes: Sizes) -> Result<Vec<Timing>> {
    let Sizes { users, items, negatives, .. } = sizes;
    let tables = [gpu.upload(&wave(users * DIM, 0.1, 1))?, gpu.upload(&wave(items * DIM, 0.1, 2))?];
    let [of_users, of_items] = [users, items].map(|rows| Prepared::whole(gpu, rows, DIM, Similarity::Dot));
    let (of_users, of_items) = (of_users?, of_items?);
    let (p, q) = (of_users.view(&tables[0]), of_items.view(&tables[1]));
    let (train, held_out) = (part(sizes, 0..TRAIN), part(sizes, TRAIN..TRAIN + HELD_OUT));
    let draws = Draws::new(gpu, &starts(&train), train.items(), items, None)?;
    let masked = Lists { starts: draws.starts(), items: draws.train() };
    let held_out = HeldOut::new(gpu, &starts(&held_out), held_out.items())?;
    let who: Vec<u32> = (0..users as u32).collect();

    let all = [(users + items) * DIM * NUMBER, 2 * users * items * DIM];
    let ranks = timed(gpu, "full ranking: ranks of held-out items", all, || Ok(count_before(gpu, p, q, &held_out, masked).map(|_| ())?))?;
    let best = timed(gpu, "full ranking: the best 20 items", all, || Ok(top_k(gpu, p, q, &who, Some(masked), K, MEMORY).map(|_| ())?))?;
    let scored = users * (TRAIN + negatives);
    let own = vec![TRAIN as u32; users];
    let sample = Sample { draws: &draws, key: 1, negatives };
    let quantiles = timed(gpu, "quantiles of all users", [all[0] + users * NUMBER, 2 * scored * DIM], || {
        Ok(of_samples(gpu, [p, q], &who, &own, sample, K, MEMORY).map(|_| ())?)
    })?;
    Ok(vec![ranks, best, quantiles])
}

/// Some of each user's items: no item has two places among them.
fn part(sizes: Sizes, places: std::ops::Range<usize>) -> Interactions {
    let item = |user: usize, place: usize| ((user * 31 + place * 1_201) % sizes.items) as u32;
    let of_user = |user: usize| places.clone().map(move |place| (user as u32, item(user, place)));
    Interactions::from_pairs(sizes.users, (0..sizes.users).flat_map(of_user))
}
