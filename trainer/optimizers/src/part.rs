//! How the rows of a parameter are shared out among threads.

use super::{
    Parameter,
    kernels::{self, Row, Step},
};
use rayon::prelude::*;

/// Rows of one parallel task: of a whole parameter, and of a list.
pub(super) const BLOCK: usize = 256;
pub(super) const LISTED: usize = 64;

/// A parameter and its moments, so many rows at a time.
pub(super) fn blocks(parameter: &mut Parameter, rows: usize) -> impl IndexedParallelIterator<Item = Row<'_>> {
    let Parameter { values, first, second, .. } = parameter;
    let length = rows * values.dim;
    let moments = first.par_chunks_mut(length).zip(second.par_chunks_mut(length));
    values.values.par_chunks_mut(length).zip(moments).map(|(values, (first, second))| Row { values, first, second })
}

/// Some rows of a parameter and of its moments, and the listed ones among them.
pub(super) struct Part<'a> {
    /// The first row.
    pub(super) row: usize,
    /// The place in the list of the first listed row.
    pub(super) place: usize,
    pub(super) listed: &'a [u32],
    pub(super) values: &'a mut [f32],
    pub(super) first: &'a mut [f32],
    pub(super) second: &'a mut [f32],
    pub(super) left: &'a mut [u32],
}

impl<'a> Part<'a> {
    /// Cuts into small parts, by rows or by listed rows, and works on them in parallel.
    pub(super) fn divide(self, dim: usize, by_rows: bool, work: &(impl Fn(Part) + Sync)) {
        let rows = self.values.len() / dim;
        if by_rows && rows <= BLOCK || !by_rows && self.listed.len() <= LISTED {
            return work(self);
        }
        let (row, place) = if by_rows {
            let row = self.row + rows / 2;
            (row, self.listed.partition_point(|&listed| (listed as usize) < row))
        } else {
            let place = self.listed.len() / 2;
            (self.listed[place] as usize, place)
        };
        let (head, tail) = self.cut(row, place, dim);
        rayon::join(|| head.divide(dim, by_rows, work), || tail.divide(dim, by_rows, work));
    }

    fn cut(self, row: usize, place: usize, dim: usize) -> (Self, Self) {
        let at = (row - self.row) * dim;
        let (values, values_tail) = self.values.split_at_mut(at);
        let (first, first_tail) = self.first.split_at_mut(at);
        let (second, second_tail) = self.second.split_at_mut(at);
        let (left, left_tail) = self.left.split_at_mut((row - self.row).min(self.left.len()));
        let (listed, listed_tail) = self.listed.split_at(place);
        let tail = Part {
            row,
            place: self.place + place,
            listed: listed_tail,
            values: values_tail,
            first: first_tail,
            second: second_tail,
            left: left_tail,
        };
        (Part { row: self.row, place: self.place, listed, values, first, second, left }, tail)
    }

    /// A step of every row.
    pub(super) fn move_all(&mut self, dim: usize, step: Step, gradient: &impl Fn(usize, &mut [f32]), sum: &mut [f32]) {
        let mut listed = self.listed.iter().zip(self.place..).peekable();
        for row in self.row..self.row + self.values.len() / dim {
            match listed.next_if(|&(&id, _)| id as usize == row) {
                Some((_, place)) => {
                    gradient(place, sum);
                    kernels::moved(self.at(row, dim), sum, step);
                }
                None => kernels::still(self.at(row, dim), step),
            }
        }
    }

    pub(super) fn at(&mut self, row: usize, dim: usize) -> Row<'_> {
        let values = (row - self.row) * dim..(row - self.row + 1) * dim;
        Row { values: &mut self.values[values.clone()], first: &mut self.first[values.clone()], second: &mut self.second[values] }
    }
}
