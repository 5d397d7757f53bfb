//! Attention over the edges that lead to each node, in one pass forward and one back.
//!
//! ```text
//! l_e = leaky_relu(x_u + y_v)        a_e = exp(l_e) / sum of exp(l) over the edges that lead to v        for e from u to v
//! dL/d(x_u + y_v) = a_e (g_e - sum of a g over the edges that lead to v) leaky_relu'(x_u + y_v)        g = dL/da
//! ```

use super::{Edges, expect, values};
use crate::operations::{Loop, Real, dot, vectorized};
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Storage, Tensor, bail};

/// Attention by numbers x of sources and y of targets, `[nodes]` each.
pub(super) struct Attention {
    pub(super) edges: Edges,
    pub(super) slope: f64,
}

/// The derivatives by `x_u + y_v` of each edge, from attention and the derivatives by it.
struct AttentionBackward {
    edges: Edges,
    slope: f64,
    sources: Tensor,
    targets: Tensor,
}

/// The edges of a node: where they come from, with the numbers x of all nodes and y of this one.
#[derive(Clone, Copy)]
struct OfNode<'a, T> {
    sources: &'a [T],
    target: T,
    others: &'a [u32],
    slope: T,
}

impl<T: Real> OfNode<'_, T> {
    #[inline(always)]
    fn sums(&self) -> impl Iterator<Item = T> {
        self.others.iter().map(|&other| self.sources[other as usize] + self.target)
    }
}

struct Shares<'a, T> {
    node: OfNode<'a, T>,
    out: &'a mut [T],
}

impl<T: Real> Loop for Shares<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { node, out } = self;
        let mut largest = T::from_f64(f64::NEG_INFINITY);
        for (out, sum) in out.iter_mut().zip(node.sums()) {
            *out = if sum > T::zero() { sum } else { node.slope * sum };
            largest = if *out > largest { *out } else { largest };
        }
        out.iter_mut().for_each(|out| *out = (*out - largest).exp_of_negative());
        let scale = T::from_f64(1.0 / out.iter().map(|out| out.to_f64()).sum::<f64>());
        out.iter_mut().for_each(|out| *out *= scale);
    }
}

struct SharesBackward<'a, T> {
    node: OfNode<'a, T>,
    shares: &'a [T],
    derivatives: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Loop for SharesBackward<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { node, shares, derivatives, out } = self;
        let along = dot(shares, derivatives);
        for ((out, sum), (&share, &derivative)) in out.iter_mut().zip(node.sums()).zip(shares.iter().zip(derivatives)) {
            *out = share * (derivative - along) * if sum > T::zero() { T::one() } else { node.slope };
        }
    }
}

impl Attention {
    fn forward<T: Real>(&self, sources: &[T], targets: &[T]) -> Result<(CpuStorage, Shape)> {
        let Self { edges, slope } = self;
        for side in [sources, targets] {
            expect("nodes", side.len(), edges.nodes())?;
        }
        let (slope, mut shares) = (T::from_f64(*slope), vec![T::zero(); edges.number()]);
        edges.par_nodes(&mut shares, |node, of_node, out| {
            let node = OfNode { sources, target: targets[node], others: &edges.0.sources[of_node], slope };
            vectorized(Shares { node, out });
        });
        Ok((T::to_cpu_storage_owned(shares), Shape::from(edges.number())))
    }
}

impl AttentionBackward {
    fn forward<T: Real>(&self, shares: &[T], derivatives: &[T]) -> Result<(CpuStorage, Shape)> {
        let Self { edges, slope, sources, targets } = self;
        let ((sources, of_sources), (targets, of_targets)) = (sources.storage_and_layout(), targets.storage_and_layout());
        let (Storage::Cpu(sources), Storage::Cpu(targets)) = (&*sources, &*targets) else { bail!("numbers of nodes are on the CPU") };
        let (sources, targets) = (values::<T>(sources, of_sources)?, values::<T>(targets, of_targets)?);
        let (slope, mut out) = (T::from_f64(*slope), vec![T::zero(); edges.number()]);
        edges.par_nodes(&mut out, |node, of_node, out| {
            let (shares, derivatives) = (&shares[of_node.clone()], &derivatives[of_node.clone()]);
            let node = OfNode { sources, target: targets[node], others: &edges.0.sources[of_node], slope };
            vectorized(SharesBackward { node, shares, derivatives, out });
        });
        Ok((T::to_cpu_storage_owned(out), Shape::from(edges.number())))
    }
}

impl CustomOp2 for Attention {
    fn name(&self) -> &'static str {
        "attention-of-edges"
    }

    fn cpu_fwd(&self, sources: &CpuStorage, of_sources: &Layout, targets: &CpuStorage, of_targets: &Layout) -> Result<(CpuStorage, Shape)> {
        match sources {
            CpuStorage::F32(_) => self.forward(values::<f32>(sources, of_sources)?, values::<f32>(targets, of_targets)?),
            CpuStorage::F64(_) => self.forward(values::<f64>(sources, of_sources)?, values::<f64>(targets, of_targets)?),
            _ => bail!("numbers of nodes are f32 or f64"),
        }
    }

    fn bwd(&self, sources: &Tensor, targets: &Tensor, shares: &Tensor, derivative: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let backward =
            AttentionBackward { edges: self.edges.clone(), slope: self.slope, sources: sources.clone(), targets: targets.clone() };
        let of_edges = shares.apply_op2_no_bwd(&derivative.contiguous()?, &backward)?;
        Ok((Some(self.edges.sum_at_sources(&of_edges)?), Some(self.edges.sum(&of_edges)?)))
    }
}

impl CustomOp2 for AttentionBackward {
    fn name(&self) -> &'static str {
        "attention-of-edges-backward"
    }

    fn cpu_fwd(
        &self,
        shares: &CpuStorage,
        of_shares: &Layout,
        derivatives: &CpuStorage,
        of_derivatives: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        match shares {
            CpuStorage::F32(_) => self.forward(values::<f32>(shares, of_shares)?, values::<f32>(derivatives, of_derivatives)?),
            CpuStorage::F64(_) => self.forward(values::<f64>(shares, of_shares)?, values::<f64>(derivatives, of_derivatives)?),
            _ => bail!("numbers of edges are f32 or f64"),
        }
    }
}
