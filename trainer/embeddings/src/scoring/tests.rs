//! Fused scoring against plain candle, which gathers `[B, N, D]` and differentiates by itself.

use super::*;
use crate::{RowGradients, Tables};
use candle_core::{D, Device, Result, Tensor, Var};
use dataset::Interactions;
use proptest::prelude::*;
use vectors::Similarity;

pub(super) const SIMILARITIES: [Similarity; 3] = [Similarity::Dot, Similarity::Cosine, Similarity::NegativeSquaredDistance];

/// A batch on small tables, with a number for each value.
#[derive(Clone, Debug)]
struct Case {
    tables: Tables,
    users: Vec<u32>,
    positives: Vec<u32>,
    /// `[B, N]`
    negatives: Vec<u32>,
    /// `[B, 1 + N]`
    weights: Vec<f32>,
}

/// From 0.1 to 1.5 and from -1.5 to -0.1.
pub(super) fn value() -> impl Strategy<Value = f32> {
    (100i16..1500, any::<bool>()).prop_map(|(thousandths, negative)| f32::from(if negative { -thousandths } else { thousandths }) / 1000.0)
}

fn cases() -> impl Strategy<Value = Case> {
    (2usize..6, 200usize..300, prop_oneof![Just(3usize), Just(16), Just(64)], 1usize..40, 1usize..6).prop_flat_map(
        |(users, items, dim, batch, count)| {
            let values = |length| prop::collection::vec(value(), length);
            let ids = |below, length| prop::collection::vec(0..below as u32, length);
            (
                values(users * dim),
                values(items * dim),
                ids(users, batch),
                ids(items, batch),
                ids(items, batch * count),
                values(batch * (1 + count)),
            )
                .prop_map(move |(user_values, item_values, users_of_batch, positives, negatives, weights)| {
                    let mut tables = Tables::zeros(users, items, dim);
                    tables.users.values = user_values;
                    tables.items.values = item_values;
                    Case { tables, users: users_of_batch, positives, negatives, weights }
                })
        },
    )
}

/// Scores `[B, N]` of rows with lists of items.
pub(super) fn plain_scores(users: &Tensor, items: &Tensor, rows: &[u32], ids: &[u32], similarity: Similarity) -> Result<Tensor> {
    let (device, dim) = (&Device::Cpu, users.dim(1)?);
    let (batch, count) = (rows.len(), ids.len() / rows.len());
    let unit = |table: Tensor| match similarity {
        Similarity::Cosine => table.broadcast_div(&table.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?),
        _ => Ok(table),
    };
    let queries = unit(users.index_select(&Tensor::from_slice(rows, batch, device)?, 0)?)?.unsqueeze(1)?;
    let drawn = unit(items.index_select(&Tensor::from_slice(ids, batch * count, device)?, 0)?)?.reshape((batch, count, dim))?;
    match similarity {
        Similarity::NegativeSquaredDistance => drawn.broadcast_sub(&queries)?.sqr()?.sum(D::Minus1)?.neg(),
        _ => drawn.broadcast_mul(&queries)?.sum(D::Minus1),
    }
}

/// Scores, and gradients of `sum weights * scores` by both tables.
fn plain(case: &Case, ids: &[u32], weights: &[f32], similarity: Similarity) -> Result<[Vec<f32>; 3]> {
    let table = |matrix: &vectors::Matrix| Var::from_slice(&matrix.values, (matrix.rows, matrix.dim), &Device::Cpu);
    let (users, items) = (table(&case.tables.users)?, table(&case.tables.items)?);
    let scores = plain_scores(&users, &items, &case.users, ids, similarity)?;
    let gradients = (&scores * Tensor::from_slice(weights, scores.shape(), &Device::Cpu)?)?.sum_all()?.backward()?;
    let gradient = |table: &Var| gradients.get(table).expect("both tables are used").flatten_all()?.to_vec1();
    Ok([scores.flatten_all()?.to_vec1()?, gradient(&users)?, gradient(&items)?])
}

pub(super) fn assert_close(what: &str, actual: &[f32], expected: &[f32]) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (actual, expected) in actual.iter().zip(expected) {
        assert!((actual - expected).abs() < 2e-4 * (1.0 + expected.abs()), "{what}: {actual} {expected}");
    }
}

/// Scores `[B, 1 + N]` and gradients by the sampled kernels.
fn sampled(case: &Case, similarity: Similarity) -> [Vec<f32>; 3] {
    let vectors = Vectors { users: &case.tables.users, items: &case.tables.items, similarity };
    let batch = Batch::new(&case.users, &case.positives);
    let count = case.negatives.len() / case.users.len();
    let mut users = RowGradients::new(case.tables.users.rows, case.tables.users.dim);
    let mut items = RowGradients::new(case.tables.items.rows, case.tables.items.dim);
    let (seen, mut sampled) = (std::sync::Mutex::new(vec![0.0; case.weights.len()]), Sampled::default());
    sampled.step(
        vectors,
        batch,
        count,
        |row, _, ids| ids.copy_from_slice(&case.negatives[row * count..][..count]),
        |Row { at: row, positives, negatives, .. }| {
            let mut seen = seen.lock().expect("no holder panics");
            let weights = &case.weights[row * (1 + count)..][..1 + count];
            seen[row * (1 + count)] = std::mem::replace(&mut positives[0], weights[0]);
            seen[row * (1 + count) + 1..][..count].copy_from_slice(negatives);
            negatives.copy_from_slice(&weights[1..]);
            0.0
        },
    );
    sampled.collect(vectors, batch, &mut users, &mut items);
    [seen.into_inner().expect("no holder panics"), users.fill().to_vec(), items.fill().to_vec()]
}

