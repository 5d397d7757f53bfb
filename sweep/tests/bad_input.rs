//! Bad input of every kind ends with one message that says where, what, what was expected and what to do, and leaves nothing behind
//! that a later run would trust.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use arrow::array::StringArray;
use dataset::table;
use flate2::{Compression, write::GzEncoder};
use std::{
    collections::BTreeSet,
    fs::Permissions,
    io::Write,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use support::{SWEEP, Sandbox, changed, ratings};

/// A bad sweep file: one line on standard error, exit code 2, nothing written.
fn refused(sweep: &str, message: &str) {
    let sandbox = Sandbox::new(sweep);
    let ended = sandbox.run();
    let complaint = ended.complaint(2);
    assert!(complaint.starts_with(message), "\n   found: {complaint}\nexpected: {message}");
    assert_eq!((ended.error.lines().count(), ended.out.as_str()), (1, ""));
    assert!(!sandbox.path("runs").exists());
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
        "s.yaml:4:22: datasets[0].source.format: unknown format `csv`: expected one of `splits`, `delimited`, `movielens`, ",
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
        ("cutoffs: [5]", "cutoffs: 5", "s.yaml:15:48: evaluation.cutoffs: expected a list (`[a, b]`), found `5`"),
        ("cutoffs: [5]", "cutoffs: [0]", "s.yaml:15:48: evaluation.cutoffs: `cutoffs` has 0: expected lengths of lists, 1 or more"),
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
            "select_by: ndcg@5",
            "select_by: ndcg",
            "s.yaml:14:69: training.select_by: `ndcg` is no metric: a cutoff is missing; write for example `ndcg@20`",
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
    refused(
        &changed("{kind: softmax, temperature: 0.2}", "{kind: bpr}"),
        "s.yaml:10:9: grid[0].losses[1]: `mf-4 / bpr / uniform-5 / adam` with ",
    );
    refused(
        &changed("test: 0.2, validation: 0.1", "test: 0.9, validation: 0.1"),
        "s.yaml:5:33: datasets[0].split.test: dataset `small`: 0.9 and `validation` 0.1 are all there is (expected a sum below 1)",
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

/// A sweep whose data is bad: one complaint, exit code 1, nothing finished; with good data in its place it runs.
fn fails_on(sandbox: &Sandbox, messages: &[&str]) {
    let ended = sandbox.run();
    let complaint = ended.complaint(1);
    assert!(complaint.starts_with(messages[0]), "\n   found: {complaint}\nexpected: {}", messages[0]);
    assert!(messages.iter().all(|part| complaint.contains(part)), "\n   found: {complaint}\nexpected: {messages:?}");
    assert_eq!((ended.out.as_str(), sandbox.markers()), ("", vec![]));
}

#[test]
fn a_bad_row_is_named_by_its_line_and_value() {
    let cases = [
        ("u1,i3,4\n", "3 fields where the header has 4; "),
        ("u1,i3,4,9,9\n", "5 fields where the header has 4; "),
        ("u1,i3,good,9\n", "column `rating`: `good` is not a number; "),
        ("u1,i3,NaN,9\n", "column `rating`: `NaN` is not finite (expected a number); "),
        ("u1,i3,inf,9\n", "column `rating`: `inf` is not finite (expected a number); "),
        ("u1,i3,4,\n", "column `time`: `` is not a number; "),
        (",i3,4,9\n", "column `user` is empty (expected an id); "),
        ("\"u\"1,i3,4,9\n", "text after a closing quote (expected a separator; a quote inside a quoted field is doubled); "),
    ];
    let sandbox = Sandbox::new(SWEEP);
    for (row, reason) in cases {
        sandbox.write("ratings.csv", ratings() + row);
        let message = format!("dataset `small`: FOLDER/ratings.csv line 122: {reason}correct the row, or set `on_bad_row: skip`");
        fails_on(&sandbox, &[&message]);
    }
    sandbox.write("ratings.csv", ratings() + "u1,\"i3,4,9\n");
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv line 122: a quoted field that starts here is never closed; close the quote"]);
    sandbox.write("ratings.csv", [ratings().as_bytes(), b"u1,caf\xe9,4,9\n"].concat());
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv line 122: column `item`: `caf\u{fffd}` is not UTF-8"]);
    sandbox.write("ratings.csv", ratings());
    sandbox.run_well();
}

#[test]
fn a_file_without_data_is_named() {
    let sandbox = Sandbox::new(SWEEP);
    std::fs::remove_file(sandbox.path("ratings.csv")).unwrap();
    let advice = "correct `source.path` (a relative path starts at the working directory)";
    fails_on(&sandbox, &[&format!("s.yaml:4:39: dataset `small`: FOLDER/ratings.csv does not exist; {advice}")]);
    std::fs::create_dir(sandbox.path("ratings.csv")).unwrap();
    fails_on(&sandbox, &[&format!("s.yaml:4:39: dataset `small`: FOLDER/ratings.csv is a folder, expected a file; {advice}")]);
    std::fs::remove_dir(sandbox.path("ratings.csv")).unwrap();
    sandbox.write("ratings.csv", "");
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv: the file is empty (expected a header line)"]);
    sandbox.write("ratings.csv", "user,item,rating,time\n");
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv: the file holds no interactions (expected at least one row)"]);
    sandbox.write("ratings.csv", "user,item,stars,time\nu1,i1,3,1\n");
    fails_on(
        &sandbox,
        &[
            "dataset `small`: FOLDER/ratings.csv: no column `rating` (rating) in the header; its 4 columns are `user`, `item`, `stars`, `time`",
        ],
    );
    sandbox.write("ratings.csv", ratings());
    sandbox.run_well();
}

#[test]
fn a_gzip_that_is_cut_or_none_is_named() {
    let sandbox = Sandbox::new(&changed("ratings.csv", "ratings.csv.gz"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(ratings().as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    let cut = "the compressed data ends in the middle; copy or download the file again";
    sandbox.write("ratings.csv.gz", &whole[..whole.len() / 2]);
    fails_on(&sandbox, &["dataset `small`: cannot read FOLDER/ratings.csv.gz after line ", cut]);
    sandbox.write("ratings.csv.gz", &whole[..whole.len() - 3]);
    fails_on(&sandbox, &["dataset `small`: cannot read FOLDER/ratings.csv.gz after line 121: ", cut]);
    sandbox.write("ratings.csv.gz", ratings());
    let other = "it is not what its suffix says; name it by its compression, or copy it again: invalid gzip header";
    fails_on(&sandbox, &["dataset `small`: cannot read FOLDER/ratings.csv.gz after line 0: ", other]);
    sandbox.write("ratings.csv.gz", &whole);
    sandbox.run_well();
}

#[test]
fn bounds_that_leave_nothing_say_what_there_was() {
    let empty = |key: &str, step: &str| {
        let sandbox = Sandbox::new(&changed("    split:", &format!("    {key}: 100\n    split:")));
        let before = "before it there were 12 users, 20 items and 120 interactions";
        let message = format!("dataset `small`: no interaction is left after `{step}`; {before}: lower `{key}`");
        fails_on(&sandbox, &[&message]);
        sandbox.write("s.yaml", SWEEP);
        sandbox.run_well();
    };
    empty("k_core", "100-core (1 round)");
    empty("min_rating", "rating at least 100");
}

#[test]
fn a_test_item_that_is_also_in_train_is_named_by_its_own_ids() {
    let given = "{format: splits, train: train.tsv, test: test.tsv}\n    split: {kind: given}\n";
    let start = SWEEP.find("{format: delimited").unwrap();
    let end = SWEEP.find("grid:").unwrap();
    let sandbox = Sandbox::new(&format!("{}{given}{}", &SWEEP[..start], &SWEEP[end..]));
    sandbox.write("train.tsv", "ann\tx\nann\ty\nbob\tx\nbob\tz\n");
    sandbox.write("test.tsv", "ann\tz\nbob\tx\n");
    fails_on(
        &sandbox,
        &[
            "dataset `small`: `source`: user `bob` has item `x` in train and in test (expected each interaction in one part; remove it from one)",
        ],
    );
    sandbox.write("test.tsv", "ann\tz\nbob\ty\n");
    sandbox.run_well();
}

#[test]
fn ids_with_commas_and_quotes_come_back_in_the_tables() {
    let sandbox = Sandbox::new(SWEEP);
    let user = |number: &str| format!("O'Neil, \"{number}\" é");
    let item = |number: &str| format!("Story, The; part \"{number}\"\t1999");
    let quoted = |id: &str| format!("\"{}\"", id.replace('"', "\"\""));
    let mut text = "user,item,rating,time\n".to_owned();
    for row in ratings().lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        text += &format!("{},{},{},{}\n", quoted(&user(fields[0])), quoted(&item(fields[1])), fields[2], fields[3]);
    }
    sandbox.write("ratings.csv", text);
    sandbox.run_well();
    let ended = sandbox.ended(&mut sandbox.command(&["recommend", "s.yaml", "-k", "2"]));
    assert_eq!(ended.code, Some(0), "{}", ended.error);

    let users: BTreeSet<String> = (0..12).map(|number| user(&format!("u{number}"))).collect();
    let items: BTreeSet<String> = (0..20).map(|number| item(&format!("i{number}"))).collect();
    assert_eq!(texts(&sandbox.stored("/users.parquet")[0], "user_id"), users);
    assert_eq!(texts(&sandbox.stored("/items.parquet")[0], "item_id"), items);
    let per_user: Vec<PathBuf> =
        sandbox.stored(".parquet").into_iter().filter(|path| path.parent().unwrap().ends_with("per_user")).collect();
    assert_eq!(per_user.len(), 3);
    assert!(per_user.iter().all(|file| texts(file, "user_id") == users));
    let recommended = sandbox.path("recommendations.parquet");
    assert_eq!(texts(&recommended, "user_id"), users);
    assert!(texts(&recommended, "item_id").is_subset(&items));
    let page = std::fs::read_to_string(&sandbox.stored("report.html")[0]).unwrap();
    assert!(page.contains("small"));
}

/// The different texts of a column.
fn texts(file: &Path, column: &str) -> BTreeSet<String> {
    let at = dataset::Location::parse(file.to_str().unwrap()).unwrap();
    let batch = table::read(&at).unwrap();
    let column: &StringArray = table::column(&batch, column, &at).unwrap();
    column.iter().map(|text| text.unwrap().to_owned()).collect()
}

#[test]
fn skipped_rows_are_kept_counted_and_never_silent() {
    let sandbox = Sandbox::new(&changed("timestamp: time}", "timestamp: time}, on_bad_row: skip"));
    sandbox.write("ratings.csv", ratings() + "u1,i3,4\nu1,i3,NaN,9\nu1,\"i\t3\",good,9\n");
    let ended = sandbox.run_well();
    assert!(ended.error.contains("step=\"rejected (rejected.tsv)\" users=0 items=0 interactions=3"), "{}", ended.error);
    let rejected = std::fs::read_to_string(&sandbox.stored("rejected.tsv")[0]).unwrap();
    let expected = "line\treason\traw\n\
        122\t3 fields where the header has 4\tu1,i3,4\n\
        123\tcolumn `rating`: `NaN` is not finite (expected a number)\tu1,i3,NaN,9\n\
        124\tcolumn `rating`: `good` is not a number\tu1,\"i\\t3\",good,9\n";
    assert_eq!(rejected, expected);
    let manifest = sandbox.stored("manifest.json").pop().unwrap();
    let folder = dataset::Location::parse(manifest.parent().unwrap().to_str().unwrap()).unwrap();
    let steps = dataset::Dataset::read_manifest(&folder).unwrap().steps;
    assert_eq!((steps[0].step.as_str(), steps[0].interactions), ("rejected (rejected.tsv)", 3));
    assert_eq!((steps[1].step.as_str(), steps[1].interactions), ("read", 120));

    let none = Sandbox::new(&changed("timestamp: time}", "timestamp: time}, on_bad_row: skip"));
    none.write("ratings.csv", "user,item,rating,time\nu1,i3,4\nu1,i3,NaN,9\n");
    fails_on(
        &none,
        &["dataset `small`: FOLDER/ratings.csv: all 2 rows were rejected, the first at line 2: 3 fields where the header has 4; \
           correct the separator, the columns or the rows"],
    );
}

/// A small file system of its own, where this process may mount one.
struct Mount(PathBuf);

impl Mount {
    fn new(folder: PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir(&folder).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "ranksweep"]).arg(&folder).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        skip("this process may not mount file systems");
        None
    }

    fn change(&self, options: &str) {
        assert!(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

#[test]
fn a_disk_that_fills_up_anywhere_is_named_and_spoils_nothing() {
    let undisturbed = Sandbox::new(SWEEP);
    undisturbed.run_well();
    for size in [4, 16, 24, 40, 64, 96, 128] {
        let sandbox = Sandbox::new(SWEEP);
        let Some(disk) = Mount::new(sandbox.path("runs"), &format!("size={size}k")) else { return };
        let ended = sandbox.run();
        let complaint = ended.complaint(1);
        assert!(complaint.contains("cannot write FOLDER/runs/"), "{size}: {complaint}");
        let remedy = "No space left on device (os error 28); free some space there, or store elsewhere";
        assert!(complaint.ends_with(remedy), "{size}: {complaint}");
        assert_eq!(complaint.matches("No space left").count(), 1, "{complaint}");
        disk.change("size=64m");
        sandbox.run_well();
        assert!(sandbox.results() == undisturbed.results(), "{size} KiB");
        assert_eq!(sandbox.stored("#1"), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_storage_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::new(SWEEP);
    if let Some(disk) = Mount::new(sandbox.path("runs"), "size=64m") {
        disk.change("ro");
        let ended = sandbox.run();
        let complaint = ended.complaint(1);
        assert!(complaint.starts_with("dataset `small`: cannot write FOLDER/runs/datasets/small-"), "{complaint}");
        assert!(complaint.ends_with("Read-only file system (os error 30); make it writable, or store elsewhere"), "{complaint}");
        disk.change("rw");
        sandbox.run_well();
    }
    let blocked = Sandbox::new(SWEEP);
    blocked.write("runs", "a file, not a folder");
    let remedy = "Not a directory (os error 20); a file stands where a folder is expected: remove it, or use another path";
    fails_on(&blocked, &["dataset `small`: cannot read FOLDER/runs/datasets/small-", remedy]);
    std::fs::remove_file(blocked.path("runs")).unwrap();
    blocked.run_well();
}

#[test]
fn a_scratch_folder_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::new(&changed("timestamp: time}", "timestamp: time}, on_bad_row: skip"));
    let run = || sandbox.ended(sandbox.command(&["run", "s.yaml"]).env("TMPDIR", sandbox.path("scratch")));
    sandbox.write("scratch", "a file, not a folder");
    let ended = run();
    let message = "dataset `small`: cannot write in the scratch folder FOLDER/scratch (set TMPDIR for another one): ";
    assert!(ended.complaint(1).starts_with(message), "{}", ended.error);
    std::fs::remove_file(sandbox.path("scratch")).unwrap();
    if let Some(_disk) = Mount::new(sandbox.path("scratch"), "size=8k") {
        sandbox.write("ratings.csv", ratings() + &"u1,i3,4\n".repeat(2_000));
        let ended = run();
        let complaint = ended.complaint(1);
        assert!(complaint.starts_with(message) && complaint.contains("No space left on device (os error 28)"), "{complaint}");
        assert_eq!(sandbox.markers(), Vec::<PathBuf>::new());
    }
    sandbox.run_well();
}

#[test]
fn a_missing_permission_is_named() {
    let sandbox = Sandbox::new(SWEEP);
    std::fs::create_dir(sandbox.path("runs")).unwrap();
    let permit = |name: &str, mode: u32| std::fs::set_permissions(sandbox.path(name), Permissions::from_mode(mode)).unwrap();
    let run = || {
        let mut command = sandbox.command(&["run", "s.yaml"]);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    permit("", 0o755);
    permit("runs", 0o555);
    if run().arg("--version").stdout(Stdio::null()).status().is_err() {
        return skip("another user cannot start the binary");
    }
    let denied = "Permission denied (os error 13); give the user that runs this the permission, or use another path";
    let ended = sandbox.ended(&mut run());
    let complaint = ended.complaint(1);
    assert!(
        complaint.starts_with("dataset `small`: cannot write FOLDER/runs/datasets/small-") && complaint.ends_with(denied),
        "{complaint}"
    );
    permit("ratings.csv", 0o000);
    let ended = sandbox.ended(&mut run());
    assert_eq!(ended.complaint(1), format!("s.yaml:3:5: dataset `small`: cannot read FOLDER/ratings.csv: {denied}"));
    assert_eq!(sandbox.markers(), Vec::<PathBuf>::new());
    permit("ratings.csv", 0o644);
    permit("runs", 0o777);
    assert_eq!(sandbox.ended(&mut run()).code, Some(0));
}

/// The user without any rights of their own.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

#[test]
fn a_full_standard_output_is_no_success() {
    let Ok(full) = std::fs::File::create("/dev/full") else { return skip("this system has no /dev/full") };
    let sandbox = Sandbox::new(SWEEP);
    let ended = sandbox.command(&["plan", "s.yaml"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    let error = "error: cannot write the result to standard output: No space left on device (os error 28)\n";
    assert_eq!((ended.status.code(), std::str::from_utf8(&ended.stderr).unwrap()), (Some(1), error));
}

#[test]
fn what_has_no_marker_is_done_again() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    for (marker, half_written) in [
        ("manifest.json", &["/train.parquet", "/users.parquet"][..]),
        ("done.json", &["/curve.parquet", "/scorer.safetensors", "/scorer.json"]),
        ("plan.json", &["/metrics.parquet", "/trials.parquet", "/leaderboard.parquet"]),
    ] {
        for file in sandbox.stored(marker) {
            std::fs::remove_file(file).unwrap();
        }
        for file in half_written.iter().flat_map(|name| sandbox.stored(name)) {
            halve(&file);
        }
        sandbox.run_well();
        assert!(sandbox.results() == whole, "{marker}");
    }
}

#[test]
fn what_was_finished_and_then_damaged_is_named_and_comes_back() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    let again = "delete the trial's folder";
    for (name, command, remedy) in [
        ("/manifest.json", "run", "delete the folder and prepare again"),
        ("/train.parquet", "run", "the checksum differs from the manifest's; delete the folder and prepare again"),
        ("/done.json", "run", again),
        ("/scorer.safetensors", "run", "the checksum differs from the one in scorer.json; delete the trial's folder and train it again"),
        ("/scorer.json", "run", again),
        ("/curve.parquet", "run", "delete its folder and run again"),
        ("/metrics.parquet", "report", "delete its folder and run again"),
    ] {
        let file = sandbox.stored(name).remove(0);
        halve(&file);
        let ended = sandbox.ended(&mut sandbox.command(&[command, "s.yaml"]));
        let complaint = ended.complaint(1);
        assert!(complaint.contains(name) && complaint.contains("FOLDER/runs/") && complaint.contains(remedy), "{name}: {complaint}");
        let folder = file.parent().unwrap();
        std::fs::remove_dir_all(if folder.ends_with("checkpoint") { folder.parent().unwrap() } else { folder }).unwrap();
        sandbox.run_well();
        assert!(sandbox.results() == whole, "{name}");
    }
}

fn halve(file: &Path) {
    let bytes = std::fs::read(file).unwrap();
    std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
}
