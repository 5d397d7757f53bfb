//! Sweep files that cannot be meant.

use crate::{
    json_schema,
    support::{SWEEP, Sandbox, changed},
};

/// What a complaint has where the keys, the names and the types of the file are at fault: a schema can tell.
const OF_A_SCHEMA: [&str; 8] = [
    "unknown key `",
    "unknown kind `",
    "unknown format `",
    "unknown name `",
    "unknown range `",
    ": expected a number, found",
    ": expected a whole number from",
    "` is missing",
];

/// A bad sweep file: one line on standard error, exit code 2, nothing written.
fn refused(sweep: &str, message: &str) {
    let sandbox = Sandbox::new(sweep);
    let ended = sandbox.run();
    let complaint = ended.complaint(2);
    assert!(complaint.starts_with(message), "\n   found: {complaint}\nexpected: {message}");
    assert_eq!((ended.error.lines().count(), ended.out.as_str()), (1, ""));
    assert!(!sandbox.path("runs").exists());
    let can_tell = OF_A_SCHEMA.iter().any(|words| complaint.contains(words));
    // `.nan` is no value of JSON, and so of no schema.
    if let (true, Ok(value)) = (can_tell, serde_yaml::from_str(sweep)) {
        assert!(!json_schema::accepts(&sweep::schema::schema(), &value), "the schema accepts what is refused: {complaint}");
    }
}

#[test]
fn unknown_keys_and_kinds_name_their_line_and_the_nearest_spelling() {
    refused(
        &changed("temperature: 0.2", "tempratur: 0.1"),
        "s.yaml:10:25: grid[0].losses[1].tempratur: unknown key `tempratur`: did you mean `temperature`? (expected one of `temperature`, ",
    );
    refused(
        &changed("training:", "trainings:"),
        "s.yaml:14:1: trainings: unknown key `trainings`: did you mean `training`? (expected one of `name`, `storage`, ",
    );
    refused(
        &changed("rating: rating,", "ratings: rating,"),
        "s.yaml:4:86: datasets[0].source.columns.ratings: unknown key `ratings`: did you mean `rating`? (expected one of `user`, `item`, ",
    );
    refused(
        &changed("{kind: bpr}", "{kind: bpr, temperature: 0.1}"),
        "s.yaml:9:21: grid[0].losses[0].temperature: unknown key `temperature`",
    );
    refused(
        &changed("kind: softmax,", "kind: sofmax,"),
        "s.yaml:10:16: grid[0].losses[1].kind: unknown kind `sofmax`: did you mean `softmax`? (expected one of ",
    );
    refused(
        &changed("format: delimited", "format: csv"),
        "s.yaml:4:22: datasets[0].source.format: unknown format `csv`: did you mean `delimited`? (expected one of `delimited`, `movielens`, ",
    );
    refused(
        &changed("metrics: [ndcg, recall]", "metrics: [ndgc]"),
        "s.yaml:15:24: evaluation.metrics[0]: unknown name `ndgc`: did you mean `ndcg`? (expected one of ",
    );
}

#[test]
fn a_key_that_stands_twice_names_both_lines() {
    refused(
        &changed("temperature: 0.2", "temperature: 0.2, temperature: 0.1"),
        "s.yaml:10:43: grid[0].losses[1].temperature: the key `temperature` stands twice, first in line 10; keep one of them",
    );
    refused(&format!("{SWEEP}name: other\n"), "s.yaml:16:1: name: the key `name` stands twice, first in line 1; keep one of them");
}

