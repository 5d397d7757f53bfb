//! Sorted interactions with dense ids, some users at a time.

use super::{
    relations::{self, Side},
    scratch_file::{ScratchFile, in_words},
    workspace::{Relation, Workspace},
};
use crate::{
    Result,
    edges::{Edges, pair, unpair},
};
use arrow::{
    array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, UInt8Array, UInt32Array, UInt64Array},
    datatypes::{Float64Type, UInt8Type, UInt64Type},
};
use datafusion::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use dataset::Split;
use std::{fs::File, io, iter, mem, sync::Arc};

/// Interactions from which on no further user is added.
const ROWS: usize = 1 << 20;

/// Interactions by user, then item, some users at a time.
pub(super) struct Chunks<'a> {
    workspace: &'a Workspace,
    item_ids: Vec<String>,
    timed: bool,
}

impl<'a> Chunks<'a> {
    /// Gives the users and items that are left dense ids, in the order of their own ids.
    pub(super) fn new(workspace: &'a Workspace, timed: bool) -> Result<Self> {
        let mut user_ids = ScratchFile::new(Relation::UserIds, 0);
        number(workspace, Side::Users, |ids| user_ids.write(workspace, vec![Arc::clone(ids)]))?;
        user_ids.finish(workspace)?;
        let mut item_ids = Vec::new();
        number(workspace, Side::Items, |ids| {
            item_ids.extend(ids.as_string::<i32>().iter().flatten().map(str::to_owned));
            Ok(())
        })?;
        Ok(Self { workspace, item_ids, timed })
    }

    /// Sorts the interactions of those that are left, and stores them with the parts that `hold_out` gives them.
    pub(super) fn sort(&mut self, pairs: Relation, parts: bool, mut hold_out: impl FnMut(&mut Edges) -> Result<()>) -> Result<()> {
        let workspace = self.workspace;
        let (mut file, mut first) = (ScratchFile::new(Relation::Edges, 0), 0);
        let mut store = |edges: &mut Edges| {
            hold_out(edges)?;
            file.write(workspace, columns(edges, first))?;
            first += edges.user_ids.len() as u32;
            Ok(())
        };
        let places = |side: Side| workspace.scan(side.places());
        let numbered = || relations::numbered(workspace.scan(pairs)?, places(Side::Users)?, places(Side::Items)?, parts);
        let mut runs = self.runs()?;
        workspace.each(numbered(), |batch| runs.take(batch, &mut store))?;
        self.item_ids = runs.end(&mut store)?;
        file.finish(workspace)?;
        workspace.remove(pairs)
    }

    /// Gives all users, some at a time.
    pub(super) fn each(&mut self, mut give: impl FnMut(&mut Edges) -> Result<()>) -> Result<()> {
        let mut runs = self.runs()?;
        for batch in open(self.workspace, Relation::Edges)? {
            let batch = batch.map_err(|error| self.workspace.in_scratch(io::Error::other(error)))?;
            runs.take(&batch, &mut give)?;
        }
        self.item_ids = runs.end(&mut give)?;
        Ok(())
    }

    /// The items' own ids, by dense id.
    pub(super) fn into_item_ids(self) -> Vec<String> {
        self.item_ids
    }

    fn runs(&mut self) -> Result<Runs<'a>> {
        let user_ids = UserIdReader { workspace: self.workspace, batches: open(self.workspace, Relation::UserIds)?, batch: None, at: 0 };
        Ok(Runs { user_ids, item_ids: mem::take(&mut self.item_ids), timed: self.timed, chunk: Chunk::default() })
    }
}

/// The rows of interactions, whose first user has this dense id.
fn columns(edges: &Edges, first: u32) -> Vec<ArrayRef> {
    let users = (first..).zip(edges.offsets.windows(2)).flat_map(|(user, row)| iter::repeat_n(user, row[1] - row[0]));
    let pairs = UInt64Array::from_iter_values(users.zip(&edges.items).map(|(user, &item)| pair(user, item)));
    let parts = UInt8Array::from_iter_values(edges.parts.iter().map(|&part| part as u8));
    let times = match &edges.times {
        Some(times) => Float64Array::from(times.clone()),
        None => Float64Array::from_value(0.0, edges.items.len()),
    };
    vec![Arc::new(pairs), Arc::new(parts), Arc::new(times)]
}

fn open(workspace: &Workspace, relation: Relation) -> Result<ParquetRecordBatchReader> {
    let path = workspace.folder(relation)?.join("0.parquet");
    let file = File::open(path).map_err(|error| workspace.in_scratch(error))?;
    let open = || ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(1 << 16).build();
    open().map_err(|error| workspace.in_scratch(in_words(error)))
}

/// Sorted rows on their way to runs of whole users.
struct Runs<'a> {
    user_ids: UserIdReader<'a>,
    item_ids: Vec<String>,
    timed: bool,
    chunk: Chunk,
}

impl Runs<'_> {
    /// Takes the next rows, and gives the users before them once they have enough interactions.
    fn take(&mut self, batch: &RecordBatch, give: &mut impl FnMut(&mut Edges) -> Result<()>) -> Result<()> {
        let pairs = batch.column(0).as_primitive::<UInt64Type>().values();
        let parts = batch.column(1).as_primitive::<UInt8Type>().values();
        let times = batch.column(2).as_primitive::<Float64Type>().values();
        for (row, &pair) in pairs.iter().enumerate() {
            let (user, item) = unpair(pair);
            if self.chunk.begins(user) && self.chunk.items.len() >= ROWS {
                self.give(give)?;
            }
            self.chunk.push(user, item, part(parts[row]), times[row]);
        }
        Ok(())
    }

    /// Gives the last users. The items' own ids.
    fn end(mut self, give: &mut impl FnMut(&mut Edges) -> Result<()>) -> Result<Vec<String>> {
        if !self.chunk.items.is_empty() {
            self.give(give)?;
        }
        Ok(self.item_ids)
    }

    fn give(&mut self, give: &mut impl FnMut(&mut Edges) -> Result<()>) -> Result<()> {
        let Chunk { mut offsets, items, times, parts, .. } = mem::take(&mut self.chunk);
        offsets.push(items.len());
        let user_ids = self.user_ids.next(offsets.len() - 1)?;
        let times = self.timed.then_some(times);
        let mut edges = Edges { user_ids, item_ids: mem::take(&mut self.item_ids), offsets, items, times, parts };
        give(&mut edges)?;
        self.item_ids = edges.item_ids;
        Ok(())
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
struct UserIdReader<'a> {
    workspace: &'a Workspace,
    batches: ParquetRecordBatchReader,
    batch: Option<RecordBatch>,
    at: usize,
}

impl UserIdReader<'_> {
    /// The next ones.
    fn next(&mut self, count: usize) -> Result<Vec<String>> {
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
                    self.batch = Some(batch.map_err(|error| self.workspace.in_scratch(io::Error::other(error)))?);
                    self.at = 0;
                }
            }
        }
        Ok(ids)
    }
}

/// The part of the number that stands for it in scratch.
fn part(number: u8) -> Split {
    [Split::Train, Split::Validation, Split::Test, Split::FoldIn][usize::from(number)]
}
