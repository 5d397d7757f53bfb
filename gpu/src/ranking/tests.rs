//! Counts against a loop over all scores, each one chain of fused multiply-adds.

use super::*;
use proptest::prelude::*;

/// Vectors, and which items of each user are held out or masked.
#[derive(Clone, Debug)]
struct Problem {
    users: Vec<f32>,
    items: Vec<f32>,
    dim: usize,
    similarity: Similarity,
    norms: Vec<f32>,
    held_out: Vec<Vec<u32>>,
    masked: Vec<Vec<u32>>,
}

fn mix(seed: u64, at: usize) -> u64 {
    let state = (at as u64 ^ seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

impl Problem {
    /// `steps` different numbers: few make ties. About one in `part` of a user's items is held out, and as many are masked; every third user
    /// has none.
    fn new(users: usize, items: usize, dim: usize, steps: u64, part: u64, seed: u64) -> Self {
        let number = |at: usize| (mix(seed, at) % steps) as f32 / (steps as f32 / 4.0) - 2.0;
        let numbers = |count: usize, from: usize| (0..count).map(|at| number(from + at)).collect::<Vec<f32>>();
        let lists = |kind: u64| {
            let of_user = |user: usize| {
                let is_one = |item: &u32| mix(seed ^ 77, user * items + *item as usize) % part == kind;
                (0..items as u32).filter(|item| user % 3 != 1 && is_one(item)).collect()
            };
            (0..users).map(of_user).collect()
        };
        Self {
            users: numbers(users * dim, 0),
            items: numbers(items * dim, 1 << 30),
            dim,
            similarity: [Similarity::Dot, Similarity::NegativeSquaredDistance][(seed % 2) as usize],
            norms: numbers(items.max(users), 1 << 31),
            held_out: lists(0),
            masked: lists(1),
        }
    }

    fn score(&self, user: usize, item: usize) -> f32 {
        let pairs = self.users[user * self.dim..][..self.dim].iter().zip(&self.items[item * self.dim..][..self.dim]);
        let product = pairs.fold(0.0f32, |sum, (p, q)| p.mul_add(*q, sum));
        if self.similarity == Similarity::Dot { product } else { 2.0f32.mul_add(product, -self.norms[item]) }
    }

    fn expected(&self) -> Counts {
        let mut counts = Counts { at_least: vec![], above: vec![], scores: vec![] };
        for (user, (held_out, masked)) in self.held_out.iter().zip(&self.masked).enumerate() {
            let others = (0..(self.items.len() / self.dim) as u32).filter(|item| !held_out.contains(item) && !masked.contains(item));
            let others: Vec<f32> = others.map(|item| self.score(user, item as usize)).collect();
            for &item in held_out {
                let score = self.score(user, item as usize);
                counts.at_least.push(others.iter().filter(|&&other| other >= score).count() as u32);
                counts.above.push(others.iter().filter(|&&other| other > score).count() as u32);
                counts.scores.push(score);
            }
        }
        counts
    }

    /// Items that are not masked, the best first, equal scores by item.
    fn best(&self, user: usize, masked: &[Vec<u32>], k: usize) -> Vec<(u32, f32)> {
        let items = (0..(self.items.len() / self.dim) as u32).filter(|item| !masked[user].contains(item));
        let mut scores: Vec<(u32, f32)> = items.map(|item| (item, self.score(user, item as usize))).collect();
        scores.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap().then(a.0.cmp(&b.0)));
        let own = if self.similarity == Similarity::Dot { 0.0 } else { self.norms[user] };
        scores.iter_mut().for_each(|(_, score)| *score -= own);
        scores.resize(scores.len().max(k), (u32::MAX, f32::NEG_INFINITY));
        scores.truncate(k);
        scores
    }

    fn found_best(&self, gpu: &Gpu, who: &[u32], masked: Option<&[Vec<u32>]>, k: usize, memory: usize) -> Result<Vec<(u32, f32)>> {
        let [users, items, norms] = [&self.users, &self.items, &self.norms].map(|values| gpu.upload(values).unwrap());
        let [users, items] = [&users, &items].map(|vectors| View { vectors, norms: &norms, dim: self.dim, similarity: self.similarity });
        let lists = masked.map(|masked| {
            let (starts, items) = flat(masked);
            [gpu.upload(&starts).unwrap(), gpu.upload(&items).unwrap()]
        });
        let masked = lists.as_ref().map(|[starts, items]| Lists { starts, items });
        let best = top_k(gpu, users, items, who, masked, k, memory)?;
        Ok(best.ids.into_iter().zip(best.scores).collect())
    }

    fn found(&self, gpu: &Gpu) -> Result<Counts> {
        let (users, items) = (gpu.upload(&self.users)?, gpu.upload(&self.items)?);
        let norms = gpu.upload(&self.norms)?;
        let [users, items] = [&users, &items].map(|vectors| View { vectors, norms: &norms, dim: self.dim, similarity: self.similarity });
        let (starts, held_out) = flat(&self.held_out);
        let held_out = HeldOut::new(gpu, &starts, &held_out)?;
        let (starts, masked) = flat(&self.masked);
        let (starts, masked) = (gpu.upload(&starts)?, gpu.upload(&masked)?);
        count_before(gpu, users, items, &held_out, Lists { starts: &starts, items: &masked })
    }
}

fn flat(lists: &[Vec<u32>]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0];
    lists.iter().for_each(|list| starts.push(starts[starts.len() - 1] + list.len() as u32));
    (starts, lists.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn counts_are_those_of_all_scores(
        (users, items) in (1usize..280, 1usize..400),
        dim in prop::sample::select(vec![1usize, 2, 7, 8, 12, 17, 20]),
        steps in prop::sample::select(vec![3u64, 5, 1 << 22]),
        part in 2u64..60,
        seed in 0u64..1_000,
    ) {
        let (gpu, problem) = (Gpu::emulated(), Problem::new(users, items, dim, steps, part, seed));
        let found = problem.found(&gpu).unwrap();
        prop_assert_eq!(&found, &problem.expected());
        prop_assert_eq!(&found, &problem.found(&gpu).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_best_are_the_head_of_a_full_sort(
        (users, items) in (1usize..200, 1usize..700),
        (dim, k) in (1usize..9, prop::sample::select(vec![1usize, 2, 20, 130, 300, 800])),
        steps in prop::sample::select(vec![2u64, 5, 1 << 22]),
        memory in prop::sample::select(vec![0usize, 1 << 20, 1 << 26]),
        has_masked: bool,
        seed in 0u64..1_000,
    ) {
        let (gpu, problem) = (Gpu::emulated(), Problem::new(users, items, dim, steps, 3, seed));
        let who: Vec<u32> = (0..users as u32).filter(|user| user % 5 != 3).rev().collect();
        let none = vec![vec![]; users];
        let masked = if has_masked { &problem.masked } else { &none };
        let found = problem.found_best(&gpu, &who, has_masked.then_some(masked), k, memory).unwrap();
        let expected: Vec<(u32, f32)> = who.iter().flat_map(|&user| problem.best(user as usize, masked, k)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn scores_that_rise_fill_the_room_of_every_tile() {
    let mut problem = Problem::new(3, 1_500, 1, 5, 3, 2);
    (problem.similarity, problem.users) = (Similarity::Dot, vec![1.0, -1.0, 0.0]);
    problem.items = (0..1_500).map(|item| item as f32 - 700.0).collect();
    let found = problem.found_best(&Gpu::emulated(), &[0, 1, 2], None, 3, 0).unwrap();
    let rising = [(1_499, 799.0), (1_498, 798.0), (1_497, 797.0)];
    let falling = [(0, 700.0), (1, 699.0), (2, 698.0)];
    assert_eq!(found, [rising, falling, [(0, 0.0), (1, 0.0), (2, 0.0)]].concat());
    problem.items[1_234] = f32::NAN;
    assert!(matches!(problem.found_best(&Gpu::emulated(), &[1, 2], None, 3, 0), Err(Error::NotFinite { row: 1, column: 1_234 })));
}

#[test]
fn more_thresholds_than_shared_memory_has_room_for() {
    // 86 of 128 users have about 64 of 128 items.
    let problem = Problem::new(130, 129, 3, 7, 2, 4);
    assert!(problem.held_out[..128].concat().len() > ROOM);
    assert_eq!(problem.found(&Gpu::emulated()).unwrap(), problem.expected());
}

#[test]
fn nobody_is_held_out() {
    let mut problem = Problem::new(3, 10, 4, 5, 3, 1);
    problem.held_out.iter_mut().for_each(Vec::clear);
    assert_eq!(problem.found(&Gpu::emulated()).unwrap(), Counts { at_least: vec![], above: vec![], scores: vec![] });
}

#[test]
fn the_first_score_that_is_not_finite_is_named() {
    let mut problem = Problem::new(200, 300, 9, 100, 10, 3);
    let first = |problem: &Problem| match problem.found(&Gpu::emulated()) {
        Err(Error::NotFinite { row, column }) => (row, column),
        other => panic!("{other:?}"),
    };
    problem.users[150 * 9 + 2] = f32::NAN;
    assert_eq!(first(&problem), (150, 0));
    problem.items[207 * 9] = 3e38;
    problem.items[299 * 9] = f32::INFINITY;
    problem.users[..27].fill(0.25); // user 1 has nothing held out
    assert_eq!(first(&problem), (0, 299));
    problem.users[2 * 9] = 8.0;
    problem.users[..9].fill(1e-9);
    problem.items[299 * 9] = 0.0;
    problem.users[3 * 9..150 * 9].fill(0.5);
    assert_eq!(first(&problem), (2, 207));
}
