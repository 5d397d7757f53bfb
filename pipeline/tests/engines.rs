//! Both engines give the same bytes, and the same errors.

use dataset::{Counts, Location};
use pipeline::{Engine, Limits, Preparation, prepare};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{
    error::Error,
    fmt::Write,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The tables and steps of a preparation, or its error.
type Outcome = Result<(Vec<(String, Vec<u8>)>, Vec<Counts>), String>;

fn outcome(settings: &Value, engine: Engine, memory: Option<usize>, threads: usize) -> Outcome {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let datasets = Location::parse(&format!("memory:///engines/{run}")).expect("a good URL");
    let preparation: Preparation = serde_json::from_value(settings.clone()).expect("settings of a preparation");
    let limits = Limits { threads, memory, engine: Some(engine), scratch: None };
    let mut steps = Vec::new();
    match prepare(&preparation, &datasets, &limits, &mut |counts| steps.push(counts.clone())) {
        Ok(prepared) => {
            let files = prepared.folder.list().expect("memory lists");
            Ok((files.iter().map(|at| (at.name().to_owned(), at.read().expect("memory reads").to_vec())).collect(), steps))
        }
        Err(error) => Err(match error.source() {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        }),
    }
}

/// One engine against the other, with one and several partitions and with a limit that makes relations spill.
fn same(settings: &Value) -> Outcome {
    let expected = outcome(settings, Engine::Memory, None, 2);
    for (memory, threads) in [(None, 1), (Some(1), 5)] {
        let found = outcome(settings, Engine::Datafusion, memory, threads);
        assert!(found == expected, "{settings}\n{:?}\n{:?}", found.map(|found| found.1), expected.map(|expected| expected.1));
    }
    expected
}

fn stored(content: String) -> String {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let url = format!("memory:///engines/raw/{}", FILES.fetch_add(1, Ordering::Relaxed));
    Location::parse(&url).expect("a good URL").write(content).expect("memory takes it");
    url
}

fn delimited(rows: String, more: Value) -> Value {
    let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
    let mut settings = json!({"name": "d", "source": {"delimited": {"path": stored(rows), "header": false, "columns": columns}}});
    settings.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    settings
}

/// An id: small integers, or also words, and integers with a leading zero, so that the order of ids is now the one and now the other.
fn id(words: bool) -> BoxedStrategy<String> {
    let integer = (0u32..12).prop_map(|id| (id * 7 % 13).to_string());
    if words { prop_oneof![4 => integer, 1 => "[a-bü]{1,3}", 1 => Just("07".to_owned())].boxed() } else { integer.boxed() }
}

fn splits() -> impl Strategy<Value = Value> {
    let share = prop_oneof![Just(0.1), Just(0.25), Just(0.5)];
    prop_oneof![
        (share.clone(), share.clone(), 0u64..4)
            .prop_map(|(test, validation, seed)| json!({"random": {"test": test, "validation": validation, "seed": seed}})),
        (share.clone(), prop_oneof![Just(0.0), share.clone()])
            .prop_map(|(test, validation)| json!({"temporal": {"test": test, "validation": validation}})),
        (5u32..40, prop_oneof![Just(json!(0.25)), Just(json!("3"))])
            .prop_map(|(moment, validation)| json!({"temporal": {"test": moment.to_string(), "validation": validation}})),
        any::<bool>().prop_map(|validation| json!({"leave-last": {"validation": validation}})),
        (1usize..3, 0usize..3).prop_map(|(test, validation)| json!({"leave-n": {"test": test, "validation": validation}})),
        (share, prop_oneof![Just(0.0), Just(0.25)], 0u64..3)
            .prop_map(|(test, validation, seed)| json!({"users": {"test": test, "validation": validation, "fold_out": 0.4, "seed": seed}})),
        (prop_oneof![Just(json!({"share": 0.3})), Just(json!({"items": 1}))], 0u64..3).prop_map(|(left, seed)| {
            let mut split = json!({"test": 0.25, "validation": 0.25, "fold_out": 0.4, "seed": seed});
            split.as_object_mut().expect("an object").extend(left.as_object().expect("an object").clone());
            json!({"cold-start": split})
        }),
        (any::<bool>(), 0u64..3)
            .prop_map(|(directed, seed)| json!({"link-prediction": {"test": 0.3, "validation": 0.2, "directed": directed, "seed": seed}})),
        (2u64..5, 0u64..3)
            .prop_map(|(folds, seed)| json!({"cross-validation": {"folds": folds, "fold": 2, "validation": 0.25, "seed": seed}})),
        (1usize..3, 0u64..3).prop_map(|(test, seed)| json!({"leave-n": {"test": test, "pick": "random", "seed": seed}})),
        (0.1f64..0.6, 0.0f64..0.4)
            .prop_map(|(test, validation)| json!({"leave-n": {"test": round(test), "validation": round(validation)}})),
    ]
}

/// A share as somebody would write it.
fn round(share: f64) -> f64 {
    (share * 100.0).round() / 100.0
}

fn inputs() -> impl Strategy<Value = Value> {
    let rows = any::<bool>().prop_flat_map(|words| prop::collection::vec((id(words), id(words), 1u32..6, 0u32..40), 1..120));
    let k_core = prop_oneof![
        Just(Value::Null),
        (1u32..4).prop_map(|k| json!(k)),
        (1u32..4, 1u32..3).prop_map(|(users, items)| json!({"users": users, "items": items}))
    ];
    let change = prop_oneof![
        2 => Just(json!({})),
        1 => (1u32..=10, 0u64..3).prop_map(|(tenths, seed)| json!({"noise": {"ratio": f64::from(tenths) / 10.0, "seed": seed}})),
        1 => (1u32..=10, 0u64..3).prop_map(|(tenths, seed)| json!({"train_share": {"share": f64::from(tenths) / 10.0, "seed": seed}})),
    ];
    (rows, prop::option::of(1u32..5), k_core, splits(), change).prop_map(|(rows, min_rating, k_core, split, change)| {
        let mut text = String::new();
        for (user, item, rating, time) in rows {
            writeln!(text, "{user},{item},{rating},{time}").expect("a string takes it");
        }
        let mut more = json!({"split": split});
        let entry = more.as_object_mut().expect("an object");
        entry.extend(change.as_object().expect("an object").clone());
        if let Some(least) = min_rating {
            entry.insert("min_rating".to_owned(), json!(least));
        }
        if !k_core.is_null() {
            entry.insert("k_core".to_owned(), k_core);
        }
        delimited(text, more)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn random_interactions_give_the_same_bytes(settings in inputs()) {
        let _ = same(&settings);
    }
}

/// More interactions than come at a time, so that users are given to the last steps in several runs.
#[test]
fn users_that_come_in_runs_make_no_difference() {
    let rows: String = (0..1_300_000u64).fold(String::new(), |mut text, n| {
        let draw = n.wrapping_mul(6_364_136_223_846_793_005).rotate_left(29).wrapping_mul(1_442_695_040_888_963_407);
        writeln!(text, "{},i{},{},{}", draw % 40_000, (draw >> 20) % 5_000, 1 + (draw >> 50) % 5, n / 7).expect("a string takes it");
        text
    });
    let temporal = delimited(rows, json!({"min_rating": 1, "k_core": 5, "split": {"temporal": {"test": 0.2, "validation": 0.1}}}));
    let mut users = temporal.clone();
    users["split"] = json!({"users": {}});
    for (settings, limits) in [(temporal, &[None, Some(1)][..]), (users, &[None][..])] {
        let expected = outcome(&settings, Engine::Memory, None, 2).expect("a good preparation");
        for &memory in limits {
            let found = outcome(&settings, Engine::Datafusion, memory, 2).expect("a good preparation");
            assert_eq!(found.1, expected.1);
            assert!(found == expected, "{settings} {memory:?}");
        }
    }
}

#[test]
fn sources_that_come_split_give_the_same_bytes() {
    let (train, test) = (stored("2\t5\n2\t6\n10\t5\n2\t6\n1\t9\n".to_owned()), stored("2\t7\n10\t9\n".to_owned()));
    let source = json!({"splits": {"train": train, "test": test}});
    for split in [json!({"given": {}}), json!({"given": {"validation": 0.5, "seed": 1}})] {
        same(&json!({"name": "d", "source": source, "split": split, "noise": 0.5})).expect("a good preparation");
    }
    let both = json!({"name": "d", "source": {"splits": {"train": train, "test": train}}, "split": {"given": {}}});
    assert!(same(&both).expect_err("one interaction in two parts").contains("has item `9` in train and in test"));
    let empty = json!({"name": "d", "source": {"splits": {"train": train, "test": stored(String::new())}}, "split": {"given": {}}});
    assert!(same(&empty).is_err());
}

#[test]
fn generated_and_skipped_rows_give_the_same_bytes() {
    let source = json!({"synthetic": {"users": 300, "items": 200, "interactions": 9_000}});
    same(&json!({"name": "d", "source": source, "k_core": 8, "split": {"random": {"test": 0.2, "validation": 0.1}}})).expect("good");
    let columns = json!({"user": 0, "item": 1});
    let rows = stored("a,x\nb\nb,x\nb,y\na,y\n,z\na,z\n".to_owned());
    let source = json!({"delimited": {"path": rows, "header": false, "columns": columns, "on_bad_row": "skip"}});
    let (files, steps) = same(&json!({"name": "d", "source": source, "split": {"random": {"test": 0.5}}})).expect("good");
    assert!(files.iter().any(|(name, _)| name == "rejected.tsv"));
    assert_eq!(steps[0].interactions, 2);
}

#[test]
fn errors_are_the_same() {
    let rows = || "1,x,5,1\n1,y,4,2\n2,x,5,3\n2,y,1,4\n".to_owned();
    let random = json!({"random": {"test": 0.2}});
    let cases = [
        (json!({"split": random, "k_core": 9}), "no interaction is left after `9-core (1 round)`"),
        (json!({"split": random, "min_rating": 6}), "no interaction is left after `rating at least 6`"),
        (json!({"split": random}), "`split`: test is empty"),
    ];
    for (more, expected) in cases {
        let message = same(&delimited(rows(), more)).expect_err("these settings must fail");
        assert!(message.starts_with(expected), "{message}");
    }
    let one_time = delimited("1,x,5,1\n1,y,4,1\n2,x,5,1\n".to_owned(), json!({"split": {"temporal": {"test": 0.5}}}));
    assert!(same(&one_time).expect_err("no moment").contains("so no moment parts them"));
    assert!(same(&delimited("1,x,5,1\n1,y,bad,2\n".to_owned(), json!({"split": random}))).expect_err("a bad row").contains("line 2"));
    assert!(same(&delimited(String::new(), json!({"split": random}))).expect_err("an empty file").contains("holds no interactions"));
}

#[test]
fn rows_beyond_a_limit_of_memory_are_an_error_where_memory_was_asked_for() {
    let rows: String = (0..3_000).map(|n| format!("{},{},5,{n}\n", n % 50, n % 61)).collect();
    let settings = delimited(rows, json!({"split": {"random": {"test": 0.2}}}));
    let message = outcome(&settings, Engine::Memory, Some(10_000), 2).expect_err("too little memory");
    assert!(message.contains("more than the memory limit of 10000 bytes") && message.contains("--engine datafusion"), "{message}");
}
