//! `ranksweep diff` from outside: what a name stood for before, and two sweeps side by side.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use arrow::array::{Array, Float64Array, StringArray, UInt32Array};
use dataset::table;
use evaluator::tables::read_per_user;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::{collections::BTreeMap, fs, path::PathBuf};
use support::{Ended, SWEEP, Sandbox, changed};

const TABLES: &str = "runs/sweeps/tiny";

fn run(sandbox: &Sandbox, sweep: &str) -> Ended {
    sandbox.write("s.yaml", sweep);
    sandbox.run_well()
}

fn diff(sandbox: &Sandbox, arguments: &[&str]) -> Ended {
    sandbox.ended(&mut sandbox.command(&[&["diff"], arguments].concat()))
}

fn shown(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ended = diff(sandbox, arguments);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    ended.out
}

/// The one folder of the history whose name begins with a number.
fn kept(sandbox: &Sandbox, number: u32) -> PathBuf {
    let start = format!("{number}-");
    let entries = fs::read_dir(sandbox.path(TABLES).join("history")).unwrap().map(|entry| entry.unwrap().path());
    let mut found = entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&start));
    let folder = found.next().unwrap();
    assert_eq!(found.next(), None);
    folder
}

/// The bytes of the files of a folder of tables, without those of its history.
fn files(folder: &PathBuf) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in [folder.clone(), folder.join("per_user")].iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        if path.is_file() {
            all.insert(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
    all
}

#[test]
fn a_name_that_is_used_again_keeps_what_was_there() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let first = files(&sandbox.path(TABLES));
    assert!(first.len() > 12 && first.contains_key("leaderboard.parquet") && first.contains_key("report.html"));
    let again = sandbox.run_well();
    assert!(!again.error.contains("are kept") && !sandbox.path(TABLES).join("history").exists(), "the same plan replaces nothing");

    let longer = changed("epochs: 2", "epochs: 3");
    let ended = run(&sandbox, &longer);
    assert!(ended.error.contains("the tables of another plan are kept"), "{}", ended.error);
    assert_eq!(files(&kept(&sandbox, 1)), first);
    let plan = serde_json::from_slice::<serde_json::Value>(&first["tables.json"]).unwrap()["files"]["plan.json"]["sha256"].clone();
    assert!(kept(&sandbox, 1).ends_with(format!("1-{}", &plan.as_str().unwrap()[..16])));

    let second = files(&sandbox.path(TABLES));
    run(&sandbox, SWEEP);
    assert_eq!(files(&kept(&sandbox, 2)), second);
    let timeless = |files: &BTreeMap<String, Vec<u8>>| files["metrics.parquet"].clone();
    assert_eq!(timeless(&files(&sandbox.path(TABLES))), timeless(&first));

    let list = sandbox.ended(&mut sandbox.command(&["list", "--storage", "runs", "--json"]));
    assert_eq!(list.code, Some(0), "{}", list.error);
    let list: Vec<serde_json::Value> = serde_json::from_str(&list.out).unwrap();
    let folders: Vec<&str> = list.iter().map(|one| one["folder"].as_str().unwrap()).collect();
    assert_eq!(folders.len(), 3);
    assert!(folders[0] == "sweeps/tiny" && folders[1].starts_with("sweeps/tiny/history/2-") && folders[2].contains("/1-"), "{folders:?}");
    assert!(list[0]["plan"] == list[2]["plan"] && list[0]["plan"] != list[1]["plan"]);
    assert!(list[0]["best"][0].as_str().unwrap().starts_with("small: "), "{}", list[0]);

    // What only the history holds stays where unreferenced trials go.
    sandbox.write("other.yaml", SWEEP.replace("name: tiny", "name: other"));
    let gc = sandbox.ended(&mut sandbox.command(&["gc", "other.yaml", "--min-age", "0", "--unreferenced", "--yes"]));
    assert!(gc.code == Some(0) && gc.out.starts_with("0 files removed"), "{}\n{}", gc.out, gc.error);
    // A copy that was not finished is no history, and goes.
    fs::remove_file(kept(&sandbox, 2).join("tables.json")).unwrap();
    let gc = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--min-age", "0", "--yes"]));
    assert!(gc.out.contains("history/2-") && gc.out.contains("metrics.parquet") && !gc.out.contains("history/1-"), "{}", gc.out);
}

