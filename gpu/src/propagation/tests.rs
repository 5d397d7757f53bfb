//! Propagation against the powers of the adjacency matrix in `f64`.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const USERS: usize = 520;
const ITEMS: usize = 40;

/// A random graph, in which item 3 may have many users and some rows have no neighbours, with two tables and some rows.
#[derive(Clone, Debug)]
struct Case {
    /// Pairs of user and item, by user, then by item.
    pairs: BTreeSet<(u32, u32)>,
    tables: [Vec<f32>; 2],
    rows: [Vec<u8>; 2],
    layers: usize,
    dim: usize,
}

/// Offsets and neighbours.
fn lists(rows: usize, pairs: &BTreeSet<(u32, u32)>) -> (Vec<u32>, Vec<u32>) {
    let offsets = (0..=rows as u32).map(|row| pairs.range(..(row, 0)).count() as u32).collect();
    (offsets, pairs.iter().map(|&(_, neighbour)| neighbour).collect())
}

impl Case {
    fn graph(&self, gpu: &Gpu) -> Graph {
        let turned = self.pairs.iter().map(|&(user, item)| (item, user)).collect();
        let (users, items) = (lists(USERS, &self.pairs), lists(ITEMS, &turned));
        Graph::new(gpu, (&users.0, &users.1), (&items.0, &items.1), self.layers).unwrap()
    }

    /// P of some tables, where rows that are not wanted have 7.
    fn forward(&self, tables: &[Vec<f32>; 2], wanted: bool) -> [Vec<f32>; 2] {
        let gpu = Gpu::emulated();
        let [users, items] = tables.each_ref().map(|table| gpu.upload(table).unwrap());
        let [mut users_out, mut items_out] = tables.each_ref().map(|table| gpu.upload(&vec![7.0; table.len()]).unwrap());
        let rows = self.rows.each_ref().map(|rows| gpu.upload(rows).unwrap());
        let (out, wanted) = ([&mut users_out, &mut items_out], wanted.then(|| rows.each_ref()));
        self.graph(&gpu).forward(&gpu, [&users, &items], wanted, out, self.dim).unwrap();
        [users_out, items_out].map(|out| gpu.read(&out).unwrap())
    }

    /// The tables with another number in the rows that are not marked.
    fn with_others(&self, other: f32) -> [Vec<f32>; 2] {
        let mut tables = self.tables.clone();
        for (table, rows) in tables.iter_mut().zip(&self.rows) {
            table.chunks_exact_mut(self.dim).zip(rows).filter(|(_, marked)| **marked == 0).for_each(|(row, _)| row.fill(other));
        }
        tables
    }

    /// `(E + A E + ... + A^L E) / (L + 1)`, users before items, from A as a list of edges.
    fn expected(&self) -> Vec<f64> {
        let (dim, mut degrees) = (self.dim, vec![0.0; USERS + ITEMS]);
        for &(user, item) in &self.pairs {
            degrees[user as usize] += 1.0;
            degrees[USERS + item as usize] += 1.0;
        }
        let mut power: Vec<f64> = self.tables.concat().into_iter().map(f64::from).collect();
        let mut total = power.clone();
        for _ in 0..self.layers {
            let mut next = vec![0.0; power.len()];
            for (user, item) in self.pairs.iter().map(|&(user, item)| (user as usize, USERS + item as usize)) {
                let weight = 1.0 / f64::sqrt(degrees[user] * degrees[item]);
                for column in 0..dim {
                    next[user * dim + column] += weight * power[item * dim + column];
                    next[item * dim + column] += weight * power[user * dim + column];
                }
            }
            power = next;
            total.iter_mut().zip(&power).for_each(|(total, power)| *total += power);
        }
        total.iter().map(|total| total / (self.layers + 1) as f64).collect()
    }
}

