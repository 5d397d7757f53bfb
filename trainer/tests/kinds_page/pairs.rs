//! Which losses can have which samplers, by the check of a trial.

use super::settings::plain;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use trainer::{Loss, Sampler, Trial};

/// An example of a kind, with all its settings.
#[derive(Clone)]
pub(super) struct Case {
    pub(super) kind: String,
    settings: Map<String, Value>,
}

impl Case {
    /// From a kind and its settings with every default.
    pub(super) fn new(whole: &Value) -> Self {
        let (kind, settings) = whole.as_object().unwrap().iter().next().unwrap();
        Self { kind: kind.clone(), settings: settings.as_object().unwrap().clone() }
    }

    pub(super) fn whole(&self) -> Value {
        json!({&self.kind: self.settings})
    }

    pub(super) fn has_pool(&self, pool: &str) -> bool {
        self.settings.get("pool").is_some_and(|own| own.get(pool).is_some())
    }

    /// With dot products for other scores.
    pub(super) fn with_dot_products(&self) -> Option<Self> {
        let mut case = self.clone();
        let similarity = case.settings.get_mut("similarity").filter(|similarity| **similarity != "dot")?;
        *similarity = "dot".into();
        Some(case)
    }

    fn with_pool(&self, pool: &str) -> Self {
        let mut case = self.clone();
        case.settings.insert("pool".into(), json!({pool: {}}));
        if pool == "all" {
            case.settings.remove("candidates");
        }
        case
    }
}

/// The model beside which losses and samplers are held against each other.
fn mf() -> Case {
    Case::new(&json!({"mf": {"dim": 16}}))
}

/// What the plan says against a pair with a model; a loss that is made for a number of negatives is made for those that the sampler gives.
fn complaint(model: &Case, loss: &Case, sampler: &Case) -> Option<String> {
    let mut loss = loss.clone();
    let read: Sampler = serde_json::from_value(sampler.whole()).unwrap();
    if let (Some(_), Some(given)) = (serde_json::from_value::<Loss>(loss.whole()).unwrap().negatives(), read.negatives(64)) {
        loss.settings.insert("negatives".into(), given.into());
    }
    let trial = json!({
        "version": 1, "dataset": "any", "backbone": model.whole(), "select_by": "ndcg@10",
        "learning": {
            "loss": loss.whole(), "sampler": sampler.whole(), "optimizer": {"adam": {"learning_rate": 0.05}}, "seed": 1,
            "training": {"epochs": 1, "batch_size": 64, "evaluate_every": 1}
        }
    });
    let complaint = serde_json::from_value::<Trial>(trial).unwrap().check().err()?;
    let unnamed = complaint.replacen(&format!("the loss `{}`", loss.kind), "the loss", 1);
    let unnamed = unnamed.replace(&format!("the backbone `{}`", model.kind), "the model");
    Some(unnamed.replacen(&format!("the sampler `{}`", sampler.kind), "the sampler", 1))
}

/// The matrix of all pairs, and the reasons.
pub(super) fn page(losses: &[Case], samplers: &[Case]) -> String {
    let complaints: Vec<Vec<Option<String>>> =
        losses.iter().map(|loss| samplers.iter().map(|sampler| complaint(&mf(), loss, sampler)).collect()).collect();
    format!("{}\n{}", matrix(losses, samplers, &complaints), reasons(losses, samplers, &complaints))
}

/// The losses and samplers that matrix factorisation can have and other models cannot, with the reasons.
pub(super) fn of_models(models: &[Case], losses: &[Case], samplers: &[Case]) -> String {
    let mut rows: Vec<(String, [BTreeSet<usize>; 3])> = Vec::new();
    for (row, loss) in losses.iter().enumerate() {
        for (column, sampler) in samplers.iter().enumerate().filter(|(_, sampler)| complaint(&mf(), loss, sampler).is_none()) {
            for (place, model) in models.iter().enumerate() {
                let Some(reason) = complaint(model, loss, sampler) else { continue };
                let at = rows.iter().position(|(known, _)| *known == reason).unwrap_or(rows.len());
                if at == rows.len() {
                    rows.push((reason, Default::default()));
                }
                rows[at].1.iter_mut().zip([place, row, column]).for_each(|(some, place)| some.extend([place]));
            }
        }
    }
    let mut page = "| models | losses or samplers | what a sweep file is told |\n|---|---|---|\n".to_owned();
    for (reason, [some_models, some_losses, some_samplers]) in rows {
        let refused = if reason.contains("the loss") { named(losses, &some_losses) } else { named(samplers, &some_samplers) };
        writeln!(page, "| {} | {refused} | {reason} |", named(models, &some_models)).unwrap();
    }
    page
}

fn kinds(cases: &[Case]) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    cases.iter().map(|case| case.kind.as_str()).filter(|kind| seen.insert(*kind)).collect()
}

fn of_kind<'a>(cases: &'a [Case], kind: &'a str) -> impl Iterator<Item = usize> + 'a {
    (0..cases.len()).filter(move |at| cases[*at].kind == kind)
}

