//! A sweep beside a paper: printed numbers and claims, from the sweep file to tables, page and terminal.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use arrow::{
    array::{Array, Float64Array, StringArray},
    record_batch::RecordBatch,
};
use std::fs;
use support::{Ended, SWEEP, Sandbox, assert_holm};

const PAPER: &str = "\
seeds: [1, 2]
printed: {values: v.csv, margin: 10%, same_split: true}
claims:
  - {better: popularity, worse: [bpr on mf-4, softmax on mf-4], metric: [ndcg@5, recall@5], place: Table 1}
  - {increasing: [bpr on mf-4, softmax on mf-4, popularity]}
  - {faster: bpr on mf-4, slower: softmax on mf-4}
";

/// A table whose first number is what the sweep finds, its second is far from it, and its others are of other sweeps.
fn values(popularity: f64) -> String {
    format!(
        "place,dataset,method,metric,cutoff,value\nTable 1,small,popularity,ndcg,5,{popularity:.4}\nTable 1,small,popularity,recall,5,0.0001\n\
         Table 2,small,ease,ndcg,5,0.1\nTable 2,books,popularity,ndcg,5,0.1\nTable 3,small,popularity,ndcg,50,0.1\n"
    )
}

fn table(sandbox: &Sandbox, name: &str) -> RecordBatch {
    dataset::table::read(&sandbox.location("runs/sweeps/tiny").join(name)).unwrap()
}

fn texts(table: &RecordBatch, column: &str) -> Vec<String> {
    let column = table.column_by_name(column).unwrap().as_any().downcast_ref::<StringArray>().unwrap();
    column.iter().map(|text| text.unwrap().to_owned()).collect()
}

fn numbers(table: &RecordBatch, column: &str) -> Vec<f64> {
    let column = table.column_by_name(column).unwrap().as_any().downcast_ref::<Float64Array>().unwrap();
    (0..column.len()).map(|row| column.value(row)).collect()
}

/// The mean NDCG@5 of `popularity`, which fits at once.
fn popularity(sandbox: &Sandbox) -> f64 {
    let board = table(sandbox, "leaderboard.parquet");
    let row =
        texts(&board, "title").iter().zip(texts(&board, "metric")).position(|(title, metric)| title == "popularity" && metric == "ndcg");
    numbers(&board, "mean")[row.unwrap()]
}

fn run(sandbox: &Sandbox, command: &str) -> Ended {
    let ended = sandbox.ended(&mut sandbox.command(&[command, "s.yaml"]));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    ended
}

#[test]
fn numbers_and_claims_are_judged_by_run_and_report() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    assert!(!sandbox.path("runs/sweeps/tiny/claims.parquet").exists());
    sandbox.write("v.csv", values(popularity(&sandbox)));
    sandbox.write("s.yaml", format!("{SWEEP}{PAPER}"));
    let plan = run(&sandbox, "plan").out;
    assert!(
        plan.contains("2 printed numbers (margin 10%), of 5 in the table; the others name what this sweep has not, the first: unknown method `ease`\n6 claims"),
        "{plan}"
    );
    let hint = "\nwith one seed nothing tells how far seeds spread, and no number is judged: give `seeds` two at least\n";
    assert!(!plan.contains(hint), "{plan}");
    sandbox.write("one.yaml", format!("{SWEEP}{PAPER}").replace("seeds: [1, 2]", "seeds: [1]"));
    let of_one = sandbox.ended(&mut sandbox.command(&["plan", "one.yaml"])).out;
    assert!(of_one.contains(hint), "{of_one}");
    let ran = run(&sandbox, "run").out;
    assert!(ran.contains("1 of 2 printed numbers is reproduced within 10%, 1 is contradicted."), "{ran}");
    assert!(
        ran.contains("3 of 5 lines of the table name what this sweep has not, the first: unknown method `ease`.")
            && ran.contains("Of 6 claims:")
            && ran.contains("rising along bpr on mf-4, softmax on mf-4, popularity on small, ndcg@5"),
        "{ran}"
    );

    let found = table(&sandbox, "reproduction.parquet");
    assert_eq!(
        (texts(&found, "verdict"), texts(&found, "place")),
        (vec!["reproduced".into(), "contradicted".into()], vec!["Table 1".to_owned(); 2])
    );
    assert!(numbers(&found, "difference")[0].abs() <= 5e-5 && (numbers(&found, "margin")[1] - 1e-5).abs() < 1e-12);
    let claims = table(&sandbox, "claims.parquet");
    assert_eq!(claims.num_rows(), 6);
    assert_eq!(texts(&claims, "kind"), ["better", "better", "better", "better", "increasing", "faster"]);
    assert_eq!((texts(&claims, "over")[5].as_str(), texts(&claims, "metric")[5].as_str()), ("seeds", "ndcg"));
    assert!(texts(&claims, "verdict")[5] != "missing" && ran.contains("bpr on mf-4 in fewer epochs than softmax on mf-4"), "{ran}");
    assert_holm(numbers(&claims, "p_value").into_iter().zip(numbers(&claims, "p_adjusted")).collect());

    let page = fs::read_to_string(sandbox.path("runs/sweeps/tiny/report.html")).unwrap();
    assert!(page.contains("Beside the paper") && page.contains("popularity above bpr on mf-4"));
    let files = ["reproduction.parquet", "claims.parquet", "report.html"].map(|name| sandbox.path(&format!("runs/sweeps/tiny/{name}")));
    let first = files.each_ref().map(|file| fs::read(file).unwrap());
    files.iter().for_each(|file| fs::remove_file(file).unwrap());
    assert_eq!(run(&sandbox, "report").out, ran[ran.find("small: 12 users").unwrap()..]);
    assert_eq!(files.each_ref().map(|file| fs::read(file).unwrap()), first);
}

#[test]
fn a_table_that_cannot_be_used_is_refused_before_anything_is_done() {
    let sandbox = Sandbox::new(&format!("{SWEEP}{PAPER}"));
    let complaint = |values: Option<&str>| {
        if let Some(values) = values {
            sandbox.write("v.csv", values);
        }
        sandbox.run().complaint(2).to_owned()
    };
    assert!(complaint(None).starts_with("s.yaml:17:10: printed: v.csv: cannot be read: No such file"), "{}", complaint(None));
    let header = "place,dataset,method,metric,cutoff,value\n";
    assert!(
        complaint(Some(&format!("{header}T,small,popularity,ndcg,5,ten\n")))
            .ends_with("v.csv: line 2: `value` is `ten`: expected a number such as 0.0527")
    );
    let other = complaint(Some(&format!("{header}T,small,popularty,ndcg,5,0.1\n")));
    assert!(
        other.contains("none of 1 line is of this sweep; of the first: unknown method `popularty`: did you mean `popularity`?"),
        "{other}"
    );
    assert!(!sandbox.path("runs/sweeps").exists());
}
