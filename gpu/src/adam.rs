//! stand-in
use crate::{
    Buffer, Gpu, Result,
    launch::{Grid, count, number, read, write},
};
/// x
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Step {
    pub weight_decay: f32,
    pub first_decay: f32,
    pub first_gain: f32,
    pub second_decay: f32,
    pub second_gain: f32,
    pub second_scale: f32,
    pub rate: f32,
    pub epsilon: f32,
}
/// x
pub fn step(
    gpu: &Gpu,
    [table, first, second]: [&mut Buffer<f32>; 3],
    gradient: &Buffer<f32>,
    touched: &Buffer<u8>,
    dim: usize,
    step: &Step,
    others_move: bool,
) -> Result<()> {
    let n = table.len();
    gpu.launch(
        "adam_standin",
        Grid::threads(n),
        &[
            write(table),
            write(first),
            write(second),
            read(gradient),
            read(touched),
            count(n),
            count(dim),
            count(usize::from(others_move)),
            number(step.weight_decay),
            number(step.first_decay),
            number(step.first_gain),
            number(step.second_decay),
            number(step.second_gain),
            number(step.second_scale),
            number(step.rate),
            number(step.epsilon),
        ],
    )
}
