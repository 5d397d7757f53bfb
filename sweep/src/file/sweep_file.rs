//! A sweep file as typed: every value has its type and its place; what the values mean together is the plan's matter.

use super::{
    claim::ClaimEntry,
    dataset::DatasetEntry,
    device::AskedDevice,
    engine::PreparedBy,
    environment,
    error::{Error, Place, Result},
    fields::Fields,
    grid::Block,
    nearest,
    node::{Node, Value},
    printed::PrintedTable,
    search::Search,
    timing::Timing,
    training, tuned,
};
use cluster::Resources;
use dataset::{Location, quote, redact::redacted};
use evaluator::{Evaluation, Metric, MetricAt};
use models::{NewNodes, RIDGE};
use pipeline::Preparation;
use serde::de::DeserializeOwned;
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
    fs::File,
    io::Read,
    slice,
};
use trainer::Training;

/// A value and the node it was read from; where the key was left out, an empty node at the start of the file.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// The value as typed.
    pub node: Node,
    /// The value as read.
    pub value: T,
}

impl<T> Placed<T> {
    /// Whether the file gives the value.
    pub fn is_given(&self) -> bool {
        self.node.value != Value::Null
    }

    /// The place of the value in the file.
    pub fn place(&self) -> &Place {
        &self.node.place
    }

    /// A complaint about the value, at the key that the complaint names.
    pub fn complain(&self, complaint: String) -> Error {
        self.node.named_in(&complaint).map_or(self.place(), |(_, place)| place).error(complaint)
    }
}

/// A sweep file.
#[derive(Clone, Debug)]
pub struct SweepFile {
    /// The file's text, to be kept with the results.
    pub text: String,
    /// The sweep's name: its folder under `sweeps/`.
    pub name: Placed<String>,
    /// Where everything is stored; `./runs` when left out.
    pub storage: Placed<String>,
    /// The datasets.
    pub datasets: Vec<DatasetEntry>,
    /// The blocks of the grid.
    pub grid: Vec<Block>,
    /// Epochs, batches and stopping, of blocks that have none of their own: 200 epochs of batches of 1024, evaluated every 5, without early stopping,
    /// when left out.
    pub training: Placed<Training>,
    /// When a training leaves its state, and when it has to stop.
    pub timing: Timing,
    /// The validation metric that picks values and checkpoints; `ndcg@20` when left out.
    pub select_by: Placed<MetricAt>,
    /// What the penalty of a new user's vector weighs, where a split holds users out and a model folds them in by ridge regression; 10 when left out.
    pub ridge: Placed<f64>,
    /// How users whom a split holds out come to a train graph.
    pub fold_in: Placed<NewNodes>,
    /// The seeds of every trial; `[1]` when left out.
    pub seeds: Placed<Vec<u64>>,
    /// How tuned values are searched; `{kind: grid}` when left out.
    pub search: Placed<Search>,
    /// The metrics and the tests.
    pub evaluation: Placed<Evaluation>,
    /// The numbers that a paper prints of the methods.
    pub printed: Option<Placed<PrintedTable>>,
    /// The claims of a paper about the methods.
    pub claims: Vec<ClaimEntry>,
    /// Where trials are trained; `auto` when left out.
    pub device: Placed<AskedDevice>,
    /// What the datasets are prepared by.
    pub preparation: Placed<PreparedBy>,
    /// The resources of the pods of a trial on a cluster.
    pub resources: Placed<Resources>,
}

/// Bytes of a sweep file, at most.
const MOST_BYTES: u64 = 2 << 20;

/// The keys of a sweep file.
pub(crate) const KEYS: [&str; 13] = [
    "name",
    "storage",
    "datasets",
    "grid",
    "training",
    "seeds",
    "search",
    "evaluation",
    "printed",
    "claims",
    "device",
    "preparation",
    "resources",
];

impl SweepFile {
    /// Reads a sweep file from disk.
    ///
    /// # Errors
    /// A file that cannot be read, and all that [`parse`](Self::parse) refuses.
    pub fn open(path: &str) -> Result<Self> {
        Self::parse(&Self::read(path)?, path)
    }

