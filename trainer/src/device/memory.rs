//! The bytes of a GPU on which kernels train: its buffers, each counted as it is made.
//!
//! ```text
//! tables     parameters, two moments and gradients; with a graph four or five more of vectors; for cosines unit vectors twice of the items, once of the users
//! pairs      16 bytes of each train interaction; with a graph 8 more, and sums of nodes with many neighbours
//! batch      of a rank's rows: for each score twice an id, keys and places of a sort and pieces of sums, for two steps' rows are there; and once the score
//! ranks      the gradients of all ranks' rows, and what sorts these, where they meet row by row
//! between    what the validation part or the users' quantiles take between epochs, or what a loss without a kernel leaves of the scores, whichever is more
//! ```
//! A test holds the sum against what a training takes of the emulator: of `mf` with products and cosines, and of `light-gcn`, on one rank. What CUDA's libraries hold for themselves is not in it.

use super::all_reduce::is_by_row;

/// Bytes of a float, and of an id.
const NUMBER: u64 = 4;
/// Bytes of a double.
const DOUBLE: u64 = 8;
/// Keys of a block of a sort, and values of a digit.
const TILE: u64 = 4096;
const DIGITS: u64 = 256;
/// Entries of a piece of a sum, and neighbours of one.
const PIECE: u64 = 128;
const NEIGHBOURS: u64 = 256;
/// Numbers of the leaps to each step, of which there are so many.
const LEAP: u64 = 10;
const LEAPS: u64 = (1 << 13) + 1;
/// Bytes that the lists of users' quantiles may take.
const WORKING_SPACE: u64 = 1 << 30;

/// The sizes from which the memory of a training by kernels follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSizes {
    /// Users.
    pub users: u64,
    /// Items.
    pub items: u64,
    /// Train interactions.
    pub train: u64,
    /// Validation interactions.
    pub validation: u64,
    /// Numbers of a vector.
    pub dim: u64,
    /// Propagations over the graph; 0 where a vector is a row of its table.
    pub layers: u64,
    /// Rows of the whole batch.
    pub batch: u64,
    /// Negatives of a row.
    pub negatives: u64,
    /// Whether scores are cosines.
    pub is_cosine: bool,
    /// Whether a step leaves users, and items, behind that it does not touch.
    pub leaves: [bool; 2],
    /// Whether the loss has the users' quantiles.
    pub has_quantiles: bool,
    /// Numbers that the loss's formula leaves of each score; 0 where the loss is a kernel.
    pub of_formula: u64,
}

impl KernelSizes {
    /// Bytes of the GPU of each of so many ranks, at most.
    pub fn memory(&self, ranks: u32) -> u64 {
        let Self { users, items, train, dim, leaves, .. } = *self;
        let (ranks, sides) = (u64::from(ranks.max(1)), [users, items]);
        let batch = [self.batch.min(train).div_ceil(ranks), 1 + self.negatives];
        let leaps = if leaves.contains(&true) { LEAP * NUMBER * LEAPS } else { 0 };
        let tables = table([users, dim], leaves[0]) + table([items, dim], leaves[1]) + leaps;
        let touches = [batch[0], batch[0] * batch[1]];
        let exchanged = |side: usize| {
            let (rows, room) = (sides[side], touches[side].min(sides[side]));
            let fewer_bytes = is_by_row(ranks as usize, room as usize, [rows as usize, dim as usize]);
            if ranks > 1 && (fewer_bytes || leaves[side]) { exchange([rows, dim], room, ranks) } else { 0 }
        };
        let pairs = NUMBER * (4 * train + users + 1) + 2 * DOUBLE * items; // items may be drawn by weights
        let rows = 2 * batch_ids(batch, sides, dim) + self.of_batch(batch);
        let whole = self.prepared(users) + self.prepared(items);
        let own = NUMBER * users * u64::from(self.has_quantiles) + 2 * DOUBLE;
        let of_formula = self.of_formula * NUMBER * touches[1];
        tables + exchanged(0) + exchanged(1) + self.graph() + pairs + rows + whole + own + self.held_out() + self.between().max(of_formula)
    }

    /// The scores of a batch, what is prepared for them, and the gradients of its users.
    fn of_batch(&self, [rows, width]: [u64; 2]) -> u64 {
        NUMBER * (rows * width + 2 * rows * self.dim + 4 * rows) + self.prepared(self.items)
    }

