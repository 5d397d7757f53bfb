//! Rows of scores, and kernels that put derivatives in their place.

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, LaunchArgument, count, nothing, number},
};

/// Threads of a block that makes a row.
const THREADS: usize = 256;

/// An argument of a kernel of rows.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// `float`
    Number(f32),
    /// `unsigned`, 1 or 0.
    Flag(bool),
    /// `const float*`, null for none.
    Numbers(Option<&'a Buffer<f32>>),
    /// `const unsigned*`
    Ids(&'a Buffer<u32>),
}

/// Rows of scores.
#[derive(Debug)]
pub struct ScoreRows<'a> {
    /// `[rows, width]`, the positive of a row first; after a kernel the derivatives.
    pub scores: &'a mut Buffer<f32>,
    /// Rows.
    pub rows: usize,
    /// Scores of a row.
    pub width: usize,
}

/// A kernel of rows, with its own arguments: those between the width of a row and the scale.
#[derive(Clone, Copy, Debug)]
pub struct RowKernel<'a> {
    /// The name of its function.
    pub name: &'static str,
    /// What it is given beside scores, width, scale and losses.
    pub arguments: &'a [Argument<'a>],
}

/// Runs the kernel of a loss: it replaces scores by the derivatives of the losses times `scale`, and writes the `losses [rows]`.
///
/// # Errors
/// Those of the device.
///
/// # Panics
/// When there is no kernel of the name, or it takes other arguments.
pub fn weigh(gpu: &Gpu, kernel: RowKernel, rows: ScoreRows, scale: f32, losses: &mut Buffer<f32>) -> Result<()> {
    let ScoreRows { scores, rows, width } = rows;
    assert!(rows * width <= scores.len() && rows <= losses.len() && width > 1, "{rows} rows of {width} scores");
    let own = kernel.arguments.iter().map(|argument| match *argument {
        Argument::Number(value) => number(value),
        Argument::Flag(value) => count(usize::from(value)),
        Argument::Numbers(None) => nothing("const float*"),
        Argument::Numbers(Some(numbers)) => read(numbers),
        Argument::Ids(ids) => read(ids),
    });
    let mut given: Vec<LaunchArgument> = vec![write(scores), count(width)];
    given.extend(own);
    given.extend([number(scale), write(losses)]);
    gpu.launch(kernel.name, Grid::blocks(rows, THREADS), &given)
}
