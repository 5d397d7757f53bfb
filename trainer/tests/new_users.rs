//! Users whom the split holds out: nothing of them reaches a training, and models know them by their histories to fold in.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)] // this file uses parts of it
mod support;

use dataset::{Dataset, Interactions, Order, quote::kind};
use evaluator::{Factors, Histories, Matrix, Scorer};
use models::{FoldInSettings, NewNodes, NewUsers, Trained};
use std::collections::BTreeSet;
use support::{RESOURCES, ended, folder, kinds, result, tastes};
use trainer::{Backbone, Trial, train};

/// Every fifth of the users of `tastes` is held out, in turn for validation and for test: what it has in train is its history to fold in, and what it has in
/// validation is ranked.
fn held_out() -> Dataset {
    let all = tastes();
    let is_held_out = |user: usize| user.is_multiple_of(5);
    let of = |part: &Interactions, keep: &dyn Fn(usize) -> bool| part.of_users(keep);
    let order = all.order.clone().unwrap();
    let places = |part: &Interactions, places: &[u32], keep: &dyn Fn(usize) -> bool| -> Vec<u32> {
        part.pairs().zip(places).filter(|((user, _), _)| keep(*user as usize)).map(|(_, &place)| place).collect()
    };
    let order = Order {
        train: places(&all.train, &order.train, &|user| !is_held_out(user)),
        fold_in: places(&all.train, &order.train, &is_held_out),
        validation: places(&all.validation, &order.validation, &|user| user.is_multiple_of(10)),
        test: places(&all.validation, &order.validation, &|user| is_held_out(user) && !user.is_multiple_of(10)),
    };
    Dataset {
        train: of(&all.train, &|user| !is_held_out(user)),
        fold_in: Some(of(&all.train, &is_held_out)),
        validation: of(&all.validation, &|user| user.is_multiple_of(10)),
        test: of(&all.validation, &|user| is_held_out(user) && !user.is_multiple_of(10)),
        order: Some(order),
        ..all
    }
}