#[test]
fn tables_that_are_not_whole_are_not_kept_and_hold_nothing_up() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    fs::remove_file(sandbox.path(TABLES).join("groups.parquet")).unwrap();
    let ended = run(&sandbox, &changed("epochs: 2", "epochs: 3"));
    assert!(ended.error.contains("are not kept in its history: groups.parquet is not there any more"), "{}", ended.error);
    assert!(!sandbox.path(TABLES).join("history").exists());
}

/// The means of a method's per-user table over these users, by their own ids.
fn values(sandbox: &Sandbox, folder: &str, method: &str) -> BTreeMap<String, f64> {
    let at = sandbox.location(&format!("{folder}/metrics.parquet"));
    let row = evaluator::tables::read_metrics(&at).unwrap().into_iter().find(|row| row.method == method).unwrap();
    let (_, ids, values) = read_per_user(&sandbox.location(&format!("{folder}/per_user/{}.parquet", row.trial))).unwrap();
    let (_, values) = values.into_iter().find(|(at, _)| at.to_string() == "ndcg@5").unwrap();
    ids.iter().cloned().zip(values).collect()
}

#[test]
fn a_sweep_is_compared_with_what_its_name_stood_for_before() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    run(&sandbox, &changed("epochs: 2", "epochs: 9").replace("temperature: 0.2", "temperature: 0.5"));
    let out = shown(&sandbox, &["s.yaml", "--out", "d.parquet"]);
    for part in [
        "learning.training.epochs",
        "learning.loss.softmax.temperature",
        "small by ndcg@5: the same data and split; 12 users ranked by both",
        "the same trials",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let line = |name: &str| out.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}\n{out}")).to_owned();
    assert!(line("learning.training.epochs").split_whitespace().rev().take(2).eq(["9", "2"]), "{out}");
    assert!(line("learning.training.epochs").contains("all methods"), "those that learn\n{out}");
    assert!(line("learning.loss.softmax.temperature").contains("softmax on mf-4 on small"), "only one method has a temperature\n{out}");
    assert!(line(" popularity ").contains("the same trials"), "{out}");

    let history = kept(&sandbox, 1).strip_prefix(sandbox.path("")).unwrap().to_str().unwrap().to_owned();
    let by_name = shown(&sandbox, &[&history, TABLES]);
    assert!(out.starts_with(by_name.trim_end()), "{by_name}\n{out}");

    let at = sandbox.location("d.parquet");
    let rows = table::read(&at).unwrap();
    let methods: &StringArray = table::column(&rows, "method", &at).unwrap();
    let number = |name: &str| table::column::<Float64Array>(&rows, name, &at).unwrap();
    let row = methods.iter().position(|key| key == Some("mf-4 / softmax / uniform-5")).unwrap();
    let [before, after] = [history.as_str(), TABLES].map(|folder| values(&sandbox, folder, "mf-4 / softmax / uniform-5"));
    let differences: Vec<f64> = before.iter().map(|(user, value)| after[user] - value).collect();
    let mean = differences.iter().sum::<f64>() / 12.0;
    assert!((number("difference").value(row) - mean).abs() < 1e-12);
    assert!((number("mean_a").value(row) - before.values().sum::<f64>() / 12.0).abs() < 1e-12);
    // One seed of each: the paired t-test over users, whose statistic is found back from the p-value's order: SciPy's ttest_rel.
    let deviation = (differences.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 11.0).sqrt();
    let statistic = mean / (deviation / 12f64.sqrt());
    let p = number("p_value").value(row);
    assert_eq!(p < 0.05, statistic.abs() > 2.200985, "t of 11 degrees at 0.05: {statistic}, p {p}");
    assert!(number("ci_low").value(row) <= mean && mean <= number("ci_high").value(row));
    let popularity = methods.iter().position(|key| key == Some("popularity")).unwrap();
    assert!(number("difference").is_null(popularity) && number("p_value").is_null(popularity));
    let users: &UInt32Array = table::column(&rows, "users", &at).unwrap();
    assert_eq!(users.values().to_vec(), [12, 12, 12]);

    let csv = shown(&sandbox, &["s.yaml", "--format", "csv"]);
    let mut csv = csv::Reader::from_reader(csv.as_bytes());
    let header: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header, rows.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>());
    let lines: Vec<csv::StringRecord> = csv.into_records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), rows.num_rows());
    for (place, name) in
        header.iter().enumerate().filter(|(_, name)| name.starts_with("mean") || name.starts_with("p_") || *name == "ci_low")
    {
        let stored: Vec<Option<f64>> = number(name).iter().collect();
        assert_eq!(lines.iter().map(|line| line[place].parse().ok()).collect::<Vec<_>>(), stored, "{name}");
    }

    let cells = |value: f64| format!("{value:.4}");
    let means = [cells(number("mean_a").value(row)), cells(number("mean_b").value(row))];
    let markdown = shown(&sandbox, &["s.yaml", "--format", "markdown"]);
    assert!(markdown.contains("| method | A | B | difference | 95% interval | adjusted p | B is |"), "{markdown}");
    assert!(markdown.contains(&format!("| softmax on mf-4 | {} |", means.join(" | "))), "{markdown}");
    assert!(markdown.contains("| – | – | – | the same trials |") && markdown.contains("A is "), "{markdown}");
    let latex = shown(&sandbox, &["s.yaml", "--format", "latex"]);
    assert!(latex.contains(&format!("    softmax on mf-4 & {} & ", means.join(" & "))), "{latex}");
    assert!(latex.contains("\\caption{small by ndcg@5: the same data and split") && !latex.contains('\u{2212}'), "{latex}");
}

