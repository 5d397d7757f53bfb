//! Top-N lists of another program: a run.
//!
//! ```text
//! s(u, i) = the score of i in u's list, or minus its rank        what is not listed was not retrieved, and is never a hit
//! ```
//! Ranked as given. Items of equal scores are ties, judged as those of any model. Items that the protocol masks are passed over, so that those behind
//! them move up.

use super::{
    BackboneKind, Facts, Sizes, Stored,
    kind::{PlannedFile, Pretrained, bytes_of, check_name},
};
use crate::pretrained::{self, Contents, Findings, Side, lists};
use crate::{Error, Result};
use dataset::{Dataset, Files};
use evaluator::Scorer;
use serde::{Deserialize, Serialize};

/// Bytes of memory that an entry of a list takes until it is stored: 240 were measured, of ten million.
const OF_ENTRY: u64 = 240;

/// `run` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What the method is called in tables, in brackets behind the kind.
    pub name: String,
    /// The file of the lists: `.csv`, `.tsv` or `.parquet` with own ids in `user_id` and `item_id` beside `score` or `rank`, or a TREC run file (`.trec`, `.run`, `.txt`). In it `{seed}`, `{dataset}` and `{split_seed}` stand for those of a trial.
    pub path: String,
}

impl BackboneKind for Run {
    fn facts(&self) -> Facts {
        Facts { paper: "-", cost: "reading its file", unknown_user: "by its list", values: "-" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_name(&self.name)?;
        lists::check_name(&self.path).map_err(|reason| format!("path: {reason}"))
    }

    /// Its size is known once its file is: `Trial::stored` has it.
    fn stored(&self) -> Stored {
        Stored::Lists { entries: 0 }
    }
}

impl Pretrained for Run {
    fn files(&self) -> Vec<PlannedFile<'_>> {
        vec![PlannedFile { key: "path", path: &self.path }]
    }

    fn read(&self, contents: &Contents, dataset: &Dataset) -> Result<(Scorer, Vec<String>)> {
        let mut findings = Findings::default();
        let (users, items) = (Side::users(dataset), Side::items(dataset));
        let lists = contents.get("path").and_then(|content| lists::read(content, &users, &items, &mut findings));
        let remarks = findings.remarks()?;
        let lists = lists.ok_or_else(|| Error::Impossible("its file holds no lists".to_owned()))?;
        Ok((Scorer::Lists(lists), remarks))
    }

    /// A guess: a line of two short ids and a score has ten letters or more, and Parquet packs it into half of that.
    fn size(&self, files: &Files, _users: u64, _items: u64) -> Stored {
        let of_entry = if pretrained::suffix(&self.path) == "parquet" { 4 } else { 10 };
        Stored::Lists { entries: bytes_of(files, "path") / of_entry }
    }

    /// The file, its entries as they are read, put in order and stored, as measured, and what ranks them.
    fn memory(&self, files: &Files, sizes: Sizes, ranking: u64) -> u64 {
        let entries = if let Stored::Lists { entries } = self.size(files, sizes.users, sizes.items) { entries } else { 0 };
        bytes_of(files, "path") + OF_ENTRY * entries + ranking
    }
}
