//! The way from a preparation to a stored dataset.

use crate::{
    Error, Limits, Preparation, Result, edges::Edges, fingerprint, freed::give_back, gather, rejected::RejectedRows, steps::Steps,
};
use dataset::{Counts, Dataset, Location, Manifest, Split};
use rayon::prelude::*;

/// A dataset that stands in the storage.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its folder: `<datasets>/<name>-<fingerprint>`.
    pub folder: Location,
    /// What it holds.
    pub manifest: Manifest,
    /// Whether it was there already.
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
    let mut steps = Steps::new(progress);
    let mut rejected = RejectedRows::new(limits)?;
    let gather = if preparation.source.is_split() { gather::given } else { gather::whole };
    let mut edges = gather(preparation, &mut rejected, limits, &mut steps)?;
    fingerprint::check_unchanged(preparation, &settings)?;
    preparation.split.hold_out(&mut edges)?;
    count_parts(&edges, &mut steps)?;
    rejected.store(&folder.join("rejected.tsv"))?;
    let mut dataset = edges.into_dataset(preparation.name.clone(), fingerprint, settings);
    if let Some(share) = preparation.train_share.filter(|share| !share.is_off()) {
        steps.add(share.keep(&mut dataset)?);
    }
    if let Some(noise) = preparation.noise.filter(|noise| !noise.is_off()) {
        noise.add(&mut dataset)?.into_iter().for_each(|counts| steps.add(counts));
    }
    dataset.steps = steps.into_done();
    give_back();
    let manifest = dataset.write(&folder)?;
    Ok(Prepared { folder, manifest, reused: false })
}

/// Reports the parts, and what of test a model could not know or should not.
fn count_parts(edges: &Edges, steps: &mut Steps<'_>) -> Result<()> {
    for part in [Split::Train, Split::Validation, Split::Test] {
        let counts = edges.counts(part.name(), |_, place| edges.parts[place] == part);
        if counts.interactions == 0 && part != Split::Validation {
            let reason = format!("{} is empty (expected users with more interactions, or a larger share)", part.name());
            return Err(Error::setting("split", reason));
        }
        steps.add(counts);
    }
    let of_user = |user: usize| &edges.parts[edges.offsets[user]..edges.offsets[user + 1]];
    let known: Vec<bool> = (0..edges.user_ids.len()).into_par_iter().map(|user| of_user(user).contains(&Split::Train)).collect();
    let unknown = edges.counts("test, of users without train", |user, place| !known[user] && edges.parts[place] == Split::Test);
    if unknown.interactions > 0 {
        steps.add(unknown);
    }
    if let Some(times) = &edges.times {
        let train = times.par_iter().zip(&edges.parts).filter(|(_, part)| **part == Split::Train);
        let last = train.map(|(&time, _)| time).reduce(|| f64::NEG_INFINITY, f64::max);
        let earlier = |_, place: usize| edges.parts[place] == Split::Test && times[place] < last;
        steps.add(edges.counts("test, before the last interaction of train", earlier));
    }
    Ok(())
}
