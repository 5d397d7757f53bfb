//! Bytes of a step on so many ranks.
//!
//! ```text
//! sum of a table, in a ring of R     2 (R - 1) / R * n * 4 D            bytes sent by each rank, for n rows of D floats
//! rows that any rank touched           (R - 1) / R * R t * (4 D + 4)    for t rows touched by each rank, with their ids
//! ```
//! nccl-tests, doc/PERFORMANCE.md. Gradients meet in the way that sends fewer.

use super::{Work, work::StepsBy};

/// Bytes of a float, and of an id.
const FLOAT: f64 = 4.0;
const ID: f64 = 4.0;

/// The gradients of a table of so many rows of `dim` floats, of which each rank touched `touched`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gradients {
    rows: f64,
    dim: f64,
    touched: f64,
}

impl Gradients {
    /// Bytes of the touched rows of all ranks, where these are sent and not the table.
    fn gathered(self, ranks: u32) -> Option<f64> {
        let rows = f64::from(ranks) * self.touched * (self.dim * FLOAT + ID);
        (rows < 2.0 * self.table()).then_some(rows)
    }

    /// Bytes that each rank sends.
    fn sent(self, ranks: u32) -> f64 {
        let share = f64::from(ranks - 1) / f64::from(ranks);
        share * self.gathered(ranks).unwrap_or(2.0 * self.table())
    }

    fn table(self) -> f64 {
        self.rows * self.dim * FLOAT
    }
}

/// The gradients of users and of items that each rank has.
fn gradients(work: &Work<'_>, ranks: u32) -> [Gradients; 2] {
    let rows = work.rows_of(ranks);
    let table = |rows, touched| Gradients { rows, dim: work.dim, touched };
    [table(work.users, work.users_of(rows)), table(work.items, work.items_of(rows))]
}

/// Bytes that each rank sends for the gradients of a step.
pub(super) fn sent(work: &Work<'_>, ranks: u32) -> f64 {
    gradients(work, ranks).map(|table| table.sent(ranks)).into_iter().sum()
}

/// Bytes of a rank's GPU memory. The tables are on every rank whole: more ranks leave each with fewer rows, and with nothing less of the tables.
pub(super) fn memory(work: &Work<'_>, ranks: u32) -> f64 {
    let bytes = match work.steps {
        StepsBy::Kernels(sizes) => sizes.memory(ranks),
        StepsBy::Candle(trial, manifest) => trainer::device_memory(trial, manifest, ranks).map_or(0, |memory| memory.total()),
    };
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::{super::work::tests::GOWALLA, *};

    /// Ten rows of three floats are 120 bytes, of which four ranks send 2 * 3 / 4 each. A touched row with its id is 16 bytes: two of each of four ranks
    /// are 128, of which a rank sends three quarters. Twice the table is 240 bytes: up to 3.75 rows each are less.
    #[test]
    fn gradients_meet_in_the_way_with_fewer_bytes() {
        let sent = |touched, ranks| Gradients { rows: 10.0, dim: 3.0, touched }.sent(ranks);
        assert_eq!([sent(9.0, 4), sent(9.0, 2), sent(2.0, 4)], [180.0, 120.0, 96.0]);
        assert_eq!([3.7, 3.8].map(|touched| Gradients { rows: 10.0, dim: 3.0, touched }.gathered(4).is_some()), [true, false]);
        assert_eq!(sent(9.0, 1), 0.0);
    }

    /// Eight ranks draw 128,000 items each: nearly all of 40,988, so the table is summed: 7/4 of 10,492,928 bytes. Each rank has 127.73 of
    /// 128 of the 29,858 users: 7/8 of 8 * 127.73 rows of 260 bytes.
    #[test]
    fn eight_ranks_of_gowalla_sum_the_items_and_gather_the_users() {
        let expected = 18_362_624.0 + 7.0 * 127.73 * 260.0;
        let found = sent(&GOWALLA, 8);
        assert!((found - expected).abs() < 1e-4 * expected, "{found} is not {expected}");
    }
}