#[test]
fn a_value_of_a_wrong_type_or_range_is_shown_with_what_was_expected() {
    let cases = [
        ("temperature: 0.2", "temperature: warm", "s.yaml:10:38: grid[0].losses[1].temperature: expected a number, found `warm`"),
        ("temperature: 0.2", "temperature: .nan", "s.yaml:10:38: grid[0].losses[1].temperature: expected a number, found `.nan`"),
        ("temperature: 0.2", "temperature: [0.2, warm]", "s.yaml:10:44: grid[0].losses[1].temperature[1]: expected a number, found `warm`"),
        ("epochs: 2", "epochs: 2.5", "s.yaml:14:20: training.epochs: expected a whole number from 0 to 4294967295, found `2.5`"),
        ("epochs: 2", "epochs: '2'", "s.yaml:14:20: training.epochs: expected a whole number from 0 to 4294967295, found the text \"2\""),
        ("training: {", "training: # {", "s.yaml:14:9: training: expected a mapping of keys and values, found nothing"),
        ("cutoffs: [5]", "cutoffs: 5", "s.yaml:15:48: evaluation.cutoffs: expected a list (`[a, b]`), found `5`"),
        (
            "cutoffs: [5]",
            "cutoffs: [0]",
            "s.yaml:15:48: evaluation.cutoffs: `cutoffs` has 0: expected lengths of lists, from 1 to 4294967294",
        ),
        (
            "test: 0.2",
            "test: 1.2",
            "s.yaml:5:33: datasets[0].split.test: dataset `small`: 1.2 is no share (expected a number of at least 0 and below 1)",
        ),
        (
            "    split:",
            "    k_core: -1\n    split:",
            "s.yaml:5:13: datasets[0].k_core: expected a whole number of at least 1, or {users, items}, found integer `-1`",
        ),
        (
            "    split:",
            "    noise: -0.1\n    split:",
            "s.yaml:5:12: datasets[0].noise: dataset `small`: -0.1 is no share (expected a number from 0 to 1)",
        ),
        (
            "    split:",
            "    noise: {seed: 1, ratio: 1.5}\n    split:",
            "s.yaml:5:29: datasets[0].noise.ratio: dataset `small`: 1.5 is no share (expected a number from 0 to 1)",
        ),
        (
            "    split:",
            "    noise: x\n    split:",
            "s.yaml:5:12: datasets[0].noise: expected a number from 0 to 1, or {ratio, seed}, found string \"x\"",
        ),
        ("    split:", "    noise: {ratio: 0.1, sead: 1}\n    split:", "s.yaml:5:25: datasets[0].noise.sead: unknown key `sead`"),
        (
            "select_by: ndcg@5",
            "select_by: ndcg",
            "s.yaml:14:69: training.select_by: `ndcg` is no metric: a cutoff is missing; write for example `ndcg@20`",
        ),
        (
            "select_by: ndcg@5",
            "select_by: ndgc@5",
            "s.yaml:14:69: training.select_by: unknown metric `ndgc`: did you mean `ndcg`? (expected one of `ndcg`, `recall`, `precision`, `hit-rate`, `mrr`, `map`, `auc`)",
        ),
        (
            "dim: 4",
            "dim: 4000000000",
            "s.yaml:7:33: grid[0].backbones[0].dim: mf-4000000000 / bpr / uniform-5: dim is 4000000000, expected 1 to 65536",
        ),
        (
            "negatives: 5",
            "negatives: 0",
            "s.yaml:11:43: grid[0].samplers[0].negatives: mf-4 / bpr / uniform-0: negatives is 0: expected at least 1",
        ),
        (
            "temperature: 0.2",
            "temperature: -1",
            "s.yaml:10:38: grid[0].losses[1].temperature: mf-4 / softmax / uniform-5: temperature is -1: expected a finite number above 0",
        ),
        (
            "name: tiny",
            "name: ../tiny",
            "s.yaml:1:7: name: `../tiny` cannot name the sweep's folder: expected at most 100 letters, digits, `-`, `_` and `.`",
        ),
        (
            "path: ratings.csv",
            "path: ftp://host/ratings.csv",
            "s.yaml:4:39: datasets[0].source.path: dataset `small`: `ftp://host/ratings.csv` is not a usable location",
        ),
    ];
    for (from, to, message) in cases {
        refused(&changed(from, to), message);
    }
}

