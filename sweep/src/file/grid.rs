//! `grid`: blocks that add up, each of them backbones x losses x samplers x values of the optimizer, and if it says so trained in its own way.

use super::{
    error::{Place, Result},
    fields::Fields,
    node::{Node, Value},
    range::{self, Range},
    sweep_file::Placed,
    training, tuned,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::{BTreeSet, HashMap},
    iter::repeat_n,
};
use streams::Stream;
use trainer::{Backbone, Loss, Optimizer, Sampler, Training};

/// One entry of a list of kinds.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    /// The entry as typed.
    pub node: Node,
    /// Every combination of its listed values, in written order; one where nothing is tuned. One with ranges stands here twice: with all
    /// of them at their least values, and at their largest.
    pub values: Vec<T>,
    /// The combinations as typed, ranges among them.
    combinations: Vec<Node>,
}

impl<T: DeserializeOwned> Entry<T> {
    fn read(node: &Node) -> Result<Self> {
        let combinations = tuned::combinations(node)?;
        let values = combinations.iter().map(values).collect::<Result<Vec<Vec<T>>>>()?;
        Ok(Self { node: node.clone(), values: values.into_iter().flatten().collect(), combinations })
    }

    fn read_all(nodes: &[Node]) -> Result<Vec<Self>> {
        nodes.iter().map(Self::read).collect()
    }

    /// A combination, with a value drawn from each of its ranges.
    pub fn drawn(&self, combination: usize, stream: &mut Stream) -> T {
        let node = range::filled(&self.combinations[combination], &mut |range| range.draw(stream));
        node.read().expect("what can be read at the ends of a range and inside of it can be read everywhere in it")
    }
}

impl Entry<Backbone> {
    /// Whether it learns in epochs towards an objective of its own.
    pub(crate) fn has_epochs(&self) -> bool {
        self.values.iter().any(Backbone::has_epochs)
    }

    /// The entry with the names of files as typed, where another program trained the model: what is stored holds no value of a variable.
    fn with_names_as_typed(self, typed: &HashMap<(usize, usize), String>) -> Result<Self> {
        let keys: BTreeSet<&str> = self.values.iter().flat_map(Backbone::files).map(|file| file.key).collect();
        let with = |node: Node, key: &&str| match node.get(key) {
            Some(value) => node.with(key, &names_as_typed(value, typed)),
            None => node,
        };
        if keys.is_empty() { Ok(self) } else { Self::read(&keys.iter().fold(self.node.clone(), with)) }
    }
}

/// A text, or a list of texts, as typed.
fn names_as_typed(node: &Node, typed: &HashMap<(usize, usize), String>) -> Node {
    let value = match &node.value {
        Value::Sequence(items) => Value::Sequence(items.iter().map(|item| names_as_typed(item, typed)).collect()),
        Value::Scalar { text, plain } => {
            let place = (node.place.line, node.place.column);
            Value::Scalar { text: typed.get(&place).unwrap_or(text).clone(), plain: *plain }
        }
        other => other.clone(),
    };
    Node { place: node.place.clone(), value }
}

/// The values of a combination; where it has ranges, at their ends.
fn values<T: DeserializeOwned>(combination: &Node) -> Result<Vec<T>> {
    let ranges = range::ranges(combination);
    let Some((place, range)) = ranges.iter().find(|(_, range)| !matches!(range, Range::Integer(..))).or(ranges.first()) else {
        return Ok(vec![combination.read()?]);
    };
    let [low, high, inside] = range::probes(combination);
    let ends = vec![low.read()?, high.read()?];
    let whole = |_| {
        place.error(format!("`{}` draws numbers with fractions where a whole one is expected; `integer` draws whole ones", range.name()))
    };
    inside.read::<T>().map_err(whole)?;
    Ok(ends)
}

impl<T: Serialize> Entry<T> {
    /// How many combinations there are.
    pub fn combinations(&self) -> usize {
        self.combinations.len()
    }

    /// The first range, if there is any: where it stands and its name.
    pub fn range(&self) -> Option<(Place, &'static str)> {
        let first = self.combinations.iter().find_map(|node| range::ranges(node).first().copied())?;
        Some((first.0.clone(), first.1.name()))
    }

