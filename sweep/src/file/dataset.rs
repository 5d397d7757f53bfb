//! An entry of `datasets`: one preparation, or one for each seed that its split lists, or for each of its folds.
//!
//! `split: {kind: random, test: 0.2, seed: [1, 2, 3]}` is one dataset with three splits. Each of them is prepared as the entry with that seed
//! alone would be. So it is with the folds of `split: {kind: cross-validation, folds: 5}` and the entry with `fold: 2`.

use super::{
    error::Result,
    node::{Node, Value},
};
use pipeline::Preparation;
use std::collections::{HashMap, HashSet};

/// The key whose list repeats a split.
pub(crate) const SEED: &str = "split.seed";

/// Splits of one dataset.
const MOST_SPLITS: usize = 1_000;

/// An entry of `datasets`.
#[derive(Clone, Debug)]
pub struct DatasetEntry {
    /// The entry as typed.
    pub node: Node,
    /// How each split is prepared, in the order of the listed seeds, or of folds; one where there are neither. Never empty.
    pub splits: Vec<Preparation>,
    /// The names of source files that hold variables of the environment, as typed, by their keys.
    typed: HashMap<&'static str, String>,
}

impl DatasetEntry {
    /// Reads an entry; `typed` has the values of the file that hold variables, by their places.
    pub(super) fn read(node: &Node, typed: &HashMap<(usize, usize), String>) -> Result<Self> {
        let splits: Vec<Preparation> = match seeds(node)? {
            None => folds(node.read()?),
            Some([seed]) => folds(node.with(SEED, seed).read()?),
            Some(seeds) => seeds.iter().map(|seed| node.with(SEED, seed).read()).collect::<Result<_>>()?,
        };
        let repeated_by = |split: &Preparation| (split.split.folds().len(), split.split.repetition());
        if let [one, other, ..] = &splits[..]
            && repeated_by(one) != (0, None)
            && repeated_by(one) == repeated_by(other)
        {
            return Err(node.at(SEED).place.error("several seeds, and the split is repeated by its folds: give one seed"));
        }
        let of_file = |(key, _): (&'static str, &str)| {
            let place = &node.at(key).place;
            Some((key, typed.get(&(place.line, place.column))?.clone()))
        };
        let typed = splits[0].source.files().into_iter().filter_map(of_file).collect();
        Ok(Self { node: node.clone(), splits, typed })
    }

    /// One of its preparations with the names of its source files as typed: what is stored holds no value of a variable.
    pub fn as_typed(&self, split: &Preparation) -> Preparation {
        split.with_files(|key, path| self.typed.get(key).map_or(path, String::as_str).to_owned())
    }

    /// The dataset's name.
    pub fn name(&self) -> &str {
        &self.splits[0].name
    }

    /// Whether there are several splits.
    pub fn is_repeated(&self) -> bool {
        self.splits.len() > 1
    }
}

/// A preparation for each fold, where the split has such; else the preparation alone.
fn folds(whole: Preparation) -> Vec<Preparation> {
    match whole.split.folds() {
        folds if folds.is_empty() => vec![whole],
        folds => folds.into_iter().map(|split| Preparation { split, ..whole.clone() }).collect(),
    }
}

/// The seeds that the split lists, where it lists any.
fn seeds(node: &Node) -> Result<Option<&[Node]>> {
    let Some(Node { place, value: Value::Sequence(seeds) }) = node.get("split").and_then(|split| split.get("seed")) else {
        return Ok(None);
    };
    if seeds.is_empty() {
        return Err(place.error("an empty list: give one seed, or several for as many splits"));
    }
    if seeds.len() > MOST_SPLITS {
        return Err(place.error(format!("{} seeds; at most {MOST_SPLITS} splits of a dataset are prepared", seeds.len())));
    }
    let mut seen = HashSet::new();
    for node in seeds {
        let seed: u64 = node.read()?;
        if !seen.insert(seed) {
            return Err(node.place.error(format!("the seed {seed} stands twice")));
        }
    }
    Ok(Some(seeds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(split: &str) -> Result<DatasetEntry> {
        let node = Node::parse(&format!("name: d\nsource: {{format: synthetic}}\nsplit: {split}\n"), "s.yaml").unwrap();
        DatasetEntry::read(&node, &HashMap::new())
    }

    fn message(split: &str) -> String {
        read(split).unwrap_err().to_string()
    }

    #[test]
    fn each_listed_seed_is_the_entry_with_that_seed_alone() {
        let alone = |seed: u64| read(&format!("{{kind: random, test: 0.2, seed: {seed}}}")).unwrap().splits;
        let listed = read("{kind: random, test: 0.2, seed: [3, 18446744073709551615, 0]}").unwrap();
        assert_eq!(listed.splits, [alone(3), alone(u64::MAX), alone(0)].concat());
        assert!(listed.is_repeated() && listed.name() == "d");
        let single = read("{kind: random, test: 0.2, seed: [3]}").unwrap();
        assert!(single.splits == alone(3) && !single.is_repeated());
    }

    #[test]
    fn what_is_no_list_of_seeds_names_its_place() {
        let random = |seed: &str| message(&format!("{{kind: random, test: 0.2, seed: {seed}}}"));
        assert_eq!(random("[]"), "s.yaml:3:40: split.seed: an empty list: give one seed, or several for as many splits");
        assert_eq!(random("[1, 2, 01]"), "s.yaml:3:47: split.seed[2]: the seed 1 stands twice");
        assert!(
            random("[1, x]").starts_with("s.yaml:3:44: split.seed[1]: expected a whole number from 0 to 18446744073709551615, found `x`")
        );
        assert!(random("[[1, 2]]").starts_with("s.yaml:3:41: split.seed[0]: expected a whole number"));
        assert!(random("{a: 1}").starts_with("s.yaml:3:40: split.seed: expected a whole number"));
        assert!(message("{kind: temporal, test: 0.2, seed: [1, 2]}").starts_with("s.yaml:3:36: split.seed: unknown key `seed`"));
        assert!(message("{kind: random, test: [0.2, 0.1], seed: [1]}").starts_with("s.yaml:3:29: split.test: expected a number"));
    }
}
