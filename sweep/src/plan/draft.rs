//! The grid spread out: every method of a sweep before it meets a dataset.

use super::{
    draw,
    label::{Role, labels},
    part::{Part, Values, flat},
};
use crate::file::{Entry, Place, Placed, Search, SweepFile, node::Node, training::OF_LOSSES};
use serde::Serialize;
use std::{
    collections::{BTreeSet, HashMap},
    ptr,
};
use streams::Stream;
use trainer::{Backbone, Loss, Optimizer, Sampler, Training};

/// One method of a block: an entry of each list.
pub(super) struct Draft<'a> {
    pub(super) backbone: &'a Entry<Backbone>,
    pub(super) way: Option<TrainingRecipe<'a>>,
    /// The block's own epochs, batches and stopping, where they differ from the sweep's.
    pub(super) training: Option<&'a Placed<Training>>,
    pub(super) names: Names,
}

/// How the method learns.
#[derive(Clone, Copy)]
pub(super) struct TrainingRecipe<'a> {
    pub(super) loss: &'a Entry<Loss>,
    pub(super) sampler: &'a Entry<Sampler>,
    pub(super) optimizer: &'a Entry<Optimizer>,
}

/// The names of a method and its parts.
#[derive(Clone, Default)]
pub(super) struct Names {
    pub(super) method: String,
    pub(super) backbone: String,
    pub(super) loss: Option<String>,
    pub(super) sampler: Option<String>,
}

/// A method with every value fixed.
#[derive(Clone)]
pub(super) struct Choice {
    pub(super) backbone: Backbone,
    pub(super) way: Option<(Loss, Sampler, Optimizer)>,
    /// `None` where it is the sweep's.
    pub(super) training: Option<Training>,
}

/// All methods of a sweep file, in written order: blocks, backbones, losses, samplers.
pub(super) fn drafts(file: &SweepFile) -> Vec<Draft<'_>> {
    let mut drafts = Vec::new();
    for block in &file.grid {
        for backbone in &block.backbones {
            let own = block.training.as_ref().filter(|own| learns(block.ways.is_some(), backbone) && own.value != file.training.value);
            let draft = |way| Draft { backbone, way, training: own, names: Names::default() };
            match &block.ways {
                None => drafts.push(draft(None)),
                Some(ways) => drafts.extend(ways.losses.iter().flat_map(|loss| {
                    ways.samplers.iter().map(move |sampler| draft(Some(TrainingRecipe { loss, sampler, optimizer: &ways.optimizer })))
                })),
            }
        }
    }
    name(&mut drafts, &file.training.value);
    drafts
}