#[test]
fn parts_that_cannot_go_together_are_refused_before_any_work() {
    refused(
        &changed("[{kind: mf, dim: 4}]", "[{kind: mf, dim: 4}, {kind: popularity}]"),
        "s.yaml:7:37: grid[0].backbones[1]: `popularity` fits without sampling, but its block has `losses` (line 9); \
         give it a block with `backbones` alone",
    );
    refused(
        &changed("[{kind: popularity}]", "[{kind: mf, dim: 4}]"),
        "s.yaml:13:17: grid[1].backbones[0]: `mf` learns from a loss, but its block has none; add `losses`, `samplers` and `optimizer`",
    );
    refused(
        &changed("{kind: bpr}", "{kind: softmax-at-k, cutoff: 20, temperature: 0.2, weight_temperature: 1, quantile_every: 1}"),
        "s.yaml:9:38: grid[0].losses[0].cutoff: mf-4 / softmax-at-k(20) / uniform-5: \
         cutoff is 20 and the sampler draws 5 negatives: a top-20 quantile needs at least as many",
    );
    let remedy = "dataset `small` (line 3) has no validation part: give its `split` one (`validation: 0.1`)";
    refused(
        &changed("temperature: 0.2", "temperature: [0.1, 0.2]").replace(", validation: 0.1", ""),
        &format!("s.yaml:10:9: grid[0].losses[1]: listed values are tuned on validation, but {remedy}, or give one value"),
    );
    refused(
        &changed("evaluate_every: 1", "evaluate_every: 1, patience: 3").replace(", validation: 0.1", ""),
        &format!("s.yaml:14:68: training.patience: patience 3 stops on validation, but {remedy}, or leave `patience` out"),
    );
    refused(&changed("{kind: softmax, temperature: 0.2}", "{kind: bpr}"), "s.yaml:10:9: grid[0].losses[1]: `mf-4 / bpr / uniform-5` with ");
    refused(
        &changed("test: 0.2, validation: 0.1", "test: 1.5, validation: 0.1"),
        "s.yaml:5:33: datasets[0].split.test: dataset `small`: 1.5 is no share (expected a number of at least 0 and below 1)",
    );
}

#[test]
fn a_variable_that_is_not_set_is_named() {
    refused(
        &changed("path: ratings.csv", "path: \"${RANKSWEEP_UNSET}/ratings.csv\""),
        "s.yaml:4:39: datasets[0].source.path: the environment variable `RANKSWEEP_UNSET` is not set; set it, or write the value here",
    );
    refused(
        &changed("path: ratings.csv", "path: ${RANKSWEEP_UNSET}/ratings.csv"),
        "s.yaml:4:40: datasets[0].source: not valid YAML: while parsing a flow mapping, did not find expected ',' or '}' \
         (inside `{ }` and `[ ]` a value with `${NAME}` needs quotes: `\"${NAME}/file\"`)",
    );
    let sandbox = Sandbox::new(&changed("path: ratings.csv", "path: \"${RANKSWEEP_NAME}.csv\""));
    let ended = sandbox.ended(sandbox.command(&["prepare", "s.yaml"]).env("RANKSWEEP_NAME", "ratings"));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
}

#[test]
fn what_is_no_sweep_file_is_refused() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.write("latin.yaml", b"name: caf\xe9\n");
    sandbox.write("empty.yaml", "");
    sandbox.write("cut.yaml", "name: tiny\ndatasets: [\n");
    let cases = [
        (
            "other.yaml",
            "cannot read the sweep file `other.yaml`: No such file or directory (os error 2) (expected the path of a YAML file in UTF-8)",
        ),
        (".", "cannot read the sweep file `.`: Is a directory (os error 21) (expected the path of a YAML file in UTF-8)"),
        (
            "latin.yaml",
            "cannot read the sweep file `latin.yaml`: stream did not contain valid UTF-8 (expected the path of a YAML file in UTF-8)",
        ),
        ("empty.yaml", "empty.yaml:1:1: the file is empty"),
        ("cut.yaml", "cut.yaml:2:11: datasets: not valid YAML: unclosed bracket '['"),
        ("ratings.csv", "ratings.csv:1:1: expected a mapping with the keys name, storage, datasets, grid, "),
    ];
    for (file, message) in cases {
        let ended = sandbox.ended(&mut sandbox.command(&["run", file]));
        let complaint = ended.complaint(2);
        assert!(complaint.starts_with(message), "\n   found: {complaint}\nexpected: {message}");
    }
    assert!(!sandbox.path("runs").exists());
}
