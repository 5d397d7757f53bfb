//! The way from a preparation to a stored dataset.

use crate::{
    Engine, Error, Limits, Preparation, Result,
    edges::Edges,
    fingerprint,
    finish::Finish,
    freed::give_back,
    gather,
    memory::memory_estimate,
    rejected::{REJECTED, RejectedRows},
    relational,
    split::SortedTimes,
    steps::Steps,
};
use dataset::{Counts, Dataset, Location, Manifest};
use serde_json::Value;

/// A dataset that stands in the storage.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The dataset's folder: `<datasets>/<name>-<fingerprint>`.
    pub folder: Location,
    /// What the dataset holds.
    pub manifest: Manifest,
    /// Whether the dataset was there already.
    pub reused: bool,
}

/// Prepares a dataset in a folder below `datasets`, or finds it finished there. The counts after each step go to `progress` and into the
/// manifest. The manifest is written last, so a folder that was left half-written is prepared again, as is one that lacks a table.
///
/// The files have the same bytes for any `limits`, and for any order of the source's rows.
///
/// # Errors
/// Each names the key, or the file and line, and what to do: a bad setting, an unreadable source, a bad row, an interaction in two parts,
/// a source file that changes while it is read, nothing left after a step, a memory limit that is too small, or a storage that cannot be written.
pub fn prepare(preparation: &Preparation, datasets: &Location, limits: &Limits, progress: &mut dyn FnMut(&Counts)) -> Result<Prepared> {
    let settings = fingerprint::settings(preparation)?;
    let fingerprint = fingerprint::of(&settings);
    let folder = datasets.join(&Dataset::folder(&preparation.name, &fingerprint));
    match Dataset::find(&folder) {
        Ok(manifest) if manifest.fingerprint == fingerprint => return Ok(Prepared { folder, manifest, reused: true }),
        Ok(manifest) => tracing::warn!("{folder}: its manifest is that of dataset {}; it is prepared again", manifest.fingerprint),
        Err(dataset::Error::NotFound { .. }) => {}
        Err(error) if error.is_damage() => tracing::warn!("{error}: it is prepared again now"),
        Err(error) => return Err(error.into()),
    }
    let make = Make { preparation, fingerprint, settings, folder: &folder, limits };
    let engine = limits.engine.clone().map_or_else(|| memory_estimate(preparation, limits).map(|estimate| estimate.engine), Ok)?;
    let manifest = match engine {
        Engine::Datafusion | Engine::Ballista(_) => make.by_relations(&mut Steps::new(progress)),
        Engine::Memory => match make.in_memory(&mut Steps::new(progress)) {
            // More rows than the estimate said; nothing is reported before all of them are read.
            Err(Error::Rows { .. }) if limits.engine.is_none() => make.by_relations(&mut Steps::new(progress)),
            other => other,
        },
    };
    Ok(Prepared { folder: folder.clone(), manifest: manifest?, reused: false })
}

/// A preparation that has to be made.
struct Make<'a> {
    preparation: &'a Preparation,
    fingerprint: String,
    settings: Value,
    folder: &'a Location,
    limits: &'a Limits,
}

impl Make<'_> {
    fn in_memory(&self, steps: &mut Steps<'_>) -> Result<Manifest> {
        let Self { preparation, limits, folder, .. } = *self;
        let mut rejected = RejectedRows::new(limits)?;
        let left = self.held_out(&mut rejected, steps);
        let (edges, mut finish) = rejected.store_beside(left, &folder.join(REJECTED))?;
        let folds = preparation.split.holds_users_out();
        let mut dataset = edges.into_dataset(preparation.name.clone(), self.fingerprint.clone(), self.settings.clone(), folds);
        dataset.one_node_set = preparation.split.links().is_some();
        finish.change(&mut dataset)?;
        finish.report_changes(steps);
        dataset.steps = steps.take();
        give_back();
        Ok(dataset.write(folder)?)
    }

    /// The interactions, in the parts that the split makes of them.
    fn held_out(&self, rejected: &mut RejectedRows, steps: &mut Steps<'_>) -> Result<(Edges, Finish<'_>)> {
        let Self { preparation, limits, .. } = *self;
        let gather = if preparation.source.is_split() { gather::given } else { gather::whole };
        let mut edges = gather(preparation, rejected, limits, steps)?;
        self.check_unchanged()?;
        let mut times = edges.times.as_deref().map(SortedTimes::new);
        let mut finish = Finish::new(preparation, times.as_mut().map(|times| times as _), &mut &edges.user_ids[..])?;
        drop(times);
        finish.hold_out(&mut edges)?;
        finish.count(&edges);
        finish.report_parts(steps)?;
        Ok((edges, finish))
    }

    fn by_relations(&self, steps: &mut Steps<'_>) -> Result<Manifest> {
        let (fingerprint, settings) = (self.fingerprint.clone(), self.settings.clone());
        relational::prepare(self.preparation, fingerprint, settings, self.folder, self.limits, steps, || self.check_unchanged())
    }

    fn check_unchanged(&self) -> Result<()> {
        fingerprint::check_unchanged(self.preparation, &self.settings)
    }
}
