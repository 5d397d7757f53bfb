//! Files that killed processes, edited sweep files and old experiments leave on a storage, and their removal.
//!
//! Nothing that is done is touched, unless it is asked for by [`Extent::Unreferenced`]: finished trials and datasets that no sweep holds. Nothing
//! is touched that does not have a name of ours (`names.rs`) in a folder that carries a mark of ours (`mark.rs`), and nothing behind a link. What stands in a
//! folder of a dataset, a trial or a sweep into which something was written of late may be a process's that is at work there, and stays for now.

mod names;
mod orphan;
mod referenced;

pub use orphan::{Orphan, Reason};

use crate::{
    mark,
    runner::{Session, claims_alive, named_tables, time_of_store},
};
use anyhow::{Result, bail};
use dataset::{Dataset, Error, Listed, Location, Unfinished};
use names::{OfTrial, StoredFile, named, sweep_of_plan};
use orphan::What;
use referenced::Referenced;
use std::{
    collections::{HashMap, HashSet},
    path::Path,
    time::{Duration, SystemTime},
};
use trainer::Ended;

/// How much is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Files that cannot be of use to anybody.
    Leftovers,
    /// Leftovers, and finished trials and datasets that neither a stored sweep nor this sweep file holds.
    Unreferenced,
}

/// What is left alone, by when it was written.
#[derive(Clone, Copy, Debug)]
pub struct Age {
    /// What is younger stays.
    pub least: Duration,
    /// Whether the time is that of the store's clock, which a file tells that is written there, and not this machine's.
    pub by_store: bool,
}

/// The files that can be removed, by path, those that are too young among them.
///
/// # Errors
/// A storage that ranksweep has not marked; a store that cannot be listed, or a stored plan that cannot be read.
pub fn find(session: &Session, extent: Extent, age: Age) -> Result<Vec<Orphan>> {
    let storage = session.storage();
    if !mark::is_marked(storage)? {
        bail!(
            "{storage} has no mark of ranksweep (ranksweep.json), so that what stands there may be anybody's: nothing was removed; `ranksweep prepare` \
             and `run` mark a storage that they use"
        );
    }
    let root = format!("{storage}/");
    let now = if age.by_store { time_of_store(storage)? } else { SystemTime::now() };
    // What is of the future is young.
    let is_late = |modified: SystemTime| now.duration_since(modified).unwrap_or_default() < age.least;
    let files: Vec<(String, Listed)> = storage
        .listing()?
        .into_iter()
        .filter_map(|file| Some((file.at.to_string().strip_prefix(&root)?.to_owned(), file)))
        .filter(|(path, _)| !is_behind_a_link(storage, path))
        .collect();
    let unfinished: Vec<(String, Unfinished)> = storage
        .unfinished()?
        .into_iter()
        .map(|file| (file.path.to_string_lossy().strip_prefix(&root).unwrap_or_default().to_owned(), file))
        .collect();
    let written = files.iter().map(|(path, file)| (path, file.modified)).chain(unfinished.iter().map(|(path, file)| (path, file.modified)));
    let young: HashSet<&str> = written.filter(|(_, modified)| is_late(*modified)).map(|(path, _)| place_of_work(path)).collect();
    let mut judge = Judge::new(session, extent, &files)?;
    let mut orphans = Vec::new();
    let is_young = |path: &str| young.contains(place_of_work(path));
    for (path, Listed { at, bytes, .. }) in &files {
        if let Some(reason) = judge.reason(path, at)? {
            let what = What::Stored(at.clone());
            orphans.push(Orphan { path: path.clone(), bytes: *bytes, is_young: is_young(path), reason, what });
        }
    }
    for (path, file) in &unfinished {
        if !is_behind_a_link(storage, path) && judge.is_own_unfinished(path)? {
            let (bytes, what) = (file.bytes, What::Unfinished(file.clone()));
            orphans.push(Orphan { path: path.clone(), bytes, is_young: is_young(path), reason: Reason::Unfinished, what });
        }
    }
    orphans.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(orphans)
}

