//! The graph as the kernels take it.

use super::PIECE;
use crate::{Buffer, Gpu, Result};

/// Nodes are the users, and then the items; a node's neighbours are rows of the other side.
#[derive(Debug)]
pub(super) struct Edges {
    /// Users, items.
    pub(super) rows: [usize; 2],
    /// `[nodes + 1]`, where each node's neighbours begin.
    pub(super) offsets: Buffer<u32>,
    pub(super) neighbours: Buffer<u32>,
    /// `[nodes]`, 1 / sqrt(degree).
    pub(super) scales: Buffer<f32>,
    /// `[pieces, 3]`: node, from, to; of nodes that have several.
    pub(super) list: Buffer<u32>,
    pub(super) pieces: usize,
    /// `[long, 3]`: such a node, its first piece, its pieces.
    pub(super) longs: Buffer<u32>,
    pub(super) long: usize,
}

impl Edges {
    pub(super) fn new(gpu: &Gpu, users: (&[u32], &[u32]), items: (&[u32], &[u32])) -> Result<Self> {
        let edges = users.1.len();
        assert_eq!(items.1.len(), edges, "each interaction is one of a user and one of an item");
        assert!(edges < 1 << 31, "{edges} interactions; the kernels count 2^31 from both sides");
        let offsets: Vec<u32> = users.0.iter().copied().chain(items.0[1..].iter().map(|offset| offset + edges as u32)).collect();
        let (list, longs) = pieces(&offsets);
        let scales: Vec<f32> = offsets.windows(2).map(|ends| scale(ends[1] - ends[0])).collect();
        Ok(Self {
            rows: [users.0.len() - 1, items.0.len() - 1],
            offsets: gpu.upload(&offsets)?,
            neighbours: gpu.upload(&[users.1, items.1].concat())?,
            scales: gpu.upload(&scales)?,
            pieces: list.len(),
            long: longs.len(),
            list: gpu.upload(list.as_flattened())?,
            longs: gpu.upload(longs.as_flattened())?,
        })
    }
}

/// `1 / sqrt(degree)`, rounded as on the CPU; a node without neighbours counts as one with a single neighbour.
fn scale(degree: u32) -> f32 {
    let degree = degree.max(1) as f32;
    1.0 / degree * degree.sqrt()
}

/// The pieces of the nodes that have several, and these nodes.
fn pieces(offsets: &[u32]) -> (Vec<[u32; 3]>, Vec<[u32; 3]>) {
    let (mut list, mut longs) = (Vec::new(), Vec::new());
    for (node, ends) in (0..).zip(offsets.windows(2)).filter(|(_, ends)| (ends[1] - ends[0]) as usize > PIECE) {
        let first = list.len() as u32;
        list.extend((ends[0]..ends[1]).step_by(PIECE).map(|from| [node, from, ends[1].min(from + PIECE as u32)]));
        longs.push([node, first, list.len() as u32 - first]);
    }
    (list, longs)
}
