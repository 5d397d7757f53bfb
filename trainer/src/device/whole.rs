//! The vectors of all users and items, prepared for scores.

use crate::Result;
use gpu::{
    Buffer, Gpu,
    vectors::{Prepared, Similarity, View},
};

/// Room for what is prepared of users and items.
#[derive(Debug)]
pub(crate) struct Whole([Prepared; 2]);

impl Whole {
    pub(crate) fn new(gpu: &Gpu, [users, items]: [usize; 2], dim: usize, similarity: Similarity) -> Result<Self> {
        let prepared = |rows| Prepared::whole(gpu, rows, dim, similarity);
        Ok(Self([prepared(users)?, prepared(items)?]))
    }

    /// Prepares the vectors of users and items.
    pub(crate) fn prepare<'a>(&'a mut self, gpu: &Gpu, tables: [&'a Buffer<f32>; 2]) -> Result<[View<'a>; 2]> {
        for (prepared, table) in self.0.iter_mut().zip(tables) {
            prepared.prepare(gpu, table)?;
        }
        Ok([self.0[0].view(tables[0]), self.0[1].view(tables[1])])
    }
}
