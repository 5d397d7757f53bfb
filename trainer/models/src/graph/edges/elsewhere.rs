//! The operations on edges as candle's own make them: for other devices than a CPU, and held against ours there.

use super::{Edges, Kind, Structure};
use crate::{operations::given, segments::Segments};
use candle_core::{Result, Tensor};
use std::sync::Arc;

/// Edges in candle's operations.
pub(super) struct Elsewhere {
    segments: Segments,
    targets: Tensor,
    sources: Tensor,
    reverse: Tensor,
}

impl Edges {
    fn elsewhere(&self, like: &Tensor) -> Result<Arc<Elsewhere>> {
        if let Some(found) = self.0.elsewhere.get() {
            return Ok(found.clone());
        }
        let Structure { starts, sources, reverse, .. } = &*self.0;
        let targets = (0..self.nodes()).flat_map(|node| std::iter::repeat_n(node as u32, self.of(node).len()));
        let ids = |ids: &[u32]| Tensor::from_slice(ids, ids.len(), like.device());
        let made = Elsewhere {
            segments: Segments::new(starts, like.device(), like.dtype())?,
            targets: ids(&targets.collect::<Vec<u32>>())?,
            sources: ids(sources)?,
            reverse: ids(reverse)?,
        };
        Ok(self.0.elsewhere.get_or_init(|| Arc::new(made)).clone())
    }

    /// The row of the node that each edge leads to, `[edges, dim]` of `[nodes, dim]`.
    fn targets_elsewhere(&self, nodes: &Tensor) -> Result<Tensor> {
        let own = self.elsewhere(nodes)?;
        given(nodes, &nodes.detach().index_select(&own.targets, 0)?, move |gradient| own.segments.sum(gradient))
    }

    /// The row of the node that each edge comes from.
    fn sources_elsewhere(&self, nodes: &Tensor) -> Result<Tensor> {
        let own = self.elsewhere(nodes)?;
        let rows = nodes.detach().index_select(&own.sources, 0)?;
        given(nodes, &rows, move |gradient| own.segments.sum(&gradient.index_select(&own.reverse, 0)?))
    }

    /// The sum of the rows of the edges that lead to each node, `[nodes, dim]` of `[edges, dim]`.
    fn sum_elsewhere(&self, edges: &Tensor) -> Result<Tensor> {
        let own = self.elsewhere(edges)?;
        given(edges, &own.segments.sum(edges)?, move |gradient| gradient.index_select(&own.targets, 0))
    }

    pub(super) fn apply_elsewhere(&self, values: &Tensor, kind: Kind) -> Result<Tensor> {
        let values = values.unsqueeze(1)?;
        let found = match kind {
            Kind::AtTargets => self.targets_elsewhere(&values)?,
            Kind::AtSources => self.sources_elsewhere(&values)?,
            Kind::Sum => self.sum_elsewhere(&values)?,
            Kind::Softmax => {
                let own = self.elsewhere(&values)?;
                let largest = own.segments.max(&values)?.index_select(&own.targets, 0)?;
                let exponentials = (values - largest)?.exp()?;
                let sums = self.targets_elsewhere(&self.sum_elsewhere(&exponentials)?)?;
                (exponentials / sums)?
            }
        };
        found.squeeze(1)
    }

    pub(super) fn propagate_elsewhere(&self, weights: &Tensor, nodes: &Tensor) -> Result<Tensor> {
        self.sum_elsewhere(&self.sources_elsewhere(nodes)?.broadcast_mul(&weights.unsqueeze(1)?)?)
    }

    pub(super) fn dots_elsewhere(&self, targets: &Tensor, sources: &Tensor) -> Result<Tensor> {
        (self.targets_elsewhere(targets)? * self.sources_elsewhere(sources)?)?.sum(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Links;
    use crate::operations::leaky_relu;
    use crate::testing::{assert_same, assert_single_precision, matrix};
    use candle_core::DType;
    use dataset::Interactions;

    #[test]
    fn values_and_derivatives_are_those_of_our_own() {
        let number = |salt: f64| move |at: f64| (salt + 1.3 * at).sin();
        for loops in [false, true] {
            let edges = Edges::new(&Links::train(&Interactions::from_pairs(2, [(0, 0), (0, 1), (1, 1)].into_iter()), 3), loops);
            let nodes = [matrix([5, 1], number(1.0)).squeeze(1).unwrap()];
            let of_edges = [matrix([edges.number(), 1], number(2.0)).squeeze(1).unwrap()];
            assert_same(|x| edges.apply_elsewhere(&x[0], Kind::AtTargets), |x| edges.at_targets(&x[0]), &nodes);
            assert_same(|x| edges.apply_elsewhere(&x[0], Kind::AtSources), |x| edges.at_sources(&x[0]), &nodes);
            assert_same(|x| edges.apply_elsewhere(&x[0], Kind::Sum), |x| edges.sum(&x[0]), &of_edges);
            assert_same(|x| edges.apply_elsewhere(&x[0], Kind::Softmax), |x| edges.softmax(&x[0]), &of_edges);
            let of_both = [nodes[0].clone(), matrix([5, 1], number(5.0)).squeeze(1).unwrap()];
            let in_steps = |x: &[Tensor]| edges.softmax(&leaky_relu(&(edges.at_sources(&x[0])? + edges.at_targets(&x[1])?)?, 0.2)?);
            assert_same(in_steps, |x| edges.attention(&x[0], &x[1], 0.2), &of_both);
            let single = of_both.each_ref().map(|x| x.to_dtype(DType::F32).unwrap());
            let single = edges.attention(&single[0], &single[1], 0.2).unwrap().to_dtype(DType::F64).unwrap();
            let furthest = (single - edges.attention(&of_both[0], &of_both[1], 0.2).unwrap()).unwrap().abs().unwrap().max_all().unwrap();
            assert!(furthest.to_scalar::<f64>().unwrap() < 1e-6);
            let weighed = [of_edges[0].clone(), matrix([5, 3], number(3.0))];
            assert_same(|x| edges.propagate_elsewhere(&x[0], &x[1]), |x| edges.propagate(&x[0], &x[1]), &weighed);
            for dim in [3, 16, 17, 40] {
                let vectors = [matrix([5, dim], number(3.0)), matrix([5, dim], number(4.0))];
                assert_same(|x| edges.dots_elsewhere(&x[0], &x[1]), |x| edges.dots(&x[0], &x[1]), &vectors);
                assert_single_precision(|x| edges.dots(&x[0], &x[1]), &vectors);
            }
        }
    }
}
