//! A step on so many ranks.

use super::{
    Exchange, Kernel, Machine, Message, Work,
    collective::{Gradients, broadcast, gather},
    kernel,
};

/// Bytes that each rank gives of a step's end: its part of the loss, and whether it is asked to stop.
const END: f64 = 16.0;
/// Bytes of a float, an id, an entry to sort, and a place in the interactions of a user.
const FLOAT: f64 = 4.0;
const ID: f64 = 4.0;
const ENTRY: f64 = 8.0;
const OFFSET: f64 = 8.0;

/// What one step takes. Parts follow each other; none hides behind another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// How the gradients of users and of items meet.
    pub(super) ways: [Exchange; 2],
    /// What a rank does for its rows: the part that more ranks make shorter.
    pub(super) of_rows: Vec<Kernel>,
    /// What every rank does alike.
    pub(super) of_tables: Vec<Kernel>,
    /// The gradients of users and of items.
    pub(super) gradients: [Message; 2],
    /// How many rows each rank gives, the loss, and its own numbers.
    pub(super) small: Vec<Message>,
}

impl Step {
    /// On so many ranks.
    pub(super) fn on(work: &Work, machine: &Machine, ranks: u32) -> Self {
        let rows = work.rows_of(ranks);
        let tables = gradients(work, ranks);
        let ways = tables.map(|table| table.exchange(ranks));
        let met = [0, 1].map(|at| tables[at].meet(ways[at], machine, ranks));
        let counts = ways.contains(&Exchange::Rows).then(|| gather(machine, ranks, 2.0 * ID));
        let numbers = (work.numbers > 0.0).then(|| gather(machine, ranks, rows * work.numbers * FLOAT));
        Self {
            ways,
            of_rows: kernel::of_rows(work, rows),
            of_tables: kernel::of_tables(work, ranks, ways),
            gradients: met,
            small: [Some(gather(machine, ranks, END)), counts, numbers].into_iter().flatten().collect(),
        }
    }

    /// Kernels of rows, kernels of tables, collectives.
    pub(super) fn parts(&self, machine: &Machine) -> [f64; 3] {
        let kernels = |kernels: &[Kernel]| kernels.iter().map(|kernel| kernel.seconds(machine)).sum();
        let messages = self.gradients.iter().chain(&self.small).map(|message| message.seconds).sum();
        [kernels(&self.of_rows), kernels(&self.of_tables), messages]
    }

    /// From its beginning to its end.
    pub(super) fn seconds(&self, machine: &Machine) -> f64 {
        self.parts(machine).into_iter().sum()
    }
}

/// The gradients of users and of items that each rank has.
pub(super) fn gradients(work: &Work, ranks: u32) -> [Gradients; 2] {
    let rows = work.rows_of(ranks);
    let table = |rows, touched| Gradients { rows, dim: work.dim, touched };
    [table(work.users, work.users_of(rows)), table(work.items, work.items_of(rows))]
}

/// Parameters given to all ranks before the first step.
pub(super) fn start(work: &Work, machine: &Machine, ranks: u32) -> Message {
    broadcast(machine, ranks, tables(work))
}

/// Bytes of a rank's GPU memory: parameters, moments and gradients, with a graph the vectors and two tables more; the interactions; and of
/// the rank's rows an id, a score, its derivative and two entries to sort for each score, and what is gathered. The tables are on every rank
/// whole: more ranks leave each with fewer rows, and with nothing less of the tables.
pub(super) fn memory(work: &Work, ranks: u32) -> f64 {
    let copies = if work.layers > 0.0 { 7.0 } else { 4.0 };
    let sides = if work.layers > 0.0 { 2.0 } else { 1.0 };
    let interactions = work.train * (2.0 + sides) * ID + (work.users + (sides - 1.0) * work.items) * OFFSET;
    let scores = work.scores(work.rows_of(ranks)) * (ID + 2.0 * FLOAT + 2.0 * ENTRY);
    let gathered = |table: Gradients| match table.exchange(ranks) {
        Exchange::Rows if ranks > 1 => f64::from(ranks) * table.touched * table.row_and_id(),
        Exchange::Rows | Exchange::Dense => 0.0,
    };
    copies * tables(work) + interactions + scores + gradients(work, ranks).map(gathered).into_iter().sum::<f64>()
}

