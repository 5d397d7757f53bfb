//! Variables of the environment in the names of source files.

use super::*;

const TYPED: &str = "${CARGO_MANIFEST_DIR}/${CARGO_PKG_NAME}.csv";

fn from(path: &str) -> Plan {
    let source = format!("{{format: delimited, path: \"{path}\", columns: {{user: \"${{CARGO_PKG_NAME}}\", item: i}}}}");
    plan_of(&with("{format: synthetic}", &source)).unwrap()
}

#[test]
fn the_plan_keeps_what_was_typed_and_not_the_value() {
    let text = from(TYPED).to_json();
    assert!(text.contains(&format!("\"path\": \"{TYPED}\"")), "{text}");
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{text}");
    assert!(text.contains("\"user\": \"sweep\""), "names of columns are no files: {text}");
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), from(TYPED));
}

#[test]
fn the_file_reads_the_value() {
    let source = format!("{{format: movielens, path: \"{TYPED}\"}}");
    let file = SweepFile::parse(&with("{format: synthetic}", &source), "s.yaml").unwrap();
    let (_, split) = file.splits().next().unwrap();
    assert_eq!(split.source.files()[0].1, concat!(env!("CARGO_MANIFEST_DIR"), "/sweep.csv"));
}
