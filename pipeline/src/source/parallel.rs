//! The blocks of a file, read by several threads.
//!
//! What is told of a file does not depend on the threads: of several failures it is the first in the file, and rows that are left out come
//! in the order of their lines.

use super::{
    blocks::{Block, Blocks},
    row::{Rejected, Sink, Sinks},
};
use crate::{Error, Result};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
    thread,
};

/// Takes a row that is left out.
pub(super) type Reject<'a> = &'a mut dyn FnMut(Rejected<'_>) -> Result<()>;

/// Gives the rows of a block.
pub(super) type ReadBlock<'a> = &'a (dyn Fn(&Block, &mut dyn Sink, Reject<'_>) -> Result<()> + Sync);

/// Reads a block and all that follow it.
pub(super) fn read(blocks: Blocks<'_>, first: Block, sinks: &dyn Sinks, read_block: ReadBlock<'_>) -> Result<()> {
    let turns = Mutex::new(Turns { next: first.index, waiting: BTreeMap::new() });
    let queue = Mutex::new(Queue { blocks, first: Some(first), failure: None });
    let worker = Worker { queue: &queue, turns: &turns, sinks, read_block };
    thread::scope(|scope| {
        // Where the system gives fewer threads, those that there are do it.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, || worker.run()).ok();
        let workers: Vec<_> = (0..sinks.threads()).map_while(spawn).collect();
        if workers.is_empty() {
            return worker.run();
        }
        let join =
            |worker: thread::ScopedJoinHandle<'_, Result<()>>| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        workers.into_iter().map(join).collect::<Vec<_>>().into_iter().collect::<Result<()>>()
    })?;
    let failure = queue.into_inner().expect("no worker panicked").failure;
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// The blocks that are left.
struct Queue<'a> {
    blocks: Blocks<'a>,
    first: Option<Block>,
    /// The first failure in the order of the file, with its block.
    failure: Option<(usize, Error)>,
}

impl Queue<'_> {
    /// Puts the next block in place of an old one; false after the last one, and after a failure.
    fn next(&mut self, block: &mut Block) -> bool {
        if self.failure.is_some() {
            return false;
        }
        if let Some(first) = self.first.take() {
            *block = first;
            return true;
        }
        self.blocks.next(block).unwrap_or_else(|error| {
            self.failure = Some((usize::MAX, error));
            false
        })
    }

    fn fail(&mut self, index: usize, error: Error) {
        if self.failure.as_ref().is_none_or(|&(first, _)| index < first) {
            self.failure = Some((index, error));
        }
    }
}

/// A row that is left out.
struct Left {
    line: u64,
    reason: String,
    raw: Vec<u8>,
}

/// What is left out of blocks that were read before their turn.
struct Turns {
    next: usize,
    waiting: BTreeMap<usize, Vec<Left>>,
}

impl Turns {
    /// What is left out of the next block, when it was read.
    fn take(&mut self) -> Option<Vec<Left>> {
        let left = self.waiting.remove(&self.next)?;
        self.next += 1;
        Some(left)
    }
}

struct Worker<'a, 'b> {
    queue: &'a Mutex<Queue<'b>>,
    turns: &'a Mutex<Turns>,
    sinks: &'a dyn Sinks,
    read_block: ReadBlock<'a>,
}

impl<'b> Worker<'_, 'b> {
    fn run(&self) -> Result<()> {
        let (mut block, mut sink) = (Block::default(), self.sinks.sink());
        while self.queue().next(&mut block) {
            let mut left = Vec::new();
            let mut reject = |Rejected { number: line, reason, raw, .. }: Rejected<'_>| {
                left.push(Left { line, reason: reason.to_owned(), raw: raw.to_owned() });
                Ok(())
            };
            match (self.read_block)(&block, &mut *sink, &mut reject) {
                Ok(()) => self.reject(block.index, left)?,
                Err(error) => self.queue().fail(block.index, error),
            }
        }
        sink.finish()
    }

    fn queue(&self) -> MutexGuard<'_, Queue<'b>> {
        self.queue.lock().expect("no worker panicked")
    }

    /// Tells what is left out of a block, when it was told of all blocks before it.
    fn reject(&self, index: usize, left: Vec<Left>) -> Result<()> {
        let mut turns = self.turns.lock().expect("no worker panicked");
        turns.waiting.insert(index, left);
        while let Some(left) = turns.take() {
            for Left { line, reason, raw } in left {
                self.sinks.reject(Rejected { unit: "line", number: line, reason: &reason, raw: &raw })?;
            }
        }
        Ok(())
    }
}