    /// The combination that each value is of, as typed.
    pub(crate) fn typed(&self) -> impl Iterator<Item = &Node> {
        self.combinations.iter().flat_map(|node| repeat_n(node, if range::ranges(node).is_empty() { 1 } else { 2 }))
    }

    /// The ranges that a key's values are drawn from.
    pub(crate) fn ranges_of(&self, key: &str) -> Vec<Range> {
        let mut ranges = Vec::new();
        for range in self.combinations.iter().filter_map(|node| Range::of(node.get(key)?).ok().flatten()) {
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        ranges
    }

    /// All that determines what is drawn from the entry, however its values are written; the order of its keys is a part of it.
    pub fn key(&self) -> String {
        let ranges: Vec<&str> = self.combinations.iter().flat_map(|node| range::ranges(node)).map(|(_, range)| range.name()).collect();
        serde_json::to_string(&(&self.values, ranges)).expect("a kind is plain data")
    }
}

/// One block of the grid.
#[derive(Clone, Debug)]
pub struct Block {
    /// The models that are compared.
    pub backbones: Vec<Entry<Backbone>>,
    /// How they learn; `None` for a block of backbones that fit without sampling.
    pub ways: Option<TrainingAxes>,
    /// Epochs, batches and stopping of its trials; `None` where they are those of the sweep.
    pub training: Option<Placed<Training>>,
}

/// How the backbones of a block learn.
#[derive(Clone, Debug)]
pub struct TrainingAxes {
    /// The losses that are compared.
    pub losses: Vec<Entry<Loss>>,
    /// The samplers that are compared.
    pub samplers: Vec<Entry<Sampler>>,
    /// The optimizer and its tuned values.
    pub optimizer: Entry<Optimizer>,
}

impl Block {
    /// Reads a block; `typed` has the values of the file that hold variables, by their places, and `training` is that of the sweep.
    pub(super) fn read(node: &Node, typed: &HashMap<(usize, usize), String>, training: &Training) -> Result<Self> {
        let fields = Fields::of(node, &["backbones", "losses", "samplers", "optimizer", "training"])?;
        let backbones: Vec<Entry<Backbone>> = Entry::read_all(fields.items("backbones")?)?;
        let backbones: Vec<Entry<Backbone>> = backbones.into_iter().map(|entry| entry.with_names_as_typed(typed)).collect::<Result<_>>()?;
        let learns = ["losses", "samplers", "optimizer"].into_iter().find_map(|key| fields.get(key).map(|value| (key, value)));
        for entry in &backbones {
            fits_in(entry, learns)?;
        }
        let ways = match learns {
            Some(_) => Some(TrainingAxes {
                losses: Entry::read_all(fields.items("losses")?)?,
                samplers: Entry::read_all(fields.items("samplers")?)?,
                optimizer: Entry::read(fields.required("optimizer")?)?,
            }),
            None => None,
        };
        let own = fields.get("training").map(|node| own_training(node, training, &backbones, ways.is_some())).transpose()?;
        Ok(Self { backbones, ways, training: own })
    }
}

/// `training` of a block, some of whose models learn in epochs.
fn own_training(node: &Node, of_sweep: &Training, backbones: &[Entry<Backbone>], has_losses: bool) -> Result<Placed<Training>> {
    if !has_losses && !backbones.iter().any(Entry::has_epochs) {
        let kind = backbones[0].node.get("kind").map(Node::describe).unwrap_or_default();
        return Err(node.place.error(format!("{kind} fits at once and has no epochs: leave `training` out")));
    }
    training::of_block(node, of_sweep, has_losses)
}

/// A backbone learns exactly where its block says how. `learns` is the block's first key that does.
fn fits_in(backbone: &Entry<Backbone>, learns: Option<(&str, &Node)>) -> Result<()> {
    let kind = backbone.node.get("kind").map(Node::describe).unwrap_or_default();
    let fits_alone = backbone.values.iter().any(Backbone::fits_without_sampling);
    let message = match learns {
        Some((key, node)) if fits_alone => {
            let line = node.place.line;
            format!("{kind} fits without sampling, but its block has `{key}` (line {line}); give it a block with `backbones` alone")
        }
        None if !fits_alone => format!("{kind} learns from a loss, but its block has none; add `losses`, `samplers` and `optimizer`"),
        _ => return Ok(()),
    };
    Err(backbone.node.place.error(message))
}
