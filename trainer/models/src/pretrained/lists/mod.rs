//! Top-N lists from a file: `.csv`, `.tsv`, `.parquet`, or a run file of TREC. A format is one file and one line.
//!
//! Tables have the columns `user_id` (or `user`), `item_id` (or `item`), and `score`, `rank` or both. Where there are scores, they order a list, and
//! equal ones are ties; ranks alone order it without ties. Ranks beside scores must not contradict them.

mod delimited;
mod parquet;
mod trec;

use super::{
    Content, Findings, Side,
    findings::{Named, counted},
    suffix,
};
use dataset::panics;
use evaluator::Lists;
use std::collections::HashSet;

/// The names of the columns, the first that is there.
const USERS: [&str; 2] = ["user_id", "user"];
const ITEMS: [&str; 2] = ["item_id", "item"];
const SCORE: &str = "score";
const RANK: &str = "rank";

/// What reads a file: each of its entries goes into the gathering.
type Read = fn(&Content, &mut Gathered<'_>) -> Result<(), String>;

/// The formats by the suffixes of their files.
const FORMATS: [(&str, Read); 7] = [
    ("csv", delimited::read_commas),
    ("tsv", delimited::read_tabs),
    ("parquet", parquet::read),
    ("trec", trec::read),
    ("run", trec::read),
    ("txt", trec::read),
    ("", trec::read),
];

/// Checks that a file's name says its format.
///
/// # Errors
/// In words: an unknown suffix.
pub fn check_name(name: &str) -> Result<(), String> {
    format(name).map(drop)
}

fn format(name: &str) -> Result<Read, String> {
    let found = suffix(name);
    let read = FORMATS.into_iter().find(|(suffix, _)| *suffix == found).map(|(_, read)| read);
    read.ok_or_else(|| {
        let name = dataset::quote::value(name);
        format!("`{name}` has an unknown suffix (expected .csv, .tsv or .parquet, or .trec, .run, .txt or none for a TREC run file)")
    })
}

/// One entry of a list, as a file has it.
struct Entry<'a> {
    user: &'a str,
    item: &'a str,
    score: Option<f64>,
    rank: Option<i64>,
}

/// An entry of a known user and item.
#[derive(Clone, Copy)]
struct Known {
    item: u32,
    score: f64,
    rank: i64,
}

/// The entries of a file by their users.
struct Gathered<'a> {
    users: &'a Side<'a>,
    items: &'a Side<'a>,
    rows: Vec<Vec<Known>>,
    entries: usize,
    has_scores: bool,
    has_ranks: bool,
    not_finite: usize,
    unknown_users: HashSet<String>,
    unknown_items: HashSet<String>,
}

/// The lists of a file, for all users of a dataset; `None`, with the reasons, where that is not possible.
pub fn read(content: &Content, users: &Side<'_>, items: &Side<'_>, findings: &mut Findings) -> Option<Lists> {
    let mut gathered = Gathered {
        users,
        items,
        rows: vec![Vec::new(); users.ids.len()],
        entries: 0,
        has_scores: true,
        has_ranks: true,
        not_finite: 0,
        unknown_users: HashSet::new(),
        unknown_items: HashSet::new(),
    };
    let read = format(content.at.name()).and_then(|read| {
        // Decoders trust what a file says of itself.
        panics::caught(|| read(content, &mut gathered)).unwrap_or_else(|_| Err("its content contradicts itself".to_owned()))
    });
    match read {
        Ok(()) => gathered.lists(content, findings),
        Err(reason) => {
            findings.wrong(format!("{}: {reason}", content.at));
            None
        }
    }
}

