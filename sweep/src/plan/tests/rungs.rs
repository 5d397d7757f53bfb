//! Plans of successive halving.

use super::*;
use crate::file::AskedDevice;

const HALVING: &str = "\
name: halving
datasets:
  - name: d
    source: {format: synthetic}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 1}
grid:
  - backbones: [{kind: mf, dim: [4, 8]}]
    losses: [{kind: bpr}, {kind: softmax, temperature: [0.1, 0.2, 0.3]}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: [0.1, 0.03, 0.01]}
  - backbones: [{kind: popularity}, {kind: ease, regularization: [10, 100]}]
training: {epochs: 20, batch_size: 64, evaluate_every: 2}
seeds: [1, 2]
search: {kind: successive-halving, epochs: 2}
";

#[test]
fn rungs_count_the_trials_of_all_methods() {
    let plan = plan_of(HALVING).unwrap();
    // bpr has 6 configurations, softmax 18, with two seeds each; popularity and ease have 3, which are fit at once.
    let expected = [(2, 51), (6, 16), (18, 6), (20, 4)].map(|(epochs, trials)| Rung { epochs, trials, repeats: false });
    assert_eq!(plan.rungs(), expected);
    // 48 trials for 2 epochs, 16 for 4 more, 6 for 12 more, 4 for 2 more; and 48 for 20.
    assert_eq!(plan.searched_epochs(), (96 + 64 + 72 + 8, 960));
    let text = show(&plan, &[Found::raw(1)], 1, &Resources::default(), AskedDevice::Auto);
    assert!(text.starts_with("sweep halving: select by validation ndcg@20; halved by 3 at each rung\n"), "{text}");
    let lines = "\nrung 0: 51 trials to 2 epochs\nrung 1: 16 trials to 6 epochs\nrung 2: 6 trials to 18 epochs\nrung 3: 4 trials to 20 epochs\n\
                 240 epochs in all; all trials to the end take 960 (75 % saved)\n";
    assert!(text.ends_with(lines), "{text}");
    // 24 configurations with two seeds: ten units each epoch, of which a half is trained by each method's costliest.
    let costs: Vec<u64> = plan.trials().map(|(method, ..)| if method.learns() { 200 } else { 0 }).collect();
    assert_eq!(plan.searched(&plan.datasets[0], &costs), 2_400);
}

/// `bpr` has 6 configurations and `softmax` 18; of three seeds one picks. Popularity and ease have no seed.
#[test]
fn other_seeds_than_those_that_pick_have_a_rung_of_their_own() {
    let tuned =
        |search: &str| plan_of(&HALVING.replace("{kind: successive-halving, epochs: 2}", search).replace("[1, 2]", "[1, 2, 3]")).unwrap();
    let rungs = |plan: &Plan| plan.rungs().iter().map(|rung| (rung.epochs, rung.trials, rung.repeats)).collect::<Vec<_>>();
    let grid = tuned("{kind: grid, tuning_seeds: 1}");
    assert_eq!(rungs(&grid), [(20, 24 + 3, false), (20, 2 * 2, true)]);
    assert_eq!(grid.searched_epochs(), (20 * (24 + 4), 20 * 24 * 3));
    let two = tuned("{kind: grid, tuning_seeds: 2}");
    assert_eq!(rungs(&two), [(20, 48 + 3, false), (20, 2, true)]);
    let halving = tuned("{kind: successive-halving, epochs: 2, tuning_seeds: 1}");
    assert_eq!(rungs(&halving), [(2, 24 + 3, false), (6, 8, false), (18, 3, false), (20, 2, false), (20, 4, true)]);
    assert_eq!(halving.searched_epochs(), (2 * 24 + 4 * 8 + 12 * 3 + 2 * 2 + 20 * 4, 20 * 24 * 3));
    let costs: Vec<u64> = halving.trials().map(|(method, ..)| if method.learns() { 200 } else { 0 }).collect();
    assert_eq!(halving.searched(&halving.datasets[0], &costs), 2_000);
    // The trials are those of a grid, and what reads a stored plan finds the same.
    let stored: Plan = serde_json::from_str(&halving.to_json()).unwrap();
    assert!(stored == halving && halving.trials().map(|(.., trial)| &trial.id).eq(grid.trials().map(|(.., trial)| &trial.id)));
    let first = &grid.methods[0];
    assert_eq!((grid.tunes(first), two.tunes(first)), (vec![true, false, false], vec![true, true, false]));
    // Where there is one configuration nothing is picked, and all seeds are trained at once.
    let single = tuned("{kind: random, trials: 1, tuning_seeds: 1}");
    assert_eq!(rungs(&single), [(20, 2 * 3 + 2, false), (20, 0, true)]);
}

