//! The kernels of a step, by what they move and compute.
//!
//! A row of a table that is read for a score counts as often as it is read. The cache, where a small table fits, may give it sooner than
//! memory; that is no part of the model.

use super::{Exchange, Machine, Work};

/// Bytes of a float, an id, and an entry to sort: a key and what belongs to it.
const FLOAT: f64 = 4.0;
const ID: f64 = 4.0;
const ENTRY: f64 = 8.0;
/// Bits of a key that a pass of a radix sort puts in order.
const BITS: f64 = 8.0;

/// What a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The draws of a batch.
    Draw,
    /// Scores, the loss and its derivatives.
    Score,
    /// Gradients of the users' vectors.
    Users,
    /// Entries in the order of their items.
    Sort,
    /// Gradients of the items' vectors.
    Items,
    /// Vectors, or their gradients, over the graph.
    Propagate,
    /// Rows of other ranks added to one's own.
    Merge,
    /// Adam.
    Move,
}

/// How many kinds there are.
pub(super) const KINDS: usize = Kind::Move as usize + 1;

/// Work on one GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kernel {
    pub(super) kind: Kind,
    pub(super) bytes: f64,
    pub(super) flops: f64,
    pub(super) launches: f64,
}

impl Kernel {
    /// The least that the work can take: its bytes or its operations.
    pub(super) fn floor(&self, machine: &Machine) -> f64 {
        (self.bytes / machine.memory).max(self.flops / machine.flops)
    }

    /// What it is taken to take.
    pub(super) fn seconds(&self, machine: &Machine) -> f64 {
        self.floor(machine) * machine.over_floor[self.kind as usize] + self.launches * machine.launch
    }
}

/// What a rank does for its rows: `rows` of the batch.
pub(super) fn of_rows(work: &Work, rows: f64) -> Vec<Kernel> {
    let (row, scores) = (work.dim * FLOAT, work.scores(rows));
    let flops = 2.0 * work.dim * scores;
    // Every item's vector is read once where all are scored; where some are drawn, each score reads its item's, which it has the id of.
    let (vectors, id) = if work.drawn.is_some() { (scores, ID) } else { (work.items, 0.0) };
    let kernel = |kind, bytes, launches| Kernel { kind, bytes, flops, launches };
    let score = kernel(Kind::Score, (vectors + rows) * row + scores * (id + 3.0 * FLOAT), 2.0);
    let users = kernel(Kind::Users, (vectors + rows) * row + scores * (id + FLOAT), 1.0);
    let Some(drawn) = work.drawn else {
        return vec![score, users, kernel(Kind::Items, (rows + vectors) * row + scores * FLOAT, 1.0)];
    };
    let draw = Kernel { flops: 0.0, ..kernel(Kind::Draw, rows * drawn * ID, 1.0) };
    let items = kernel(Kind::Items, (scores + work.items_of(rows)) * row + scores * ENTRY, 1.0);
    vec![draw, score, users, sort(scores, work.items), items]
}

/// What every rank does alike, once the gradients of all rows have met; `ways` is how they did, of users and of items.
pub(super) fn of_tables(work: &Work, ranks: u32, ways: [Exchange; 2]) -> Vec<Kernel> {
    let rows = work.rows_of(ranks);
    let tables = [(work.users, work.users_of(rows)), (work.items, work.items_of(rows))];
    let merges = tables.into_iter().zip(ways).flat_map(|((all, touched), way)| merge(work, all, f64::from(ranks) * touched, way));
    let mut kernels: Vec<Kernel> = merges.filter(|_| ranks > 1).collect();
    kernels.extend((work.layers > 0.0).then(|| propagate(work)));
    kernels.push(adam(work));
    kernels
}

/// What it takes to put entries in order: each pass reads and writes them.
fn sort(entries: f64, keys: f64) -> Kernel {
    let passes = (keys.log2() / BITS).ceil().max(1.0);
    Kernel { kind: Kind::Sort, bytes: 2.0 * ENTRY * entries * passes, flops: 0.0, launches: 1.0 + passes }
}

/// A table of `all` rows of which `gathered` came from all ranks, with repeats: they are sorted and added up; or zeros where nothing will
/// be added, so that a whole table can be summed.
fn merge(work: &Work, all: f64, gathered: f64, way: Exchange) -> Vec<Kernel> {
    let row = work.dim * FLOAT;
    let merge = |bytes| Kernel { kind: Kind::Merge, bytes, flops: 0.0, launches: 1.0 };
    match way {
        Exchange::Dense => vec![merge(all * row)],
        Exchange::Rows => vec![sort(gathered, all), merge(gathered * (row + ID) + all.min(gathered) * row)],
    }
}