    /// The norms of rows, and for cosines these at length one.
    fn prepared(&self, rows: u64) -> u64 {
        NUMBER * rows * (1 + u64::from(self.is_cosine) * self.dim)
    }

    /// The graph from both sides, sums of nodes that have many neighbours, and vectors: the last, those of the way back, and one or two layers.
    fn graph(&self) -> u64 {
        let Self { users, items, train, dim, layers, .. } = *self;
        if layers == 0 {
            return 0;
        }
        let (nodes, neighbours, vectors) = (users + items, 2 * train, 2 + (layers - 1).min(2));
        let (long, pieces) = (neighbours / (NEIGHBOURS + 1), 2 * neighbours / (NEIGHBOURS + 1)); // at most
        NUMBER * (2 * nodes + 1 + neighbours + 3 * (long + pieces) + pieces * dim + vectors * nodes * dim) + 1
    }

    /// The validation part.
    fn held_out(&self) -> u64 {
        let Self { users, validation, .. } = *self;
        if validation == 0 { 0 } else { NUMBER * (users + 1 + validation + users.min(validation)) }
    }

    /// What is there between epochs alone: scores, thresholds and counts of the validation part, or lists of the users.
    fn between(&self) -> u64 {
        let Self { users, items, validation, negatives, .. } = *self;
        let of_user = NUMBER * (items + negatives + 2);
        let lists = if self.has_quantiles { (users * of_user).min(WORKING_SPACE.max(of_user)) } else { 0 };
        lists.max(6 * NUMBER * validation)
    }
}

/// Parameters, moments, the gradient with a mark and a total of each row, and how far each row is where some may be left behind.
fn table([rows, dim]: [u64; 2], is_left: bool) -> u64 {
    NUMBER * rows * (4 * dim + 1 + u64::from(is_left)) + rows
}

/// The users and items of a batch, and which rows and scores are of each.
fn batch_ids([rows, width]: [u64; 2], [users, items]: [u64; 2], dim: u64) -> u64 {
    NUMBER * rows * (1 + width) + segments(rows, users, dim) + segments(rows * width, items, dim)
}

/// The rows of this rank and of all, and their sums.
fn exchange([rows, dim]: [u64; 2], room: u64, ranks: u64) -> u64 {
    let all = ranks * room;
    NUMBER * ((room + all) * (1 + dim) + all) + segments(all, rows, dim)
}

