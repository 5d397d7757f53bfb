//! The rates of GPUs and of what joins them. `docs/scaling.md` names the source of each.

use super::kernel::KINDS;

/// A cluster of equal nodes, each with several GPUs. Rates are in bytes or operations a second, times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Machine {
    /// Of a GPU's memory.
    pub(super) memory: f64,
    /// Single-precision operations of a GPU.
    pub(super) flops: f64,
    /// How many times its floor each kind of kernel takes, in the order of [`Kind`](super::kernel::Kind).
    pub(super) over_floor: [f64; KINDS],
    /// From one kernel to the next.
    pub(super) launch: f64,
    /// From a GPU to the others of its node, in one direction.
    pub(super) nvlink: f64,
    /// Of one network adapter; a node has one for each GPU.
    pub(super) adapter: f64,
    /// GPUs of a node.
    pub(super) node: u32,
    /// What a collective takes before anything moves.
    pub(super) call: f64,
    /// A hop of a ring to the next GPU of a node.
    pub(super) hop: f64,
    /// The same where the ring goes on over the network.
    pub(super) hop_of_many: f64,
    /// A hop to another node.
    pub(super) hop_out: f64,
}

/// Nodes of eight H200 SXM, each GPU with an adapter of 400 Gb/s. What the links reach is what NCCL's maintainers state, the latencies are
/// those of NCCL's tuning model (protocol LL, the quickest). Not published, but assumed: twice the floor for every kernel, and the launch.
pub(super) const H200: Machine = Machine {
    memory: 4.8e12,
    flops: 67e12,
    over_floor: [2.0; KINDS],
    launch: 2e-6,
    nvlink: 370e9,
    adapter: 47e9,
    node: 8,
    call: 6.6e-6,
    hop: 0.6e-6,
    hop_of_many: 1.0e-6,
    hop_out: 2.7e-6,
};

impl Machine {
    /// Nodes that so many ranks fill.
    pub(super) fn nodes(&self, ranks: u32) -> u32 {
        ranks.div_ceil(self.node)
    }

    /// What a rank sends in a second around a ring. There are as many rings as adapters: each leaves a node by one, and together they fill
    /// them all.
    pub(super) fn ring(&self, ranks: u32) -> f64 {
        if self.nodes(ranks) == 1 { self.nvlink } else { self.nvlink.min(self.adapter * f64::from(self.node)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_over_nodes_fills_all_adapters() {
        assert_eq!([1, 8, 9, 32].map(|ranks| H200.nodes(ranks)), [1, 1, 2, 4]);
        assert_eq!(H200.ring(8), 370e9);
        assert_eq!(H200.ring(16), 370e9); // eight adapters carry 376 GB/s, a little more than NVLink
        assert_eq!(Machine { node: 4, ..H200 }.ring(16), 188e9);
    }
}
