//! Preparation as relations, for what does not fit in memory.
//!
//! ```text
//! source --intake--> rows, ids --latest--> pairs --k-core, a relation for each round--> pairs --numbered--> edges, sorted --Finish--> tables
//! ```
//! Every step is a relation of DataFusion, which spills to disk, and stands in the scratch folder as Parquet before the next one begins. A user or an
//! item is a 64-bit hash of its own id until ids are sorted; ids of the same hash are noticed, and all is read again with another one.
//! [`Finish`](crate::finish::Finish), which holds the rules of a single user, takes the sorted interactions some users at a time. Interactions are
//! never in memory together; the items' own ids are.
//!
//! On a cluster the source is read, and tables are written, by this machine; what stands between is computed there (`shared.rs`), and the scratch folder is one
//! that all machines see.

mod chunks;
mod intake;
mod known;
mod peeled;
mod relations;
mod scratch_file;
mod shared;
mod times;
mod user_ids;
mod workspace;

use crate::{
    Limits, Preparation, Result,
    finish::Finish,
    gather::{self, DISTINCT, Reading},
    memory::size_estimate,
    rejected::{REJECTED, RejectedRows},
    steps::Steps,
};
use chunks::Chunks;
use dataset::{Counts, Dataset, DatasetWriter, Interactions, Location, Manifest};
use intake::{Hash, Intake};
use peeled::Margin;
use relations::Side;
use std::mem;
use times::TimesOf;
use user_ids::UserIdsOf;
use workspace::{Relation, Workspace};

/// Prepares a dataset by relations, and stores it in `folder`. `unchanged` is asked when all of the source was read.
pub(crate) fn prepare(
    preparation: &Preparation,
    fingerprint: String,
    settings: serde_json::Value,
    folder: &Location,
    limits: &Limits,
    steps: &mut Steps<'_>,
    unchanged: impl FnOnce() -> Result<()>,
) -> Result<Manifest> {
    let rows = size_estimate(preparation)?.interactions;
    let workspace = Workspace::new(limits, rows, folder)?;
    let (reading, rejected) = read(preparation, &workspace, limits, rows, 64)?;
    unchanged()?;
    gather::report_rejected(preparation, &rejected, steps);
    reading.check(preparation, &rejected)?;
    let left = tables(preparation, &workspace, limits, &reading, steps);
    let Tables { writer, chunks, finish } = rejected.store_beside(left, &folder.join(REJECTED))?;
    finish.report_changes(steps);
    let mut all = shell(preparation, fingerprint, settings);
    (all.item_ids, all.steps) = (chunks.into_item_ids(), steps.take());
    Ok(writer.finish(&all, folder)?)
}

/// Tables that are written, and whoever knows what stands in them.
struct Tables<'a> {
    writer: DatasetWriter,
    chunks: Chunks<'a>,
    finish: Finish<'a>,
}

/// Writes what is left of the rows, in the parts that the split makes of it.
fn tables<'a>(
    preparation: &'a Preparation,
    workspace: &'a Workspace,
    limits: &Limits,
    reading: &Reading,
    steps: &mut Steps<'_>,
) -> Result<Tables<'a>> {
    let parts = preparation.source.is_split();
    let (mut pairs, distinct) = latest(workspace, parts)?;
    let mut interactions = distinct.interactions;
    if parts {
        reading.report_given(distinct, steps);
    } else {
        reading.report(preparation, distinct, steps)?;
        (pairs, interactions) = core(preparation, workspace, limits, pairs, interactions, steps)?;
    }
    let timed = reading.timed && !parts;
    let mut chunks = Chunks::new(workspace, timed)?;
    let mut times = timed.then(|| TimesOf::new(workspace, pairs, interactions));
    let mut finish = Finish::new(preparation, times.as_mut().map(|times| times as _), &mut UserIdsOf::new(workspace))?;
    chunks.sort(pairs, parts, |edges| {
        gather::check_parts(edges)?;
        finish.hold_out(edges)
    })?;
    let mut writer = DatasetWriter::new(&workspace.folder("tables")?)?;
    chunks.each(|edges| {
        finish.count(edges);
        let whole = mem::take(edges);
        let mut users = whole.into_dataset(String::new(), String::new(), serde_json::Value::Null, preparation.split.holds_users_out());
        finish.change(&mut users)?;
        writer.add(&users)?;
        edges.item_ids = users.item_ids;
        Ok(())
    })?;
    finish.report_parts(steps)?;
    Ok(Tables { writer, chunks, finish })
}

