//! `docs/scaling.md`: its tables and pictures are made here, and held against the file. The words between them are written by hand.

mod figures;
mod law;
mod tables;

use super::{Work, work::tests::GOWALLA};
use std::{fs, path::Path};

/// What is looked at: a name, and the work of its batch of 1024.
fn examples() -> [(&'static str, Work); 3] {
    let large = Work { users: 1e6, items: 1e7, train: 1e8, steps: 97_657.0, ..GOWALLA };
    [("MF, Gowalla", GOWALLA), ("LightGCN, Gowalla", Work { layers: 2.0, moves_all: true, ..GOWALLA }), ("MF, 10M items", large)]
}

/// How a batch is meant.
#[derive(Clone, Copy, PartialEq)]
enum Batch {
    /// 1024 rows over all ranks: the same training, sooner.
    Whole,
    /// 1024 rows on each: another training, of larger batches.
    EachRank,
}

impl Batch {
    const ALL: [Self; 2] = [Self::Whole, Self::EachRank];

    fn name(self) -> &'static str {
        match self {
            Self::Whole => "1024 in all",
            Self::EachRank => "1024 a GPU",
        }
    }

    fn of(self, work: Work, ranks: u32) -> Work {
        match self {
            Self::Whole => work,
            Self::EachRank => Work { rows: work.rows * f64::from(ranks), ..work },
        }
    }
}

/// The page with its tables as they are now.
fn renewed(page: &str) -> String {
    let mut renewed = String::new();
    let mut rest = page;
    for (name, table) in tables::all() {
        let (begin, end) = (format!("<!-- {name} -->\n"), "<!-- end -->\n");
        let at = rest.find(&begin).unwrap_or_else(|| panic!("no {begin}")) + begin.len();
        let to = at + rest[at..].find(end).unwrap_or_else(|| panic!("{name} has no end"));
        renewed = renewed + &rest[..at] + &table;
        rest = &rest[to..];
    }
    renewed + rest
}

#[test]
fn the_page_of_scaling_is_that_of_the_model() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let page = fs::read_to_string(docs.join("scaling.md")).unwrap();
    let made = figures::all().into_iter().map(|(name, chart)| (format!("scaling/{name}.svg"), chart.svg().unwrap()));
    for (name, content) in made.chain([("scaling.md".to_owned(), renewed(&page))]) {
        let file = docs.join(&name);
        if std::env::var_os("RANKSWEEP_RENEW").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &content).unwrap();
        }
        let remedy = "is not what the model says: write it anew by `RANKSWEEP_RENEW=1 cargo test -p sweep --lib page_of_scaling`";
        assert!(fs::read_to_string(&file).unwrap_or_default() == content, "docs/{name} {remedy}");
    }
}
