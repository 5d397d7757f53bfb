//! Draws of negatives, with the bits of the CPU's: `kernels/draws.cu`.

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, bits, count},
};

/// Items that are not the user's own, uniform or by weights.
#[derive(Debug)]
pub struct Draws {
    items: usize,
    /// `[users + 1]`, where each user's items begin in `train`.
    starts: Buffer<u32>,
    train: Buffer<u32>,
    /// `[items, 2]`: an alias table, and `[items]`: what it stands for; little of both where draws are uniform.
    columns: Buffer<u32>,
    weights: Buffer<f64>,
    weighted: bool,
}

/// Weights that items are drawn by.
#[derive(Clone, Copy, Debug)]
pub struct Distribution<'a> {
    /// For each item of an alias table the part that is its own, a fraction of 2^32, and its alias.
    pub alias: &'a [[u32; 2]],
    /// The weights that the alias table stands for.
    pub weights: &'a [f64],
}

/// The rows that draw, and the generators that they draw from.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// The generators' common key, made of seed, purpose and epoch; step and row come after it.
    pub key: u64,
    /// The step.
    pub step: u32,
    /// The place in the whole batch of the first row.
    pub first_row: usize,
    /// Whether a row's generator is that of its user's number, and not of its place.
    pub by_user: bool,
}

/// The users that are drawn for: the first `rows` of `users`.
#[derive(Clone, Copy)]
struct UserRows<'a> {
    users: &'a Buffer<u32>,
    rows: usize,
}

/// Where in a matrix of ids the draws are put.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// Ids of a row of the matrix.
    pub width: usize,
    /// The first column that is written.
    pub first: usize,
    /// How many columns are written.
    pub count: usize,
}

impl Draws {
    /// Prepares draws for users whose train items are `train[starts[u]..starts[u + 1]]`, ascending; draws are uniform, or by a distribution.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(gpu: &Gpu, starts: &[u32], train: &[u32], items: usize, distribution: Option<Distribution>) -> Result<Self> {
        let columns = gpu.upload(distribution.map_or(&[0, 0], |distribution| bytemuck::cast_slice(distribution.alias)))?;
        let weights = gpu.upload(distribution.map_or(&[0.0][..], |distribution| distribution.weights))?;
        Ok(Self { items, starts: gpu.upload(starts)?, train: gpu.upload(train)?, columns, weights, weighted: distribution.is_some() })
    }

    /// Where each user's items begin, `[users + 1]`.
    pub fn starts(&self) -> &Buffer<u32> {
        &self.starts
    }

    /// All users' items, each user's ascending.
    pub fn train(&self) -> &Buffer<u32> {
        &self.train
    }

    /// Draws for the first `rows` of `users` into some columns of `out [rows, width]`. Each user must have another item that can be drawn.
    ///
    /// # Errors
    /// Those of the device.
    pub fn draw(&self, gpu: &Gpu, users: &Buffer<u32>, rows: usize, keys: Keys, out: &mut Buffer<u32>, columns: Columns) -> Result<()> {
        self.draw_by(self.weighted, gpu, UserRows { users, rows }, keys, out, columns)
    }

    /// Draws as [`draw`](Self::draw) does, but with every other item as likely, even where there are weights.
    ///
    /// # Errors
    /// Those of the device.
    pub fn draw_uniform(
        &self,
        gpu: &Gpu,
        users: &Buffer<u32>,
        rows: usize,
        keys: Keys,
        out: &mut Buffer<u32>,
        columns: Columns,
    ) -> Result<()> {
        self.draw_by(false, gpu, UserRows { users, rows }, keys, out, columns)
    }

    fn draw_by(
        &self,
        weighted: bool,
        gpu: &Gpu,
        UserRows { users, rows }: UserRows,
        keys: Keys,
        out: &mut Buffer<u32>,
        columns: Columns,
    ) -> Result<()> {
        assert!(
            rows <= users.len() && rows * columns.width <= out.len() && columns.first + columns.count <= columns.width,
            "rows to draw for"
        );
        let arguments = [
            read(users),
            count(rows),
            count(keys.first_row),
            read(&self.starts),
            read(&self.train),
            read(&self.columns),
            read(&self.weights),
            count(usize::from(weighted)),
            count(self.items),
            bits(keys.key),
            count(keys.step as usize),
            count(usize::from(keys.by_user)),
            write(out),
            count(columns.width),
            count(columns.first),
            count(columns.count),
        ];
        gpu.launch("draw_items", Grid::warps(rows), &arguments)
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;

    /// SplitMix64 as published, started at 1,234,567: the first numbers, each below 1,000, by Lemire's multiplication.
    #[test]
    fn a_row_takes_what_a_loop_would_take() {
        let gpu = Gpu::emulated();
        let (items, own) = (1_000u32, [2u32, 3, 350]);
        let draws = Draws::new(&gpu, &[0, 3], &own, items as usize, None).unwrap();
        let (users, mut out) = (gpu.upload(&[0u32, 0]).unwrap(), gpu.zeros(2 * 50).unwrap());
        let keys = Keys { key: 99, step: 7, first_row: 4, by_user: false };
        draws.draw(&gpu, &users, 2, keys, &mut out, Columns { width: 50, first: 1, count: 49 }).unwrap();
        let mix = |state: u64| {
            let state = (state ^ state >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
            let state = (state ^ state >> 27).wrapping_mul(0x94d049bb133111eb);
            state ^ state >> 31
        };
        let golden = 0x9e3779b97f4a7c15u64;
        for (row, found) in gpu.read(&out).unwrap().chunks_exact(50).enumerate() {
            let mut state = mix((99 ^ (7 << 32 | (4 + row as u64))).wrapping_add(golden));
            let mut expected = vec![0];
            while expected.len() < 50 {
                state = state.wrapping_add(golden);
                let item = ((u128::from(mix(state)) * u128::from(items)) >> 64) as u32;
                if !own.contains(&item) {
                    expected.push(item);
                }
            }
            assert_eq!(found, expected, "row {row}");
        }
    }
}
