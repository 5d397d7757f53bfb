//! `training`: epochs, batches and stopping, of all trials of a sweep, or of those of one block of its grid.

use super::{
    error::Result,
    fields::Fields,
    node::{Node, Value},
    sweep_file::Placed,
    timing::{self, Timing},
};
use trainer::{EpochRows, Training};

/// The keys of how a trial learns; a block may have its own.
const OF_TRIALS: [&str; 5] = ["epochs", "batch_size", "evaluate_every", "patience", "rows"];

/// Those of them that only matter where a loss is learned from.
pub(crate) const OF_LOSSES: [&str; 2] = ["batch_size", "rows"];

/// The keys that all trials of a sweep share.
const OF_SWEEPS: [&str; 3] = ["select_by", "ridge", "fold_in"];

/// `training` of a sweep, taken apart: what a trial learns with, and what a run does beside it.
pub(super) fn of_sweep(node: Node) -> Result<(Placed<Training>, Timing)> {
    let default = Training { epochs: 200, batch_size: 1024, evaluate_every: 5, patience: None, rows: EpochRows::Pairs };
    if node.value == Value::Null {
        return Ok((Placed { node, value: default }, Timing::default()));
    }
    let fields = Fields::of(&node, &[&OF_TRIALS[..], &OF_SWEEPS, &timing::KEYS].concat())?;
    let (value, timing) = (read(&fields, &default)?, Timing::read(&fields)?);
    Ok((Placed { node, value }, timing))
}

/// `training` of a block: the sweep's, but for the keys that stand here.
pub(super) fn of_block(node: &Node, of_sweep: &Training, has_losses: bool) -> Result<Placed<Training>> {
    let moved = [&OF_SWEEPS[..], &timing::KEYS].concat();
    if let Some((key, _)) = node.keys().find(|(key, _)| moved.contains(&key.name.as_str())) {
        let reason = format!("`{}` is the same for all trials of a sweep: it belongs into the file's own `training`", key.name);
        return Err(key.place.error(reason));
    }
    let fields = Fields::of(node, &OF_TRIALS)?;
    if let Some((key, _)) = node.keys().find(|(key, _)| !has_losses && OF_LOSSES.contains(&key.name.as_str())) {
        let reason = format!("`{}` is about the rows that a loss is learned from, and this block has no `losses`: leave it out", key.name);
        return Err(key.place.error(reason));
    }
    Ok(Placed { node: node.clone(), value: read(&fields, of_sweep)? })
}

fn read(fields: &Fields<'_>, default: &Training) -> Result<Training> {
    Ok(Training {
        epochs: fields.read_or("epochs", default.epochs)?,
        batch_size: fields.read_or("batch_size", default.batch_size)?,
        evaluate_every: fields.read_or("evaluate_every", default.evaluate_every)?,
        patience: fields.read_or("patience", default.patience)?,
        rows: fields.read_or("rows", default.rows)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SweepFile;

    const LEARNING: &str = "backbones: [{kind: mf, dim: 8}], losses: [{kind: bpr}], samplers: [{kind: uniform, negatives: 1}], \
                            optimizer: {kind: adam, learning_rate: 0.1}";

    fn file(blocks: &[&str]) -> Result<SweepFile> {
        let grid: String = blocks.iter().map(|block| format!("  - {{{block}}}\n")).collect();
        let text = format!(
            "name: s\ndatasets: [{{name: d, source: {{format: synthetic}}}}]\ngrid:\n{grid}training: {{epochs: 20, batch_size: 64, patience: 3}}\n"
        );
        SweepFile::parse(&text, "s.yaml")
    }

    fn complaint(block: &str) -> String {
        file(&[block]).unwrap_err().to_string()
    }

    #[test]
    fn a_block_has_the_sweeps_values_but_for_its_own() {
        let read = file(&[LEARNING, &format!("{LEARNING}, training: {{epochs: 400, patience: null}}")]).unwrap();
        let own: Vec<Option<Training>> = read.grid.iter().map(|block| block.training.as_ref().map(|own| own.value.clone())).collect();
        let expected = Training { epochs: 400, batch_size: 64, evaluate_every: 5, patience: None, rows: EpochRows::Pairs };
        assert_eq!(own, [None, Some(expected)]);
        assert_eq!((read.training.value.epochs, read.training.value.patience), (20, Some(3)));
    }

    #[test]
    fn what_does_nothing_in_a_block_is_refused_where_it_stands() {
        let unknown = complaint(&format!("{LEARNING}, training: {{epoch: 4}}"));
        assert!(unknown.contains("s.yaml:4") && unknown.contains("`epoch`") && unknown.contains("`epochs`"), "{unknown}");
        let shared = complaint(&format!("{LEARNING}, training: {{select_by: ndcg@20}}"));
        assert!(shared.contains("`select_by` is the same for all trials of a sweep"), "{shared}");
        let ranked = complaint("backbones: [{kind: enmf, dim: 8}], training: {batch_size: 4}");
        assert!(ranked.contains("`batch_size`"), "{ranked}");
        let at_once = complaint("backbones: [{kind: popularity}], training: {epochs: 4}");
        assert!(at_once.contains("popularity") && at_once.contains("no epochs"), "{at_once}");
    }
}
