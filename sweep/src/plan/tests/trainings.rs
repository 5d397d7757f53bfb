//! Plans whose blocks are trained in ways of their own.

use super::*;
use crate::file::AskedDevice;

const BLOCKS: &str = "\
name: blocks
datasets:
  - name: d
    source: {format: synthetic}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 1}
grid:
  - backbones: [{kind: mf, dim: 8}]
    losses: [{kind: bpr}]
    samplers: [{kind: uniform, negatives: 1}]
    optimizer: {kind: adam, learning_rate: [0.1, 0.01]}
  - backbones: [{kind: mf, dim: 8}]
    losses: [{kind: smooth-ndcg, temperature: 1}]
    samplers: [{kind: uniform, negatives: 1}]
    optimizer: {kind: adam, learning_rate: [0.1, 0.01]}
    training: {epochs: 400, evaluate_every: 10, patience: 30}
  - backbones: [{kind: popularity}, {kind: enmf, dim: 8}]
    training: {epochs: 60, patience: null}
training: {epochs: 20, batch_size: 64, evaluate_every: 5, patience: 2}
seeds: [1, 2]
";

fn with(old: &str, new: &str) -> String {
    assert!(BLOCKS.contains(old), "{old}");
    BLOCKS.replacen(old, new, 1)
}

fn labels(plan: &Plan) -> Vec<&str> {
    plan.methods.iter().map(|method| method.label.as_str()).collect()
}

#[test]
fn trials_are_those_of_a_sweep_whose_training_it_is() {
    let plan = plan_of(BLOCKS).unwrap();
    assert_eq!(labels(&plan), ["mf-8 / bpr / uniform-1", "mf-8 / smooth-ndcg / uniform-1", "popularity", "enmf-8"]);
    let alone = |training: &str| {
        let text: String = BLOCKS.lines().filter(|line| !line.starts_with("    training:")).map(|line| line.to_owned() + "\n").collect();
        plan_of(&text.replace("{epochs: 20, batch_size: 64, evaluate_every: 5, patience: 2}", training)).unwrap()
    };
    let sweeps = [
        "{epochs: 20, batch_size: 64, evaluate_every: 5, patience: 2}",
        "{epochs: 400, batch_size: 64, evaluate_every: 10, patience: 30}",
        "{epochs: 60, batch_size: 64, evaluate_every: 5}",
        "{epochs: 60, batch_size: 64, evaluate_every: 5}",
    ]
    .map(alone);
    for (place, sweep) in sweeps.iter().enumerate() {
        let ids = |plan: &Plan| -> Vec<String> {
            plan.methods[place]
                .configurations
                .iter()
                .flat_map(|configuration| &configuration.trials)
                .map(|trial| trial.id.clone())
                .collect()
        };
        assert_eq!(ids(&plan), ids(sweep), "{}", plan.methods[place].label);
    }
    let epochs: Vec<Option<u32>> = plan.methods.iter().map(Method::epochs).collect();
    assert_eq!(epochs, [Some(20), Some(400), None, Some(60)]);
}

/// What a block has of its own is among its values, and what the sweep has is not, as ever.
#[test]
fn values_of_a_block_stand_in_its_tables() {
    let plan = plan_of(BLOCKS).unwrap();
    let of_training = |method: usize| -> Vec<String> {
        let parameters = &plan.methods[method].configurations[0].parameters;
        parameters.iter().filter(|(name, _)| name.starts_with("training.")).map(|(name, value)| format!("{name}={value}")).collect()
    };
    let own = ["training.batch_size=64", "training.epochs=400", "training.evaluate_every=10", "training.patience=30"];
    assert_eq!([of_training(0), of_training(1), of_training(2)], [vec![], own.map(str::to_owned).to_vec(), vec![]]);
    assert_eq!(of_training(3), ["training.epochs=60", "training.evaluate_every=5", "training.patience=null"]);
}