/// The folder that a process works in which writes a file: that of a dataset, a trial or a sweep; of other files their own.
fn place_of_work(path: &str) -> &str {
    path.match_indices('/').nth(1).map_or(path, |(end, _)| &path[..end])
}

/// Whether a part of a path below a storage on this machine is a link.
fn is_behind_a_link(storage: &Location, path: &str) -> bool {
    let Some(root) = storage.local_path() else { return false };
    Path::new(path).ancestors().filter(|part| !part.as_os_str().is_empty()).any(|part| root.join(part).is_symlink())
}

/// That nobody is seen training on the storage; looks on for as long as a living process needs to show itself.
///
/// # Errors
/// When a claim is renewed, with its owner.
pub fn refuse_while_training(session: &Session) -> Result<()> {
    let alive = claims_alive(&session.storage().join("trials").folders()?)?;
    match alive.first() {
        None => Ok(()),
        Some(owner) => bail!("a trial is being worked on by {owner}; wait for its end or stop it, then run this again"),
    }
}

/// The knowledge of a storage by which its files are judged.
struct Judge<'a> {
    session: &'a Session,
    /// The files that trials count, by the trials' ids; `None` where nothing is known.
    trials: HashMap<String, Option<OfMarker>>,
    marks: HashMap<String, bool>,
    /// Sweeps whose tables have a marker, and trials and datasets that have one.
    evaluated: HashSet<String>,
    ended: HashSet<String>,
    prepared: HashSet<String>,
    held: Referenced,
    others: Option<Referenced>,
    /// The tables that the marker of this sweep's results names, be they of the plan that its file now has or of another.
    tables: Option<HashSet<String>>,
}

/// The files that a trial's marker counts.
struct OfMarker(HashSet<String>);

impl<'a> Judge<'a> {
    fn new(session: &'a Session, extent: Extent, files: &[(String, Listed)]) -> Result<Self> {
        let with =
            |name: &str| files.iter().filter_map(|(path, _)| Some(path.strip_suffix(name)?.rsplit_once('/')?.1.to_owned())).collect();
        Ok(Self {
            session,
            trials: HashMap::new(),
            marks: HashMap::new(),
            evaluated: with("/tables.json"),
            ended: with("/done.json"),
            prepared: with("/manifest.json"),
            held: Referenced::of(&session.plan),
            others: (extent == Extent::Unreferenced).then(|| Referenced::stored(files)).transpose()?,
            tables: named_tables(&session.folder())?,
        })
    }

    /// Why a file can go; `None` for one that stays.
    fn reason(&mut self, path: &str, at: &Location) -> Result<Option<Reason>> {
        let Some(named) = named(path) else { return Ok(None) };
        let reason = match named {
            StoredFile::Probe => Some(Reason::Probe),
            StoredFile::Scratch(..) => Some(Reason::Scratch),
            StoredFile::Trial(id, what) => self.of_trial(id, what, path)?,
            StoredFile::Dataset(folder) if !self.prepared.contains(folder) => path.ends_with(".parquet").then_some(Reason::NoManifest),
            StoredFile::Dataset(folder) => self.is_unreferenced(|held| held.datasets.contains(folder)).then_some(Reason::Dataset),
            StoredFile::Sweep(name, id) if name == self.session.plan.name => {
                let is_of_results = |id: &str| match &self.tables {
                    Some(tables) => tables.contains(&format!("per_user/{id}.parquet")),
                    None => self.held.trials.contains(id),
                };
                let is_stale = !self.evaluated.contains(name) || id.is_some_and(|id| !is_of_results(id));
                is_stale.then_some(Reason::NoPlan)
            }
            StoredFile::Sweep(..) => None,
            StoredFile::History(folder) if !self.evaluated.contains(folder) => path.ends_with(".parquet").then_some(Reason::NoPlan),
            StoredFile::History(_) => None,
        };
        Ok(match reason {
            Some(reason) if self.is_own(named, at)? => Some(reason),
            _ => None,
        })
    }

