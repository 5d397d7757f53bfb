//! Data that is missing, damaged or not what the sweep file says.

use crate::support::{SWEEP, Sandbox, changed, ratings};
use arrow::array::StringArray;
use dataset::table;
use flate2::{Compression, write::GzEncoder};
use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
};

/// A sweep whose data is bad: one complaint, exit code 1, nothing finished; with good data in its place it runs.
pub(crate) fn fails_on(sandbox: &Sandbox, messages: &[&str]) {
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
        ("u1,i3,4,\n", "column `time`: `` is neither a number nor a date such as 2024-05-01 12:30:00; "),
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
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv line 122: a quoted field that starts here is never closed (close the quote"]);
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
    fails_on(
        &sandbox,
        &[&format!(
            "s.yaml:4:39: dataset `small`: FOLDER/ratings.csv is a folder, expected a file (or all files in it, with `/` at its end); {advice}"
        )],
    );
    std::fs::remove_dir(sandbox.path("ratings.csv")).unwrap();
    sandbox.write("ratings.csv", "");
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv: the file is empty (expected a header line)"]);
    sandbox.write("ratings.csv", "user,item,rating,time\n");
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv: the file holds no interactions (expected at least one row)"]);
    sandbox.write("ratings.csv", "user,item,stars,time\nu1,i1,3,1\n");
    let ended = sandbox.ended(&mut sandbox.command(&["prepare", "s.yaml"]));
    let columns = "no column `rating` (rating) in the header; its 4 columns are `user`, `item`, `stars`, `time`";
    let message = format!("s.yaml:4:94: dataset `small`: FOLDER/ratings.csv: {columns}");
    assert!(ended.complaint(2).starts_with(&message), "{}", ended.error);
    sandbox.write("ratings.csv", ratings());
    sandbox.run_well();
}

#[test]
fn a_gzip_that_is_cut_or_damaged_is_named() {
    let sandbox = Sandbox::new(&changed("ratings.csv", "ratings.csv.gz"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(ratings().as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    let cut = "the compressed data ends in the middle; copy or download the file again";
    sandbox.write("ratings.csv.gz", &whole[..whole.len() / 2]);
    fails_on(&sandbox, &["dataset `small`: cannot read FOLDER/ratings.csv.gz after line ", cut]);
    sandbox.write("ratings.csv.gz", &whole[..whole.len() - 3]);
    fails_on(&sandbox, &["dataset `small`: cannot read FOLDER/ratings.csv.gz after line 121: ", cut]);
    let mut changed = whole.clone();
    changed[whole.len() - 6] ^= 0x55; // of the checksum
    sandbox.write("ratings.csv.gz", changed);
    let damaged = "the compressed data is damaged; copy or download the file again: ";
    fails_on(&sandbox, &["dataset `small`: cannot read FOLDER/ratings.csv.gz after line 121: ", damaged]);
    // Text is text, whatever its file is called.
    sandbox.write("ratings.csv.gz", ratings());
    sandbox.run_well();
}

#[test]
fn plan_says_what_is_left_out() {
    let sandbox = Sandbox::new(&changed("path: ratings.csv,", "path: ratings.csv, on_bad_row: skip,"));
    let planned = || String::from_utf8(sandbox.command(&["plan", "s.yaml"]).output().unwrap().stdout).unwrap();
    sandbox.write("ratings.csv", ratings() + "u1,i3,,9\nu2,i4,bad,9\n");
    let said = "2 of the first 122 rows cannot be read, and were left out; the first at line 122: column `rating`: `` is not a number.\n";
    assert!(planned().contains(said), "{}", planned());
    sandbox.write("ratings.csv", "user,item,rating,time\nu1,i3,,9\nu2,i4,bad,9\n");
    let said = "none of the 2 rows can be read: correct the separator, the columns or the rows, the first at line 2: column `rating`: ``";
    assert!(planned().contains(said), "{}", planned());
}

#[test]
fn what_is_no_text_and_what_is_no_parquet_is_told() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.write("ratings.csv", [b"PAR1".as_slice(), &[0; 40], b"PAR1"].concat());
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv: it is a Parquet file, of `format: parquet`"]);
    sandbox.write("ratings.csv", ratings().encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    sandbox.write("ratings.csv", [b"\xff\xfe".to_vec(), std::fs::read(sandbox.path("ratings.csv")).unwrap()].concat());
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv: its text is UTF-16; convert the file to UTF-8"]);
    sandbox.write("ratings.csv", ratings().replace('\n', "\r"));
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv: its lines end in CR alone; write LF in its place"]);
    let sandbox = Sandbox::new(&changed("format: delimited", "format: parquet"));
    fails_on(&sandbox, &["dataset `small`: FOLDER/ratings.csv: it is no Parquet file, which would begin with `PAR1`; correct `format`"]);
}

/// Before it is prepared and after.
#[test]
fn plan_shows_what_the_data_is_understood_as() {
    let sandbox = Sandbox::new(SWEEP);
    let planned = || String::from_utf8(sandbox.command(&["plan", "s.yaml"]).output().unwrap().stdout).unwrap();
    let expected = "dataset small is read as text separated by `,` with names in its first line, and has 120 rows.\n\
                    In all 120 rows: 12 users, 20 items, ratings from ";
    assert!(planned().starts_with(expected), "{}", planned());
    assert!(planned().contains("The first ones, as they are understood:\n    user "), "{}", planned());
    sandbox.run_well();
    assert!(planned().starts_with(expected), "{}", planned());
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

#[test]
fn a_parquet_that_is_cut_or_none_is_named() {
    let start = SWEEP.find("{format: delimited").unwrap();
    let end = SWEEP.find("    split:").unwrap();
    let source = "{format: parquet, path: raw.parquet, columns: {user: user, item: item}}\n";
    let sandbox = Sandbox::new(&format!("{}{source}{}", &SWEEP[..start], &SWEEP[end..]));
    let fields = |place: usize| ratings().lines().skip(1).map(|row| row.split(',').nth(place).unwrap().to_owned()).collect::<Vec<_>>();
    let column = |place| std::sync::Arc::new(StringArray::from(fields(place))) as arrow::array::ArrayRef;
    let whole = table::encode(&table::batch(vec![("user", column(0), false), ("item", column(1), false)])).unwrap();
    let message = "dataset `small`: cannot read FOLDER/raw.parquet as Parquet; copy it again, or check its format";
    for damaged in [&whole[..whole.len() / 2], &whole[..whole.len() - 3]] {
        sandbox.write("raw.parquet", damaged);
        fails_on(&sandbox, &[message]);
    }
    sandbox.write("raw.parquet", ratings());
    fails_on(&sandbox, &["dataset `small`: FOLDER/raw.parquet: it is no Parquet file, which would begin with `PAR1`"]);
    sandbox.write("raw.parquet", "");
    fails_on(&sandbox, &["dataset `small`: FOLDER/raw.parquet: the file is empty; copy it again"]);
    sandbox.write("raw.parquet", &whole);
    sandbox.run_well();
}

#[test]
fn an_export_that_would_mislead_its_reader_is_refused() {
    let export = |sandbox: &Sandbox, format: &str, out: &str| {
        sandbox.ended(&mut sandbox.command(&["export", "s.yaml", "--format", format, "--out", out]))
    };
    // A validation part of an export before, whose rows are in train now.
    let sandbox = Sandbox::new(SWEEP);
    assert_eq!(export(&sandbox, "csv", "splits").code, Some(0));
    sandbox.write("s.yaml", changed(", validation: 0.1", ""));
    let refused = export(&sandbox, "csv", "splits");
    assert!(
        refused.complaint(1).ends_with(
            "splits/small has the file validation.csv of another export, and dataset `small` has no such part: remove it, or take another `--out`"
        ),
        "{}",
        refused.error
    );
    assert_eq!(export(&sandbox, "recbole", "splits").code, Some(0));
    // Two folders of one name.
    let entry = "  - name: small-7\n    source: {format: delimited, path: ratings.csv, columns: {user: user, item: item}}\n    split: {kind: random, test: 0.5, seed: 9}\n";
    sandbox.write("s.yaml", changed("seed: 7", "seed: [7, 8]").replace("grid:", &format!("{entry}grid:")));
    let refused = export(&sandbox, "csv", "both");
    assert!(refused.complaint(1).starts_with("two datasets would be written into the folder `small-7`"), "{}", refused.error);
    assert!(!sandbox.path("both").exists());
    // With a quote at its beginning an id would take the rows that follow it for its own.
    let sandbox = Sandbox::new(SWEEP);
    sandbox.write("ratings.csv", ratings() + "\"\"\"u\"\"\",i1,4,9\n\"\"\"u\"\"\",i2,4,9\n");
    for (format, code) in [("elliot", 1), ("recbole", 1), ("csv", 0), ("lenskit", 0)] {
        assert_eq!(export(&sandbox, format, "quoted").code, Some(code), "{format}");
    }
    let refused = export(&sandbox, "elliot", "quoted");
    assert!(
        refused.complaint(1).contains("the user id `\"u\"` cannot stand in a tab-separated file of Elliot: take another format"),
        "{}",
        refused.error
    );
}