/// The entries that every table of a sweep has in its Parquet metadata.
fn origin(file: &PathBuf) -> BTreeMap<String, String> {
    let reader = SerializedFileReader::new(fs::File::open(file).unwrap()).unwrap();
    let entries = reader.metadata().file_metadata().key_value_metadata().unwrap().iter();
    let own = entries.filter(|entry| entry.key.starts_with("ranksweep."));
    own.map(|entry| (entry.key.clone(), entry.value.clone().unwrap())).collect()
}

#[test]
fn every_table_says_what_it_was_made_of() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let ended = sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml", "--all"]));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(&sandbox.stored("manifest.json")[0]).unwrap()).unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&fs::read(sandbox.path(TABLES).join("tables.json")).unwrap()).unwrap();
    let hash = plan["files"]["plan.json"]["sha256"].as_str().unwrap()[..16].to_owned();
    let fingerprint = manifest["fingerprint"].as_str().unwrap().to_owned();
    let expected = [("ranksweep.dataset.small", fingerprint), ("ranksweep.layout", "1".to_owned()), ("ranksweep.plan", hash)];
    let expected: BTreeMap<String, String> = expected.map(|(key, value)| (key.to_owned(), value)).into();
    let tables: Vec<PathBuf> = sandbox.stored(".parquet").into_iter().filter(|path| path.starts_with(sandbox.path(TABLES))).collect();
    assert!(tables.len() >= 10, "{tables:?}");
    for table in tables {
        assert_eq!(origin(&table), expected, "{}", table.display());
    }
}

#[test]
fn other_splits_are_compared_on_the_users_of_both() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let few = support::ratings().lines().filter(|line| !line.starts_with("u3,") && !line.starts_with("u7,")).collect::<Vec<_>>().join("\n");
    sandbox.write("ratings.csv", few);
    let other = changed("seed: 7", "seed: 8")
        .replace("name: tiny", "name: other")
        .replace("  - backbones: [{kind: popularity}]\n", "  - backbones: [{kind: random}]\n");
    run(&sandbox, &other);
    let out = shown(&sandbox, &[TABLES, "s.yaml", "--metric", "recall@5"]);
    for part in [
        "small by recall@5: data or split differ; 10 users ranked by both (A 12, B 10)",
        "methods of A alone: popularity on small",
        "methods of B alone: random on small",
        "split.random.seed",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}

#[test]
fn what_was_measured_otherwise_is_not_compared() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    run(&sandbox, &changed("cutoffs: [5]", "cutoffs: [5], mask: train-only"));
    let out = shown(&sandbox, &["s.yaml"]).replace('\n', " ");
    let refused = diff(&sandbox, &["s.yaml", "--format", "latex"]);
    assert!(
        refused.code == Some(2) && refused.error.contains("there is no table to write: `evaluation.mask` differs"),
        "{}",
        refused.error
    );
    assert!(out.contains("`evaluation.mask` differs, so that the values do not compare") && !out.contains("ranked by both"), "{out}");
}

#[test]
fn another_search_and_other_content_are_settings_that_differ() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let halved = format!("{SWEEP}search: {{kind: successive-halving, epochs: 1}}\n");
    run(&sandbox, &halved);
    let out = shown(&sandbox, &["s.yaml"]);
    assert!(out.contains("search") && !out.contains("what both have has the same"), "{out}");
    let ratings = std::fs::read_to_string(sandbox.path("ratings.csv")).unwrap();
    sandbox.write("ratings.csv", ratings.lines().take(ratings.lines().count() - 1).collect::<Vec<_>>().join("\n"));
    run(&sandbox, &halved);
    let out = shown(&sandbox, &["s.yaml"]);
    assert!(out.contains("fingerprint") && !out.contains("what both have has the same"), "{out}");
}