/// Rows and ids of all parts, with ids of which no two have the same hash.
fn read(preparation: &Preparation, workspace: &Workspace, limits: &Limits, rows: u64, mut bits: u32) -> Result<(Reading, RejectedRows)> {
    let mut key = 0;
    loop {
        let mut rejected = RejectedRows::new(limits)?;
        let mut reading = Intake::new(preparation, workspace, &mut rejected, limits, rows, Hash { key, bits }).read()?;
        let (users, items) = (ids(workspace, Side::Users)?, ids(workspace, Side::Items)?);
        if let (Some(users), Some(items)) = (users, items) {
            (reading.users, reading.items) = (users, items);
            return Ok((reading, rejected));
        }
        tracing::warn!("two ids have the same hash: the source is read again, with another hash");
        (0..workspace.buckets()).try_for_each(|bucket| workspace.remove(Relation::Rows(bucket)))?;
        (key, bits) = (key + 1, 64);
    }
}

/// Stores each id once; how many there are. `None` where two have the same hash.
fn ids(workspace: &Workspace, side: Side) -> Result<Option<usize>> {
    workspace.remove(side.ids())?;
    workspace.store(workspace.scan(side.raw_ids()).and_then(relations::distinct), side.ids())?;
    workspace.remove(side.raw_ids())?;
    let count = workspace.rows(side.ids())?;
    let codes = workspace.count(workspace.scan(side.ids()).and_then(relations::codes))?;
    Ok((codes == count).then_some(count))
}

/// Each user and item once; how many are left.
fn latest(workspace: &Workspace, parts: bool) -> Result<(Relation, Counts)> {
    let pairs = Relation::Pairs(0);
    workspace.store_buckets(|rows| relations::latest(rows, parts), pairs)?;
    Ok((pairs, Sizes::of(workspace, pairs)?.counts(DISTINCT)))
}

/// The k-core: in each round all users and items below their bound leave at once. The end is computed in memory as soon as the interactions that may still leave fit
/// there. Interactions of those that have left may still stand in the relation that it gives; the stored degrees are of those that are left. How many interactions are.
fn core(
    preparation: &Preparation,
    workspace: &Workspace,
    limits: &Limits,
    mut pairs: Relation,
    interactions: usize,
    steps: &mut Steps<'_>,
) -> Result<(Relation, usize)> {
    let Some(k_core) = preparation.k_core else { return Ok((pairs, interactions)) };
    let bounds = k_core.bounds();
    let leaving = |side: Side| {
        let bound = if side == Side::Users { bounds.users } else { bounds.items };
        workspace.scan(side.degrees()).and_then(|degrees| relations::below(degrees, bound))
    };
    let (mut rounds, mut sizes) = (0, Sizes::stored(workspace, pairs)?);
    // Who loses all interactions in a round leaves in the next one, though nothing of theirs is left to take away.
    let mut bereft = 0;
    loop {
        let margin = Margin::widest(workspace, &sizes, bounds, limits.memory)?;
        let peeled = margin.map(|margin| peeled::core(workspace, pairs, bounds, margin)).transpose()?.flatten();
        if let Some((more, interactions)) = peeled {
            if more > 0 {
                sizes = Sizes { interactions, ..Sizes::stored(workspace, pairs)? };
            }
            rounds += more.max(usize::from(bereft > 0));
            break;
        }
        let below = [workspace.count(leaving(Side::Users))?, workspace.count(leaving(Side::Items))?];
        if below == [0, 0] && bereft == 0 {
            break;
        }
        rounds += 1;
        let left = || {
            let without_users = relations::without(workspace.scan(pairs)?, leaving(Side::Users)?, Side::Users)?;
            relations::without(without_users, leaving(Side::Items)?, Side::Items)
        };
        let next = Relation::Pairs(rounds);
        workspace.store(left(), next)?;
        workspace.remove(pairs)?;
        pairs = next;
        let before = mem::replace(&mut sizes, Sizes::of(workspace, pairs)?);
        bereft = before.nodes() - below.iter().sum::<usize>() - sizes.nodes();
        tracing::debug!(rounds, users = sizes.users, items = sizes.items, interactions = sizes.interactions, "k-core");
    }
    steps.narrow("k_core", sizes.counts(&k_core.step(rounds)))?;
    Ok((pairs, sizes.interactions))
}

