//! Vectors prepared so that every similarity is a dot product: `kernels/vectors.cu`.

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, count, nothing},
};

/// How two vectors make a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// `p . q`
    Dot = 0,
    /// `p . q / (|p| |q|)`; 0 where a vector is zero.
    Cosine = 1,
    /// `-|p - q|^2`
    NegativeSquaredDistance = 2,
}

/// Rows that are prepared, reused from step to step.
#[derive(Debug)]
pub struct Prepared {
    dim: usize,
    similarity: Similarity,
    /// `[rows, dim]`: unit rows for cosines, else as they are; `None` where the table itself serves.
    vectors: Option<Buffer<f32>>,
    /// `[rows]`: the norm for cosines, the squared norm for distances, else 1.
    norms: Buffer<f32>,
}

/// Prepared rows.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// `[rows, dim]`
    pub vectors: &'a Buffer<f32>,
    /// `[rows]`: norms for cosines, squared ones for distances, else 1.
    pub norms: &'a Buffer<f32>,
    /// The length of a row.
    pub dim: usize,
    /// How rows make a score.
    pub similarity: Similarity,
}

impl Prepared {
    /// Room for all rows of a table.
    ///
    /// # Errors
    /// Those of the device.
    pub fn whole(gpu: &Gpu, rows: usize, dim: usize, similarity: Similarity) -> Result<Self> {
        let vectors = (similarity == Similarity::Cosine).then(|| gpu.zeros(rows * dim)).transpose()?;
        Ok(Self { dim, similarity, vectors, norms: gpu.zeros(rows)? })
    }

    /// Room for so many rows that are chosen.
    ///
    /// # Errors
    /// Those of the device.
    pub fn chosen(gpu: &Gpu, rows: usize, dim: usize, similarity: Similarity) -> Result<Self> {
        Ok(Self { dim, similarity, vectors: Some(gpu.zeros(rows * dim)?), norms: gpu.zeros(rows)? })
    }

    /// Prepares all rows of a table.
    ///
    /// # Errors
    /// Those of the device.
    pub fn prepare(&mut self, gpu: &Gpu, table: &Buffer<f32>) -> Result<()> {
        if self.similarity == Similarity::Dot && self.vectors.is_none() {
            return Ok(());
        }
        let rows = self.norms.len();
        assert_eq!(rows * self.dim, table.len(), "rows to prepare");
        self.rows(gpu, table, None, rows)
    }

    /// Prepares the first `rows` of those that are chosen.
    ///
    /// # Errors
    /// Those of the device.
    pub fn choose(&mut self, gpu: &Gpu, table: &Buffer<f32>, chosen: &Buffer<u32>, rows: usize) -> Result<()> {
        assert!(rows <= self.norms.len() && rows <= chosen.len() && self.vectors.is_some(), "{rows} rows to choose");
        self.rows(gpu, table, Some(chosen), rows)
    }

    fn rows(&mut self, gpu: &Gpu, table: &Buffer<f32>, chosen: Option<&Buffer<u32>>, rows: usize) -> Result<()> {
        let arguments = [
            read(table),
            chosen.map_or_else(|| nothing("const unsigned*"), read),
            count(usize::from(chosen.is_some())),
            count(rows),
            count(self.dim),
            count(self.similarity as usize),
            count(usize::from(self.vectors.is_some())),
            self.vectors.as_mut().map_or_else(|| nothing("float*"), write),
            write(&mut self.norms),
        ];
        gpu.launch("prepare_rows", Grid::warps(rows), &arguments)
    }

    /// A view of the prepared vectors; `table` is the table that they were prepared from.
    pub fn view<'a>(&'a self, table: &'a Buffer<f32>) -> View<'a> {
        View { vectors: self.vectors.as_ref().unwrap_or(table), norms: &self.norms, dim: self.dim, similarity: self.similarity }
    }
}

impl View<'_> {
    /// Turns sums of weights times prepared partners into the gradients of the first `rows` original rows, in place; of the marked ones alone, where
    /// there are marks. `totals` are the sums of the weights.
    ///
    /// # Errors
    /// Those of the device.
    pub fn finish(
        self,
        gpu: &Gpu,
        gradients: &mut Buffer<f32>,
        totals: &Buffer<f32>,
        marks: Option<&Buffer<u8>>,
        rows: usize,
    ) -> Result<()> {
        if self.similarity == Similarity::Dot {
            return Ok(());
        }
        assert!(rows <= totals.len() && rows * self.dim <= gradients.len() && rows <= self.norms.len(), "{rows} gradients to finish");
        let arguments = [
            read(self.vectors),
            read(self.norms),
            read(totals),
            marks.map_or_else(|| nothing("const unsigned char*"), read),
            count(usize::from(marks.is_some())),
            count(rows),
            count(self.dim),
            count(self.similarity as usize),
            write(gradients),
        ];
        gpu.launch("finish_gradients", Grid::warps(rows), &arguments)
    }
}
