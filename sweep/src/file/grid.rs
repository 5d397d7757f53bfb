//! `grid`: blocks that add up, each of them backbones x losses x samplers x values of the optimizer.

use super::{error::Result, fields::Fields, node::Node, tuned};
use serde::de::DeserializeOwned;
use trainer::{Backbone, Loss, Optimizer, Sampler};

/// One entry of a list of kinds.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    /// The entry as typed.
    pub node: Node,
    /// Every combination of its tuned values, in written order; one where nothing is tuned.
    pub values: Vec<T>,
}

impl<T: DeserializeOwned> Entry<T> {
    fn read(node: &Node) -> Result<Self> {
        let values = tuned::combinations(node)?.iter().map(Node::read).collect::<Result<_>>()?;
        Ok(Self { node: node.clone(), values })
    }

    fn read_all(nodes: &[Node]) -> Result<Vec<Self>> {
        nodes.iter().map(Self::read).collect()
    }
}

/// One block of the grid.
#[derive(Clone, Debug)]
pub struct Block {
    /// The models that are compared.
    pub backbones: Vec<Entry<Backbone>>,
    /// How they learn; `None` for a block of backbones that fit without sampling.
    pub ways: Option<Ways>,
}

/// How the backbones of a block learn.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The losses that are compared.
    pub losses: Vec<Entry<Loss>>,
    /// The samplers that are compared.
    pub samplers: Vec<Entry<Sampler>>,
    /// The optimizer and its tuned values.
    pub optimizer: Entry<Optimizer>,
}

impl Block {
    pub(super) fn read(node: &Node) -> Result<Self> {
        let fields = Fields::of(node, &["backbones", "losses", "samplers", "optimizer"])?;
        let backbones: Vec<Entry<Backbone>> = Entry::read_all(fields.items("backbones")?)?;
        let learns = ["losses", "samplers", "optimizer"].into_iter().find_map(|key| fields.get(key).map(|value| (key, value)));
        for entry in &backbones {
            fits_in(entry, learns)?;
        }
        let ways = match learns {
            Some(_) => Some(Ways {
                losses: Entry::read_all(fields.items("losses")?)?,
                samplers: Entry::read_all(fields.items("samplers")?)?,
                optimizer: Entry::read(fields.required("optimizer")?)?,
            }),
            None => None,
        };
        Ok(Self { backbones, ways })
    }
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