impl Gathered<'_> {
    fn add(&mut self, entry: Entry<'_>) {
        self.entries += 1;
        self.has_scores &= entry.score.is_some();
        self.has_ranks &= entry.rank.is_some();
        let (user, item) = (self.users.dense(entry.user), self.items.dense(entry.item));
        if user.is_none() && !self.unknown_users.contains(entry.user) {
            self.unknown_users.insert(entry.user.to_owned());
        }
        if item.is_none() && !self.unknown_items.contains(entry.item) {
            self.unknown_items.insert(entry.item.to_owned());
        }
        let (Some(user), Some(item)) = (user, item) else { return };
        let score = entry.score.unwrap_or_default();
        self.not_finite += usize::from(!score.is_finite());
        self.rows[user as usize].push(Known { item, score, rank: entry.rank.unwrap_or_default() });
    }

    fn lists(mut self, content: &Content, findings: &mut Findings) -> Option<Lists> {
        let at = &content.at;
        if self.rows.iter().all(Vec::is_empty) {
            let (user, item) = (self.users.ids.first(), self.items.ids.first());
            let example = |id: Option<&String>| id.map_or_else(String::new, |id| format!(", such as `{}`", dataset::quote::value(id)));
            findings.wrong(format!(
                "{at}: none of its {} is of a user and an item of the dataset (expected own ids of users{}, and of items{})",
                counted(self.entries, "entry"),
                example(user),
                example(item)
            ));
            return None;
        }
        let wrong = self.wrong();
        if !wrong.is_empty() {
            wrong.into_iter().for_each(|words| findings.wrong(format!("{at}: {words}")));
            return None;
        }
        self.remark(findings);
        let has_scores = self.has_scores;
        let entry = move |known: Known| (known.item, if has_scores { known.score } else { -(known.rank as f64) });
        let rows = self.rows.into_iter().map(|row| row.into_iter().map(entry).collect()).collect();
        match Lists::from_rows(self.items.ids.len(), rows) {
            Ok(lists) => Some(lists),
            Err(reason) => {
                findings.wrong(format!("{at}: {reason}"));
                None
            }
        }
    }

    /// What makes lists of the entries impossible. Lists are in the order of their ranks afterwards.
    fn wrong(&mut self) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.not_finite > 0 {
            wrong.push(format!("{} with a score that is NaN or infinite", counted(self.not_finite, "entry")));
        }
        let (mut doubled, mut same_rank, mut contradicting) = (Named::default(), Named::default(), Named::default());
        for (row, id) in self.rows.iter_mut().zip(self.users.ids) {
            row.sort_unstable_by_key(|known| known.item);
            if row.windows(2).any(|pair| pair[0].item == pair[1].item) {
                doubled.add(id);
            }
            row.sort_by_key(|known| known.rank);
            if !self.has_scores && row.windows(2).any(|pair| pair[0].rank == pair[1].rank) {
                same_rank.add(id);
            }
            let rises = |pair: &[Known]| pair[0].rank < pair[1].rank && pair[0].score < pair[1].score;
            if self.has_scores && self.has_ranks && row.windows(2).any(rises) {
                contradicting.add(id);
            }
        }
        wrong.extend(doubled.words("user").map(|users| format!("an item stands twice in the lists of {users}")));
        wrong.extend(same_rank.words("user").map(|users| format!("a rank stands twice in the lists of {users}")));
        wrong.extend(contradicting.words("user").map(|users| {
            format!("a higher score has a later rank in the lists of {users}: keep the column that is meant, `score` (higher is better) or `rank`")
        }));
        wrong
    }

    fn remark(&self, findings: &mut Findings) {
        let unknown = [("user", &self.unknown_users), ("item", &self.unknown_items)];
        for (noun, ids) in unknown {
            let mut sorted: Vec<&String> = ids.iter().collect();
            sorted.sort_unstable();
            let mut named = Named::default();
            sorted.into_iter().for_each(|id| named.add(id));
            if let Some(words) = named.words(noun) {
                findings.remark(format!("entries of {words} that the dataset does not have were passed over"));
            }
        }
    }
}

/// The place among the columns of the first of these names.
fn place<'n>(names: &[&'n str], asked: &[&str]) -> Option<usize> {
    asked.iter().find_map(|asked| names.iter().position(|name: &&'n str| name == asked))
}

/// The places of user, item, score and rank.
fn places(names: &[&str]) -> Result<(usize, usize, Option<usize>, Option<usize>), String> {
    let found = || dataset::quote::names(names);
    let missing = |what: &str| format!("no column {what} (found {})", found());
    let user = place(names, &USERS).ok_or_else(|| missing("`user_id` or `user`"))?;
    let item = place(names, &ITEMS).ok_or_else(|| missing("`item_id` or `item`"))?;
    let (score, rank) = (place(names, &[SCORE]), place(names, &[RANK]));
    if score.is_none() && rank.is_none() {
        return Err(missing("`score` or `rank`"));
    }
    Ok((user, item, score, rank))
}

#[cfg(test)]
mod tests;