    fn of_trial(&mut self, id: &str, what: OfTrial, path: &str) -> Result<Option<Reason>> {
        if self.is_unreferenced(|held| held.trials.contains(id)) {
            return Ok(Some(Reason::Trial));
        }
        if !self.ended.contains(id) {
            return Ok(None);
        }
        // One whose marker is damaged is trained again.
        let Some(counted) = self.counted(id)? else { return Ok(None) };
        Ok(match what {
            OfTrial::Resume => Some(Reason::Resume),
            OfTrial::Claim => Some(Reason::Claim),
            OfTrial::Content => {
                let name = path.strip_prefix("trials/").and_then(|path| path.strip_prefix(id)).unwrap_or_default().trim_start_matches('/');
                (!counted.0.contains(name)).then_some(Reason::NotCounted)
            }
            OfTrial::Marker => None,
        })
    }

    /// The files that the markers of a trial that has ended count; `None` where one is damaged, so that nothing is known.
    fn counted(&mut self, id: &str) -> Result<&Option<OfMarker>> {
        if !self.trials.contains_key(id) {
            let folder = self.session.trial(id);
            let counted = match Ended::read(&folder, id).and_then(|ended| Ok((ended, trainer::rung_curves(&folder, id)?))) {
                Ok((Some(ended), curves)) => Some(OfMarker(ended.files().keys().cloned().chain(curves).collect())),
                Ok((None, _)) | Err(Error::Damaged { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            self.trials.insert(id.to_owned(), counted);
        }
        Ok(&self.trials[id])
    }

    /// Whether a file that has one of our names carries our mark, or stands in a folder that does.
    fn is_own(&mut self, named: StoredFile<'_>, at: &Location) -> Result<bool> {
        let storage = self.session.storage();
        let (folder, is_marked): (String, fn(&Location) -> dataset::Result<bool>) = match named {
            StoredFile::Probe => return Ok(mark::is_probe(at)?),
            StoredFile::Dataset(folder) if !self.prepared.contains(folder) => return Ok(mark::is_table(at)?),
            StoredFile::History(..) => return Ok(mark::is_table(at)?),
            StoredFile::Trial(id, _) => (format!("trials/{id}"), mark::is_trial),
            StoredFile::Dataset(folder) => (format!("datasets/{folder}"), is_dataset),
            StoredFile::Scratch(dataset, run) => (format!("datasets/{dataset}/scratch/{run}"), mark::is_scratch),
            StoredFile::Sweep(name, _) => (format!("sweeps/{name}"), mark::is_sweep),
        };
        if let Some(known) = self.marks.get(&folder) {
            return Ok(*known);
        }
        let is_own = is_marked(&storage.join(&folder))?;
        self.marks.insert(folder, is_own);
        Ok(is_own)
    }

    /// Whether a file that was never put in place was to be one of ours.
    fn is_own_unfinished(&mut self, path: &str) -> Result<bool> {
        let aim = path.rsplit_once('#').map_or(path, |(aim, _)| aim);
        match named(aim) {
            Some(StoredFile::Probe) => Ok(true),
            Some(named) => self.is_own(named, &self.session.storage().join(aim)),
            None => match sweep_of_plan(aim) {
                Some(sweep) => self.is_own(StoredFile::Sweep(sweep, None), &self.session.storage().join(aim)),
                None => Ok(aim == "ranksweep.json"),
            },
        }
    }

    fn is_unreferenced(&self, holds: impl Fn(&Referenced) -> bool) -> bool {
        self.others.as_ref().is_some_and(|others| !holds(others) && !holds(&self.held))
    }
}

/// Whether a folder holds a dataset of its name.
fn is_dataset(folder: &Location) -> dataset::Result<bool> {
    match Dataset::read_manifest(folder) {
        Ok(manifest) => Ok(Dataset::folder(&manifest.name, &manifest.fingerprint) == folder.name()),
        Err(Error::NotFound { .. } | Error::Damaged { .. } | Error::Content { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
