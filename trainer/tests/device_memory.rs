//! What is foretold of a GPU's memory under candle's steps, against what tensors took of a CPU's in the same operations.
//!
//! Steps run on one thread at a time by candle's own operations alone, and an allocator counts what that thread holds. Beside tensors that is what the host has of a batch, which is
//! little where models are large.
#![allow(clippy::unwrap_used, unsafe_code)]

use dataset::{Dataset, Interactions, Location, Manifest, Order};
use models::as_elsewhere;
use serde_json::{Value, json};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use trainer::{Error, Observer, Operations, Resources, Trial, device_memory, train};

thread_local! {
    /// Bytes that this thread holds of what it allocated, and the most since it was last asked.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, which counts for each thread.
struct Counting;

fn count(bytes: i64) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: every call is the system allocator's, whose contract is the same. Counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps to the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller keeps to the contract of `dealloc`, and every block is the system allocator's.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps to the contract of `realloc`, and every block is the system allocator's.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Looks at the peak from the end of each step to that of the next, above what was held at its beginning.
struct Peak<'a> {
    at_start: i64,
    most: i64,
    steps: u32,
    flag: &'a AtomicBool,
}

/// Steps that are looked at, beside a first one.
const STEPS: u32 = 3;

impl Observer for Peak<'_> {
    fn step(&mut self, _: u32, _: u32) {
        if self.steps > 0 {
            self.most = self.most.max(PEAK.get() - self.at_start);
        }
        self.steps += 1;
        self.flag.store(self.steps > STEPS, Ordering::Relaxed);
        (self.at_start, _) = (HELD.get(), PEAK.set(HELD.get()));
    }
}

/// Users with items that anybody may have, in an order.
fn dataset([users, items, of_user]: [u32; 3]) -> Dataset {
    let item = |user: u32, place: u32| (user.wrapping_mul(2_654_435_761) >> 7).wrapping_add(place.wrapping_mul(place + 97) * 13) % items;
    let rows: Vec<BTreeSet<u32>> = (0..users).map(|user| (0..of_user).map(|place| item(user, place)).collect()).collect();
    let order = rows.iter().flat_map(|row| 0..row.len() as u32).collect();
    let pairs = rows.iter().zip(0..).flat_map(|(row, user)| row.iter().map(move |&item| (user, item)));
    Dataset {
        name: "wide".into(),
        fingerprint: "wide".into(),
        user_ids: (0..users).map(|user| user.to_string()).collect(),
        item_ids: (0..items).map(|item| item.to_string()).collect(),
        train: Interactions::from_pairs(users as usize, pairs),
        validation: Interactions::empty(users as usize),
        one_node_set: false,
        test: Interactions::empty(users as usize),
        fold_in: None,
        order: Some(Order { train: order, ..Order::default() }),
        steps: vec![],
        settings: Value::Null,
    }
}

/// What a step of a trial is foretold to take, and took.
fn foretold_and_taken(of_dataset: [u32; 3], [backbone, loss, sampler]: [&str; 3], batch_size: u32) -> (f64, f64) {
    let read = |text: &str| serde_json::from_str::<Value>(&format!("{{{text}}}")).unwrap();
    let trial = json!({
        "version": 1, "dataset": "wide", "backbone": read(backbone), "select_by": "ndcg@10",
        "learning": {
            "loss": read(loss), "sampler": read(sampler), "optimizer": {"adam": {"learning_rate": 0.01}}, "seed": 3,
            "training": {"epochs": 1, "batch_size": batch_size, "evaluate_every": 1}
        }
    });
    let (trial, dataset): (Trial, _) = (serde_json::from_value(trial).unwrap(), dataset(of_dataset));
    trial.check().unwrap();
    let manifest = Manifest {
        schema_version: dataset::SCHEMA_VERSION,
        name: "wide".into(),
        fingerprint: "wide".into(),
        users: dataset.users(),
        items: dataset.items(),
        train: dataset.train.len(),
        fold_in: None,
        validation: 0,
        test: 0,
        one_node_set: false,
        ordered: true,
        steps: Vec::new(),
        settings: Value::Null,
        files: Default::default(),
    };
    let (flag, folder) = (
        AtomicBool::new(false),
        Location::parse(&format!("memory:///{}-{of_dataset:?}-{batch_size}", trial.id()).replace(['[', ']', ' ', ','], "_")).unwrap(),
    );
    let resources = Resources { operations: Operations::Candle, interrupt: Some(&flag), ..Resources::new(1 << 28) };
    let mut peak = Peak { at_start: 0, most: 0, steps: 0, flag: &flag };
    let ended = as_elsewhere(|| train(&trial, &dataset, &folder, &resources, &mut peak));
    assert!(matches!(ended, Err(Error::Interrupted { .. })) && peak.steps == STEPS + 1, "{ended:?}");
    (device_memory(&trial, &manifest, 1).unwrap().step as f64, peak.most as f64)
}

