//! Sorted interactions with dense ids, some users at a time.

use super::{
    relations::{self, Side},
    scratch_file::{ScratchFile, in_words},
    workspace::{Relation, Workspace},
};
use crate::{Result, edges::Edges};
use arrow::{
    array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array},
    datatypes::{Float64Type, UInt8Type, UInt32Type},
};
use datafusion::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use dataset::Split;
use std::{fs::File, mem, sync::Arc};

/// Interactions from which on no further user is added.
const ROWS: usize = 1 << 20;

/// Interactions by user, then item, in scratch.
pub(super) struct Chunks<'a> {
    workspace: &'a Workspace,
    item_ids: Vec<String>,
    timed: bool,
}

impl<'a> Chunks<'a> {
    /// Gives what is left dense ids, in the order of the own ids, and sorts it.
    pub(super) fn new(workspace: &'a Workspace, pairs: Relation, timed: bool) -> Result<Self> {
        let mut user_ids = ScratchFile::new(Relation::UserIds, 0);
        number(workspace, Side::Users, |ids| user_ids.write(workspace, vec![Arc::clone(ids)]))?;
        user_ids.finish(workspace)?;
        let mut item_ids = Vec::new();
        number(workspace, Side::Items, |ids| {
            item_ids.extend(ids.as_string::<i32>().iter().flatten().map(str::to_owned));
            Ok(())
        })?;
        let mut edges = ScratchFile::new(Relation::Edges, 0);
        let places = |side: Side| workspace.scan(side.places());
        let numbered = || relations::numbered(workspace.scan(pairs)?, places(Side::Users)?, places(Side::Items)?);
        workspace.each(numbered(), |batch| edges.write(workspace, batch.columns().to_vec()))?;
        edges.finish(workspace)?;
        workspace.remove(pairs)?;
        Ok(Self { workspace, item_ids, timed })
    }

    /// Gives all users, some at a time.
    pub(super) fn each(&mut self, mut give: impl FnMut(&mut Edges) -> Result<()>) -> Result<()> {
        let mut user_ids = Ids { batches: self.open(Relation::UserIds)?, batch: None, at: 0 };
        let mut chunk = Chunk::default();
        for batch in self.open(Relation::Edges)? {
            let batch = batch.map_err(|error| self.workspace.in_scratch(std::io::Error::other(error)))?;
            let (users, items) =
                (batch.column(0).as_primitive::<UInt32Type>().values(), batch.column(1).as_primitive::<UInt32Type>().values());
            let (parts, times) =
                (batch.column(2).as_primitive::<UInt8Type>().values(), batch.column(3).as_primitive::<Float64Type>().values());
            for row in 0..batch.num_rows() {
                if chunk.begins(users[row]) && chunk.items.len() >= ROWS {
                    self.give(&mut chunk, &mut user_ids, &mut give)?;
                }
                chunk.push(users[row], items[row], part(parts[row]), times[row]);
            }
        }
        if chunk.items.is_empty() { Ok(()) } else { self.give(&mut chunk, &mut user_ids, &mut give) }
    }

    /// The items' own ids, by dense id.
    pub(super) fn into_item_ids(self) -> Vec<String> {
        self.item_ids
    }

    fn give(&mut self, chunk: &mut Chunk, user_ids: &mut Ids, give: &mut impl FnMut(&mut Edges) -> Result<()>) -> Result<()> {
        let Chunk { mut offsets, items, times, parts, .. } = mem::take(chunk);
        offsets.push(items.len());
        let user_ids = user_ids.next(offsets.len() - 1, self.workspace)?;
        let times = self.timed.then_some(times);
        let mut edges = Edges { user_ids, item_ids: mem::take(&mut self.item_ids), offsets, items, times, parts };
        give(&mut edges)?;
        self.item_ids = edges.item_ids;
        Ok(())
    }

    fn open(&self, relation: Relation) -> Result<ParquetRecordBatchReader> {
        let path = self.workspace.folder(relation)?.join("0.parquet");
        let file = File::open(path).map_err(|error| self.workspace.in_scratch(error))?;
        let open = || ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(1 << 16).build();
        open().map_err(|error| self.workspace.in_scratch(in_words(error)))
    }
}

/// Gives the ids of those that have interactions, in their final order, and stores the dense id of each.
fn number(workspace: &Workspace, side: Side, mut give: impl FnMut(&ArrayRef) -> Result<()>) -> Result<()> {
    let left = || relations::left(workspace.scan(side.ids())?, workspace.scan(side.degrees())?);
    let mut integers = false;
    workspace.each(left().and_then(relations::all_integers), |batch| {
        integers = batch.column(0).as_primitive::<UInt8Type>().iter().all(|integer| integer != Some(0));
        Ok(())
    })?;
    let (mut places, mut count) = (ScratchFile::new(side.places(), 0), 0u32);
    workspace.each(left().and_then(|ids| relations::sorted(ids, integers)), |batch: &RecordBatch| {
        let dense = UInt32Array::from_iter_values(count..count + batch.num_rows() as u32);
        count += batch.num_rows() as u32;
        places.write(workspace, vec![Arc::clone(batch.column(0)), Arc::new(dense)])?;
        give(batch.column(1))
    })?;
    places.finish(workspace)
}

/// Interactions of some users.
#[derive(Default)]
struct Chunk {
    user: Option<u32>,
    offsets: Vec<usize>,
    items: Vec<u32>,
    times: Vec<f64>,
    parts: Vec<Split>,
}

impl Chunk {
    /// Whether an interaction of this user is the first.
    fn begins(&self, user: u32) -> bool {
        self.user != Some(user)
    }

    fn push(&mut self, user: u32, item: u32, part: Split, time: f64) {
        if self.begins(user) {
            self.user = Some(user);
            self.offsets.push(self.items.len());
        }
        self.items.push(item);
        self.parts.push(part);
        self.times.push(time);
    }
}

/// The users' own ids, in the order of dense ids.
struct Ids {
    batches: ParquetRecordBatchReader,
    batch: Option<RecordBatch>,
    at: usize,
}

impl Ids {
    /// The next ones.
    fn next(&mut self, count: usize, workspace: &Workspace) -> Result<Vec<String>> {
        let mut ids = Vec::with_capacity(count);
        while ids.len() < count {
            match &self.batch {
                Some(batch) if self.at < batch.num_rows() => {
                    let column = batch.column(0).as_string::<i32>();
                    let end = column.len().min(self.at + count - ids.len());
                    ids.extend((self.at..end).map(|place| column.value(place).to_owned()));
                    self.at = end;
                }
                _ => {
                    let batch = self.batches.next().expect("each user with interactions has an id");
                    self.batch = Some(batch.map_err(|error| workspace.in_scratch(std::io::Error::other(error)))?);
                    self.at = 0;
                }
            }
        }
        Ok(ids)
    }
}

/// The part of the number that [`Intake`](super::intake::Intake) has written.
fn part(number: u8) -> Split {
    [Split::Train, Split::Validation, Split::Test][usize::from(number)]
}