#[test]
fn a_sweep_file_names_the_tables_of_its_own_plan() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let longer = changed("epochs: 2", "epochs: 3");
    sandbox.write("longer.yaml", &longer);
    let ended = diff(&sandbox, &["longer.yaml", "s.yaml"]);
    let expected = "longer.yaml: the tables beside FOLDER/runs/sweeps/tiny/tables.json are of another plan";
    assert!(ended.complaint(1).contains(expected), "{}", ended.error);

    sandbox.write("first.yaml", SWEEP);
    run(&sandbox, &longer);
    assert_eq!(shown(&sandbox, &["first.yaml", "s.yaml"]), shown(&sandbox, &["s.yaml"]));
    let ended = diff(&sandbox, &["first.yaml"]);
    assert!(ended.complaint(2).contains("has no history"), "{}", ended.error);
}

/// Plans of two, three and four epochs, one after the other under a name.
#[test]
fn a_folder_of_the_history_is_compared_with_what_stood_before_it() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    for epochs in [3, 4] {
        run(&sandbox, &changed("epochs: 2", &format!("epochs: {epochs}")));
    }
    let [first, second] = [1, 2].map(|number| kept(&sandbox, number).strip_prefix(sandbox.path("")).unwrap().to_str().unwrap().to_owned());
    let alone = shown(&sandbox, &[&second]);
    let line = alone.lines().find(|line| line.contains("learning.training.epochs")).unwrap();
    assert!(line.split_whitespace().rev().take(2).eq(["3", "2"]), "{alone}");
    assert_eq!(alone, shown(&sandbox, &[&first, &second]));
    assert_eq!(alone, shown(&sandbox, &[&format!("{second}/")]));
    let ended = diff(&sandbox, &[&first]);
    assert!(ended.complaint(2).contains("has no history"), "{}", ended.error);
}

/// Learning rates at which nothing but popularity has a model.
#[test]
fn methods_of_both_without_a_result_of_one_are_named() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    sandbox.write("s.yaml", changed("learning_rate: 0.05", "learning_rate: 1.0e+38"));
    let ended = sandbox.run();
    assert!(ended.code == Some(1) && ended.error.contains("2 trials failed; everything else was done"), "{}", ended.error);
    let lacking = "no result in B: bpr on mf-4 on small, softmax on mf-4 on small\n";
    let out = shown(&sandbox, &["s.yaml"]);
    assert!(out.contains(lacking) && !out.contains("no result in A"), "{out}");
    for format in ["markdown", "latex"] {
        let table = shown(&sandbox, &["s.yaml", "--format", format]);
        assert!(table.contains(lacking), "{table}");
    }
}

/// Of the methods that learn, the second plan has the training of the first and one more.
#[test]
fn a_sweep_with_more_seeds_is_not_tested_against_its_own_trainings() {
    let seeds = |seeds: &str| changed("training:", &format!("seeds: {seeds}\ntraining:"));
    let sandbox = Sandbox::new(&seeds("[1]"));
    sandbox.run_well();
    run(&sandbox, &seeds("[1, 2]"));
    let out = shown(&sandbox, &["s.yaml", "--out", "d.parquet"]);
    let more = |out: &str, words: &str| out.lines().filter(|line| line.contains(" on mf-4 ") && line.contains(words)).count();
    assert_eq!(more(&out, "B has 1 more training"), 2, "{out}");
    assert!(out.lines().any(|line| line.contains(" popularity ") && line.contains("the same trials")), "{out}");
    let history = kept(&sandbox, 1).strip_prefix(sandbox.path("")).unwrap().to_str().unwrap().to_owned();
    let reversed = shown(&sandbox, &[TABLES, &history]);
    assert_eq!(more(&reversed, "A has 1 more training"), 2, "{reversed}");

    let at = sandbox.location("d.parquet");
    let rows = table::read(&at).unwrap();
    let verdicts: &StringArray = table::column(&rows, "verdict", &at).unwrap();
    assert_eq!(verdicts.iter().flatten().collect::<Vec<_>>(), ["more-trials", "more-trials", "same-trials"]);
    let number = |name: &str| table::column::<Float64Array>(&rows, name, &at).unwrap();
    for name in ["difference", "ci_low", "ci_high", "p_value", "p_adjusted"] {
        assert_eq!(number(name).null_count(), 3, "{name}");
    }
    let learned: f64 = values(&sandbox, &history, "mf-4 / bpr / uniform-5").values().sum();
    assert!((number("mean_a").value(0) - learned / 12.0).abs() < 1e-12, "the mean of the one training");
}