/// Bytes of the parameters.
fn tables(work: &Work) -> f64 {
    (work.users + work.items) * work.dim * FLOAT
}

#[cfg(test)]
mod tests {
    use super::{
        super::{H200, work::tests::GOWALLA},
        *,
    };

    fn assert_within(found: f64, expected: f64, share: f64) {
        assert!((found - expected).abs() <= share * expected, "{found} is not {expected}");
    }

    /// One GPU: 1,025,024 scores. Bytes by hand: draws 4.096 MB; scores 262.406 + 0.262 + 16.400 MB; users the same rows and 8.200 MB; two
    /// passes of 16 bytes, 32.801 MB; items 262.406 + 10.493 + 8.200 MB. Adam: 1,006.6 users and all 40,988 items, 75.254 MB. Together
    /// 943.188 MB: 196.50 us at 4.8 TB/s, doubled, and 10 launches of 2 us.
    #[test]
    fn a_step_on_one_gpu_is_its_bytes() {
        let step = Step::on(&GOWALLA, &H200, 1);
        let bytes: f64 = step.of_rows.iter().chain(&step.of_tables).map(|kernel| kernel.bytes).sum();
        assert_within(bytes, 943.188e6, 1e-5);
        assert_within(step.seconds(&H200), 2.0 * 196.5e-6 + 20e-6, 1e-4);
        assert_eq!(step.parts(&H200)[2], 0.0);
    }

    /// Eight ranks draw 128,000 items each: nearly all of 40,988, so the table is summed: 7/4 of 10,492,928 bytes. Of 29,858 users each rank
    /// has 127.7 of 128: 7/8 of 8 * 127.7 rows of 260 bytes.
    #[test]
    fn eight_ranks_of_gowalla_sum_the_items_and_gather_the_users() {
        let step = Step::on(&GOWALLA, &H200, 8);
        assert_eq!(step.ways, [Exchange::Rows, Exchange::Dense]);
        assert_within(step.gradients[1].bytes, 18_362_624.0, 1e-12);
        assert_within(step.gradients[0].bytes, 7.0 * 127.73 * 260.0, 1e-3);
        // The loss: 7 * 16 bytes; the counts: 7 * 8.
        let small: Vec<f64> = step.small.iter().map(|message| message.bytes).collect();
        assert_eq!(small, [112.0, 56.0]);
    }

    /// A step on R ranks never takes less than the R-th part of a step on one: to exchange and to repeat takes time, and saves none.
    #[test]
    fn no_number_of_ranks_is_more_than_so_many_times_as_fast() {
        let graph = Work { layers: 2.0, moves_all: true, ..GOWALLA };
        let large = Work { users: 1e6, items: 1e7, train: 1e8, ..GOWALLA };
        let all = Work { drawn: None, ..GOWALLA };
        for work in [GOWALLA, graph, large, all, Work { drawn: Some(1.0), numbers: 2.0, ..GOWALLA }] {
            let alone = Step::on(&work, &H200, 1).seconds(&H200);
            for ranks in [2, 4, 8, 16, 32, 256] {
                let many = Step::on(&work, &H200, ranks).seconds(&H200);
                assert!(f64::from(ranks) * many > alone, "{ranks}: {many} of {alone}");
            }
        }
    }

    /// Four copies of 70,846 rows of 256 bytes; 12 bytes for each interaction and 8 for each user; 28 bytes for each of 1,025,024 scores.
    #[test]
    fn memory_is_counted_by_hand() {
        assert_eq!(memory(&GOWALLA, 1), 72_546_304.0 + 9_721_536.0 + 238_864.0 + 28_700_672.0);
        let graph = Work { layers: 2.0, ..GOWALLA };
        assert_eq!(memory(&graph, 1), 126_956_032.0 + 12_962_048.0 + 238_864.0 + 327_904.0 + 28_700_672.0);
    }

    #[test]
    fn more_ranks_share_rows_and_not_tables() {
        let large = Work { items: 1e9, ..GOWALLA };
        assert!(memory(&large, 8) > 4.0 * 1e9 * 256.0);
        let wide = Work { rows: 1e6, train: 1e7, ..GOWALLA };
        assert!(memory(&wide, 8) < 0.2 * memory(&wide, 1));
    }

    #[test]
    fn parameters_are_sent_once() {
        assert_eq!(start(&GOWALLA, &H200, 8).bytes, 70_846.0 * 256.0);
    }
}