/// How many users and items have interactions, and how many they have.
struct Sizes {
    users: usize,
    items: usize,
    interactions: usize,
}

impl Sizes {
    /// Stores how many interactions each user and each item has.
    fn of(workspace: &Workspace, pairs: Relation) -> Result<Self> {
        for side in Side::BOTH {
            workspace.remove(side.degrees())?;
            workspace.store(workspace.scan(pairs).and_then(|pairs| relations::degrees(pairs, side)), side.degrees())?;
        }
        Self::stored(workspace, pairs)
    }

    /// What is stored.
    fn stored(workspace: &Workspace, pairs: Relation) -> Result<Self> {
        let [users, items] = Side::BOTH.map(|side| workspace.rows(side.degrees()));
        Ok(Self { users: users?, items: items?, interactions: workspace.rows(pairs)? })
    }

    fn nodes(&self) -> usize {
        self.users + self.items
    }

    fn counts(&self, step: &str) -> Counts {
        Counts { step: step.to_owned(), users: self.users, items: self.items, interactions: self.interactions }
    }
}

/// What is the same for all users.
fn shell(preparation: &Preparation, fingerprint: String, settings: serde_json::Value) -> Dataset {
    Dataset {
        name: preparation.name.clone(),
        fingerprint,
        user_ids: Vec::new(),
        item_ids: Vec::new(),
        train: Interactions::empty(0),
        validation: Interactions::empty(0),
        test: Interactions::empty(0),
        fold_in: None,
        order: None,
        steps: Vec::new(),
        settings,
        one_node_set: preparation.split.links().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// 60 users and 30 items by hashes of three bits.
    #[test]
    fn ids_of_one_hash_are_noticed_and_read_again() {
        let url = "memory:///relational/collide.csv";
        let rows: String = (0..180).map(|n| format!("u{},i{},{n}\n", n % 60, n % 30)).collect();
        Location::parse(url).unwrap().write(rows).unwrap();
        let source = json!({"delimited": {"path": url, "header": false, "columns": {"user": 0, "item": 1, "timestamp": 2}}});
        let preparation = serde_json::from_value(json!({"name": "d", "source": source, "split": {"leave-last": {}}})).unwrap();
        let limits = Limits { threads: 1, memory: None, engine: None, scratch: None };
        let workspace = Workspace::new(&limits, 180, &Location::parse(url).unwrap()).unwrap();
        let (reading, _) = read(&preparation, &workspace, &limits, 180, 3).unwrap();
        assert_eq!((reading.users, reading.items, &reading.parts[..]), (60, 30, &[(dataset::Split::Train, 180)][..]));
        let (_, distinct) = latest(&workspace, false).unwrap();
        assert_eq!((distinct.users, distinct.items, distinct.interactions), (60, 30, 60));
    }
}
