//! Plans of whole sweep files, good and bad.

use super::*;
use crate::file::SweepFile;
use cluster::Resources;
use dataset::Manifest;
use std::collections::BTreeSet;

mod drawn;
mod gpus;
mod rungs;
mod splits;
mod trainings;
mod typed;

const GOOD: &str = "\
name: small
datasets:
  - name: d
    source: {format: synthetic}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 1}
grid:
  - backbones:
      - {kind: mf, dim: 8}
      - {kind: light-gcn, dim: 8, layers: 2}
    losses:
      - {kind: bpr}
      - {kind: softmax, temperature: [0.1, 0.2]}
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: [0.1, 0.01]}
  - backbones: [{kind: popularity}, {kind: ease, regularization: [10, 100]}]
training: {epochs: 3, batch_size: 64, evaluate_every: 1}
seeds: [1, 2]
";

fn plan_of(text: &str) -> Result<Plan> {
    let file = SweepFile::parse(text, "s.yaml")?;
    let fingerprint = |(entry, split): (&DatasetEntry, &Preparation)| match split.split.repetition() {
        Some(seed) if entry.is_repeated() => format!("{}-{seed}", split.name),
        _ => split.name.clone(),
    };
    check(&file)?.plan(&file.splits().map(fingerprint).collect::<Vec<_>>())
}

/// What is searched is a part of a method's name where that alone differs.
#[test]
fn ranges_of_the_same_ends_are_other_methods() {
    let losses = "      - {kind: softmax, temperature: {uniform: [0.1, 1]}}\n      - {kind: softmax, temperature: {log_uniform: [0.1, 1]}}\n      - {kind: softmax, temperature: [0.1, 1]}\n";
    let text = GOOD.replace("      - {kind: bpr}\n      - {kind: softmax, temperature: [0.1, 0.2]}\n", losses)
        + "search: {kind: random, trials: 2}\n";
    let plan = plan_of(&text).unwrap();
    let found: Vec<&str> = plan.methods.iter().map(|method| method.label.as_str()).filter(|label| label.starts_with("mf-8")).collect();
    let named = |temperature: &str| format!("mf-8 / softmax(temperature={temperature}) / uniform-5");
    assert_eq!(found, ["uniform(0.1, 1)", "log_uniform(0.1, 1)", "0.1|1"].map(named));
    let rates = "learning_rate: {log_uniform: [0.01, 0.1]}, learning_rate_decay: {every: 5, factor: RANGE}";
    let block = |range: &str| {
        let rates = rates.replace("RANGE", range);
        format!(
            "  - backbones: [{{kind: mf, dim: 8}}]\n    losses: [{{kind: bpr}}]\n    samplers: [{{kind: uniform, negatives: 5}}]\n    optimizer: {{kind: adam, {rates}}}\n"
        )
    };
    let (head, tail) = (&GOOD[..GOOD.find("  - backbones").unwrap()], &GOOD[GOOD.find("training:").unwrap()..]);
    let twice = format!(
        "{head}{}{}{tail}search: {{kind: random, trials: 2}}\n",
        block("{uniform: [0.5, 0.9]}"),
        block("{log_uniform: [0.5, 0.9]}")
    );
    let reason = message(&twice);
    assert!(reason.contains("two methods would be called `mf-8 / bpr / uniform-5`, first in line"), "{reason}");
}

fn message(text: &str) -> String {
    plan_of(text).unwrap_err().to_string()
}

/// A prepared dataset of such sizes.
fn prepared(users: usize, items: usize, train: usize) -> Found {
    Found::Prepared(Manifest {
        schema_version: dataset::SCHEMA_VERSION,
        name: "d".into(),
        fingerprint: "f".into(),
        users,
        items,
        train,
        fold_in: None,
        validation: 0,
        one_node_set: false,
        test: users,
        ordered: false,
        steps: Vec::new(),
        settings: Value::Null,
        files: Default::default(),
    })
}