/// Forward and backward: each layer reads a row for each end of each edge, and writes both tables.
fn propagate(work: &Work) -> Kernel {
    let (row, passes, ends) = (work.dim * FLOAT, 2.0 * work.layers, 2.0 * work.train);
    let bytes = passes * (ends * (row + ID) + (work.users + work.items) * row);
    Kernel { kind: Kind::Propagate, bytes, flops: passes * ends * 2.0 * work.dim, launches: 2.0 * passes }
}

/// Parameter and two moments are read and written, and the gradient is read.
fn adam(work: &Work) -> Kernel {
    let touched = work.users_of(work.rows) + work.items_of(work.rows);
    let rows = if work.moves_all { work.users + work.items } else { touched };
    Kernel { kind: Kind::Move, bytes: rows * work.dim * 7.0 * FLOAT, flops: 0.0, launches: 2.0 }
}

#[cfg(test)]
mod tests {
    use super::{super::H200, *};

    /// Two users, four items, vectors of two floats (8 bytes), three edges; a batch of two rows that draw three items each.
    const SMALL: Work = Work {
        users: 2.0,
        items: 4.0,
        train: 3.0,
        dim: 2.0,
        rows: 2.0,
        positives: 1.0,
        drawn: Some(3.0),
        layers: 0.0,
        moves_all: true,
        numbers: 0.0,
        steps: 2.0,
        splits: true,
    };

    fn bytes(kernels: &[Kernel]) -> Vec<(Kind, f64)> {
        kernels.iter().map(|kernel| (kernel.kind, kernel.bytes)).collect()
    }

    /// Eight scores. Draws: six ids. Scores: eight rows of items and two of users, and an id, a score written and read, and its derivative
    /// for each. Users: the same rows, an id and a derivative. The sort: 8 bytes of each, read and written in one pass. Items: eight rows of
    /// users, an entry each, and what is written of the items: 4 (1 - 0.75^8) rows.
    #[test]
    fn the_kernels_of_rows_are_counted_by_hand() {
        let kernels = of_rows(&SMALL, 2.0);
        let found = bytes(&kernels);
        assert_eq!(&found[..4], [(Kind::Draw, 24.0), (Kind::Score, 208.0), (Kind::Users, 144.0), (Kind::Sort, 128.0)]);
        assert!((found[4].1 - (64.0 + 4.0 * (1.0 - 0.75_f64.powi(8)) * 8.0 + 64.0)).abs() < 1e-9, "{found:?}");
        assert_eq!(kernels[1].flops, 32.0);
    }

    /// All four items for two rows: four rows of items and two of users, and for each of eight scores what was counted above, but no id.
    #[test]
    fn where_all_items_are_scored_each_is_read_once() {
        let kernels = of_rows(&Work { drawn: None, ..SMALL }, 2.0);
        assert_eq!(bytes(&kernels), [(Kind::Score, 144.0), (Kind::Users, 80.0), (Kind::Items, 80.0)]);
        assert_eq!(kernels[0].flops, 32.0);
    }

    /// Adam: six rows of 8 bytes, seven times. Two layers: four passes of six ends, of a row and an id each, and six rows written.
    #[test]
    fn the_kernels_of_tables_are_counted_by_hand() {
        let rows = [Exchange::Rows; 2];
        assert_eq!(bytes(&of_tables(&SMALL, 1, rows)), [(Kind::Move, 336.0)]);
        let graph = of_tables(&Work { layers: 2.0, ..SMALL }, 1, rows);
        assert_eq!(bytes(&graph), [(Kind::Propagate, 4.0 * (72.0 + 48.0)), (Kind::Move, 336.0)]);
        assert_eq!(graph[0].flops, 96.0);
    }

    /// Two ranks with a row each: the table of users is zeroed (two rows). Of the items' each rank has touched 4 (1 - 0.75^4) rows; these are
    /// sorted, read with their ids, and written.
    #[test]
    fn what_ranks_exchange_is_merged() {
        let found = bytes(&of_tables(&SMALL, 2, [Exchange::Dense, Exchange::Rows]));
        let gathered: f64 = 2.0 * 4.0 * (1.0 - 0.75_f64.powi(4));
        assert_eq!(found[0], (Kind::Merge, 16.0));
        assert!((found[1].1 - 16.0 * gathered).abs() < 1e-9 && found[1].0 == Kind::Sort, "{found:?}");
        assert!((found[2].1 - (12.0 * gathered + 32.0)).abs() < 1e-9 && found[2].0 == Kind::Merge, "{found:?}");
    }

    /// 48 MB take 10 us at 4.8 TB/s, 67 million operations 1 us; doubled, and two launches of 2 us.
    #[test]
    fn the_longer_of_bytes_and_operations_counts() {
        let kernel = Kernel { kind: Kind::Score, bytes: 48e6, flops: 67e6, launches: 2.0 };
        assert!((kernel.seconds(&H200) - 24e-6).abs() < 1e-15);
        let busy = Kernel { flops: 67e9, ..kernel };
        assert!((busy.seconds(&H200) - 2004e-6).abs() < 1e-12);
    }
}