fn value(at: usize) -> f32 {
    ((at as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0
}

fn cases() -> impl Strategy<Value = Case> {
    let pairs = prop::collection::btree_set((0..USERS as u32, 0..ITEMS as u32 - 5), 1..300);
    let popular = prop_oneof![Just(0u32), Just(257), Just(USERS as u32 - 1)];
    let rows = [USERS, ITEMS].map(|rows| prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => Just(1)], rows));
    let dims = prop_oneof![Just(1usize), Just(7), Just(34), Just(68)];
    (pairs, popular, rows, 0usize..5, dims).prop_map(|(mut pairs, popular, rows, layers, dim)| {
        pairs.extend((0..popular).map(|user| (user, 3)));
        let tables = [0, USERS].map(|first| (first * dim..(if first == 0 { USERS } else { USERS + ITEMS }) * dim).map(value).collect());
        Case { pairs, tables, rows, layers, dim }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn propagation_is_the_mean_of_the_powers_of_the_adjacency(case in cases()) {
        let found = case.forward(&case.tables, false).concat();
        for (found, expected) in found.iter().zip(case.expected()) {
            prop_assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
        }
        let some = case.forward(&case.tables, true).concat();
        let marks = case.rows.concat();
        for (at, (some, found)) in some.into_iter().zip(found).enumerate() {
            let expected = if case.layers == 0 || marks[at / case.dim] != 0 { found } else { 7.0 };
            prop_assert_eq!(some.to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn backward_is_the_propagation_of_gradients_with_their_zeros(case in cases()) {
        let gpu = Gpu::emulated();
        let mut graph = case.graph(&gpu);
        for _ in 0..2 { // buffers change their places
            let [mut users, mut items] = case.with_others(f32::NAN).map(|gradients| gpu.upload(&gradients).unwrap());
            let [mut touched_users, mut touched_items] = case.rows.each_ref().map(|rows| gpu.upload(rows).unwrap());
            graph.backward(&gpu, [&mut users, &mut items], [&mut touched_users, &mut touched_items], case.dim).unwrap();
            let found = [users, items].map(|gradients| gpu.read(&gradients).unwrap()).concat();
            let touched = [touched_users, touched_items].map(|touched| gpu.read(&touched).unwrap()).concat();
            if case.layers == 0 {
                prop_assert_eq!(touched, case.rows.concat());
                continue;
            }
            prop_assert_eq!(touched, vec![1; USERS + ITEMS]);
            let expected = case.forward(&case.with_others(0.0), false).concat();
            for (found, expected) in found.iter().zip(expected) {
                prop_assert!(*found == expected, "{found} {expected}");
            }
        }
    }
}

/// One layer, one column, from the order that is promised.
#[test]
fn a_popular_item_adds_its_users_in_order_piece_by_piece() {
    let pairs: BTreeSet<(u32, u32)> = (0..USERS as u32).map(|user| (user, 3)).chain([(5, 1), (400, 1), (500, 2)]).collect();
    let tables = [(0..USERS).map(value).collect::<Vec<_>>(), (USERS..USERS + ITEMS).map(value).collect()];
    let case = Case { tables, rows: [vec![], vec![]], layers: 1, dim: 1, pairs };
    let [_, items] = case.forward(&case.tables, false);
    let scale = |degree: f32| 1.0 / degree * degree.sqrt();
    let degree = |user: usize| if [5, 400, 500].contains(&user) { 2.0 } else { 1.0 };
    let users: Vec<usize> = (0..USERS).collect();
    let pieces = users.chunks(256).map(|piece| piece.iter().fold(0.0f32, |sum, &user| scale(degree(user)).mul_add(value(user), sum)));
    let (sum, degree) = (pieces.reduce(|sum, piece| sum + piece).unwrap(), USERS as f32);
    let expected = (1.0 / degree).mul_add(sum, scale(degree) * value(USERS + 3)) * (0.5 * degree.sqrt());
    assert_eq!(items[3].to_bits(), expected.to_bits(), "{} {expected}", items[3]);
}
