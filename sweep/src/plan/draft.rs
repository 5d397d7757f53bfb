//! The grid spread out: every method of a sweep before it meets a dataset.

use super::{
    label::{Role, label},
    part::{Part, Values, flat},
};
use crate::file::{Entry, Place, SweepFile, node::Node};
use serde::Serialize;
use trainer::{Backbone, Loss, Optimizer, Sampler};

/// One method of a block: an entry of each list.
pub(super) struct Draft<'a> {
    pub(super) backbone: &'a Entry<Backbone>,
    pub(super) way: Option<Way<'a>>,
    pub(super) names: Names,
}

/// How the method learns.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) loss: &'a Entry<Loss>,
    pub(super) sampler: &'a Entry<Sampler>,
    pub(super) optimizer: &'a Entry<Optimizer>,
}

/// What a method and its parts are called.
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
}

/// All methods of a sweep file, in written order: blocks, backbones, losses, samplers.
pub(super) fn drafts(file: &SweepFile) -> Vec<Draft<'_>> {
    let mut drafts = Vec::new();
    for block in &file.grid {
        for backbone in &block.backbones {
            let draft = |way| Draft { backbone, way, names: Names::default() };
            match &block.ways {
                None => drafts.push(draft(None)),
                Some(ways) => drafts.extend(ways.losses.iter().flat_map(|loss| {
                    ways.samplers.iter().map(move |sampler| draft(Some(Way { loss, sampler, optimizer: &ways.optimizer })))
                })),
            }
        }
    }
    name(&mut drafts);
    drafts
}

impl<'a> Draft<'a> {
    /// Every combination of tuned values, the optimizer's changing fastest.
    pub(super) fn choices(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for backbone in &self.backbone.values {
            let choice = |way| Choice { backbone: backbone.clone(), way };
            match self.way {
                None => choices.push(choice(None)),
                Some(way) => choices.extend(way.loss.values.iter().flat_map(|loss| {
                    way.sampler.values.iter().flat_map(move |sampler| {
                        let of = |optimizer: &Optimizer| choice(Some((loss.clone(), sampler.clone(), optimizer.clone())));
                        way.optimizer.values.iter().map(of).collect::<Vec<_>>()
                    })
                })),
            }
        }
        choices
    }

    /// The entries that the method is made of: loss, sampler, optimizer, backbone.
    pub(super) fn nodes(&self) -> Vec<&'a Node> {
        let way = self.way.iter().flat_map(|way| [&way.loss.node, &way.sampler.node, &way.optimizer.node]);
        way.chain([&self.backbone.node]).collect()
    }

    /// How many combinations there are; a float, for it may be too many.
    pub(super) fn combinations(&self) -> f64 {
        let way = self.way.map_or(1.0, |way| (way.loss.values.len() * way.sampler.values.len()) as f64 * way.optimizer.values.len() as f64);
        way * self.backbone.values.len() as f64
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
        serde_json::to_string(&(&self.backbone, &self.way)).expect("a kind is plain data")
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
        parameters
    }
}

fn under<T: Serialize>(role: Role, part: &T) -> Values {
    flat(part).1.into_iter().map(|(name, value)| (format!("{}.{name}", role.name()), value)).collect()
}

/// Gives every method its name; the optimizer's appears only where two methods would read the same.
fn name(drafts: &mut [Draft<'_>]) {
    let backbones: Vec<Part> = drafts.iter().map(|draft| Part::of(&draft.backbone.values)).collect();
    let ways: Vec<Way<'_>> = drafts.iter().filter_map(|draft| draft.way).collect();
    let losses: Vec<Part> = ways.iter().map(|way| Part::of(&way.loss.values)).collect();
    let samplers: Vec<Part> = ways.iter().map(|way| Part::of(&way.sampler.values)).collect();
    let optimizers: Vec<Part> = ways.iter().map(|way| Part::of(&way.optimizer.values)).collect();
    for draft in drafts.iter_mut() {
        let backbone = label(Role::Backbone, &Part::of(&draft.backbone.values), &backbones);
        let loss = draft.way.map(|way| label(Role::Loss, &Part::of(&way.loss.values), &losses));
        let sampler = draft.way.map(|way| label(Role::Sampler, &Part::of(&way.sampler.values), &samplers));
        let parts = [Some(&backbone), loss.as_ref(), sampler.as_ref()];
        let method = parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" / ");
        draft.names = Names { method, backbone, loss, sampler };
    }
    let methods: Vec<String> = drafts.iter().map(|draft| draft.names.method.clone()).collect();
    for draft in drafts.iter_mut() {
        let shared = methods.iter().filter(|method| **method == draft.names.method).count() > 1;
        if let (true, Some(way)) = (shared, draft.way) {
            let optimizer = label(Role::Optimizer, &Part::of(&way.optimizer.values), &optimizers);
            draft.names.method = format!("{} / {optimizer}", draft.names.method);
        }
    }
}
