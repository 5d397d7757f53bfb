use super::*;
use proptest::prelude::*;

const USERS: usize = 70;
const ITEMS: usize = 90;

/// A random graph with some rows that have no neighbours, tables of one or two strips, some rows, and the number of layers.
fn cases() -> impl Strategy<Value = (Interactions, Tables, [Vec<bool>; 2], u32)> {
    let pairs = prop::collection::vec((0..USERS as u32, 0..ITEMS as u32 - 5), 1..600);
    let rows = (prop::collection::vec(prop::bool::weighted(0.1), USERS), prop::collection::vec(prop::bool::weighted(0.1), ITEMS));
    let dims = prop_oneof![Just(5usize), Just(16), Just(35), Just(64), Just(70)];
    (pairs, dims, rows, 0u32..5).prop_flat_map(|(pairs, dim, (users, items), layers)| {
        let train = Interactions::from_pairs(USERS, pairs.into_iter());
        prop::collection::vec(-1.0f32..1.0, (USERS + ITEMS) * dim).prop_map(move |values| {
            let mut tables = Tables::zeros(USERS, ITEMS, dim);
            tables.users.values.copy_from_slice(&values[..USERS * dim]);
            tables.items.values.copy_from_slice(&values[USERS * dim..]);
            (train.clone(), tables, [users.clone(), items.clone()], layers)
        })
    })
}

/// `(E + A E + ... + A^L E) / (L + 1)` in f64, users before items, from A as a list of edges.
fn expected(train: &Interactions, tables: &Tables, layers: u32) -> Vec<f64> {
    let (dim, counts) = (tables.users.dim, train.item_counts(ITEMS));
    let mut power: Vec<f64> = tables.users.values.iter().chain(&tables.items.values).copied().map(f64::from).collect();
    let mut total = power.clone();
    for _ in 0..layers {
        let mut next = vec![0.0; power.len()];
        for (user, item) in train.pairs() {
            let weight = 1.0 / ((train.row(user as usize).len() * counts[item as usize] as usize) as f64).sqrt();
            for column in 0..dim {
                let (user, item) = (user as usize * dim + column, (USERS + item as usize) * dim + column);
                next[user] += weight * power[item];
                next[item] += weight * power[user];
            }
        }
        power = next;
        total.iter_mut().zip(&power).for_each(|(total, power)| *total += power);
    }
    total.iter().map(|total| total / f64::from(layers + 1)).collect()
}

/// Gradients as a step leaves them: the values in some rows, and leftovers in the others.
fn gradients(tables: &Tables, rows: &[Vec<bool>; 2]) -> [RowGradients; 2] {
    let mut gradients = [&tables.users, &tables.items].map(|table| RowGradients::new(table.rows, table.dim));
    for ((gradients, table), rows) in gradients.iter_mut().zip([&tables.users, &tables.items]).zip(rows) {
        gradients.parts().0.fill(7.0);
        for row in (0..table.rows).filter(|&row| rows[row]) {
            gradients.add(row, table.row(row));
        }
    }
    gradients
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

proptest! {
    #[test]
    fn propagation_is_the_mean_of_the_powers_of_the_adjacency((train, tables, _, layers) in cases()) {
        let mut out = Tables::zeros(USERS, ITEMS, tables.users.dim);
        Graph::new(&train, ITEMS, layers).forward(tables.both(), [None; 2], &mut out);
        for (value, expected) in out.users.values.iter().chain(&out.items.values).zip(expected(&train, &tables, layers)) {
            prop_assert!((f64::from(*value) - expected).abs() < 1e-5, "{value} {expected}");
        }
    }

    #[test]
    fn layers_one_by_one_have_the_same_mean((train, tables, _, layers) in cases()) {
        let mut graph = Graph::new(&train, ITEMS, layers);
        let (mut layer, mut total) = (tables.clone(), vec![0.0; (USERS + ITEMS) * tables.users.dim]);
        for at in 0..=layers {
            if at > 0 {
                graph.advance([&mut layer.users, &mut layer.items], [None; 2]);
            }
            total.iter_mut().zip(layer.users.values.iter().chain(&layer.items.values)).for_each(|(total, value)| *total += f64::from(*value));
        }
        for (total, expected) in total.iter().zip(expected(&train, &tables, layers)) {
            prop_assert!((total / f64::from(layers + 1) - expected).abs() < 1e-5, "{total} {expected}");
        }
    }

    #[test]
    fn a_layer_of_some_rows_leaves_the_others((train, tables, rows, _) in cases()) {
        let mut graph = Graph::new(&train, ITEMS, 0);
        let (mut all, mut some) = (tables.clone(), tables.clone());
        graph.advance([&mut all.users, &mut all.items], [None; 2]);
        graph.advance([&mut some.users, &mut some.items], [Some(&rows[0]), Some(&rows[1])]);
        let mut of_gradients = gradients(&tables, &[vec![true; USERS], vec![true; ITEMS]]);
        graph.advance_gradients(of_gradients.each_mut(), tables.users.dim);
        let sides = [(&tables.users, &all.users, &some.users), (&tables.items, &all.items, &some.items)];
        for ((rows, (before, all, some)), gradients) in rows.iter().zip(sides).zip(&of_gradients) {
            prop_assert_eq!(bits(gradients.values()), bits(&all.values));
            for (row, is_wanted) in rows.iter().enumerate() {
                prop_assert_eq!(bits(if *is_wanted { all.row(row) } else { before.row(row) }), bits(some.row(row)));
            }
        }
    }

    #[test]
    fn wanted_rows_are_those_of_the_whole_propagation((train, tables, [users, items], layers) in cases()) {
        let mut graph = Graph::new(&train, ITEMS, layers);
        let (mut all, mut some) = (tables.clone(), tables.clone());
        graph.forward(tables.both(), [None; 2], &mut all);
        graph.forward(tables.both(), [Some(&users), Some(&items)], &mut some);
        for (rows, [all, some]) in [(&users, [&all.users, &some.users]), (&items, [&all.items, &some.items])] {
            for row in (0..rows.len()).filter(|&row| rows[row]) {
                prop_assert_eq!(bits(all.row(row)), bits(some.row(row)));
            }
        }
    }

    #[test]
    fn backward_is_the_propagation_of_gradients_with_their_zeros((train, tables, rows, layers) in cases()) {
        let dim = tables.users.dim;
        let mut graph = Graph::new(&train, ITEMS, layers);
        let (mut found, mut whole) = (gradients(&tables, &rows), gradients(&tables, &rows));
        let filled = Tables {
            users: Matrix { rows: USERS, dim, values: whole[0].fill().to_vec() },
            items: Matrix { rows: ITEMS, dim, values: whole[1].fill().to_vec() },
        };
        let mut expected = filled.clone();
        graph.forward(filled.both(), [None; 2], &mut expected);
        let [users, items] = &mut found;
        graph.backward([users, items], dim);
        prop_assert_eq!(bits(users.fill()), bits(&expected.users.values));
        prop_assert_eq!(bits(items.fill()), bits(&expected.items.values));
    }
}
