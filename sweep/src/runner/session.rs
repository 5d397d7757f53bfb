//! One sweep opened: the file, the plan and the places where things are stored.

use super::{
    Changed, Progress,
    device::Devices,
    planned::{OFFLINE, offline_name, stored, unread, unread_plan},
};
use crate::{
    file::{self, AskedEngine, DatasetEntry, Place, SweepFile, environment},
    plan::{self, Checked, Found, Plan, PlannedDataset, PlannedTrial, model_files},
    preview,
    prometheus::meter,
    usage::Usage,
};
use anyhow::{Context, Result};
use dataset::{Cache, Dataset, Location, Manifest};
use etcetera::BaseStrategy;
use pipeline::{Cluster, Connect, Engine, Limits, Preparation, Preview, SizeEstimate};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

/// The part of the machine that the work may use.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Threads.
    pub threads: usize,
    /// Bytes for the buffers of preparing and ranking.
    pub memory: usize,
    /// A folder for the datasets of a storage that is not on this machine; the system's folder for caches when left out.
    pub cache: Option<PathBuf>,
    /// The engine that prepares data; when left out, the sweep file's, else the estimate of memory decides.
    pub engine: Option<AskedEngine>,
    /// The way to a cluster that prepares data.
    pub connect: Connect,
    /// The time for which a cluster that does not answer is tried again.
    pub patience: Duration,
}

/// One sweep opened.
pub struct Session {
    /// The sweep file as typed.
    pub file: SweepFile,
    /// The sweep resolved.
    pub plan: Plan,
    /// The part of the machine that the work may use.
    pub machine: Machine,
    /// The listener to the progress.
    pub progress: Progress,
    storage: Location,
    cache: Option<Cache>,
    submitted: bool,
    offline: bool,
    devices: OnceLock<Devices>,
    warned: Mutex<BTreeSet<String>>,
}

impl Session {
    /// Reads and checks a sweep file, and the source files' fingerprints; writes nothing. `storage` overrides the file's.
    ///
    /// # Errors
    /// [`file::Error`](crate::file::Error) for a bad sweep file; others for a storage that cannot be reached, and source files that cannot be
    /// read.
    pub fn open(path: &str, storage: Option<&str>, machine: Machine, progress: Progress) -> Result<Self> {
        Self::planned(path, storage, None, machine, progress)
    }