    /// The text of a sweep file.
    pub(super) fn read(path: &str) -> Result<String> {
        let refuse = |error: &dyn Display| {
            let path = quote::value(path);
            Error::new(format!("cannot read the sweep file `{path}`: {error} (expected the path of a YAML file in UTF-8)"))
        };
        let mut bytes = Vec::new();
        // One byte more than it may have tells what is too large, or a device without end.
        File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(|error| refuse(&error))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(refuse(&format!("it has more than {} MiB", MOST_BYTES >> 20)));
        }
        String::from_utf8(bytes).map_err(|_| refuse(&"stream did not contain valid UTF-8"))
    }

    /// The storage that is named in place of the file's, or the file's.
    ///
    /// # Errors
    /// A place that no store has.
    pub(crate) fn storage_or(&self, named: Option<&str>) -> Result<Location> {
        match named {
            Some(url) => storage(url).map_err(|reason| Error::new(format!("--storage: {reason}"))),
            None => storage(&self.storage.value).map_err(|reason| self.storage.place().error(reason)),
        }
    }

    /// How each split of each dataset is prepared, with the dataset's entry, in the order of the file.
    pub fn splits(&self) -> impl Iterator<Item = (&DatasetEntry, &Preparation)> {
        self.datasets.iter().flat_map(|entry| entry.splits.iter().map(move |split| (entry, split)))
    }

    /// The variables of the environment that the file names, with their values.
    pub fn variables(&self) -> BTreeMap<String, String> {
        environment::named_in(&self.text)
    }

    /// The file's meaning but for `resources`: neither comments nor blanks nor quotes around keys change it; values count as they are written.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse).
    pub fn meaning(&self) -> Result<String> {
        let root = Node::parse(&self.text, "")?;
        let keys = root.keys().filter(|(key, _)| key.name != "resources");
        Ok(keys.map(|(key, value)| format!("{:?}: {}", key.name, value.meaning())).collect::<Vec<_>>().join(", "))
    }

    /// Reads a sweep file from its text; `file` names it in errors.
    ///
    /// # Errors
    /// Text that is no YAML, unknown and missing keys, values of a wrong type, and blocks whose parts do not fit together.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let root = Node::parse(text, file)?;
        let fields = Fields::of(&root, &KEYS)?;
        let typed = environment::typed(text);
        // What is left out is the default, what is empty a slip.
        if let Some(empty) = root.get("training").filter(|node| node.value == Value::Null) {
            return Err(empty.place.error("expected a mapping of keys and values, found nothing; leave `training` out for its defaults"));
        }
        let training_node = absent_or(&root, "training");
        let (select_by, ridge) = (select_by(&training_node)?, placed(&training_node, "ridge", RIDGE)?);
        let fold_in = placed(&training_node, "fold_in", NewNodes::default())?;
        let (training, timing) = training::of_sweep(training_node)?;
        Ok(Self {
            text: text.to_owned(),
            name: Placed { node: fields.required("name")?.clone(), value: fields.required("name")?.read()? },
            storage: placed(&root, "storage", "./runs".to_owned())?,
            datasets: fields.items("datasets")?.iter().map(|node| DatasetEntry::read(node, &typed)).collect::<Result<_>>()?,
            grid: blocks(fields.items("grid")?, &typed, &training.value)?,
            training,
            timing,
            select_by,
            ridge,
            fold_in,
            seeds: placed(&root, "seeds", vec![1])?,
            search: placed(&root, "search", Search::default())?,
            evaluation: placed(&root, "evaluation", Evaluation::default())?,
            printed: fields.get("printed").map(printed).transpose()?,
            claims: fields.get("claims").map_or(Ok(Vec::new()), |_| fields.items("claims")?.iter().map(ClaimEntry::read).collect())?,
            device: placed(&root, "device", AskedDevice::default())?,
            preparation: prepared_by(&root)?,
            resources: placed(&root, "resources", Resources::default())?,
        })
    }
}

fn prepared_by(root: &Node) -> Result<Placed<PreparedBy>> {
    let found = placed(root, "preparation", PreparedBy::default())?;
    found.value.check().map_err(|complaint| found.complain(complaint))?;
    Ok(found)
}

fn printed(node: &Node) -> Result<Placed<PrintedTable>> {
    Ok(Placed { node: node.clone(), value: PrintedTable::read(node)? })
}

/// The blocks of the grid, whose kinds have no more combinations than a sweep can mean.
fn blocks(grid: &[Node], typed: &HashMap<(usize, usize), String>, training: &Training) -> Result<Vec<Block>> {
    let lists = grid.iter().flat_map(Node::keys).map(|(_, list)| list);
    tuned::check_count(lists.flat_map(|list| match &list.value {
        Value::Sequence(kinds) => kinds.as_slice(),
        _ => slice::from_ref(list),
    }))?;
    grid.iter().map(|block| Block::read(block, typed, training)).collect()
}

/// The value of a key, or its default.
fn placed<T: DeserializeOwned>(parent: &Node, key: &str, default: T) -> Result<Placed<T>> {
    let value = parent.get(key).map_or(Ok(default), Node::read)?;
    Ok(Placed { node: absent_or(parent, key), value })
}

/// The node of a key, or an empty one in its stead.
fn absent_or(parent: &Node, key: &str) -> Node {
    let path = if parent.place.path.is_empty() { key.to_owned() } else { format!("{}.{key}", parent.place.path) };
    let absent = || Node { place: Place { path, ..parent.place.clone() }, value: Value::Null };
    parent.get(key).cloned().unwrap_or_else(absent)
}

/// The validation metric. A slip in its name is told with the name that was meant.
fn select_by(training: &Node) -> Result<Placed<MetricAt>> {
    let names: Vec<&str> = Metric::ALL.into_iter().filter(|metric| metric.decides()).map(Metric::name).collect();
    if let Some(Node { value: Value::Scalar { text, .. }, place }) = training.get("select_by") {
        let name = text.split_once('@').map_or(text.as_str(), |(name, _)| name);
        if !Metric::ALL.map(Metric::name).contains(&name) {
            return Err(place.error(nearest::unknown("metric", name, &names)));
        }
    }
    let found = placed(training, "select_by", MetricAt { metric: Metric::Ndcg, cutoff: Some(20) })?;
    if !found.value.metric.decides() {
        let known = Metric::deciding();
        let reason = format!("`{}` does not say which model ranks better, and picks none: expected one of {known}", found.value);
        return Err(found.place().error(reason));
    }
    Ok(found)
}

/// The place of a storage, whose URL has nothing that would go by without a word.
fn storage(url: &str) -> std::result::Result<Location, String> {
    let shown = redacted(url);
    if url.trim() != url {
        return Err(format!("`{shown}`: expected a folder or a URL without blanks around it"));
    }
    if url.contains("://") && url.contains('?') {
        return Err(format!("`{shown}`: no storage has a query (`?`); credentials come from the environment"));
    }
    Location::parse(url).map_err(|error| error.to_string())
}