/// The ids that a row scores: its positive, then its negatives.
fn scored(case: &Case) -> Vec<u32> {
    let rows = case.positives.iter().zip(case.negatives.chunks(case.negatives.len() / case.users.len()));
    rows.flat_map(|(positive, negatives)| [&[*positive], negatives].concat()).collect()
}

/// The same by the touched rows alone.
fn few(case: &Case, similarity: Similarity) -> [Vec<f32>; 3] {
    let (count, dim) = (case.negatives.len() / case.users.len(), case.tables.users.dim);
    let (mut plan, mut few) = (Plan::default(), SparseSampled::new(dim, similarity));
    let pairs = case.users.iter().copied().zip(case.positives.iter().copied());
    plan.make(pairs, count, |row, _, ids| ids.copy_from_slice(&case.negatives[row * count..][..count]));
    few.resize(&plan);
    let rows = |touched: &Touched, table: &vectors::Matrix| touched.rows.iter().flat_map(|&row| table.row(row as usize).to_vec()).collect();
    few.users.values = rows(&plan.users, &case.tables.users);
    few.items.values = rows(&plan.items, &case.tables.items);
    few.step(&plan, |_| 0.0);
    let Scored { positives, negatives, .. } = few.scored(&plan);
    let scores =
        positives.iter().zip(negatives.chunks(count)).flat_map(|(positive, negatives)| [&[*positive], negatives].concat()).collect();
    let weights = || case.weights.chunks(1 + count);
    let weighed = ScoreGradients {
        losses: vec![1.0; plan.rows()],
        positives: weights().map(|row| row[0]).collect(),
        negatives: weights().flat_map(|row| row[1..].to_vec()).collect(),
    };
    assert_eq!(few.set_weights(&plan, &weighed), plan.rows() as f64);
    let (mut users, mut items) = (RowGradients::new(case.tables.users.rows, dim), RowGradients::new(case.tables.items.rows, dim));
    let mut gradient = vec![0.0; dim];
    for (k, &user) in plan.users.rows.iter().enumerate() {
        few.user_gradient(&plan, k, &mut gradient);
        users.add(user as usize, &gradient);
    }
    for (k, &item) in plan.items.rows.iter().enumerate() {
        few.item_gradient(&plan, k, &mut gradient);
        items.add(item as usize, &gradient);
    }
    [scores, users.fill().to_vec(), items.fill().to_vec()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sampled_scores_and_gradients_are_those_of_plain_candle(case in cases()) {
        for similarity in SIMILARITIES {
            let expected = plain(&case, &scored(&case), &case.weights, similarity).unwrap();
            for (way, actual) in [("sampled", sampled(&case, similarity)), ("few", few(&case, similarity))] {
                for (what, (actual, expected)) in ["scores", "users", "items"].into_iter().zip(actual.iter().zip(&expected)) {
                    assert_close(&format!("{way} {similarity:?} {what}"), actual, expected);
                }
            }
        }
    }

    #[test]
    fn separate_forward_and_backward_equal_the_single_step(case in cases()) {
        let count = case.negatives.len() / case.users.len();
        let vectors = Vectors { users: &case.tables.users, items: &case.tables.items, similarity: Similarity::Cosine };
        let batch = Batch::new(&case.users, &case.positives);
        let mut users = RowGradients::new(case.tables.users.rows, case.tables.users.dim);
        let mut items = RowGradients::new(case.tables.items.rows, case.tables.items.dim);
        let mut buffers = Sampled::default();
        buffers.score(vectors, batch, count, |row, _, ids| ids.copy_from_slice(&case.negatives[row * count..][..count]));
        let Scored { ids, positives, negatives } = buffers.scored();
        prop_assert_eq!(ids, scored(&case));
        let rows = || case.weights.chunks(1 + count);
        let weighed = ScoreGradients {
            losses: vec![1.0; case.users.len()],
            positives: rows().map(|row| row[0]).collect(),
            negatives: rows().flat_map(|row| row[1..].to_vec()).collect(),
        };
        let total = buffers.backward(vectors, &weighed);
        buffers.collect(vectors, batch, &mut users, &mut items);
        let [scores, user_gradients, item_gradients] = sampled(&case, Similarity::Cosine);
        prop_assert_eq!(total, case.users.len() as f64);
        prop_assert_eq!(scores.chunks(1 + count).map(|row| row[0]).collect::<Vec<_>>(), positives);
        prop_assert_eq!(scores.chunks(1 + count).flat_map(|row| row[1..].to_vec()).collect::<Vec<_>>(), negatives);
        prop_assert_eq!(users.fill().to_vec(), user_gradients);
        prop_assert_eq!(items.fill().to_vec(), item_gradients);
    }

    #[test]
    fn dropping_negatives_of_weight_zero_changes_nothing_but_what_is_touched(mut case in cases(), zeros in prop::collection::vec(any::<bool>(), 1..50)) {
        let width = 1 + case.negatives.len() / case.users.len();
        for (at, weight) in case.weights.iter_mut().enumerate().filter(|(at, _)| at % width > 0) {
            *weight = if zeros[at % zeros.len()] { 0.0 } else { *weight };
        }
        let vectors = Vectors { users: &case.tables.users, items: &case.tables.items, similarity: Similarity::Cosine };
        let batch = Batch::new(&case.users, &case.positives);
        let gradients = |drops: bool| {
            let mut users = RowGradients::new(case.tables.users.rows, case.tables.users.dim);
            let mut items = RowGradients::new(case.tables.items.rows, case.tables.items.dim);
            let mut sampled = Sampled::new(drops);
            sampled.step(
                vectors,
                batch,
                width - 1,
                |row, _, ids| ids.copy_from_slice(&case.negatives[row * (width - 1)..][..width - 1]),
                |Row { at, positives, negatives, .. }| {
                    positives[0] = case.weights[at * width];
                    negatives.copy_from_slice(&case.weights[at * width + 1..][..width - 1]);
                    0.0
                },
            );
            sampled.collect(vectors, batch, &mut users, &mut items);
            let touched = items.touched().to_vec();
            (touched, users.fill().to_vec(), items.fill().to_vec())
        };
        let ((all, users, items), (kept, fewer_users, fewer_items)) = (gradients(false), gradients(true));
        assert_close("users", &fewer_users, &users);
        assert_close("items", &fewer_items, &items);
        let mut expected = vec![false; all.len()];
        for (&id, &weight) in scored(&case).iter().zip(&case.weights) {
            expected[id as usize] |= weight != 0.0;
        }
        prop_assert_eq!(kept, expected);
    }

    #[test]
    fn bits_do_not_depend_on_the_number_of_threads(case in cases()) {
        let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| sampled(&case, Similarity::Cosine));
        prop_assert_eq!(with(1), with(3));
    }

    #[test]
    fn catalogue_scores_and_gradients_are_those_of_plain_candle(case in cases()) {
        let (users, items) = (case.tables.users.rows, case.tables.items.rows);
        let positives = case.users.iter().copied().zip(case.positives.iter().copied());
        let train = Interactions::from_pairs(users, positives.chain(case.users.iter().copied().zip(case.negatives.iter().copied())));
        let batch = Batch::new(&case.users, &case.positives);
        let weight = |row: usize, item: usize| ((row * 31 + item * 17) % 23) as f32 / 23.0 - 0.5;
        let ids: Vec<u32> = case.users.iter().flat_map(|_| 0..items as u32).collect();
        let weights: Vec<f32> = (0..case.users.len())
            .flat_map(|row| (0..items).map(move |item| (row, item)))
            .map(|(row, item)| match train.contains(case.users[row] as usize, item as u32) {
                _ if case.positives[row] as usize == item => case.weights[row],
                true => 0.0,
                false => weight(row, item),
            })
            .collect();
        for similarity in SIMILARITIES {
            let [scores, user_gradients, item_gradients] = plain(&case, &ids, &weights, similarity).unwrap();
            let vectors = Vectors { users: &case.tables.users, items: &case.tables.items, similarity };
            let (mut user_rows, mut item_rows) = (RowGradients::new(users, vectors.users.dim), RowGradients::new(items, vectors.items.dim));
            let weigh = |first: usize, positives: &mut [f32], negatives: &mut [f32]| {
                for (at, (positive, negatives)) in positives.iter_mut().zip(negatives.chunks_mut(items)).enumerate() {
                    let row = first + at;
                    assert_close("positive", &[*positive], &[scores[row * items + case.positives[row] as usize]]);
                    *positive = case.weights[row];
                    for (item, negative) in negatives.iter_mut().enumerate() {
                        match train.contains(case.users[row] as usize, item as u32) {
                            true => assert!(*negative < -1e29),
                            false => assert_close("negative", &[*negative], &[scores[row * items + item]]),
                        }
                        *negative = weight(row, item);
                    }
                }
                Ok::<f64, std::convert::Infallible>(1.0)
            };
            let total = Catalogue::default().step(vectors, batch, Masks::Train(&train), weigh, &mut user_rows, &mut item_rows).unwrap();
            prop_assert_eq!(total, 1.0);
            assert_close(&format!("{similarity:?} users"), user_rows.fill(), &user_gradients);
            assert_close(&format!("{similarity:?} items"), item_rows.fill(), &item_gradients);
        }
    }
}