    /// Opens a sweep as [`open`](Self::open) does, for work on the datasets alone: the files of models that other programs train are not
    /// read, so that the trials of these models have ids of nothing.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn of_datasets(path: &str, storage: Option<&str>, machine: Machine, progress: Progress) -> Result<Self> {
        Self::opened(path, storage, machine, progress, |checked, file, storage| {
            storage.reach()?;
            Ok(checked.plan_of(&fingerprints(file)?, &mut |_| Ok(unread()))?)
        })
    }

    /// Opens a sweep as [`open`](Self::open) does, but neither the storage nor the source files are looked at: the plan has as many trials as
    /// the sweep, whose ids are of nothing.
    ///
    /// # Errors
    /// [`file::Error`](crate::file::Error) for a bad sweep file.
    pub fn offline(path: &str, storage: Option<&str>, machine: Machine, progress: Progress) -> Result<Self> {
        let session = Self::opened(path, storage, machine, progress, |checked, _, _| unread_plan(checked))?;
        Ok(Self { offline: true, ..session })
    }

    /// Opens a sweep as [`open`](Self::open) does, but with the plan that `ranksweep submit` stored: what the source files hold is taken from it.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`Usage`] for a plan that is not of this sweep file.
    pub fn planned(path: &str, storage: Option<&str>, plan: Option<&str>, machine: Machine, progress: Progress) -> Result<Self> {
        let session = Self::opened(path, storage, machine, progress, |checked, file, storage| {
            storage.reach()?;
            match plan {
                Some(url) => stored(checked, url),
                None => Ok(checked.plan_with_printed(&fingerprints(file)?)?),
            }
        })?;
        Ok(Self { submitted: plan.is_some(), ..session })
    }

    /// Opens a sweep with the plan that is made of it.
    pub(super) fn opened(
        path: &str,
        storage: Option<&str>,
        machine: Machine,
        progress: Progress,
        plan: impl FnOnce(&Checked<'_>, &SweepFile, &Location) -> Result<Plan>,
    ) -> Result<Self> {
        let file = SweepFile::open(path)?;
        let checked = plan::check(&file)?;
        meter().of_sweep(&file.name.value);
        let storage = file.storage_or(storage)?;
        let plan = plan(&checked, &file, &storage)?;
        let cache = cache(&storage, machine.cache.as_deref())?;
        Ok(Self {
            file,
            plan,
            machine,
            progress,
            storage,
            cache,
            submitted: false,
            offline: false,
            devices: OnceLock::new(),
            warned: Mutex::default(),
        })
    }

    /// Opens a sweep as [`planned`](Self::planned) does, for the stage that begins: a plan that is not stored, as of a sweep that was only
    /// rendered, is made from the source files and stored, if it is the one that is asked for; that of a sweep that was rendered offline in
    /// any case.
    ///
    /// # Errors
    /// Those of [`planned`](Self::planned), and [`Changed`] for a plan that the source files do not give any more.
    pub fn beginning(path: &str, storage: Option<&str>, plan: Option<&str>, machine: Machine, progress: Progress) -> Result<Self> {
        let at = plan.map(Location::parse).transpose()?;
        if let Some(at) = at.as_ref().filter(|at| at.name().starts_with(OFFLINE)) {
            let session = Self::open(path, storage, machine, progress)?;
            if at.name() != offline_name(&plan::check(&session.file)?)? {
                return Err(Usage(format!("--plan: {at} is the plan of another sweep file; render the sweep again")).into());
            }
            at.write(session.plan.to_json())?;
            return Ok(Self { submitted: true, ..session });
        }
        let missing = at.map(|at| Ok::<_, dataset::Error>((at.exists()?, at))).transpose()?;
        let Some((false, at)) = missing else { return Self::planned(path, storage, plan, machine, progress) };
        let session = Self::open(path, storage, machine, progress)?;
        if at.name() != format!("{}.json", session.plan.hash()) {
            let words = "the sweep file or its source files have changed since the sweep was rendered; render it again";
            return Err(Changed(format!("{at} is not there, and is not what the plan would be now: {words}")).into());
        }
        at.write(session.plan.to_json())?;
        Ok(Self { submitted: true, ..session })
    }

    /// The storage of everything.
    pub fn storage(&self) -> &Location {
        &self.storage
    }

    /// The name under which the plan is stored: by its content, or, where the source files are not looked at, by all but theirs.
    pub fn plan_name(&self) -> String {
        let offline = if self.offline { OFFLINE } else { "" };
        format!("{offline}{}.json", self.plan.hash())
    }

    /// Whether neither the storage nor the source files are looked at.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// Whether the plan is a stored one.
    pub(super) fn is_submitted(&self) -> bool {
        self.submitted
    }

    /// The devices that train here. They are looked for and said when they are first asked for.
    ///
    /// # Errors
    /// [`file::Error`] where the build cannot do what the sweep file asks for; others where the machine cannot.
    pub fn devices(&self) -> Result<&Devices> {
        if let Some(devices) = self.devices.get() {
            return Ok(devices);
        }
        let devices = Devices::find(&self.file, self.submitted)?;
        if let Some(line) = devices.line(&self.plan) {
            self.progress.device(&line);
        }
        Ok(self.devices.get_or_init(|| devices))
    }

    /// The datasets of the plan, each with how it is made here: the plan's own has the names of source files as typed.
    pub fn preparations(&self) -> impl Iterator<Item = (&PlannedDataset, &Preparation)> {
        self.plan.datasets.iter().zip(self.file.splits().map(|(_, split)| split))
    }

    /// The folder of the prepared datasets.
    pub fn datasets(&self) -> Location {
        self.storage.join("datasets")
    }

    /// The folder of one prepared dataset.
    pub fn dataset(&self, dataset: &PlannedDataset) -> Location {
        self.datasets().join(&dataset.folder())
    }

    /// One prepared dataset, with the order of its interactions where it is asked for and known.
    ///
    /// # Errors
    /// Those of [`Dataset::read`].
    pub fn read_dataset(&self, dataset: &PlannedDataset, ordered: bool) -> dataset::Result<Dataset> {
        let folder = self.dataset(dataset);
        let read = Dataset::read_through(self.cache.as_ref(), &folder, ordered)?;
        is_planned(dataset, &folder, &read.fingerprint).map(|()| read)
    }

    /// Where the files of a model stand that another program trained, by their keys; none of any other trial.
    ///
    /// # Errors
    /// A path that is no location, or names a variable that is not set.
    pub fn model_files(&self, planned: &PlannedTrial) -> Result<BTreeMap<String, Location>> {
        let on = self.plan.dataset_of(planned);
        let files = planned.trial.backbone.files().into_iter();
        files.map(|file| Ok((file.key.to_owned(), model_file(&model_files::path(file.path, on, planned.seed()))?))).collect()
    }

    /// Warns of a dataset, of each thing once.
    pub(super) fn warn_once(&self, on: &PlannedDataset, sentence: String) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.insert(format!("{}: {sentence}", on.name())) {
            tracing::warn!(dataset = on.name(), "{sentence}");
        }
    }

    /// The folder of one trial.
    pub fn trial(&self, id: &str) -> Location {
        self.storage.join("trials").join(id)
    }

    /// The folder of one trial that was trained on all interactions, for serving.
    pub fn refit(&self, id: &str) -> Location {
        self.storage.join("refits").join(id)
    }

    /// The folder of the sweep's own tables.
    pub fn folder(&self) -> Location {
        sweep_folder(&self.storage, &self.plan.name)
    }

    /// The folder of the sweep's own tables, whose metadata is to say what they were made of.
    pub(super) fn tables(&self) -> Location {
        self.folder().originating(self.plan.origin())
    }

    /// The manifests of the datasets, in the plan's order; `None` for one that is not prepared.
    ///
    /// # Errors
    /// When the store fails, or a manifest is of another version.
    pub fn manifests(&self) -> Result<Vec<Option<Manifest>>> {
        let read = |dataset: &PlannedDataset| {
            let folder = self.dataset(dataset);
            match Dataset::read_manifest(&folder).and_then(|found| is_planned(dataset, &folder, &found.fingerprint).map(|()| found)) {
                Ok(manifest) => Ok(Some(manifest)),
                Err(dataset::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error).with_context(|| format!("dataset {}", dataset.quoted())),
            }
        };
        self.plan.datasets.iter().map(read).collect()
    }

    /// Whether a dataset is prepared, with all of its tables.
    pub(super) fn is_prepared(&self, dataset: &PlannedDataset) -> Result<bool> {
        match Dataset::find(&self.dataset(dataset)) {
            Ok(manifest) => Ok(manifest.fingerprint == dataset.fingerprint),
            Err(dataset::Error::NotFound { .. } | dataset::Error::Damaged { .. }) => Ok(false),
            Err(error) => Err(error).with_context(|| format!("dataset {}", dataset.quoted())),
        }
    }

    /// The state of the plan's datasets, in its order. Where one is not prepared, the beginning of each source file is read.
    ///
    /// # Errors
    /// Those of [`manifests`](Self::manifests), and a source that cannot be read.
    pub fn found(&self) -> Result<Vec<Found>> {
        let found = |(manifest, (dataset, preparation)): (Option<Manifest>, (&PlannedDataset, &Preparation))| match manifest {
            Some(manifest) => Ok(Found::Prepared(manifest)),
            None => pipeline::memory_estimate(preparation, &self.limits())
                .map(Found::Raw)
                .with_context(|| format!("dataset {}", dataset.quoted())),
        };
        self.manifests()?.into_iter().zip(self.preparations()).map(found).collect()
    }

    /// The sizes of the plan's datasets before anything is filtered, in its order, by the beginning of each source file.
    ///
    /// # Errors
    /// A source that cannot be read.
    pub fn sizes(&self) -> Result<Vec<SizeEstimate>> {
        let sizes = |(dataset, preparation): (&PlannedDataset, &Preparation)| {
            pipeline::size_estimate(preparation).with_context(|| format!("dataset {}", dataset.quoted()))
        };
        self.preparations().map(sizes).collect()
    }

    /// What the first rows of each dataset's source hold, line by line, in the order of the sweep file; a generated source has none to be shown.
    pub fn previews(&self) -> Vec<Vec<String>> {
        let sources = self.file.datasets.iter().map(|entry| &entry.splits[0]).filter(|whole| !whole.source.files().is_empty());
        let shown = |whole: &Preparation| {
            let (subject, source) = (format!("dataset {}", whole.name), &whole.source);
            // What cannot be read is the error of who needs it.
            Preview::read(source)
                .map_or_else(|error| vec![format!("{subject} cannot be shown: {error}")], |found| preview::lines(&subject, source, &found))
        };
        sources.map(shown).collect()
    }

    /// The manifests of all datasets.
    ///
    /// # Errors
    /// When one is not prepared.
    pub fn prepared(&self) -> Result<Vec<Manifest>> {
        let missing = |dataset: &PlannedDataset| format!("dataset {} is not prepared; run `ranksweep prepare` first", dataset.quoted());
        let all = self.manifests()?.into_iter().zip(&self.plan.datasets);
        all.map(|(manifest, dataset)| manifest.with_context(|| missing(dataset))).collect()
    }

    /// Bounds for the pipeline.
    pub(super) fn limits(&self) -> Limits {
        let Machine { threads, memory, connect, patience, .. } = self.machine;
        let asked = self.machine.engine.as_ref().or(self.file.preparation.value.engine.as_ref());
        let engine = asked.map(|engine| match engine {
            AskedEngine::Memory => Engine::Memory,
            AskedEngine::Datafusion => Engine::Datafusion,
            AskedEngine::Ballista(url) => Engine::Ballista(Cluster { url: url.clone(), patience, connect }),
        });
        Limits { threads, memory: Some(memory), engine, scratch: None }
    }
}