fn matrix(losses: &[Case], samplers: &[Case], complaints: &[Vec<Option<String>>]) -> String {
    let columns: String = kinds(samplers).iter().map(|kind| format!(" `{kind}` |")).collect();
    let mut page = format!("| |{columns}\n|---|{}\n", ":-:|".repeat(kinds(samplers).len()));
    for loss in kinds(losses) {
        let marks = kinds(samplers).into_iter().map(|sampler| {
            let pairs = of_kind(losses, loss).flat_map(|row| of_kind(samplers, sampler).map(move |column| (row, column)));
            let refused: Vec<bool> = pairs.map(|(row, column)| complaints[row][column].is_some()).collect();
            match (refused.contains(&true), refused.contains(&false)) {
                (false, _) => "  |",
                (true, true) => " (✗) |",
                (true, false) => " ✗ |",
            }
        });
        writeln!(page, "| `{loss}` |{}", marks.collect::<String>()).unwrap();
    }
    page
}

fn reasons(losses: &[Case], samplers: &[Case], complaints: &[Vec<Option<String>>]) -> String {
    let mut order = Vec::new();
    let mut rows: BTreeMap<(&str, BTreeSet<usize>), BTreeSet<usize>> = BTreeMap::new();
    for (row, of_loss) in complaints.iter().enumerate() {
        let mut of_reason: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (column, reason) in of_loss.iter().enumerate() {
            if let Some(reason) = reason {
                of_reason.entry(reason).or_default().insert(column);
            }
        }
        for key in of_reason {
            if !order.contains(&key) {
                order.push(key.clone());
            }
            rows.entry(key).or_default().insert(row);
        }
    }
    let mut page = "| losses | samplers | what a sweep file is told |\n|---|---|---|\n".to_owned();
    for key in order {
        writeln!(page, "| {} | {} | {} |", named(losses, &rows[&key]), named(samplers, &key.1), key.0).unwrap();
    }
    page
}

/// Some of the cases: the kind where all of its cases are among them, else what tells them from the others of the kind.
fn named(cases: &[Case], some: &BTreeSet<usize>) -> String {
    let names = kinds(cases).into_iter().filter_map(|kind| {
        let (inside, outside): (Vec<usize>, Vec<usize>) = of_kind(cases, kind).partition(|at| some.contains(at));
        match (inside.is_empty(), outside.is_empty()) {
            (true, _) => None,
            (false, true) => Some(format!("`{kind}`")),
            (false, false) => Some(format!("`{kind}` {}", difference(cases, &inside, &outside))),
        }
    });
    names.collect::<Vec<_>>().join(", ")
}

/// The key whose values are others inside than outside, or the keys that tell the two apart together.
fn difference(cases: &[Case], inside: &[usize], outside: &[usize]) -> String {
    let keys: BTreeSet<&String> = inside.iter().chain(outside).flat_map(|at| cases[*at].settings.keys()).collect();
    let value = |key: &str, at: usize| {
        cases[at].settings.get(key).map_or(format!("without `{key}`"), |value| format!("with `{key}: {}`", plain(value)))
    };
    let values = |key: &str, some: &[usize]| -> BTreeSet<String> { some.iter().map(|at| value(key, *at)).collect() };
    let words = |key: &str| values(key, inside).into_iter().collect::<Vec<_>>().join(" or ");
    let is_number =
        |key: &&&String| inside.iter().chain(outside).all(|at| cases[*at].settings.get(key.as_str()).is_some_and(Value::is_number));
    let telling_alone = keys.iter().filter(|key| values(key, inside).is_disjoint(&values(key, outside)));
    if let Some(key) = telling_alone.min_by_key(is_number) {
        return words(key);
    }
    let telling: Vec<&&String> = keys.iter().filter(|key| !values(key, outside).is_subset(&values(key, inside))).collect();
    for at in outside {
        let told = telling.iter().any(|key| !values(key, inside).contains(&value(key, *at)));
        assert!(told, "{:?} is not told from others of its kind that are refused", cases[*at].whole());
    }
    telling.into_iter().map(|key| words(key)).collect::<Vec<_>>().join(" and ")
}

/// Panics where a hard sampler can have a pool that the loss cannot have as a sampler.
pub(super) fn assert_pools_are_refused_like_samplers(losses: &[Case], samplers: &[Case]) {
    for pool in ["all", "in-batch"] {
        let alone = samplers.iter().find(|case| case.kind == pool).unwrap();
        let over_pool = samplers.iter().filter(|case| case.settings.contains_key("pool")).map(|case| case.with_pool(pool));
        let possible = |case: &Case| serde_json::from_value::<Sampler>(case.whole()).unwrap().check().is_ok();
        for sampler in over_pool.filter(possible) {
            for loss in losses.iter().filter(|loss| complaint(&mf(), loss, alone).is_some()) {
                assert!(complaint(&mf(), loss, &sampler).is_some(), "{:?} with {:?}", loss.whole(), sampler.whole());
            }
        }
    }
}
