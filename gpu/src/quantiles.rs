//! The K-th largest score of each user's list: `kernels/quantiles.cu`.

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    draws::{Columns, Draws, Keys},
    launch::{Grid, LaunchArgument, count},
    ranking::{Sides, top_k},
    vectors::View,
};

/// Threads of a block.
const THREADS: usize = 256;

/// The items drawn for each user beside the user's own.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The users' own items, and how others are drawn: uniformly, whatever else they are drawn by.
    pub draws: &'a Draws,
    /// The common key of the users' generators: a user's is keyed by its number, at step 0.
    pub key: u64,
    /// How many other items are drawn for a user.
    pub negatives: usize,
}

/// For each of the users `who`, which have so many `own` items, the `k`-th largest score of the own items and the drawn ones; the smallest where
/// there are fewer. `memory` in bytes bounds the working space, down to that of one user.
///
/// # Errors
/// Those of the device.
pub fn of_samples(
    gpu: &Gpu,
    [users, items]: [View; 2],
    who: &[u32],
    own: &[u32],
    sample: Sample,
    k: usize,
    memory: usize,
) -> Result<Vec<f32>> {
    assert!(who.len() == own.len() && k > 0 && own.iter().all(|&own| own as usize + sample.negatives > 0), "lists that are not empty");
    let sides = Sides::new(users, items);
    let stride = sample.negatives + own.iter().max().map_or(0, |&own| own as usize);
    let of_user = stride * size_of::<f32>() + (sample.negatives + 2) * size_of::<u32>();
    let mut all = Vec::with_capacity(who.len());
    for who in who.chunks((memory / of_user.max(1)).max(1)) {
        let who = gpu.upload(who)?;
        let drawn = draw(gpu, &who, sample)?;
        let (mut work, mut found) = (gpu.zeros::<f32>(who.len() * stride)?, gpu.zeros::<f32>(who.len())?);
        let own = [
            sides.user_norms(),
            read(&who),
            read(sample.draws.starts()),
            read(sample.draws.train()),
            read(&drawn),
            count(sample.negatives),
            count(k),
            count(stride),
            write(&mut work),
            write(&mut found),
        ];
        let arguments: Vec<LaunchArgument> = sides.arguments().into_iter().chain(own).collect();
        gpu.launch("kth_of_lists", Grid::blocks(who.len(), THREADS), &arguments)?;
        all.extend(gpu.read(&found)?);
    }
    Ok(all)
}

/// `[users, negatives]`
fn draw(gpu: &Gpu, who: &Buffer<u32>, sample: Sample) -> Result<Buffer<u32>> {
    let mut drawn = gpu.zeros(who.len() * sample.negatives)?;
    let keys = Keys { key: sample.key, step: 0, first_row: 0, by_user: true };
    let columns = Columns { width: sample.negatives, first: 0, count: sample.negatives };
    sample.draws.draw_uniform(gpu, who, who.len(), keys, &mut drawn, columns)?;
    Ok(drawn)
}

/// For each of the users `who` the `k`-th largest score of all items; the smallest where there are fewer. `memory` is as for [`top_k`].
///
/// # Errors
/// Those of [`top_k`].
pub fn of_catalogue(gpu: &Gpu, [users, items]: [View; 2], who: &[u32], k: usize, memory: usize) -> Result<Vec<f32>> {
    let k = k.min(items.vectors.len() / items.dim);
    assert!(k > 0, "lists that are not empty");
    let best = top_k(gpu, users, items, who, None, k, memory)?;
    Ok(best.scores.chunks_exact(k).map(|scores| scores[k - 1]).collect())
}

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests {
    use super::*;
    use crate::draws::Distribution;
    use crate::vectors::Similarity;
    use proptest::prelude::*;

    fn number(seed: u32, at: usize) -> f32 {
        let bits = (at as u32 ^ seed).wrapping_mul(2_654_435_761);
        // Some numbers are equal, so that a list has equal scores.
        ((bits ^ bits >> 15) % 4_001) as f32 / 1_000.0 - 2.0
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn quantiles_are_those_of_sorted_lists(
            dim in prop::sample::select(vec![1usize, 3, 4, 9]),
            (items, negatives, k) in (60usize..400, 1usize..300, 1usize..60),
            is_distance: bool,
            weighted: bool,
            seed: u32,
        ) {
            let (gpu, users) = (Gpu::emulated(), 9usize);
            let own: Vec<Vec<u32>> = (0..users).map(|user| (0..items as u32 / 2).filter(|item| (item * 7 + user as u32) % 5 < user as u32 % 5).collect()).collect();
            let ends = own.iter().scan(0, |end, own| { *end += own.len() as u32; Some(*end) });
            let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
            // An alias table that gives every item to the first one: weighted draws would be it alone.
            let alias = vec![[0, 0]; items];
            let weights = vec![1.0; items];
            let distribution = weighted.then_some(Distribution { alias: &alias, weights: &weights });
            let draws = Draws::new(&gpu, &starts, &own.concat(), items, distribution).unwrap();
            let table = |rows: usize, first: usize| (0..rows * dim).map(|at| number(seed, first + at)).collect::<Vec<f32>>();
            let (p, q, norms) = (table(users, 0), table(items, 9_999), table(items, 99_999));
            let similarity = if is_distance { Similarity::NegativeSquaredDistance } else { Similarity::Dot };
            let [on_p, on_q, on_norms] = [&p, &q, &norms].map(|values| gpu.upload(values).unwrap());
            let views = [&on_p, &on_q].map(|vectors| View { vectors, norms: &on_norms, dim, similarity });
            let score = |user: u32, item: u32| {
                let (p, q) = (&p[user as usize * dim..][..dim], &q[item as usize * dim..][..dim]);
                let product = p.iter().zip(q).fold(0.0f32, |sum, (p, q)| p.mul_add(*q, sum));
                if is_distance { 2.0f32.mul_add(product, -norms[item as usize]) - norms[user as usize] } else { product }
            };
            let kth = |user: u32, list: &[u32]| {
                let mut scores: Vec<f32> = list.iter().map(|&item| score(user, item)).collect();
                scores.sort_by(|a, b| b.total_cmp(a));
                scores[k.min(scores.len()) - 1]
            };

            let who: Vec<u32> = vec![8, 1, 4, 3, 7];
            let lengths: Vec<u32> = who.iter().map(|&user| own[user as usize].len() as u32).collect();
            let sample = Sample { draws: &draws, key: 77, negatives };
            let drawn = gpu.read(&draw(&gpu, &gpu.upload(&who).unwrap(), sample).unwrap()).unwrap();
            let expected: Vec<f32> = who.iter().zip(drawn.chunks_exact(negatives)).map(|(&user, drawn)| kth(user, &[&own[user as usize], drawn].concat())).collect();
            for memory in [0, 10_000, 1 << 20] {
                prop_assert_eq!(&of_samples(&gpu, views, &who, &lengths, sample, k, memory).unwrap(), &expected);
            }
            prop_assert!(items < 2 || negatives < 20 || drawn.iter().any(|&item| item != 0), "draws are uniform");
            let all: Vec<u32> = (0..items as u32).collect();
            let expected: Vec<f32> = who.iter().map(|&user| kth(user, &all)).collect();
            prop_assert_eq!(of_catalogue(&gpu, views, &who, k, 1 << 20).unwrap(), expected);
        }
    }
}