/// The good file with one text replaced.
fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    GOOD.replacen(old, new, 1)
}

/// Options that protocols ask for have names of their own; a trial without them is named as ever.
#[test]
fn options_of_protocols_are_read_as_typed() {
    let optimizer = "learning_rate: 0.1, batch_l2: [0, 0.0001], learning_rate_decay: {every: 5, factor: [0.9, 0.95]}";
    let text = with("epochs: 3", "rows: users, epochs: 3").replace("learning_rate: [0.1, 0.01]", optimizer);
    let plan = plan_of(&text).unwrap();
    let configurations = &plan.methods[0].configurations;
    let learning = serde_json::to_value(configurations[0].trials[0].trial.learning.as_ref().unwrap()).unwrap();
    assert_eq!(learning["training"]["rows"], "users");
    assert_eq!(learning["optimizer"]["adam"]["learning_rate_decay"], serde_json::json!({"every": 5, "factor": 0.9}));
    let values =
        |name: &str| configurations.iter().map(|configuration| configuration.parameters[name].to_string()).collect::<BTreeSet<_>>();
    assert_eq!(values("optimizer.batch_l2"), ["0.0", "0.0001"].map(str::to_owned).into());
    assert_eq!(
        values("optimizer.learning_rate_decay"),
        [r#""every=5, factor=0.9""#, r#""every=5, factor=0.95""#].map(str::to_owned).into()
    );
}

#[test]
fn the_grid_is_spread_out_in_written_order() {
    let plan = plan_of(GOOD).unwrap();
    let methods: Vec<(&str, usize)> = plan.methods.iter().map(|method| (method.label.as_str(), method.configurations.len())).collect();
    assert_eq!(
        methods,
        [
            ("mf-8 / bpr / uniform-5", 2),
            ("mf-8 / softmax / uniform-5", 4),
            ("light-gcn-8x2 / bpr / uniform-5", 2),
            ("light-gcn-8x2 / softmax / uniform-5", 4),
            ("popularity", 1),
            ("ease", 2),
        ]
    );
    // Twelve configurations with two seeds each, and three that fit without sampling.
    assert_eq!(plan.trials().count(), 27);
    let values: Vec<String> =
        plan.methods[1].configurations.iter().map(|configuration| Value::from(configuration.values.clone()).to_string()).collect();
    assert_eq!(
        values,
        [
            r#"{"loss.temperature":0.1,"optimizer.learning_rate":0.1}"#,
            r#"{"loss.temperature":0.1,"optimizer.learning_rate":0.01}"#,
            r#"{"loss.temperature":0.2,"optimizer.learning_rate":0.1}"#,
            r#"{"loss.temperature":0.2,"optimizer.learning_rate":0.01}"#,
        ]
    );
    let seeds: Vec<Option<u64>> = plan.methods[4].configurations[0].trials.iter().map(PlannedTrial::seed).collect();
    assert_eq!(seeds, [None]);
}

#[test]
fn parameters_are_all_values_by_role() {
    let plan = plan_of(GOOD).unwrap();
    let (_, configuration, _) = plan.trial_at(0).unwrap();
    assert_eq!(
        Value::from(configuration.parameters.clone()).to_string(),
        r#"{"backbone.dim":8,"backbone.init":"xavier-normal","loss.similarity":"dot","optimizer.beta1":0.9,"optimizer.beta2":0.999,"optimizer.epsilon":1e-8,"optimizer.kind":"adam","optimizer.learning_rate":0.1,"optimizer.weight_decay":0.0,"sampler.negatives":5,"sampler.replacement":true}"#
    );
}

/// Serialisation leaves these defaults out, as it did before the keys were there: a trial's id does not change.
#[test]
fn a_default_among_tuned_values_is_told_as_the_others_are() {
    let text = GOOD
        .replace("{kind: light-gcn, dim: 8, layers: 2}", "{kind: light-gcn, dim: 8, layers: 2, user_table: [learned, none]}")
        .replace("{kind: popularity}", "{kind: rg2, dim: 8, regularization: 0.1, reg_scaling: [2, 0, 1]}");
    let values_of = |text: &str, label: &str| -> Vec<String> {
        let plan = plan_of(text).unwrap();
        let method = plan.methods.iter().find(|method| method.label == label).unwrap();
        method.configurations.iter().map(|configuration| Value::from(configuration.values.clone()).to_string()).collect()
    };
    let scaled = ["2.0", "0.0", "1.0"].map(|value| format!(r#"{{"backbone.reg_scaling":{value}}}"#));
    assert_eq!(values_of(&text, "rg2-8"), scaled);
    let rate = r#""optimizer.learning_rate":0.1}"#;
    let tables = ["learned", "none"].map(|table| format!(r#"{{"backbone.user_table":"{table}",{rate}"#));
    let light = values_of(&text, "light-gcn-8x2 / bpr / uniform-5");
    assert_eq!([&light[0], &light[2]], [&tables[0], &tables[1]]);
    let decayed = with("learning_rate: [0.1, 0.01]", "learning_rate: 0.1, learning_rate_decay: [null, {every: 5, factor: 0.5}]");
    let decays = ["null", r#""every=5, factor=0.5""#].map(|decay| format!(r#"{{"optimizer.learning_rate_decay":{decay}}}"#));
    assert_eq!(values_of(&decayed, "mf-8 / bpr / uniform-5"), decays);
    let alone = plan_of(&text.replace("[learned, none]", "learned")).unwrap();
    let first = plan_of(&text).unwrap();
    assert_eq!(first.trial_at(6 * 2).unwrap().2.id, alone.trial_at(6 * 2).unwrap().2.id);
}

#[test]
fn trials_have_ids_of_their_own_that_do_not_depend_on_how_the_file_is_written() {
    let plan = plan_of(GOOD).unwrap();
    let ids: Vec<&str> = plan.trials().map(|(.., trial)| trial.id.as_str()).collect();
    let different: std::collections::HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(different.len(), ids.len());
    let rewritten = with("learning_rate: [0.1, 0.01]", "weight_decay: 0, learning_rate: [1.0e-1, 0.010]");
    let again = plan_of(&rewritten).unwrap();
    assert!(again.trials().map(|(.., trial)| trial.id.as_str()).eq(ids));
    assert_eq!(again.to_json(), plan.to_json());
    let stored: Plan = serde_json::from_str(&plan.to_json()).unwrap();
    assert_eq!(stored, plan);
}

/// A trial is named by the revisions of its loss, model and sampler; with those that have none it is named as before there were any.
#[test]
fn revisions_are_part_of_the_names_of_trials() {
    let texts = [
        ("{kind: bpr}", "{kind: bpr}"),
        ("{kind: bpr}", "{kind: bce}"),
        ("{kind: mf, dim: 8}", "{kind: sgl, dim: 8, layers: 1}"),
        ("{kind: uniform,", "{kind: in-batch,"),
    ];
    for (.., planned) in texts.map(|(old, new)| plan_of(&GOOD.replace(old, new)).unwrap()).iter().flat_map(Plan::trials) {
        let trial = &planned.trial;
        assert_eq!(trial.revision, trial.learning.as_ref().map_or(0, |learning| learning.loss_revision(&trial.backbone)));
        assert_eq!(trial.backbone_revision, trial.backbone.revision());
        assert_eq!(trial.sampler_revision, trial.learning.as_ref().map_or(0, |learning| learning.sampler_revision(&trial.backbone)));
        let text = |of: [u32; 3]| {
            let [revision, backbone_revision, sampler_revision] = of;
            serde_json::to_string(&Trial { revision, backbone_revision, sampler_revision, ..trial.clone() }).unwrap()
        };
        assert!(!text([0; 3]).contains("revision"), "{}", text([0; 3]));
        for (of, name) in [([1, 0, 0], r#""revision":1"#), ([0, 2, 0], r#""backbone_revision":2"#), ([0, 0, 3], r#""sampler_revision":3"#)]
        {
            assert!(text(of).contains(&format!(",{name},\"dataset\"")), "{}", text(of));
        }
    }
}

#[test]
fn two_blocks_that_differ_in_the_optimizer_show_it() {
    let block = "  - backbones: [{kind: mf, dim: 8}]\n    losses: [{kind: bpr}]\n    samplers: [{kind: uniform, negatives: 5}]\n    optimizer: {kind: lazy-adam, learning_rate: 0.1}\ntraining:";
    let plan = plan_of(&with("training:", block)).unwrap();
    let labels: Vec<&str> = plan.methods.iter().map(|method| method.label.as_str()).collect();
    assert_eq!((labels[0], labels[6]), ("mf-8 / bpr / uniform-5 / adam", "mf-8 / bpr / uniform-5 / lazy-adam"));
    assert_eq!(labels[1], "mf-8 / softmax / uniform-5");
}

#[test]
fn the_same_trial_twice_names_both_lines() {
    let block = "  - backbones: [{kind: mf, dim: 8}]\n    losses: [{kind: bpr}]\n    samplers: [{kind: uniform, negatives: 5}]\n    optimizer: {kind: adam, learning_rate: 0.01}\ntraining:";
    let text = message(&with("training:", block));
    assert!(
        text.starts_with("s.yaml:17:14: grid[2].losses[0]: `mf-8 / bpr / uniform-5 / adam(learning_rate=0.01)` with backbone.dim=8"),
        "{text}"
    );
    assert!(text.ends_with("stands twice, first in line 11; keep one"), "{text}");
    let text = message(&with("{kind: bpr}", "{kind: bpr}\n      - {kind: bpr}"));
    assert!(text.starts_with("s.yaml:12:9: grid[0].losses[1]: `mf-8 / bpr / uniform-5") && text.contains("first in line 11"), "{text}");
    let text = message(&with("[0.1, 0.2]", "[0.1, 0.10]"));
    assert!(text.starts_with("s.yaml:12:"), "{text}");
}

#[test]
fn values_that_cannot_be_name_their_line() {
    let cases = [
        (with("temperature: [0.1, 0.2]", "temperature: [0.1, -1]"), "s.yaml:12:38: grid[0].losses[1].temperature"),
        (with("{kind: mf, dim: 8}", "{kind: mf, dim: 0}"), "s.yaml:8:25: grid[0].backbones[0].dim"),
        (with("negatives: 5", "negatives: 0"), "s.yaml:13:43: grid[0].samplers[0].negatives"),
        (with("epochs: 3", "epochs: 0"), "s.yaml:16:20: training.epochs: mf-8 / bpr / uniform-5: epochs is 0"),
        (with("test: 0.2", "test: 1.2"), "s.yaml:5:33: datasets[0].split.test"),
        (with("seed: 1}", "seed: [1, 1]}"), "s.yaml:5:65: datasets[0].split.seed[1]: the seed 1 stands twice"),
        (with("seed: 1}", "seed: []}"), "s.yaml:5:61: datasets[0].split.seed: an empty list"),
        (
            with("random, test: 0.2, validation: 0.1, seed: 1}", "leave-last, validation: true, seed: [1, 2]}"),
            "s.yaml:5:49: datasets[0].split.seed: unknown key `seed`",
        ),
        (with("name: d", "name: a/b"), "s.yaml:3:11: datasets[0].name"),
        (with("name: small", "name: .."), "s.yaml:1:7: name"),
        (with("seeds: [1, 2]", "seeds: [1, 1]"), "s.yaml:17:8: seeds: the seed 1 stands twice"),
        (with("seeds: [1, 2]", "seeds: []"), "s.yaml:17:8: seeds: no seed"),
        (with("evaluate_every: 1", "select_by: ndcg"), "s.yaml:16:50: training.select_by: `ndcg` is no metric: a cutoff is missing"),
        (with("evaluate_every: 1", "select_by: ndgc@20"), "s.yaml:16:50: training.select_by: unknown metric `ndgc`: did you mean `ndcg`?"),
        (
            with("evaluate_every: 1", "select_by: gini@20"),
            "s.yaml:16:50: training.select_by: `gini@20` does not say which model ranks better, and picks none: expected one of ndcg, recall, ",
        ),
        (
            with("{kind: bpr}", "{kind: softmax-at-k, cutoff: 20, temperature: 1, weight_temperature: 1, quantile_every: 1}"),
            "s.yaml:11:38: grid[0].losses[0].cutoff",
        ),
        (
            with("{kind: bpr}", "{kind: gbce, calibration: 0.75}").replacen("{kind: uniform, negatives: 5}", "{kind: all}", 1),
            "s.yaml:13:16: grid[0].samplers[0]: mf-8 / gbce / all: the sampler `all` draws nothing, and gbce corrects",
        ),
        (
            with("{kind: uniform, negatives: 5}", "{kind: dns}"),
            "s.yaml:13:16: grid[0].samplers[0]: mf-8 / bpr / dns: the sampler `dns` draws",
        ),
        (
            with("{kind: bpr}", "{kind: warp}"),
            "s.yaml:11:9: grid[0].losses[0]: mf-8 / warp / uniform-5: the loss `warp` weighs by a rank, which the sampler `uniform` does not",
        ),
        (
            with("{kind: bpr}", "{kind: uib}")
                .replacen("negatives: 5", "negatives: 5, pool: {kind: all}", 1)
                .replacen("uniform", "dns-mn", 1),
            "s.yaml:13:51: grid[0].samplers[0].pool: mf-8 / uib / dns-mn-5: the sampler `dns-mn` draws nothing from the pool `all`, and uib",
        ),
        (GOOD.to_owned() + "evaluation: {cutoffs: []}\n", "s.yaml:18:23: evaluation.cutoffs: `cutoffs` is empty"),
        (
            GOOD.to_owned() + "evaluation: {metrics: [gini]}\n",
            "s.yaml:18:23: evaluation.metrics: `metrics` is gini, by none of which methods rank",
        ),
    ];
    for (text, expected) in cases {
        let found = message(&text);
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn a_grid_without_bounds_is_refused_before_it_fills_the_memory() {
    let many: Vec<String> = (1..=9000).map(|value| format!("{value}e-4")).collect();
    let text = with("[0.1, 0.2]", &format!("[{}]", many.join(", "))).replace("[0.1, 0.01]", &format!("[{}]", many.join(", ")));
    assert!(message(&text).contains("trials; at most 100000 are planned"));
}

#[test]
fn wrong_keys_at_every_depth_name_their_line() {
    let cases = [
        (with("name: small", "nane: small"), "s.yaml:1:1: nane: unknown key `nane`: did you mean `name`?"),
        (with("source:", "sorce:"), "s.yaml:4:5: datasets[0].sorce: unknown key `sorce`: did you mean `source`?"),
        (with("losses:", "loses:"), "s.yaml:10:5: grid[0].loses: unknown key `loses`: did you mean `losses`?"),
        (
            with("temperature: [", "tempratur: ["),
            "s.yaml:12:25: grid[0].losses[1].tempratur: unknown key `tempratur`: did you mean `temperature`?",
        ),
        (with("epochs: 3", "epoch: 3"), "s.yaml:16:12: training.epoch: unknown key `epoch`: did you mean `epochs`?"),
        (with("evaluate_every: 1", "checkpoint_seconds: 1"), "s.yaml:16:39: training.checkpoint_seconds: unknown key"),
        (GOOD.to_owned() + "resources: {gpu: 1}\n", "s.yaml:18:13: resources.gpu: unknown key `gpu`: did you mean `gpus`?"),
        (
            GOOD.to_owned() + "evaluation: {significance: {test: [wilcoxon]}}\n",
            "s.yaml:18:29: evaluation.significance.test: unknown key `test`: did you mean `tests`?",
        ),
        (GOOD.to_owned() + "search: {kind: rnadom}\n", "s.yaml:18:16: search.kind: unknown kind `rnadom`: did you mean `random`?"),
        (
            with("format: synthetic", "format: sythetic"),
            "s.yaml:4:22: datasets[0].source.format: unknown format `sythetic`: did you mean `synthetic`?",
        ),
        (with("epochs: 3", "epochs: 3, epochs: 4"), "s.yaml:16:23: training.epochs: the key `epochs` stands twice, first in line 16"),
        (with("epochs: 3", "epochs: many"), "s.yaml:16:20: training.epochs: expected a whole number from 0 to 4294967295, found `many`"),
        (with("epochs: 3", "rows: user"), "s.yaml:16:18: training.rows: unknown name `user`: did you mean `users`?"),
        (with("seeds: [1, 2]", "seeds: 1"), "s.yaml:17:8: seeds: expected a list (`[a, b]`), found `1`"),
    ];
    for (text, expected) in cases {
        let found = message(&text);
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn a_search_that_cannot_be_says_why() {
    let search = |settings: &str| GOOD.to_owned() + "search: {" + settings + "}\n";
    let ranged = |settings: &str| search(settings).replacen("[0.1, 0.01]", "{log_uniform: [0.01, 0.1]}", 1);
    let cases = [
        (search("kind: random, trials: 0"), "s.yaml:18:32: search.trials: trials is 0, expected at least 1"),
        (search("kind: successive-halving, epochs: 3"), "s.yaml:18:44: search.epochs: epochs is 3, and training has 3: expected fewer"),
        (
            search("kind: successive-halving, epochs: 3").replacen(
                "epochs: 3, batch_size: 64, evaluate_every: 1",
                "epochs: 9, batch_size: 64, evaluate_every: 2",
                1,
            ),
            "s.yaml:18:44: search.epochs: epochs is 3, but training evaluates every 2 epochs, and rungs compare evaluations: expected a multiple of 2, such as 4",
        ),
        (search("kind: successive-halving, epochs: 1, factor: 1"), "s.yaml:18:55: search.factor: factor is 1, expected at least 2"),
        (
            ranged("kind: grid"),
            "s.yaml:14:44: grid[0].optimizer.learning_rate: `log_uniform` has no end of values, and a grid takes them all: list values, or draw some",
        ),
        (
            ranged("kind: successive-halving, epochs: 1"),
            "s.yaml:14:44: grid[0].optimizer.learning_rate: `log_uniform` has no end of values: give `search` (line 18) the number of configurations",
        ),
        (
            search("kind: random, trials: 2").replacen("negatives: 5", "negatives: {uniform: [1, 8]}", 1),
            "s.yaml:13:43: grid[0].samplers[0].negatives: `uniform` draws numbers with fractions where a whole one is expected; `integer`",
        ),
        (
            search("kind: random, trials: 2").replacen("[0.1, 0.2]", "{uniform: [0, 1]}", 1),
            "s.yaml:12:38: grid[0].losses[1].temperature: mf-8 / softmax / uniform-5: temperature is 0",
        ),
        (search("kind: random, trials: 1000000"), ""),
    ];
    for (text, expected) in cases {
        match plan_of(&text) {
            Err(error) => assert!(error.to_string().starts_with(expected) && !expected.is_empty(), "{error}"),
            Ok(_) => assert!(expected.is_empty(), "{expected}"),
        }
    }
}

#[test]
fn pairs_that_cannot_be_say_why() {
    let ease_learns = message(&with("{kind: mf, dim: 8}", "{kind: ease, regularization: 1}"));
    assert_eq!(
        ease_learns,
        "s.yaml:8:9: grid[0].backbones[0]: `ease` fits without sampling, but its block has `losses` (line 11); give it a block with `backbones` alone"
    );
    let mf_alone = message(&with("[{kind: popularity}, ", "[{kind: mf, dim: 4}, "));
    assert_eq!(
        mf_alone,
        "s.yaml:15:17: grid[1].backbones[0]: `mf` learns from a loss, but its block has none; add `losses`, `samplers` and `optimizer`"
    );
    let untuned = message(&with(", validation: 0.1", ""));
    assert_eq!(
        untuned,
        "s.yaml:14:16: grid[0].optimizer: listed values are tuned on validation, but dataset `d` (line 3) has no validation part: give its `split` one (`validation: 0.1`), or give one value"
    );
    for (split, key) in [("leave-last}", "validation: true"), ("leave-n, test: 1}", "validation: 1")] {
        let untuned = message(&with("random, test: 0.2, validation: 0.1, seed: 1}", split));
        assert!(untuned.contains(&format!("give its `split` one (`{key}`)")), "{untuned}");
    }
}

/// The good file with a `significance` block.
fn tested_by(significance: &str) -> String {
    format!("{GOOD}evaluation: {{significance: {{{significance}}}}}\n")
}

#[test]
fn the_method_of_a_family_must_be_there() {
    let family = |method: &str| tested_by(&format!("family: {{against: \"{method}\"}}"));
    assert!(plan_of(&family("popularity")).is_ok());
    let named = |method: &str| plan_of(&family(method)).unwrap().evaluation.significance.family;
    let key = named("mf-8 / bpr / uniform-5");
    assert_eq!(
        (named("bpr on mf-8"), &key),
        (Family::Against("mf-8 / bpr / uniform-5".into()), &key),
        "by the name of the leaderboard too"
    );
    let message = message(&family("popularty"));
    assert!(
        message.contains("evaluation.significance.family") && message.contains("unknown method `popularty`: did you mean `popularity`?"),
        "{message}"
    );
}

/// Six methods have 15 comparisons, of which none falls below 0.05 with 200 resamples to each.
#[test]
fn resamples_that_decide_nothing_are_refused_before_the_sweep() {
    let few = message(&tested_by("tests: [paired-t, randomization], correction: holm, alpha: 0.001, resamples: 1000"));
    assert!(few.contains("`resamples` is too small: 15 comparisons adjusted by holm") && few.contains("give 15000 or more"), "{few}");
    assert!(plan_of(&tested_by("tests: [paired-t, randomization], correction: holm, alpha: 0.001, resamples: 15000")).is_ok());
    assert!(plan_of(&tested_by("alpha: 0.01, bootstrap_resamples: 1000")).is_ok());
}

#[test]
fn the_metric_of_selection_is_the_primary_one_where_it_is_measured() {
    let primary = |evaluation: &str| plan_of(&format!("{GOOD}evaluation: {evaluation}\n")).unwrap().evaluation.primary().to_string();
    assert_eq!(primary("{metrics: [recall, ndcg], cutoffs: [5, 20]}"), "ndcg@20");
    assert_eq!(primary("{metrics: [recall], cutoffs: [5]}"), "recall@5");
    assert_eq!(primary("{metrics: [recall, ndcg], cutoffs: [5, 20], primary: recall@20}"), "recall@20");
    let unknown = message(&format!("{GOOD}evaluation: {{metrics: [recall], cutoffs: [5], primary: map@5}}\n"));
    assert!(unknown.contains("evaluation.primary: `primary` is map@5: expected one of those measured, recall@5"), "{unknown}");
}
