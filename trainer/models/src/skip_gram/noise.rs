//! Where negatives come from.
//!
//! ```text
//! q(v) = d_v^exponent / (sum over nodes w with an edge of d_w^exponent)
//! ```
//! The degree d_v stands for how often a node is met: uniform walks come to a node as often, in the long run, as its degree says. Nodes without
//! an edge are never drawn, whatever the exponent. word2vec's exponent is 0.75.

use streams::{Alias, Stream};

/// A distribution over some nodes that follow each other.
pub(crate) struct NoiseLaw {
    first: u32,
    alias: Alias,
}

impl NoiseLaw {
    /// The distribution over nodes of these degrees, of which the first has this number.
    pub(crate) fn new(first: usize, degrees: impl Iterator<Item = usize>, exponent: f64) -> Self {
        let weight = |degree: usize| if degree == 0 { 0.0 } else { (degree as f64).powf(exponent) };
        Self { first: first as u32, alias: Alias::new(&degrees.map(weight).collect::<Vec<f64>>()) }
    }

    /// Draws a node.
    pub(crate) fn draw(&self, stream: &mut Stream) -> u32 {
        self.first + self.alias.draw(stream)
    }

    /// Bytes of distributions over so many nodes.
    pub(crate) fn bytes(nodes: u64) -> u64 {
        nodes * Alias::BYTES as u64
    }
}
