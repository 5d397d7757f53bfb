//! Vectors that another program trained.
//!
//! ```text
//! s(u, i) = similarity(p_u, q_i)        p and q as their files have them
//! ```
//! Numbers are taken as 32-bit floats. Rows belong to own ids, or to the users and items in the order in which `ranksweep export` writes them.

use super::{
    BackboneKind, Facts, Sizes, Stored,
    kind::{PlannedFile, Pretrained, bytes_of},
    stored::FLOAT,
};
use crate::Result;
use crate::pretrained::{Content, Contents, Findings, Side, Vectors, vectors};
use ::vectors::{Matrix, Similarity};
use dataset::{Dataset, Files};
use evaluator::{Factors, Scorer};
use serde::{Deserialize, Serialize};

/// `external` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct External {
    /// What the method is called in tables, in brackets behind the kind.
    pub name: String,
    /// The file of the users' vectors, `.npy`, `.npz`, `.safetensors` or `.parquet`. In all files `{seed}`, `{dataset}` and `{split_seed}` stand for those of a trial.
    pub users: String,
    /// The file of the items' vectors.
    pub items: String,
    /// How two vectors make a score.
    #[serde(default = "dot")]
    pub similarity: Similarity,
    /// The array, tensor or column of the users' vectors, where their file has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_key: Option<String>,
    /// The array, tensor or column of the items' vectors, where their file has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_key: Option<String>,
    /// The file of the users' own ids, one in a line, in the order of the rows. Left out, rows are in the order of the prepared dataset; Parquet has ids itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_ids: Option<String>,
    /// The file of the items' own ids, as that of the users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_ids: Option<String>,
}

fn dot() -> Similarity {
    Similarity::Dot
}

impl BackboneKind for External {
    fn facts(&self) -> Facts {
        Facts { paper: "-", cost: "reading its files", unknown_user: "by its vector, or zeros", values: "-" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        super::kind::check_name(&self.name)?;
        for (key, file, ids_key, ids) in
            [("users", &self.users, "user_ids", &self.user_ids), ("items", &self.items, "item_ids", &self.item_ids)]
        {
            vectors::check_name(file).map_err(|reason| format!("{key}: {reason}"))?;
            if ids.is_some() && vectors::has_ids(file) {
                return Err(format!("{ids_key} is given, and `{key}` is a Parquet file, which has ids itself: leave one of the two out"));
            }
        }
        Ok(())
    }

    /// Its size is known once its files are: `Trial::stored` has it.
    fn stored(&self) -> Stored {
        Stored::Vectors { dim: 1 }
    }
}

impl Pretrained for External {
    fn files(&self) -> Vec<PlannedFile<'_>> {
        let ids = [("user_ids", &self.user_ids), ("item_ids", &self.item_ids)];
        let ids = ids.into_iter().filter_map(|(key, path)| Some(PlannedFile { key, path: path.as_deref()? }));
        let vectors = [PlannedFile { key: "users", path: &self.users }, PlannedFile { key: "items", path: &self.items }];
        vectors.into_iter().chain(ids).collect()
    }

    fn read(&self, contents: &Contents, dataset: &Dataset) -> Result<(Scorer, Vec<String>)> {
        let mut findings = Findings::default();
        let (users, items) = (Side::users(dataset), Side::items(dataset));
        let users = side(contents, "users", self.user_key.as_deref(), "user_ids", &users, &mut findings);
        let items = side(contents, "items", self.item_key.as_deref(), "item_ids", &items, &mut findings);
        if let (Some((_, users)), Some((_, items))) = (&users, &items)
            && users != items
        {
            let at = |key: &str| contents.get(key).map(|content| content.at.to_string()).unwrap_or_default();
            findings.wrong(format!(
                "vectors of users have {users} numbers ({}) and those of items {items} ({}): expected as many",
                at("users"),
                at("items")
            ));
        }
        let remarks = findings.remarks()?;
        match (users, items) {
            (Some((Some(users), _)), Some((Some(items), _))) => {
                Ok((Scorer::Factors(Factors { users, items, similarity: self.similarity }), remarks))
            }
            _ => Err(crate::Error::Impossible("its files hold no vectors".to_owned())),
        }
    }

    /// As if numbers had 32 bits: what is compressed has more, and wider ones fewer. Both sides may stand in one file.
    fn size(&self, files: &Files, users: u64, items: u64) -> Stored {
        let both = ["users", "items"].map(|key| bytes_of(files, key));
        let bytes = if self.users == self.items { both[0] } else { both[0] + both[1] };
        Stored::Vectors { dim: bytes.div_ceil((users + items).max(1) * FLOAT).clamp(1, 1 << 20) as usize }
    }

    /// The files, their rows as they are read and in order, and what ranks them.
    fn memory(&self, files: &Files, sizes: Sizes, ranking: u64) -> u64 {
        let read: u64 = files.keys().map(|key| bytes_of(files, key)).sum();
        3 * read + self.size(files, sizes.users, sizes.items).fitted(sizes, ranking)
    }
}

/// The vectors of the users or the items in their order, where that is possible, and how many numbers each has.
fn side(
    contents: &Contents,
    file: &str,
    key: Option<&str>,
    ids: &str,
    side: &Side<'_>,
    findings: &mut Findings,
) -> Option<(Option<Matrix>, usize)> {
    let content: &Content = contents.get(file)?;
    match Vectors::read(content, key, contents.get(ids)) {
        Ok(vectors) => {
            let dim = vectors.dim();
            Some((vectors.in_order(content, side, findings), dim))
        }
        Err(reason) => {
            findings.wrong(reason);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::FileEntry;

    /// 60 users and 40 items with 8 numbers each are 3,200 bytes.
    #[test]
    fn sizes_follow_from_those_of_the_files() {
        let model = |items: &str| External {
            name: "m".to_owned(),
            users: "u.npz".to_owned(),
            items: items.to_owned(),
            similarity: Similarity::Dot,
            user_key: None,
            item_key: None,
            user_ids: None,
            item_ids: None,
        };
        let files = |bytes: [u64; 2]| -> Files {
            let entry = |bytes| FileEntry { bytes, sha256: String::new() };
            [("users".to_owned(), entry(bytes[0])), ("items".to_owned(), entry(bytes[1]))].into()
        };
        assert_eq!(model("i.npz").size(&files([1_920, 1_280]), 60, 40), Stored::Vectors { dim: 8 });
        assert_eq!(model("u.npz").size(&files([3_200, 3_200]), 60, 40), Stored::Vectors { dim: 8 });
        assert_eq!(model("u.npz").size(&files([0, 0]), 0, 0), Stored::Vectors { dim: 1 });
    }
}