/// How the methods that learn in epochs are trained; what the sweep has where none does.
pub(super) fn trainings<'a>(file: &'a SweepFile, drafts: &[Draft<'a>]) -> Vec<&'a Training> {
    let learning = drafts.iter().filter(|draft| learns(draft.way.is_some(), draft.backbone)).map(|draft| &draft.training_in(file).value);
    let found: Vec<&Training> = learning.collect();
    if found.is_empty() { vec![&file.training.value] } else { found }
}

/// Whether a method learns in epochs.
fn learns(has_loss: bool, backbone: &Entry<Backbone>) -> bool {
    has_loss || backbone.has_epochs()
}

impl<'a> Draft<'a> {
    /// The configurations that a search asks for, in its order.
    pub(super) fn choices(&self, search: &Search) -> Vec<Choice> {
        match search.draws() {
            None => self.every().collect(),
            Some((trials, seed)) => draw::choices(self, trials, seed),
        }
    }

    /// Every combination of listed values and ends of ranges, the optimizer's changing fastest.
    pub(super) fn every(&self) -> impl Iterator<Item = Choice> {
        let way = self.way.map_or([1; 3], |way| [way.loss.values.len(), way.sampler.values.len(), way.optimizer.values.len()]);
        let sizes = [self.backbone.values.len(), way[0], way[1], way[2]];
        (0..product(sizes)).map(move |index| {
            let [backbone, loss, sampler, optimizer] = places(index, sizes);
            let of = |way: TrainingRecipe<'_>| {
                (way.loss.values[loss].clone(), way.sampler.values[sampler].clone(), way.optimizer.values[optimizer].clone())
            };
            self.choice(self.backbone.values[backbone].clone(), self.way.map(of))
        })
    }

    /// The combination at a place among the listed values, with a value drawn from each of its ranges.
    pub(super) fn drawn(&self, index: u64, stream: &mut Stream) -> Choice {
        let [backbone, loss, sampler, optimizer] = places(index, self.sizes());
        let backbone = self.backbone.drawn(backbone, stream);
        let way =
            self.way.map(|way| (way.loss.drawn(loss, stream), way.sampler.drawn(sampler, stream), way.optimizer.drawn(optimizer, stream)));
        self.choice(backbone, way)
    }

    fn choice(&self, backbone: Backbone, way: Option<(Loss, Sampler, Optimizer)>) -> Choice {
        Choice { backbone, way, training: self.training.map(|own| own.value.clone()) }
    }

    /// Combinations of listed values; a range is one value.
    pub(super) fn listed(&self) -> u64 {
        product(self.sizes())
    }

    /// Combinations of the backbone, the loss, the sampler and the optimizer.
    fn sizes(&self) -> [usize; 4] {
        let way = self.way.map_or([1; 3], |way| [way.loss.combinations(), way.sampler.combinations(), way.optimizer.combinations()]);
        [self.backbone.combinations(), way[0], way[1], way[2]]
    }

    /// The first range among the method's values: where it stands and its name.
    pub(super) fn range(&self) -> Option<(Place, &'static str)> {
        let way = self.way.and_then(|way| way.loss.range().or_else(|| way.sampler.range()).or_else(|| way.optimizer.range()));
        way.or_else(|| self.backbone.range())
    }

    /// All that determines what is drawn of the method, whatever else is in the sweep and however its values are written.
    pub(super) fn key(&self) -> String {
        let way = self.way.map(|way| [way.loss.key(), way.sampler.key(), way.optimizer.key()]);
        std::iter::once(self.backbone.key()).chain(way.into_iter().flatten()).collect::<Vec<_>>().join("\n")
    }

    /// The names of the values that differ between the method's combinations, and the defaults among these values, which configurations leave out.
    pub(super) fn tuned(&self) -> (BTreeSet<String>, Values) {
        let of = |way: TrainingRecipe<'_>| {
            [(Role::Loss, Part::of(way.loss)), (Role::Sampler, Part::of(way.sampler)), (Role::Optimizer, Part::of(way.optimizer))]
        };
        let (mut names, mut defaults) = (BTreeSet::new(), Values::new());
        for (role, part) in std::iter::once((Role::Backbone, Part::of(self.backbone))).chain(self.way.map(of).into_iter().flatten()) {
            names.extend(part.names().filter(|name| part.varies(name)).map(|name| format!("{}.{name}", role.name())));
            defaults.extend(prefixed(role, part.defaults));
        }
        (names, defaults)
    }

    /// The entries that the method is made of: loss, sampler, optimizer, backbone, and the block's own training.
    pub(super) fn nodes(&self) -> Vec<&'a Node> {
        let way = self.way.iter().flat_map(|way| [&way.loss.node, &way.sampler.node, &way.optimizer.node]);
        way.chain([&self.backbone.node]).chain(self.training.map(|own| &own.node)).collect()
    }

    /// The entry of the first part one of whose values complains by itself in these words.
    pub(super) fn fails_alone(&self, complaint: &str) -> Option<&'a Node> {
        let is_meant = |result: Result<(), String>| result.is_err_and(|reason| reason == complaint);
        let way = self.way?;
        if way.loss.values.iter().any(|loss| is_meant(loss.check())) {
            return Some(&way.loss.node);
        }
        if way.sampler.values.iter().any(|sampler| is_meant(sampler.check())) {
            return Some(&way.sampler.node);
        }
        way.optimizer.values.iter().any(|optimizer| is_meant(optimizer.check())).then_some(&way.optimizer.node)
    }

    /// Epochs, batches and stopping: the block's own, or those of the sweep.
    pub(super) fn training_in(&self, file: &'a SweepFile) -> &'a Placed<Training> {
        self.training.unwrap_or(&file.training)
    }

    /// How many configurations a search asks for. What it draws may be fewer.
    pub(super) fn count(&self, search: &Search) -> u64 {
        let listed = self.listed();
        match search.draws() {
            Some((trials, _)) if self.range().is_some() => trials.into(),
            Some((trials, _)) => listed.min(trials.into()),
            None => listed,
        }
    }

    /// The first entry with several values, or the method's first.
    pub(super) fn tuned_place(&self) -> &'a Place {
        let counts = self.way.iter().flat_map(|way| [way.loss.values.len(), way.sampler.values.len(), way.optimizer.values.len()]);
        let several = counts.chain([self.backbone.values.len()]).position(|count| count > 1);
        &self.nodes()[several.unwrap_or_default()].place
    }
}

impl Choice {
    /// Two choices with the same key are the same trials.
    pub(super) fn key(&self) -> String {
        serde_json::to_string(&(&self.backbone, &self.way, &self.training)).expect("a kind is plain data")
    }