/// Sums by key: a sort, the rows that have entries, and pieces of the long sums.
fn segments(entries: u64, rows: u64, dim: u64) -> u64 {
    let (tiles, distinct) = (entries.div_ceil(TILE), entries.min(rows));
    let sort = 4 * entries + DIGITS * (tiles + 1);
    let (long, pieces) = (entries / (PIECE + 1), 2 * entries / (PIECE + 1));
    NUMBER * (sort + 2 * tiles.max(1) + 2 * distinct + 4 + 3 * long + pieces * (3 + dim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Resources, Trial, fit, trial::TRAINER_VERSION};
    use dataset::{Dataset, Interactions, Location};
    use gpu::Gpu;

    /// Matrix factorisation with 1000 uniform draws a row on slatk-gowalla.
    const GOWALLA: KernelSizes = KernelSizes {
        users: 29_858,
        items: 40_988,
        train: 810_128,
        validation: 0,
        dim: 64,
        layers: 0,
        batch: 1024,
        negatives: 1000,
        is_cosine: false,
        leaves: [false, false],
        has_quantiles: false,
        of_formula: 0,
    };

    /// 70,846 rows of 1,029 bytes; 16 bytes of an interaction and of an item, 4 of a user; 1,025,024 scores in 251 tiles and 15,891 pieces, twice, and once the scores;
    /// and for 1,024 rows twice a sort, and twice their vectors.
    #[test]
    fn memory_is_counted_by_hand() {
        assert_eq!(GOWALLA.memory(1), 142_680_810);
        let more = |sizes: KernelSizes| sizes.memory(1) - GOWALLA.memory(1);
        let [users, items, row] = [29_858, 40_988, 256];
        assert_eq!(more(KernelSizes { is_cosine: true, ..GOWALLA }), (users + 2 * items) * row);
        let graph = |layers: u64| KernelSizes { layers, ..GOWALLA };
        assert_eq!(graph(2).memory(1) - graph(1).memory(1), (users + items) * row, "a layer between");
        assert_eq!([graph(3), graph(4)].map(|sizes| sizes.memory(1) - graph(1).memory(1)), [2 * (users + items) * row; 2]);
        assert_eq!(more(KernelSizes { of_formula: 32, ..GOWALLA }), 32 * 4 * 1_025_024);
        assert_eq!(more(KernelSizes { has_quantiles: true, ..GOWALLA }), 4 * users + (1 << 30));
        assert_eq!(more(KernelSizes { leaves: [true, false], ..GOWALLA }), 4 * users + 40 * 8193);
    }

    /// Eight ranks have 128 rows each, whose users they exchange row by row, and sum the items.
    #[test]
    fn more_ranks_share_rows_and_not_tables() {
        let exchanged = exchange([29_858, 64], 128, 8);
        assert!(GOWALLA.memory(8) > 4 * 70_846 * 256 + exchanged && GOWALLA.memory(8) < GOWALLA.memory(1));
        assert_eq!(exchanged, 4 * (1152 * 65 + 1024) + segments(1024, 29_858, 64));
    }

    /// 40 users with ten of 60 items each, and one of the others held out.
    fn dataset() -> Dataset {
        let part = |places: std::ops::Range<u32>| {
            let pairs = (0..40u32).flat_map(move |user| places.clone().map(move |place| (user, (user * 7 + place * 5) % 60)));
            Interactions::from_pairs(40, pairs)
        };
        Dataset {
            name: "small".into(),
            fingerprint: "small".into(),
            user_ids: (0..40).map(|user| user.to_string()).collect(),
            item_ids: (0..60).map(|item| item.to_string()).collect(),
            train: part(0..10),
            validation: part(10..11),
            one_node_set: false,
            test: Interactions::empty(40),
            fold_in: None,
            order: None,
            steps: vec![],
            settings: serde_json::Value::Null,
        }
    }

    /// The most that a training takes of the emulator.
    fn taken([backbone, loss, optimizer]: [&str; 3]) -> u64 {
        let text = format!(
            r#"{{"version": {TRAINER_VERSION}, "dataset": "small", "select_by": "ndcg@20", "backbone": {{{backbone}}}, "learning": {{
            "loss": {{{loss}}}, "sampler": {{"popularity": {{"negatives": 7}}}}, "optimizer": {{{optimizer}}}, "seed": 4,
            "training": {{"epochs": 1, "batch_size": 90, "evaluate_every": 1}}}}}}"#
        );
        let trial: Trial = serde_json::from_str(&text).unwrap();
        let folder = Location::parse(&format!("memory:///kernel-memory-{}", trial.id())).unwrap();
        let resources = Resources { device: Device::Emulated, ..Resources::new(1 << 30) };
        Gpu::emulated_peak();
        fit::train(&trial, &dataset(), &folder, &resources, &mut ()).unwrap();
        Gpu::emulated_peak() as u64
    }

    #[test]
    fn a_training_takes_what_is_counted() {
        let (adam, bpr) = (r#""adam": {"learning_rate": 0.01}"#, r#""bpr": {}"#);
        let sizes = KernelSizes { users: 40, items: 60, train: 400, validation: 40, dim: 16, batch: 90, negatives: 7, ..GOWALLA };
        assert_eq!(taken([r#""mf": {"dim": 16}"#, bpr, adam]), sizes.memory(1));
        let cosine = KernelSizes { is_cosine: true, ..sizes };
        assert_eq!(taken([r#""mf": {"dim": 16}"#, r#""bpr": {"similarity": "cosine"}"#, adam]), cosine.memory(1));
        for layers in [1, 2, 3, 4] {
            let taken = taken([&format!(r#""light-gcn": {{"dim": 16, "layers": {layers}}}"#), bpr, adam]);
            let counted = KernelSizes { layers, ..sizes }.memory(1);
            // Room for long sums, of which there are none here.
            assert!(taken <= counted && counted < taken + 1024, "{layers} layers: {taken} taken, {counted} counted");
        }
    }
}
