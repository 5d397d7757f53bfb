//! Operations on a row of either table for each pair.

use super::{
    elementwise::{Operation, run},
    real::Real,
};
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};
use std::{ops::Range, sync::Arc};

/// What is made of the two rows of a pair, number by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    Sum,
    Product,
}

/// The sums, or the products, of some columns of a row of one table and of a row of another for each pair.
#[derive(Clone)]
pub(super) struct PairRows {
    /// For each pair the places of its rows.
    places: Arc<[Vec<u32>; 2]>,
    columns: Range<usize>,
    combine: Combine,
}

/// The derivative by one of the tables from that by the result and from the other table.
struct ByTable {
    pairs: PairRows,
    side: usize,
    /// `[rows, columns]` of that table.
    shape: [usize; 2],
}

impl PairRows {
    /// # Errors
    /// When places are no `u32`, or there are more of them on one side than on the other.
    pub(super) fn new(places: [&Tensor; 2], columns: Range<usize>, combine: Combine) -> Result<Self> {
        let [users, items] = [places[0].to_vec1()?, places[1].to_vec1()?];
        if users.len() != items.len() {
            bail!("there are {} users and {} items of pairs, expected as many", users.len(), items.len());
        }
        Ok(Self { places: Arc::new([users, items]), columns, combine })
    }

    /// The row of each pair, in a table with `width` columns.
    fn rows<'a, T>(&'a self, side: usize, table: &'a [T], width: usize) -> impl Iterator<Item = &'a [T]> {
        let Range { start, end } = self.columns;
        self.places[side].iter().map(move |&place| &table[place as usize * width..][start..end])
    }
}

impl Operation for PairRows {
    fn run<T: Real>(&self, from: &[&[T]], shape: &Shape) -> Result<Vec<T>> {
        let (_, width) = shape.dims2()?;
        let mut result = Vec::with_capacity(self.places[0].len() * self.columns.len());
        for (one, other) in self.rows(0, from[0], width).zip(self.rows(1, from[1], width)) {
            let both = one.iter().zip(other);
            match self.combine {
                Combine::Sum => result.extend(both.map(|(&one, &other)| one + other)),
                Combine::Product => result.extend(both.map(|(&one, &other)| one * other)),
            }
        }
        Ok(result)
    }

    fn shape(&self, _shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((self.places[0].len(), self.columns.len())))
    }
}

impl Operation for ByTable {
    fn run<T: Real>(&self, from: &[&[T]], _shape: &Shape) -> Result<Vec<T>> {
        let ([rows, width], PairRows { places, columns, combine }) = (self.shape, &self.pairs);
        let mut sums = vec![T::zero(); rows * width];
        let pairs = places[self.side].iter().zip(from[0].chunks_exact(columns.len()));
        for ((&place, derivative), other) in pairs.zip(self.pairs.rows(1 - self.side, from[1], width)) {
            let sum = sums[place as usize * width..][columns.clone()].iter_mut().zip(derivative);
            match combine {
                Combine::Sum => sum.for_each(|(sum, &derivative)| *sum += derivative),
                Combine::Product => sum.zip(other).for_each(|((sum, &derivative), &other)| *sum += derivative * other),
            }
        }
        Ok(sums)
    }

    fn shape(&self, _shapes: &[&Shape]) -> Result<Shape> {
        Ok(Shape::from((self.shape[0], self.shape[1])))
    }
}

impl CustomOp2 for PairRows {
    fn name(&self) -> &'static str {
        "rows-of-pairs"
    }

    fn cpu_fwd(&self, users: &CpuStorage, of_users: &Layout, items: &CpuStorage, of_items: &Layout) -> Result<(CpuStorage, Shape)> {
        run(self, &[(users, of_users), (items, of_items)])
    }

    fn bwd(&self, users: &Tensor, items: &Tensor, _result: &Tensor, derivative: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let derivative = derivative.contiguous()?;
        let by = |side: usize, own: &Tensor, other: &Tensor| {
            let shape = own.dims2()?.into();
            derivative.apply_op2_no_bwd(other, &ByTable { pairs: self.clone(), side, shape }).map(Some)
        };
        Ok((by(0, users, items)?, by(1, items, users)?))
    }
}

impl CustomOp2 for ByTable {
    fn name(&self) -> &'static str {
        "rows-of-pairs-by-table"
    }

    fn cpu_fwd(
        &self,
        derivative: &CpuStorage,
        of_derivative: &Layout,
        other: &CpuStorage,
        of_other: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        run(self, &[(derivative, of_derivative), (other, of_other)])
    }
}