    /// Every value under its role's prefix: `loss.temperature`.
    pub(super) fn parameters(&self) -> Values {
        let mut parameters = under(Role::Backbone, &self.backbone);
        if let Some((loss, sampler, optimizer)) = &self.way {
            parameters.extend(under(Role::Loss, loss));
            parameters.extend(under(Role::Sampler, sampler));
            parameters.extend(under(Role::Optimizer, optimizer));
            parameters.insert("optimizer.kind".to_owned(), flat(optimizer).0.into());
        }
        if let Some(training) = &self.training {
            let counts = |key: &String| self.way.is_some() || !OF_LOSSES.contains(&key.as_str());
            let settings = Part::settings(training).into_iter().filter(|(key, _)| counts(key)).collect();
            parameters.extend(prefixed(Role::Training, settings));
        }
        parameters
    }
}

fn under<T: Serialize>(role: Role, part: &T) -> Values {
    prefixed(role, flat(part).1)
}

fn prefixed(role: Role, values: Values) -> Values {
    values.into_iter().map(|(name, value)| (format!("{}.{name}", role.name()), value)).collect()
}

/// The product of four numbers of combinations, each of which is small.
fn product(sizes: [usize; 4]) -> u64 {
    sizes.iter().map(|&size| size as u64).product()
}

/// The places of a combination in its four lists; the last changes fastest.
fn places(index: u64, sizes: [usize; 4]) -> [usize; 4] {
    let mut rest = index;
    let mut places = [0; 4];
    for (place, size) in places.iter_mut().zip(sizes).rev() {
        (*place, rest) = ((rest % size as u64) as usize, rest / size as u64);
    }
    places
}

/// Gives every method its name; the optimizer's appears only where two methods would read the same, and how they are trained where they still do.
fn name(drafts: &mut [Draft<'_>], of_sweep: &Training) {
    let backbones = Labels::of(Role::Backbone, drafts.iter().map(|draft| draft.backbone));
    let ways: Vec<TrainingRecipe<'_>> = drafts.iter().filter_map(|draft| draft.way).collect();
    let losses = Labels::of(Role::Loss, ways.iter().map(|way| way.loss));
    let samplers = Labels::of(Role::Sampler, ways.iter().map(|way| way.sampler));
    let optimizers = Labels::of(Role::Optimizer, ways.iter().map(|way| way.optimizer));
    for draft in drafts.iter_mut() {
        let backbone = backbones.label(draft.backbone);
        let loss = draft.way.map(|way| losses.label(way.loss));
        let sampler = draft.way.map(|way| samplers.label(way.sampler));
        let parts = [Some(&backbone), loss.as_ref(), sampler.as_ref()];
        let method = parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" / ");
        draft.names = Names { method, backbone, loss, sampler };
    }
    let of_optimizers = drafts.iter().map(|draft| draft.way.map(|way| optimizers.label(way.optimizer))).collect();
    tell_apart(drafts, of_optimizers);
    let trainings: Vec<Part> = drafts.iter().map(|draft| Part::of_training(draft.training.map_or(of_sweep, |own| &own.value))).collect();
    tell_apart(drafts, labels(Role::Training, &trainings).into_iter().map(Some).collect());
}

/// Adds a label to the names of methods that would read the same and have different ones.
fn tell_apart(drafts: &mut [Draft<'_>], labels: Vec<Option<String>>) {
    let mut known: HashMap<String, BTreeSet<Option<String>>> = HashMap::new();
    for (draft, label) in drafts.iter().zip(&labels) {
        known.entry(draft.names.method.clone()).or_default().insert(label.clone());
    }
    for (draft, label) in drafts.iter_mut().zip(labels) {
        if let (Some(label), 2..) = (label, known[&draft.names.method].len()) {
            draft.names.method = format!("{} / {label}", draft.names.method);
        }
    }
}

/// The names of the entries of one role: an entry stands in many methods and has one name.
struct Labels<'a, T>(Vec<(&'a Entry<T>, String)>);

impl<'a, T: Serialize> Labels<'a, T> {
    fn of(role: Role, entries: impl Iterator<Item = &'a Entry<T>>) -> Self {
        let mut once: Vec<&Entry<T>> = entries.collect();
        once.sort_by_key(|entry| ptr::from_ref(*entry));
        once.dedup_by_key(|entry| ptr::from_ref(*entry));
        let parts: Vec<Part> = once.iter().map(|entry| Part::of(entry)).collect();
        Self(once.into_iter().zip(labels(role, &parts)).collect())
    }

    fn label(&self, entry: &Entry<T>) -> String {
        let place = self.0.binary_search_by_key(&ptr::from_ref(entry), |(other, _)| ptr::from_ref(*other));
        self.0[place.expect("every entry of a method has a name")].1.clone()
    }
}