#[test]
fn seeds_pick_on_every_split() {
    let text =
        HALVING.replace("seed: 1}", "seed: [7, 8]}").replace("{kind: successive-halving, epochs: 2}", "{kind: grid, tuning_seeds: 1}");
    let plan = plan_of(&text).unwrap();
    assert_eq!(plan.tunes(&plan.methods[0]), [true, false, true, false]);
    assert_eq!(plan.rungs().iter().map(|rung| rung.trials).collect::<Vec<_>>(), [2 * (24 + 3), 2 * 2]);
}

/// It has epochs and seeds, and nothing of the block that others learn by.
#[test]
fn a_model_with_an_objective_of_its_own_is_halved_like_those_that_have_a_loss() {
    let text = "\
name: own
datasets: [{name: d, source: {format: synthetic}, split: {kind: random, test: 0.2, validation: 0.1}}]
seeds: [5, 6]
search: {kind: successive-halving, epochs: 2}
grid: [{backbones: [{kind: enmf, dim: [4, 8]}, {kind: popularity}]}]
training: {epochs: 20, evaluate_every: 1, patience: 3}
";
    let plan = plan_of(text).unwrap();
    assert_eq!(plan.rungs().iter().map(|rung| (rung.epochs, rung.trials)).collect::<Vec<_>>(), [(2, 5), (6, 2), (18, 2), (20, 2)]);
    let found: Vec<_> = plan.trials().map(|(.., planned)| (planned.trial.epochs(), planned.seed())).collect();
    assert_eq!(found, [(Some(20), Some(5)), (Some(20), Some(6)), (Some(20), Some(5)), (Some(20), Some(6)), (None, None)]);
    assert!(plan.trials().all(|(.., planned)| planned.trial.learning.is_none() && planned.trial.check().is_ok()));
}

#[test]
fn trials_are_drawn_as_a_random_search_draws_them() {
    let halving = plan_of(&HALVING.replace("epochs: 2}", "epochs: 2, trials: 4, seed: 3}")).unwrap();
    let random = plan_of(&HALVING.replace("{kind: successive-halving, epochs: 2}", "{kind: random, trials: 4, seed: 3}")).unwrap();
    assert_eq!(halving.methods, random.methods);
    assert_eq!(halving.rungs().iter().map(|rung| rung.trials).collect::<Vec<_>>(), [19, 4, 4, 4]);
    assert_eq!((random.rungs(), random.rung_epochs.len()), (vec![], 0));
}

#[test]
fn a_grid_has_the_plan_that_it_had_before_there_were_others() {
    let plan = plan_of(&HALVING.replace("search: {kind: successive-halving, epochs: 2}\n", "")).unwrap();
    let text = plan.to_json();
    assert!(["search", "rung", "drawn"].iter().all(|key| !text.contains(key)));
    let halving = plan_of(HALVING).unwrap();
    let stored: Plan = serde_json::from_str(&halving.to_json()).unwrap();
    assert_eq!(stored, halving);
    assert!(halving.trials().map(|(.., trial)| &trial.id).eq(plan.trials().map(|(.., trial)| &trial.id)));
}