#[test]
fn each_mistake_has_one_message() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    run(&sandbox, &changed("name: tiny", "name: other"));
    for (arguments, expected) in [
        (&["nowhere.yaml"][..], "cannot read the sweep file `nowhere.yaml`: there is none"),
        (&["s.yaml"], "FOLDER/runs/sweeps/other has no history: no other plan has run under this name before; name two sweeps"),
        (&["s.yaml", "runs/sweeps/other"], "A and B are the same tables, FOLDER/runs/sweeps/other; name two sweeps"),
        (
            &[TABLES, "s.yaml", "--metric", "ndcg@7"],
            "FOLDER/runs/sweeps/tiny has no ndcg@7; --metric takes one that both sweeps have, of ndcg@5, recall@5",
        ),
        (&[TABLES, "s.yaml", "--metric", "novelty@5"], "--metric: `novelty@5` does not say which method ranks better"),
    ] {
        let ended = diff(&sandbox, arguments);
        assert!(ended.complaint(2).contains(expected), "{arguments:?}\n{}", ended.error);
    }
    for (arguments, folder) in [(&["s.yaml", "runs"][..], "runs"), (&["nosuch"], "nosuch")] {
        let expected = format!("FOLDER/{folder} has no tables of a sweep (tables.json is not there); name a sweep that has run");
        let ended = diff(&sandbox, arguments);
        assert!(ended.complaint(1).contains(&expected), "{}", ended.error);
    }
    fs::write(sandbox.path(TABLES).join("metrics.parquet"), "no table").unwrap();
    assert!(diff(&sandbox, &["s.yaml", TABLES]).complaint(1).contains("metrics.parquet"), "a damaged table is named");
    let list = sandbox.ended(&mut sandbox.command(&["list", "--storage", "nowhere"]));
    assert!(list.complaint(1).contains("has no mark of ranksweep"), "{}", list.error);
}

#[test]
fn splits_are_compared_where_both_have_them() {
    let sandbox = Sandbox::new(&changed("seed: 7}", "seed: [7, 8, 9]}"));
    sandbox.run_well();
    run(&sandbox, &changed("seed: 7}", "seed: [8, 9, 10]}").replace("epochs: 2", "epochs: 3"));
    let out = shown(&sandbox, &["s.yaml"]);
    assert!(out.contains("data or splits differ; 2 splits counted (A 3, B 3); 12 users ranked by both (A 12, B 12)"), "{out}");
    assert!(out.contains("tested over users and splits, paired by user"), "{out}");
    assert!(out.lines().any(|line| line.trim_start().starts_with("bpr on mf-4")), "{out}");

    run(&sandbox, &changed("seed: 7}", "seed: [11, 12]}").replace("epochs: 2", "epochs: 3"));
    let out = shown(&sandbox, &["s.yaml"]);
    assert!(out.contains("the two have no split in common") && out.contains("split.random.seed"), "{out}");
}

/// Of three parts of the users each split holds out another: no user is in all, and each is counted.
#[test]
fn splits_that_hold_out_other_users_are_compared_on_all_of_them() {
    let text = changed("{kind: random, test: 0.2, validation: 0.1, seed: 7}", "{kind: users, test: 0.25, validation: 0.25, seed: [1, 2]}");
    let sandbox = Sandbox::new(&text);
    sandbox.run_well();
    run(&sandbox, &text.replace("epochs: 2", "epochs: 3"));
    let ranked: BTreeMap<String, f64> = evaluator::tables::read_metrics(&sandbox.location(&format!("{TABLES}/metrics.parquet")))
        .unwrap()
        .into_iter()
        .flat_map(|row| {
            let (_, ids, values) = read_per_user(&sandbox.location(&format!("{TABLES}/per_user/{}.parquet", row.trial))).unwrap();
            ids.iter().cloned().zip(values[0].1.clone()).collect::<Vec<_>>()
        })
        .collect();
    let count = ranked.len();
    assert!(count > 3, "each split holds out three users: {ranked:?}");
    let out = shown(&sandbox, &["s.yaml"]);
    let heading = format!("the same data and splits; 2 splits counted (A 2, B 2); {count} users ranked by both (A {count}, B {count})");
    assert!(out.contains(&heading), "{out}");
}