fn assert_foretold(of_dataset: [u32; 3], kinds: [&str; 3], batch_size: u32) {
    // Trainings beside each other have threads in common.
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap();
    let (foretold, taken) = foretold_and_taken(of_dataset, kinds, batch_size);
    drop(alone);
    assert!(taken < 1.2 * foretold && foretold < 1.5 * taken, "{kinds:?}, {of_dataset:?}: {foretold} bytes foretold, {taken} taken");
}

const BPR: &str = r#""bpr": {}"#;
const UNIFORM: &str = r#""uniform": {"negatives": 1}"#;

/// Every model, with vectors and with edges that are large beside the batch.
#[test]
fn steps_of_models_take_what_is_foretold() {
    for backbone in [
        r#""mf": {"dim": 32}"#,
        r#""two-tower": {"dim": 32}"#,
        r#""light-gcn": {"dim": 32, "layers": 2}"#,
        r#""lr-gccf": {"dim": 32, "layers": 2}"#,
        r#""gcn": {"dim": 32, "layers": 2}"#,
        r#""gat": {"dim": 32, "layers": 2, "heads": 2}"#,
        r#""gin": {"dim": 32, "layers": 2}"#,
        r#""nia-gcn": {"dim": 32}"#,
        r#""dgcf": {"dim": 32, "layers": 2}"#,
        r#""simplex": {"dim": 32}"#,
        r#""neu-mf": {"dim": 32, "hidden": [32, 16]}"#,
        r#""ncf": {"dim": 32}"#,
        r#""ngcf": {"dim": 32, "layers": 2}"#,
        r#""sgl": {"dim": 32, "layers": 2, "contrast_weight": 0.02}"#,
        r#""sim-gcl": {"dim": 32, "layers": 2}"#,
        r#""xsim-gcl": {"dim": 32, "layers": 2}"#,
        r#""sas-rec": {"dim": 32, "hidden": 32}"#,
        r#""gru4rec": {"dim": 32, "hidden": 32}"#,
    ] {
        for of_dataset in [[8000, 4000, 3], [600, 300, 40]] {
            assert_foretold(of_dataset, [backbone, BPR, UNIFORM], 64);
        }
    }
}

/// Scores that are large beside the vectors: of candidates, of layers, of pairs by a network, and relations. Of a loss that looks at rows alone, a CPU has other threads compute the
/// formula, and of fewer scores at once.
#[test]
fn steps_of_losses_and_samplers_take_what_is_foretold() {
    let mf = r#""mf": {"dim": 16}"#;
    for [backbone, loss, sampler] in [
        [mf, BPR, r#""dns": {"candidates": 50}"#],
        [mf, r#""softmax": {"temperature": 0.2}"#, r#""uniform": {"negatives": 500}"#],
        [mf, r#""sml": {}"#, r#""uniform": {"negatives": 100}"#],
        [mf, r#""direct-au": {"uniformity": 0.5}"#, r#""in-batch": {"negatives": 1}"#],
        [r#""light-gcn": {"dim": 16, "layers": 2}"#, BPR, r#""mix-gcf": {"candidates": 8, "negatives": 4}"#],
        [r#""neu-mf": {"dim": 16, "hidden": [32, 16]}"#, BPR, r#""uniform": {"negatives": 50}"#],
        [r#""ncf": {"dim": 32}"#, BPR, r#""uniform": {"negatives": 50}"#],
    ] {
        assert_foretold([6000, 3000, 8], [backbone, loss, sampler], 1000);
    }
}