/// Other items in place of those of a part: of each user those that no part of it has, from the last on.
fn poisoned(dataset: &Dataset, part: &Interactions) -> Interactions {
    let is_free = |user: usize, item: u32| {
        let known = [&dataset.train, dataset.fold_in.as_ref().unwrap(), &dataset.validation, &dataset.test];
        known.iter().all(|part| !part.contains(user, item))
    };
    let pairs: Vec<(u32, u32)> = (0..dataset.users())
        .flat_map(|user| {
            let others = (0..dataset.items() as u32).rev().filter(move |&item| is_free(user, item));
            others.take(part.row(user).len()).map(move |item| (user as u32, item)).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(pairs.len(), part.len());
    Interactions::from_pairs(dataset.users(), pairs.into_iter())
}

/// Models that no trial here is of: `ncf` is refused, as is tested below, and another program knows what it knows.
const WITHOUT_TRIALS: [&str; 3] = ["ncf", "external", "run"];

/// A trial of every model that can have users held out.
fn trials() -> Vec<(&'static str, Trial)> {
    let learned_by = |backbone: &str, loss: &str, sampler: &str| {
        let training = r#"{"epochs": 4, "batch_size": 64, "evaluate_every": 4}"#;
        format!(
            r#"{{"version": 1, "dataset": "tastes", "backbone": {backbone}, "select_by": "ndcg@10",
                "learning": {{"loss": {loss}, "sampler": {sampler}, "optimizer": {{"adam": {{"learning_rate": 0.05}}}},
                "seed": 3, "training": {training}}}, "ridge": 2.0}}"#
        )
    };
    let learned = |backbone: &str, loss: &str| learned_by(backbone, loss, r#"{"uniform": {"negatives": 20}}"#);
    let fitted = |backbone: &str, more: &str| {
        format!(r#"{{"version": 1, "dataset": "tastes", "backbone": {backbone}, "learning": null{more}, "select_by": "ndcg@10"}}"#)
    };
    let epochs = r#", "iterations": {"epochs": 3, "evaluate_every": 3, "seed": 3}"#;
    let by_ridge = |backbone: &str| fitted(backbone, &format!(r#"{epochs}, "ridge": 2.0"#));
    let texts = [
        ("random", fitted(r#"{"random": {}}"#, "")),
        ("popularity", fitted(r#"{"popularity": {}}"#, "")),
        ("ease", fitted(r#"{"ease": {"regularization": 10.0}}"#, "")),
        ("user-knn", fitted(r#"{"user-knn": {"neighbours": 20}}"#, "")),
        ("item-knn", fitted(r#"{"item-knn": {"neighbours": 20}}"#, "")),
        ("ials", fitted(r#"{"ials": {"dim": 8, "regularization": 0.05}}"#, epochs)),
        ("rg2", fitted(r#"{"rg2": {"dim": 8, "regularization": 0.05}}"#, epochs)),
        ("rgx", fitted(r#"{"rgx": {"dim": 8, "regularization": 0.05}}"#, epochs)),
        ("wrmf", fitted(r#"{"wrmf": {"dim": 8, "regularization": 0.1, "alpha": 4}}"#, epochs)),
        ("slim", fitted(r#"{"slim": {"l1": 0.1}}"#, "")),
        ("enmf", by_ridge(r#"{"enmf": {"dim": 4, "batch_size": 16, "optimizer": {"adam": {"learning_rate": 0.05}}}}"#)),
        ("deep-walk", by_ridge(r#"{"deep-walk": {"dim": 4, "walk_length": 10, "window": 2, "learning_rate": 0.1}}"#)),
        ("node2vec", by_ridge(r#"{"node2vec": {"dim": 4, "walk_length": 10, "window": 2, "learning_rate": 0.1, "p": 2, "q": 0.5}}"#)),
        ("line", by_ridge(r#"{"line": {"dim": 4, "learning_rate": 0.2}}"#)),
        (
            "lists-and-ppr",
            learned_by(
                r#"{"light-gcn": {"dim": 8, "layers": 2}}"#,
                r#"{"smooth-ndcg": {"temperature": 1}}"#,
                r#"{"ppr": {"negatives": 20}}"#,
            ),
        ),
        ("mf", learned(r#"{"mf": {"dim": 8}}"#, r#"{"softmax": {"temperature": 0.2}}"#)),
        ("mf-of-bpr", learned(r#"{"mf": {"dim": 8}}"#, r#"{"bpr": {}}"#)),
        ("two-tower", learned(r#"{"two-tower": {"dim": 4, "hidden": [8]}}"#, r#"{"bpr": {}}"#)),
        // The form whose products have no network behind them.
        ("gmf", learned(r#"{"neu-mf": {"dim": 4, "form": "gmf"}}"#, r#"{"bpr": {}}"#)),
        ("light-gcn", learned(r#"{"light-gcn": {"dim": 8, "layers": 2}}"#, r#"{"bpr": {}}"#)),
        ("ngcf", learned(r#"{"ngcf": {"dim": 4, "layers": 2}}"#, r#"{"bpr": {}}"#)),
        ("gcn", learned(r#"{"gcn": {"dim": 4, "layers": 1}}"#, r#"{"bpr": {}}"#)),
        ("gat", learned(r#"{"gat": {"dim": 4, "layers": 1}}"#, r#"{"bpr": {}}"#)),
        ("gin", learned(r#"{"gin": {"dim": 4, "layers": 1}}"#, r#"{"bpr": {}}"#)),
        ("lr-gccf", learned(r#"{"lr-gccf": {"dim": 4, "layers": 2}}"#, r#"{"bpr": {}}"#)),
        ("nia-gcn", learned(r#"{"nia-gcn": {"dim": 4, "layers": 1}}"#, r#"{"bpr": {}}"#)),
        ("dgcf", learned(r#"{"dgcf": {"dim": 4, "factors": 2, "layers": 1}}"#, r#"{"bpr": {}}"#)),
        ("sgl", learned(r#"{"sgl": {"dim": 4, "layers": 2}}"#, r#"{"bpr": {}}"#)),
        ("xsim-gcl", learned(r#"{"xsim-gcl": {"dim": 4, "layers": 2}}"#, r#"{"bpr": {}}"#)),
        ("simplex", learned(r#"{"simplex": {"dim": 8}}"#, r#"{"bpr": {}}"#)),
        // Without layers, or a history's part, they are models of vectors alone.
        ("light-gcn-0", learned(r#"{"light-gcn": {"dim": 8, "layers": 0}}"#, r#"{"bpr": {}}"#)),
        ("gcn-0", learned(r#"{"gcn": {"dim": 4, "layers": 0}}"#, r#"{"bpr": {}}"#)),
        ("simplex-0", learned(r#"{"simplex": {"dim": 8, "history_weight": 0}}"#, r#"{"bpr": {}}"#)),
        ("gru4rec", learned(r#"{"gru4rec": {"dim": 8, "hidden": 8}}"#, r#"{"bpr": {}}"#)),
        ("sas-rec", learned(r#"{"sas-rec": {"dim": 8, "hidden": 8, "layers": 1}}"#, r#"{"bpr": {}}"#)),
        ("mult-vae", fitted(r#"{"mult-vae": {"dim": 4, "hidden": 8, "batch_size": 16}}"#, epochs)),
        // It holds users against each other that have no train interaction.
        ("sim-gcl", learned(r#"{"sim-gcl": {"dim": 8, "layers": 2}}"#, r#"{"bpr": {}}"#)),
    ];
    texts
        .into_iter()
        .map(|(name, text)| {
            let trial: Trial = serde_json::from_str(&text).unwrap();
            trial.check().unwrap();
            (name, trial)
        })
        .collect()
}

fn trained(name: &str, trial: &Trial, dataset: &Dataset) -> dataset::Location {
    let folder = folder(&format!("new-users/{name}"));
    train(trial, dataset, &folder, &RESOURCES, &mut ()).unwrap();
    folder
}

fn scorer(folder: &dataset::Location) -> Scorer {
    ended(folder).unwrap().scorer(folder).unwrap()
}

/// A new model fails here until it has a trial, or is among those that can have none.
#[test]
fn every_model_has_a_trial_or_can_have_none() {
    let found: BTreeSet<String> = trials().iter().map(|(_, trial)| kind(&trial.backbone)).collect();
    let without: BTreeSet<String> = WITHOUT_TRIALS.map(str::to_owned).into();
    assert!(found.is_disjoint(&without));
    assert_eq!(&found | &without, kinds::<Backbone>());
}

#[test]
fn what_is_ranked_of_held_out_users_changes_no_trained_bit() {
    let dataset = held_out();
    let poisoned_test = Dataset { test: poisoned(&dataset, &dataset.test), ..dataset.clone() };
    let poisoned_validation = Dataset { validation: poisoned(&dataset, &dataset.validation), ..dataset.clone() };
    assert!(poisoned_test.test != dataset.test && poisoned_validation.validation != dataset.validation);
    for (name, trial) in trials() {
        let clean = trained(&format!("{name}/clean"), &trial, &dataset);
        let other_test = trained(&format!("{name}/test"), &trial, &poisoned_test);
        assert!(result(&clean) == result(&other_test), "{name}: model, validation, fit and curve");
        // Where a single model is evaluated, validation picks nothing, and the values alone are others.
        let other_validation = trained(&format!("{name}/validation"), &trial, &poisoned_validation);
        assert!(result(&clean).0 == result(&other_validation).0, "{name}: the model");
        assert!(result(&clean).1 != result(&other_validation).1, "{name}: the values");
    }
}

#[test]
fn who_is_held_out_and_what_they_took_reaches_no_vector_of_others() {
    let dataset = held_out();
    let fold_in = dataset.fold_in.clone().unwrap();
    let other = Dataset { fold_in: Some(poisoned(&dataset, &fold_in)), ..dataset.clone() };
    // Without the held-out users, a dataset of the others alone.
    let (alone, seen) = dataset.seen_in_training().unwrap();
    for (name, trial) in trials().into_iter().filter(|(_, trial)| trial.backbone.closed_form().is_none()) {
        let [clean, changed] =
            [("whole", &dataset), ("changed", &other)].map(|(how, dataset)| trained(&format!("{name}/{how}"), &trial, dataset));
        let (Scorer::Factors(Factors { users, items, .. }), Scorer::Factors(Factors { users: other_users, items: other_items, .. })) =
            (scorer(&clean), scorer(&changed))
        else {
            panic!("{name} has no vectors")
        };
        assert!(items == other_items, "{name}");
        let differing: Vec<usize> = (0..dataset.users()).filter(|&user| users.row(user) != other_users.row(user)).collect();
        assert_eq!(differing, (0..90).step_by(5).collect::<Vec<_>>(), "{name}");
        let (Scorer::Factors(Factors { users: of_alone, items: items_alone, .. })
        | Scorer::Histories(Histories { validation: of_alone, items: items_alone, .. })) =
            scorer(&trained(&format!("{name}/alone"), &trial, &alone))
        else {
            panic!("{name} has no vectors")
        };
        assert!(items == items_alone, "{name}");
        assert!(seen.iter().enumerate().all(|(row, &user)| of_alone.row(row) == users.row(user as usize)), "{name}");
    }
}

/// The vectors of held-out users come again, to the bit, from a stored checkpoint and their histories.
#[test]
fn a_stored_checkpoint_folds_in_as_its_training_did() {
    let dataset = held_out();
    let fold_in = dataset.fold_in.as_ref().unwrap();
    let held: Vec<usize> = (0..90).step_by(5).collect();
    let rows = held.iter().enumerate().flat_map(|(row, &user)| fold_in.row(user).iter().map(move |&item| (row as u32, item)));
    let ids = held.iter().map(|user| format!("new {user}")).collect();
    let histories = Interactions::from_pairs(held.len(), rows);
    let new = NewUsers::beside(dataset.clone(), ids, &histories, dataset.order.clone().unwrap().fold_in);
    let (of_vectors, of_weights): (Vec<_>, Vec<_>) = trials().into_iter().partition(|(_, trial)| trial.backbone.stored().dim().is_some());
    let of_weights: Vec<&str> = of_weights.iter().map(|(name, _)| *name).collect();
    assert_eq!(of_weights, ["ease", "user-knn", "item-knn", "slim"], "models without vectors");
    for (name, trial) in of_vectors {
        let folder = trained(&format!("{name}/stored"), &trial, &dataset);
        let (ended, Scorer::Factors(Factors { users, items, similarity })) = (ended(&folder).unwrap(), scorer(&folder)) else {
            panic!("{name} has no vectors")
        };
        let parameters = ended.parameters(&folder).unwrap();
        assert_eq!(parameters.is_empty(), !trial.backbone.how_to_fold_in().keeps_parameters(), "{name}");
        let model = Trained {
            scorer: Scorer::Factors(Factors { users: users.clone(), items, similarity }),
            parameters: parameters.iter().map(|(name, matrix)| (&name[..], matrix)).collect(),
        };
        let Scorer::Factors(Factors { users: folded, .. }) =
            trial.backbone.fold_in(model, &new, FoldInSettings { ridge: 2.0, ..FoldInSettings::default() }).unwrap()
        else {
            panic!("{name} has no vectors")
        };
        assert!(held.iter().enumerate().all(|(row, &user)| folded.row(row) == users.row(user)), "{name}");
    }
}

/// Where held-out users join the graph, what was learned is what attaching them has, and the vectors of items are others; what is ranked of them reaches neither.
#[test]
fn users_who_join_the_graph_change_vectors_and_no_parameter() {
    let dataset = held_out();
    let poisoned_test = Dataset { test: poisoned(&dataset, &dataset.test), ..dataset.clone() };
    for wanted in ["light-gcn", "ngcf"] {
        let (name, attach) = trials().into_iter().find(|(name, _)| *name == wanted).unwrap();
        let joint = Trial { fold_in: Some(NewNodes::Joint), ..attach.clone() };
        assert_ne!(joint.id(), attach.id());
        let attached = trained(&format!("{name}/attached"), &attach, &dataset);
        let joined = trained(&format!("{name}/joined"), &joint, &dataset);
        let other_test = trained(&format!("{name}/joined-test"), &joint, &poisoned_test);
        assert!(result(&joined) == result(&other_test), "{name}: model, validation, fit and curve");
        let parameters = |folder| ended(folder).unwrap().parameters(folder).unwrap();
        assert!(!parameters(&joined).is_empty() && parameters(&joined) == parameters(&attached), "{name}");
        let (Scorer::Factors(joined), Scorer::Factors(attached)) = (scorer(&joined), scorer(&attached)) else { panic!("{name}") };
        let differing = |one: &Matrix, other: &Matrix| (0..one.rows).filter(|&row| one.row(row) != other.row(row)).count();
        assert_eq!(differing(&joined.users, &attached.users), dataset.users(), "{name}");
        assert_eq!(differing(&joined.items, &attached.items), dataset.items(), "{name}");
    }
}

/// The solution of `(V' V + 2 c I) p = V' 1` over the items of the history, by Gaussian elimination in f64; c is the mean of |v|².
#[test]
fn a_held_out_user_of_vectors_has_the_ridge_regression_on_the_history() {
    let dataset = held_out();
    for (name, trial) in trials().into_iter().filter(|(name, _)| ["mf-of-bpr", "light-gcn-0", "gcn-0"].contains(name)) {
        let Scorer::Factors(Factors { users, items, .. }) = scorer(&trained(&format!("ridge/{name}"), &trial, &dataset)) else {
            panic!("no vectors")
        };
        let penalty = 2.0 * items.values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / items.rows as f64;
        for user in (0..90).step_by(5) {
            let expected = ridge(&items, dataset.fold_in.as_ref().unwrap().row(user), penalty);
            for (found, expected) in users.row(user).iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{name} {user}: {found} {expected}");
            }
        }
    }
}

fn ridge(items: &Matrix, history: &[u32], penalty: f64) -> Vec<f64> {
    let dim = items.dim;
    let row = |item: u32, at: usize| f64::from(items.row(item as usize)[at]);
    let mut system: Vec<Vec<f64>> = (0..dim)
        .map(|at| {
            let gram = (0..dim)
                .map(|to| history.iter().map(|&item| row(item, at) * row(item, to)).sum::<f64>() + if at == to { penalty } else { 0.0 });
            gram.chain([history.iter().map(|&item| row(item, at)).sum::<f64>()]).collect()
        })
        .collect();
    for pivot in 0..dim {
        for other in (0..dim).filter(|&other| other != pivot) {
            let factor = system[other][pivot] / system[pivot][pivot];
            let of_pivot = system[pivot].clone();
            system[other].iter_mut().zip(of_pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    (0..dim).map(|at| system[at][dim] / system[at][at]).collect()
}

#[test]
fn models_of_their_own_users_alone_are_refused_before_they_train() {
    for backbone in [r#"{"neu-mf": {"dim": 4}}"#, r#"{"neu-mf": {"dim": 4, "form": "mlp"}}"#, r#"{"ncf": {"dim": 4}}"#] {
        let (one, adam) = (r#"{"uniform": {"negatives": 1}}"#, r#"{"adam": {"learning_rate": 0.01}}"#);
        let trial = support::trial(backbone, r#"{"bpr": {}}"#, one, adam);
        let at = folder(&format!("new-users/refused-{}", trial.id()));
        let message = train(&trial, &held_out(), &at, &RESOURCES, &mut ()).unwrap_err().to_string();
        assert!(
            message.contains("as its network scores vectors that training alone gives users; take another model, such as ease"),
            "{backbone}: {message}"
        );
        assert!(at.list().unwrap().is_empty());
    }
}
