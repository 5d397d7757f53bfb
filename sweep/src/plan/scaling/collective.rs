//! What collectives move, and how long that takes.
//!
//! ```text
//! sum, in a ring of R       2 (R - 1) / R  of the array's bytes are sent by each rank, in 2 (R - 1) hops
//! gather                      (R - 1) / R  of the bytes of all ranks together,         in    R - 1  hops
//! broadcast                                all bytes,                                  in    R - 1  hops
//! ```
//! Bytes: nccl-tests, doc/PERFORMANCE.md. Hops between nodes: NCCL, src/graph/tuning.cc.

use super::Machine;

/// Bytes of a float and of an id.
const FLOAT: f64 = 4.0;
const ID: f64 = 4.0;

/// One collective.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Message {
    /// Sent by each rank.
    pub(super) bytes: f64,
    /// From its call to its end.
    pub(super) seconds: f64,
}

/// How the gradients of a table meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// The whole table is summed.
    Dense,
    /// Every rank gets the rows that any rank touched, with their ids.
    Rows,
}

/// The gradients of a table of so many rows of `dim` floats, of which each rank touched `touched`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gradients {
    pub(super) rows: f64,
    pub(super) dim: f64,
    pub(super) touched: f64,
}

impl Gradients {
    /// The way on which fewer bytes are sent.
    pub(super) fn exchange(self, ranks: u32) -> Exchange {
        if f64::from(ranks) * self.touched * self.row_and_id() < 2.0 * self.rows * self.dim * FLOAT {
            Exchange::Rows
        } else {
            Exchange::Dense
        }
    }

    /// What one of the ways takes.
    pub(super) fn meet(self, exchange: Exchange, machine: &Machine, ranks: u32) -> Message {
        match exchange {
            Exchange::Dense => sum(machine, ranks, self.rows * self.dim * FLOAT),
            Exchange::Rows => gather(machine, ranks, self.touched * self.row_and_id()),
        }
    }

    /// Bytes of a row that is gathered.
    pub(super) fn row_and_id(self) -> f64 {
        self.dim * FLOAT + ID
    }
}

/// The sum of an array over all ranks.
pub(super) fn sum(machine: &Machine, ranks: u32, bytes: f64) -> Message {
    let nodes = machine.nodes(ranks);
    message(machine, ranks, 2.0 * share(ranks) * bytes, [2 * (ranks - 1), if nodes > 1 { 2 * nodes } else { 0 }])
}

/// So many bytes of each rank, given to all.
pub(super) fn gather(machine: &Machine, ranks: u32, bytes: f64) -> Message {
    message(machine, ranks, share(ranks) * f64::from(ranks) * bytes, [ranks - 1, machine.nodes(ranks) - 1])
}

/// An array of one rank, given to all.
pub(super) fn broadcast(machine: &Machine, ranks: u32, bytes: f64) -> Message {
    message(machine, ranks, if ranks > 1 { bytes } else { 0.0 }, [ranks - 1, machine.nodes(ranks) - 1])
}

/// Of what goes around a ring, a rank keeps its own part.
fn share(ranks: u32) -> f64 {
    f64::from(ranks - 1) / f64::from(ranks)
}

/// `hops`: all, and those of them that leave a node.
fn message(machine: &Machine, ranks: u32, bytes: f64, [hops, out]: [u32; 2]) -> Message {
    if ranks == 1 {
        return Message::default();
    }
    let hop = if out > 0 { machine.hop_of_many } else { machine.hop };
    let waits = machine.call + f64::from(hops - out) * hop + f64::from(out) * machine.hop_out;
    Message { bytes, seconds: waits + bytes / machine.ring(ranks) }
}

#[cfg(test)]
mod tests {
    use super::{super::H200, *};

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} is not {expected}");
    }

    /// Ten rows of three floats are 120 bytes; four ranks send 2 * 3 / 4 of them.
    #[test]
    fn a_dense_sum_sends_nearly_twice_the_table() {
        let table = Gradients { rows: 10.0, dim: 3.0, touched: 1.0 };
        assert_eq!(table.meet(Exchange::Dense, &H200, 4).bytes, 180.0);
        assert_eq!(table.meet(Exchange::Dense, &H200, 2).bytes, 120.0);
    }

    /// A row of three floats and its id are 16 bytes; four ranks with two rows each have 128 bytes, of which a rank sends three quarters.
    #[test]
    fn rows_are_sent_with_their_ids() {
        let table = Gradients { rows: 10.0, dim: 3.0, touched: 2.0 };
        assert_eq!(table.meet(Exchange::Rows, &H200, 4).bytes, 96.0);
    }

    /// Four ranks gather 64 bytes for each row that each of them touched; the table, twice, is 240 bytes.
    #[test]
    fn the_way_with_fewer_bytes_is_taken() {
        let exchange = |touched| Gradients { rows: 10.0, dim: 3.0, touched }.exchange(4);
        assert_eq!([3.7, 3.8].map(exchange), [Exchange::Rows, Exchange::Dense]);
        for (touched, ranks) in [(3.0, 4), (5.0, 4), (9.0, 2), (1.0, 32)] {
            let table = Gradients { rows: 10.0, dim: 3.0, touched };
            let [taken, other] = match table.exchange(ranks) {
                Exchange::Rows => [Exchange::Rows, Exchange::Dense],
                Exchange::Dense => [Exchange::Dense, Exchange::Rows],
            };
            assert!(table.meet(taken, &H200, ranks).bytes <= table.meet(other, &H200, ranks).bytes);
        }
    }

    /// Within a node of eight: 6.6 us and 14 or 7 hops of 0.6 us. Over two nodes: 30 hops, 4 of them outwards; over four: 62 with 8, or 31
    /// with 3.
    #[test]
    fn an_empty_collective_takes_its_hops() {
        assert_close(sum(&H200, 8, 0.0).seconds, 15.0e-6);
        assert_close(gather(&H200, 8, 0.0).seconds, 10.8e-6);
        assert_close(sum(&H200, 16, 0.0).seconds, (6.6 + 26.0 + 4.0 * 2.7) * 1e-6);
        assert_close(sum(&H200, 32, 0.0).seconds, (6.6 + 54.0 + 8.0 * 2.7) * 1e-6);
        assert_close(gather(&H200, 32, 0.0).seconds, (6.6 + 28.0 + 3.0 * 2.7) * 1e-6);
        assert_close(broadcast(&H200, 8, 370e6).seconds, 10.8e-6 + 1e-3);
    }

    #[test]
    fn one_rank_says_nothing() {
        for message in [sum(&H200, 1, 1e9), gather(&H200, 1, 1e9), broadcast(&H200, 1, 1e9)] {
            assert_eq!(message, Message::default());
        }
    }
}
