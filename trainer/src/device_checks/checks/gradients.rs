//! The gradients of both tables, the steps that they make, and the way through a graph.

use super::{Comparison, Sizes, interactions, wave};
use crate::{
    Result,
    device::{
        batch::{Batch, BatchIds, similarity_of},
        draws::starts,
        gradient::DeviceGradient,
        model::DeviceTable,
    },
};
use embeddings::{self, RowGradients, Sampled, ScoreGradients, Tables, Vectors};
use evaluator::{Matrix, Similarity};
use gpu::{Gpu, propagation};
use models::graph::Graph;
use optimizers::{Optimizer, Parameter, Stepper};

/// Lengths of vectors: kernels take one, two and four numbers at a time, and one where the length is odd.
const DIMS: [usize; 3] = [25, 64, 128];
const SIMILARITIES: [(&str, Similarity); 3] =
    [("dot products", Similarity::Dot), ("cosines", Similarity::Cosine), ("distances", Similarity::NegativeSquaredDistance)];
const OPTIMIZERS: [(&str, &str); 6] = [
    ("adam with weight decay", r#"{"adam": {"learning_rate": 0.1, "weight_decay": 0.01}}"#),
    ("lazy-adam", r#"{"lazy-adam": {"learning_rate": 0.1}}"#),
    ("adam-w", r#"{"adam-w": {"learning_rate": 0.1, "weight_decay": 0.1}}"#),
    ("sgd", r#"{"sgd": {"learning_rate": 0.1}}"#),
    ("sgd with momentum", r#"{"sgd": {"learning_rate": 0.1, "momentum": 0.9}}"#),
    ("adagrad", r#"{"adagrad": {"learning_rate": 0.1}}"#),
];

pub(super) fn check(gpu: &Gpu, sizes: Sizes) -> Result<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    for dim in DIMS {
        for (what, similarity) in SIMILARITIES {
            comparisons.extend(of_similarity(gpu, sizes, what, similarity, dim)?);
        }
        for (what, optimizer) in OPTIMIZERS {
            comparisons.push(of_optimizer(gpu, sizes, what, &serde_json::from_str(optimizer).expect("an optimizer"), dim)?);
        }
        comparisons.extend(of_graph(gpu, sizes, dim)?);
    }
    Ok(comparisons)
}

fn matrix(rows: usize, dim: usize, which: u32) -> Matrix {
    Matrix { rows, dim, values: wave(rows * dim, 1.0, which) }
}

/// Scores of a batch, and the gradients from derivatives by them.
fn of_similarity(gpu: &Gpu, sizes: Sizes, what: &str, similarity: Similarity, dim: usize) -> Result<[Comparison; 3]> {
    let Sizes { users, items, rows, negatives } = sizes;
    let (width, tables) = (1 + negatives, [matrix(users, dim, 1), matrix(items, dim, 2)]);
    let id = |at: usize, of: usize| (at * 7_919 % of) as u32;
    // Some users have several rows, and the first items are in most of them.
    let of_rows: Vec<u32> = (0..rows).map(|row| id(row / 2, users)).collect();
    let ids: Vec<u32> = (0..rows * width).map(|at| if at % 3 == 0 { id(at, 5) } else { id(at, items) }).collect();
    let weights = wave(rows * width, 1.0 / rows as f32, 3);

    let mut batch = Batch::new(gpu, [rows, width], [items, dim], similarity_of(similarity))?;
    let mut on_ids = BatchIds::new(gpu, [rows, width], [users, items])?;
    (on_ids.users, on_ids.items) = (gpu.upload(&of_rows)?, gpu.upload(&ids)?);
    let vectors = [gpu.upload(&tables[0].values)?, gpu.upload(&tables[1].values)?];
    let mut gradients = [DeviceGradient::new(gpu, users, dim)?, DeviceGradient::new(gpu, items, dim)?];
    batch.score(gpu, vectors.each_ref(), &on_ids, rows)?;
    let scores = gpu.read(&batch.scores)?;
    batch.scores = gpu.upload(&weights)?;
    on_ids.sort(gpu, rows)?;
    batch.user_gradients(gpu, vectors.each_ref(), &mut on_ids, rows, &mut gradients[0])?;
    batch.item_gradients(gpu, vectors.each_ref(), &mut on_ids, &mut gradients[1])?;

    let positives: Vec<u32> = ids.chunks_exact(width).map(|row| row[0]).collect();
    let of_batch = embeddings::Batch::new(&of_rows, &positives);
    let vectors = Vectors { users: &tables[0], items: &tables[1], similarity };
    let mut sampled = Sampled::default();
    sampled.score(vectors, of_batch, negatives, |row, _, out| out.copy_from_slice(&ids[row * width + 1..][..negatives]));
    let scored = sampled.scored();
    let expected = interleaved(&scored.positives, &scored.negatives, negatives);
    let split = |from: usize, to: usize| weights.chunks_exact(width).flat_map(|row| &row[from..to]).copied().collect();
    let score_gradients = ScoreGradients { losses: vec![0.0; rows], positives: split(0, 1), negatives: split(1, width) };
    let mut of_tables = [RowGradients::new(users, dim), RowGradients::new(items, dim)];
    sampled.backward(vectors, &score_gradients);
    let [of_users, of_items] = &mut of_tables;
    sampled.collect(vectors, of_batch, of_users, of_items);
    let compare = |side: usize, name: &str, expected: &mut RowGradients| -> Result<Comparison> {
        let DeviceGradient { values, touched, .. } = &gradients[side];
        let found = marked(&gpu.read(values.get())?, &gpu.read(touched)?, dim);
        Ok(Comparison::new(format!("gradients of the {name}, {what} of {dim} numbers"), &found, expected.fill(), 1e-5))
    };
    let [of_users, of_items] = &mut of_tables;
    Ok([
        Comparison::new(format!("scores, {what} of {dim} numbers"), &scores, &expected, 1e-5),
        compare(0, "users", of_users)?,
        compare(1, "items", of_items)?,
    ])
}

/// Rows of a positive and its negatives.
fn interleaved(positives: &[f32], negatives: &[f32], count: usize) -> Vec<f32> {
    positives.iter().zip(negatives.chunks_exact(count)).flat_map(|(positive, negatives)| [&[*positive], negatives].concat()).collect()
}

/// The rows with a mark, and zeros in the place of the others.
fn marked(values: &[f32], marks: &[u8], dim: usize) -> Vec<f32> {
    let rows = values.chunks_exact(dim).zip(marks);
    rows.flat_map(|(row, &mark)| row.iter().map(move |&value| if mark == 0 { 0.0 } else { value })).collect()
}

/// Three steps, of which each has a gradient for some rows.
fn of_optimizer(gpu: &Gpu, sizes: Sizes, what: &str, optimizer: &Optimizer, dim: usize) -> Result<Comparison> {
    let (mut expected, mut stepper) = (Parameter::new("items", matrix(sizes.items, dim, 4)), Stepper::new(optimizer, 0));
    let mut table = DeviceTable::new(gpu, sizes.items, dim, false)?;
    table.load(gpu, &expected)?;
    for step in 0..3 {
        let (gradient, marks) = (wave(sizes.items * dim, 1.0, 10 + step), marks(sizes.items, step));
        table.gradient.touched = gpu.upload(&marks)?;
        gpu.write(table.gradient.values.get_mut(), &gradient)?;
        table.step(gpu, &stepper, None)?;
        let mut gradients = RowGradients::new(sizes.items, dim);
        let rows = gradient.chunks_exact(dim).zip(&marks).enumerate();
        rows.filter(|(_, (_, mark))| **mark != 0).for_each(|(row, (gradient, _))| gradients.add(row, gradient));
        stepper.move_all(&mut expected, &gradients);
        stepper.finish_step();
    }
    let mut found = expected.clone();
    table.store(gpu, &mut found)?;
    let all = |Parameter { values, first, second, .. }: Parameter| [values.values, first, second].concat();
    Ok(Comparison::new(format!("steps of {what}, {dim} numbers"), &all(found), &all(expected), 1e-5))
}

fn marks(rows: usize, step: u32) -> Vec<u8> {
    (0..rows).map(|row| u8::from(row % 3 != step as usize)).collect()
}

/// Three layers forward, and the gradients of some rows back.
fn of_graph(gpu: &Gpu, sizes: Sizes, dim: usize) -> Result<[Comparison; 2]> {
    const LAYERS: u32 = 3;
    let train = interactions(sizes);
    let of_items = train.transpose(sizes.items);
    let mut on_device =
        propagation::Graph::new(gpu, (&starts(&train), train.items()), (&starts(&of_items), of_items.items()), LAYERS as usize)?;
    let mut on_cpu = Graph::new(&train, sizes.items, LAYERS);
    let tables = Tables { users: matrix(sizes.users, dim, 5), items: matrix(sizes.items, dim, 6) };
    let lengths = [&tables.users, &tables.items].map(|table| table.values.len());

    let vectors = [gpu.upload(&tables.users.values)?, gpu.upload(&tables.items.values)?];
    let mut out = [gpu.zeros(lengths[0])?, gpu.zeros(lengths[1])?];
    on_device.forward(gpu, vectors.each_ref(), None, out.each_mut(), dim)?;
    let mut expected = Tables::zeros(sizes.users, sizes.items, dim);
    on_cpu.forward(tables.both(), [None, None], &mut expected);
    let found = [gpu.read(&out[0])?, gpu.read(&out[1])?].concat();
    let forward =
        Comparison::new(format!("propagation, {dim} numbers"), &found, &[expected.users.values, expected.items.values].concat(), 1e-5);

    let marks = [marks(sizes.users, 0), marks(sizes.items, 1)];
    let mut touched = [gpu.upload(&marks[0])?, gpu.upload(&marks[1])?];
    let mut gradients = vectors;
    on_device.backward(gpu, gradients.each_mut(), touched.each_mut(), dim)?;
    let mut of_tables = [RowGradients::new(sizes.users, dim), RowGradients::new(sizes.items, dim)];
    for ((gradients, table), marks) in of_tables.iter_mut().zip([&tables.users, &tables.items]).zip(&marks) {
        let rows = (0..table.rows).filter(|&row| marks[row] != 0);
        rows.for_each(|row| gradients.add(row, table.row(row)));
    }
    let [users, items] = &mut of_tables;
    on_cpu.backward([users, items], dim);
    let found = [gpu.read(&gradients[0])?, gpu.read(&gradients[1])?].concat();
    let [users, items] = of_tables.each_mut().map(|gradients| gradients.fill().to_vec());
    Ok([forward, Comparison::new(format!("propagation of gradients, {dim} numbers"), &found, &[users, items].concat(), 1e-5)])
}