#[test]
fn methods_that_differ_in_training_alone_are_told_apart_by_it() {
    let block = "  - backbones: [{kind: mf, dim: 8}]\n    losses: [{kind: bpr}]\n    samplers: [{kind: uniform, negatives: 1}]\n    \
                 optimizer: {kind: adam, learning_rate: [0.1, 0.01]}\n    training: {batch_size: 512}\ntraining:";
    let plan = plan_of(&with("\ntraining:", &format!("\n{block}"))).unwrap();
    let found = labels(&plan);
    assert!(found[0].starts_with("mf-8 / bpr / uniform-1 / training(") && found[0].contains("batch_size=64"), "{}", found[0]);
    assert!(found[4].starts_with("mf-8 / bpr / uniform-1 / training(") && found[4].contains("batch_size=512"), "{}", found[4]);
    assert_eq!(found[1], "mf-8 / smooth-ndcg / uniform-1");
    let titles = Titles::new(&plan);
    assert!(titles.of(&plan.methods[4]).starts_with("bpr on mf-8 with uniform-1, training("), "{}", titles.of(&plan.methods[4]));
    let popularity =
        message(&with("\ntraining:", "\n  - backbones: [{kind: popularity}, {kind: enmf, dim: 4}]\n    training: {epochs: 5}\ntraining:"));
    assert!(popularity.contains("`popularity`") && popularity.contains("stands twice"), "{popularity}");
    // With what the sweep has, it is the first block once more.
    let again = message(&with("\ntraining:", &format!("\n{}", block.replace("batch_size: 512", "epochs: 20"))));
    assert!(again.contains("stands twice, first in line 8; keep one"), "{again}");
}

/// Halving: 2 configurations of 2 methods and 1 of enmf with 2 seeds each, and popularity; no method is stopped where another ends.
#[test]
fn rungs_end_before_any_method_does() {
    let search = "search: {kind: successive-halving, epochs: 10, factor: 2}\nseeds:";
    let plan = plan_of(&with("seeds:", search).replace("epochs: 20,", "epochs: 50,")).unwrap();
    let rungs: Vec<(u32, usize)> = plan.rungs().iter().map(|rung| (rung.epochs, rung.trials)).collect();
    assert_eq!(rungs, [(10, 4 + 4 + 2 + 1), (20, 2 + 2 + 2), (40, 6), (400, 6)]);
    // 10 trials for 10 epochs, 6 for 10 more and for 20 more; the rest of bpr is 10 epochs, of smooth-ndcg 360, of enmf 20, with two seeds each.
    assert_eq!(plan.searched_epochs(), (100 + 60 + 120 + 2 * (10 + 360 + 20), 4 * 50 + 4 * 400 + 2 * 60));
    let text = show(&plan, &[Found::raw(1)], 1, &Resources::default(), AskedDevice::Auto);
    assert!(text.contains("rung 2: 6 trials to 40 epochs\nrung 3: 6 trials to their ends, 50 to 400 epochs\n"), "{text}");
    let complaint = message(&with("seeds:", search).replace("evaluate_every: 10", "evaluate_every: 4"));
    assert!(complaint.contains("evaluates every 4 epochs"), "{complaint}");
}

/// 100 users with 3,000 interactions in batches of 64: 47 steps of pairs with two scores each, and 2 steps of users, each with the scores of five
/// positives and a negative. There are two rates and two seeds of each.
#[test]
fn a_loss_of_lists_has_a_step_for_as_many_users_as_another_has_pairs() {
    let plan = plan_of(BLOCKS).unwrap();
    let text = show(&plan, &[prepared(100, 40, 3_000)], 1, &Resources::default(), AskedDevice::Auto);
    assert!(text.contains("\nbpr on mf-8 on d: 2 configurations, 4 trials, 47 steps an epoch\n"), "{text}");
    assert!(text.contains("\nsmooth-ndcg on mf-8 on d: 2 configurations, 4 trials, 2 steps an epoch\n"), "{text}");
    assert!(text.contains("\nenmf-8 on d: 1 configuration, 2 trials\n"), "{text}");
    let (steps, scores) = (4 * 20 * 47 + 4 * 400 * 2, (4 * 20 * 3_000 * 2 + 4 * 400 * 100 * 6) as f64);
    assert!(text.contains(&format!("at most {steps} steps and {scores:.2e} scores in all\n")), "{text}");
}

#[test]
fn what_is_wrong_with_a_blocks_training_is_said_where_it_stands() {
    let cases = [
        (with("patience: 30", "patience: 0"), "s.yaml:15:59: grid[1].training.patience"),
        (with("epochs: 400", "epochs: 0"), "s.yaml:15:24: grid[1].training.epochs"),
        (
            with(", validation: 0.1", "").replace(", patience: 2}", "}").replace("[0.1, 0.01]", "0.1"),
            "s.yaml:15:59: grid[1].training.patience: patience 30 stops on validation",
        ),
    ];
    for (text, place) in cases {
        let found = message(&text);
        assert!(found.starts_with(place), "{found}");
    }
}
