//! Datasets with several splits.

use super::*;
use crate::file::AskedDevice;

/// The good file with these seeds of its split, planned with true fingerprints.
fn planned(seed: &str) -> Plan {
    let file = SweepFile::parse(&with("seed: 1}", &format!("seed: {seed}}}")), "s.yaml").unwrap();
    let fingerprints: Vec<String> = file.splits().map(|(_, split)| pipeline::fingerprint(split).unwrap()).collect();
    check(&file).unwrap().plan(&fingerprints).unwrap()
}

fn ids(trials: &[PlannedTrial]) -> Vec<&str> {
    trials.iter().map(|trial| trial.id.as_str()).collect()
}

#[test]
fn a_list_of_one_seed_is_the_seed() {
    assert_eq!(planned("[1]").to_json(), planned("1").to_json());
    assert!(!planned("1").to_json().contains("split_seed"));
}

#[test]
fn each_split_has_the_dataset_and_the_trials_of_a_file_with_its_seed() {
    let (listed, first, second) = (planned("[2, 1]"), planned("2"), planned("1"));
    let fingerprints: Vec<&str> = listed.datasets.iter().map(|dataset| dataset.fingerprint.as_str()).collect();
    assert_eq!(fingerprints, [&first.datasets[0].fingerprint, &second.datasets[0].fingerprint]);
    assert_eq!(listed.datasets.iter().map(|dataset| dataset.split_seed).collect::<Vec<_>>(), [Some(2), Some(1)]);
    assert_eq!(listed.dataset_names(), ["d"]);
    assert_eq!(listed.methods.len(), first.methods.len());
    for (at, method) in listed.methods.iter().enumerate() {
        for (place, configuration) in method.configurations.iter().enumerate() {
            let alone = |plan: &Plan| plan.methods[at].configurations[place].trials.clone();
            let (one, other) = (alone(&first), alone(&second));
            assert_eq!(ids(&configuration.trials), [ids(&one), ids(&other)].concat());
            let splits: Vec<Option<u64>> = configuration.trials.iter().map(|trial| trial.split_seed).collect();
            assert_eq!(splits, [vec![Some(2); one.len()], vec![Some(1); other.len()]].concat());
        }
    }
    assert_eq!(serde_json::from_str::<Plan>(&listed.to_json()).unwrap(), listed);
}

#[test]
fn places_count_along_splits_and_seeds() {
    let plan = planned("[2, 1]");
    // Twelve configurations that learn with two seeds on two splits, and three that fit without sampling.
    assert_eq!(plan.trials().count(), 54);
    let at = |place: usize| plan.trial_at(place).unwrap().2;
    let first: Vec<_> = (0..5).map(at).map(|trial| (trial.split_seed, trial.seed())).collect();
    assert_eq!(first, [(Some(2), Some(1)), (Some(2), Some(2)), (Some(1), Some(1)), (Some(1), Some(2)), (Some(2), Some(1))]);
    assert_eq!((at(53).split_seed, at(53).seed()), (Some(1), None));
    assert_eq!(plan.dataset_of(at(0)), &plan.datasets[0]);
    assert_eq!(plan.dataset_of(at(53)), &plan.datasets[1]);
}

#[test]
fn the_plan_shows_splits() {
    let plan = plan_of(&with("seed: 1}", "seed: [3, 4]}")).unwrap();
    let spills = pipeline::MemoryEstimate { engine: pipeline::Engine::Datafusion, bytes: 1 << 31, in_memory: 1 << 34 };
    let text = show(&plan, &[Found::raw(0), Found::Raw(spills)], 1 << 30, &Resources::default(), AskedDevice::Auto);
    assert!(text.contains("GiB of memory to prepare by DataFusion, which spills to disk (in memory: 16."), "{text}");
    for line in [
        "dataset d (d-3, split seed 3): sizes known after prepare",
        "dataset d (d-4, split seed 4): sizes known after prepare",
        "bpr on mf-8 on d: 2 configurations, 2 splits, 8 trials",
        "popularity on d: 1 configuration, 2 splits, 2 trials",
        "split 3, seed 2  optimizer.learning_rate=0.1",
        "split 4, no seed",
        "6 methods, 54 trials",
        "d (split seed 4): ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn a_rung_has_the_trials_of_all_splits() {
    let halving = "seeds: [1, 2]\nsearch: {kind: successive-halving, epochs: 1, factor: 2}";
    let text = with("seed: 1}", "seed: [3, 4, 5]}").replace("seeds: [1, 2]", halving);
    let plan = plan_of(&text).unwrap();
    // One half of 2, 4, 2 and 4 configurations that learn goes on; each has 2 seeds on 3 splits. Popularity's one and ease's two have 3.
    let rungs: Vec<(u32, usize)> = plan.rungs().iter().map(|rung| (rung.epochs, rung.trials)).collect();
    assert_eq!(rungs, [(1, 12 * 6 + 3 * 3), (2, 6 * 6), (3, 4 * 6)]);
    assert_eq!(plan.searched_epochs(), (72 + 36 + 24, 72 * 3));
    // On one split: 12 configurations of 3 epochs' work each, one epoch's in each rung, and 3 that do all of it at once.
    let costs: Vec<u64> = plan.trials().filter(|(.., trial)| plan.datasets[1].is_of(trial)).map(|_| 3).collect();
    assert_eq!(costs.len(), 12 * 2 + 3);
    assert_eq!(plan.searched(&plan.datasets[1], &costs), 24 + 12 + 8 + 3 * 3);
}

#[test]
fn splits_that_do_not_differ_are_refused() {
    let given = |split: &str| {
        with("{format: synthetic}", "{format: adjacency, train: a, test: b}")
            .replace("{kind: random, test: 0.2, validation: 0.1, seed: 1}", split)
    };
    assert!(plan_of(&given("{kind: given, validation: 0.1, seed: [1, 2]}")).is_ok());
    assert_eq!(
        message(&given("{kind: given, seed: [1, 2]}")),
        "s.yaml:5:32: datasets[0].split.seed: dataset `d`: 2 seeds, and with these settings nothing is drawn: keep one seed, or have the split draw"
    );
    let text = with("seed: 1}", "seed: [1, 2]}\n  - {name: e, source: {format: synthetic}, split: {kind: random, test: 0.2, seed: 2}}");
    let file = SweepFile::parse(&text, "s.yaml").unwrap();
    let same = different(&file, &["one", "two", "two"]);
    assert_eq!(same, "s.yaml:6:5: datasets[1]: `e` has the same source and settings as `d` in line 3, with split seed 2; keep one");
}

fn different(file: &SweepFile, fingerprints: &[&str]) -> String {
    let fingerprints: Vec<String> = fingerprints.iter().map(|&fingerprint| fingerprint.to_owned()).collect();
    check::different_content(file, &fingerprints).unwrap_err().to_string()
}

#[test]
fn too_many_splits_are_refused() {
    let seeds: Vec<String> = (0..5_000).map(|seed| seed.to_string()).collect();
    let text = message(&with("seed: 1}", &format!("seed: [{}]}}", seeds.join(", "))));
    assert!(text.contains("datasets[0].split.seed: 5000 seeds; at most 1000 splits of a dataset are prepared"), "{text}");
}
