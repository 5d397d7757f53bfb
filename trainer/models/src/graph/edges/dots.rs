//! The products of the vectors of each edge's two nodes.

use super::{Edges, expect, values};
use crate::operations::{Loop, dot, vectorized};
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, WithDType, bail};

/// The products of the vectors of each edge's nodes.
pub(super) struct Dots(pub(super) Edges);

impl Dots {
    fn forward<T: WithDType>(&self, targets: &[T], sources: &[T], dim: usize) -> Result<(CpuStorage, Shape)> {
        let Self(edges) = self;
        for side in [targets, sources] {
            expect("nodes", side.len() / dim, edges.nodes())?;
        }
        let mut dots = vec![T::zero(); edges.number()];
        edges.par_nodes(&mut dots, |node, edges_of_node, dots| {
            let (target, others) = (&targets[node * dim..][..dim], &edges.0.sources[edges_of_node]);
            vectorized(DotsOfNode { target, sources, others, dots });
        });
        Ok((T::to_cpu_storage_owned(dots), Shape::from(edges.number())))
    }
}

/// The products of a node's vector with the vectors that its edges come from, which are written.
struct DotsOfNode<'a, T> {
    target: &'a [T],
    sources: &'a [T],
    others: &'a [u32],
    dots: &'a mut [T],
}

impl<T: WithDType> Loop for DotsOfNode<'_, T> {
    #[inline(always)]
    fn run(self) {
        let dim = self.target.len();
        for (dot_of_edge, &other) in self.dots.iter_mut().zip(self.others) {
            *dot_of_edge = dot(self.target, &self.sources[other as usize * dim..][..dim]);
        }
    }
}

impl CustomOp2 for Dots {
    fn name(&self) -> &'static str {
        "dots-of-edges"
    }

    fn cpu_fwd(&self, targets: &CpuStorage, of_targets: &Layout, sources: &CpuStorage, of_sources: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, dim) = of_targets.shape().dims2()?;
        match targets {
            CpuStorage::F32(_) => self.forward(values::<f32>(targets, of_targets)?, values::<f32>(sources, of_sources)?, dim),
            CpuStorage::F64(_) => self.forward(values::<f64>(targets, of_targets)?, values::<f64>(sources, of_sources)?, dim),
            _ => bail!("vectors are f32 or f64"),
        }
    }

    fn bwd(&self, targets: &Tensor, sources: &Tensor, _to: &Tensor, gradient: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        Ok((Some(self.0.propagate(gradient, sources)?), Some(self.0.propagate_reversed(gradient, targets)?)))
    }
}