/// The folder of a sweep's own tables.
pub(super) fn sweep_folder(storage: &Location, name: &str) -> Location {
    storage.join("sweeps").join(name)
}

/// That a stored dataset is the planned one, and not another's whose files were put in its place.
fn is_planned(dataset: &PlannedDataset, folder: &Location, found: &str) -> dataset::Result<()> {
    if found == dataset.fingerprint {
        return Ok(());
    }
    let reason = format!("it is that of dataset {found}, expected {}; delete the folder and prepare again", dataset.fingerprint);
    Err(dataset::Error::damaged(folder.join("manifest.json"), reason))
}

/// The cache that was asked for, or, of a storage that is not on this machine, the system's, where it has one.
fn cache(storage: &Location, asked: Option<&Path>) -> Result<Option<Cache>> {
    let own = || etcetera::choose_base_strategy().ok().map(|system| system.cache_dir().join("ranksweep"));
    let folder = asked.map(Path::to_owned).or_else(|| if storage.is_remote() { own() } else { None });
    let refused = |error: dataset::Error| Usage(format!("--cache: {error}"));
    Ok(folder.map(|folder| Cache::new(&folder)).transpose().map_err(refused)?)
}

/// The location of a path as typed.
fn model_file(path: &str) -> Result<Location> {
    Ok(Location::parse(&environment::expanded(path).map_err(file::Error::new)?)?)
}

/// The fingerprint of each split of each dataset.
pub(super) fn fingerprints(file: &SweepFile) -> Result<Vec<String>> {
    file.splits().map(|(entry, split)| fingerprint(entry, split)).collect()
}

fn fingerprint(entry: &DatasetEntry, split: &Preparation) -> Result<String> {
    pipeline::fingerprint(split).map_err(|error| {
        let of = format!("{}: dataset `{}`", place(entry, &error).unwrap_or(&entry.node.place).position(), entry.name());
        anyhow::Error::from(error).context(of)
    })
}

/// Where the sweep file has what an error of a dataset is about, if it is about one key.
pub(super) fn place<'a>(entry: &'a DatasetEntry, error: &pipeline::Error) -> Option<&'a Place> {
    match error {
        pipeline::Error::Absent { key, .. } | pipeline::Error::Column { key, .. } => Some(&entry.node.at(key).place),
        _ => None,
    }
}
