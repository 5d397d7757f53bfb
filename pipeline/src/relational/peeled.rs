//! The end of the k-core in memory: once the interactions that are left fit there, further rounds need no relations.

use super::{
    relations::Side,
    scratch_file::ScratchFile,
    workspace::{Relation, Workspace},
};
use crate::{
    Result,
    k_core::{Degrees, KCoreBounds, peel},
};
use arrow::{
    array::{AsArray, Int64Array, RecordBatch, UInt64Array},
    datatypes::UInt64Type,
};
use dataset::Interactions;
use hashbrown::HashMap;
use std::{
    hash::{BuildHasherDefault, Hasher},
    sync::Arc,
};

/// Bytes of an interaction: in the order of reading, by user and by item.
const INTERACTION: usize = 8 + 4 + 4;
/// Bytes of a user or item, at most: its code and number in a table that may be half empty, its degrees and where its interactions begin.
const NODE: usize = 2 * 17 + 2 * 4 + 3 * 8;

/// Bytes that interactions of so many users and items take while they are peeled.
pub(super) fn bytes(interactions: usize, nodes: usize) -> usize {
    interactions * INTERACTION + nodes * NODE
}

/// Peels to the fixed point, and stores the degrees of who is left. How many rounds it took, and how many interactions are left: all those of `pairs` whose
/// user and item are.
pub(super) fn core(workspace: &Workspace, pairs: Relation, bounds: KCoreBounds) -> Result<(usize, usize)> {
    let mut numbers = Side::BOTH.map(|_| Numbers::default());
    let mut edges = [Vec::new(), Vec::new()];
    workspace.each(workspace.scan_here(pairs).and_then(|pairs| pairs.select_columns(&["user", "item"])), |batch| {
        let [users, items] = codes(batch);
        let ([of_users, of_items], [user, item]) = (&mut numbers, &mut edges);
        rayon::join(|| of_users.number_all(users, user), || of_items.number_all(items, item));
        Ok(())
    })?;
    let [users, items] = [numbers[0].len(), numbers[1].len()];
    let rows = Interactions::from_pairs(users, edges[0].iter().copied().zip(edges[1].iter().copied()));
    drop(edges);
    let mut degrees = Degrees::of(&rows, items);
    let rounds = peel(&rows, &mut degrees, bounds);
    drop(rows);
    if rounds > 0 {
        for ((side, numbers), degrees) in Side::BOTH.into_iter().zip(&numbers).zip([&degrees.users, &degrees.items]) {
            workspace.remove(side.degrees())?;
            let of_side: Vec<(u64, u32)> =
                numbers.all().map(|(code, number)| (code, degrees[number as usize])).filter(|(_, degree)| *degree > 0).collect();
            let mut file = ScratchFile::new(side.degrees(), 0);
            let codes = UInt64Array::from_iter_values(of_side.iter().map(|(code, _)| *code));
            let counts = Int64Array::from_iter_values(of_side.iter().map(|(_, degree)| i64::from(*degree)));
            file.write(workspace, vec![Arc::new(codes), Arc::new(counts)])?;
            file.finish(workspace)?;
        }
    }
    Ok((rounds, degrees.users.iter().map(|&degree| degree as usize).sum()))
}

/// The codes of users and of items.
fn codes(batch: &RecordBatch) -> [&[u64]; 2] {
    [0, 1].map(|column| &batch.column(column).as_primitive::<UInt64Type>().values()[..])
}

/// Codes of users, or of items, numbered as they come.
#[derive(Default)]
struct Numbers(HashMap<u64, u32, BuildHasherDefault<Itself>>);

impl Numbers {
    fn number_all(&mut self, codes: &[u64], numbers: &mut Vec<u32>) {
        numbers.extend(codes.iter().map(|&code| {
            let next = self.0.len() as u32;
            *self.0.entry(code).or_insert(next)
        }));
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn all(&self) -> impl Iterator<Item = (u64, u32)> {
        self.0.iter().map(|(&code, &number)| (code, number))
    }
}

/// A code is a hash already.
#[derive(Default)]
struct Itself(u64);

impl Hasher for Itself {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("codes alone are hashed");
    }

    fn write_u64(&mut self, code: u64) {
        self.0 = code;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
