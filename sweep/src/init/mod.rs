//! A first sweep file for somebody's own data, with what was found out of the data in its comments.

mod source;

use crate::{file::SweepFile, number::count, plan, preview, shell};
use anyhow::Result;
use dataset::Split;
use pipeline::{Preview, Source};
use std::fmt::Write;

/// Items up to which `ease` takes at most about 1 GB and a minute.
const EASE_ITEMS: usize = 8_000;
/// Plain words that are no text, to some reader of YAML.
const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
/// The largest k that a k-core is proposed with, the field's usual one.
const K_CORE: u32 = 5;
/// The least share of the interactions that a proposed k-core keeps, as one in so many.
const KEPT_OF: usize = 10;
/// The largest number of letters of a name.
const LETTERS: usize = 40;

/// Data that was recognised.
#[derive(Debug)]
pub struct Recognised {
    /// The path as typed.
    pub path: String,
    /// How it is read.
    pub source: Source,
    /// What its first rows hold.
    pub preview: Preview,
}

/// The text of a sweep file over some data, which holds together; its results go to `storage`.
///
/// # Errors
/// When the file would not: a mistake of this function.
pub fn sweep_file(data: &Recognised, out: &str, storage: &str) -> Result<String> {
    let text = text(data, out, storage)?;
    let file = SweepFile::parse(&text, out)?;
    plan::check(&file)?;
    Ok(text)
}

fn text(data: &Recognised, out: &str, storage: &str) -> Result<String> {
    let name = name(&data.path);
    let (quoted, runs) = (scalar(&name), storage.trim_end_matches('/').trim_start_matches("./"));
    let mut text = format!(
        "# Which loss ranks best on {path}? Written by `ranksweep init`, to be changed.\n\
         #\n\
         #     ranksweep plan {command}    what it will do, and the memory and work that it takes\n\
         #     ranksweep run {command}     the leaderboard at its end, the page in {runs}/sweeps/{name}/report.html\n\
         #\n",
        path = data.path,
        command = shell::quoted(out),
    );
    for line in found(data) {
        writeln!(text, "# {line}")?;
    }
    write!(
        text,
        "name: {quoted}\n\
         storage: {}\n\
         datasets:\n\
         \x20 - name: {quoted}\n\
         \x20   source: {}\n",
        scalar(storage),
        source::flow(&data.source)?
    )?;
    if !data.source.is_split() {
        if data.preview.ratings.is_some() {
            text += "    # min_rating: 4      # leaves out what is rated lower; without it every row counts, whatever its rating\n";
        }
        text += &k_core(&data.preview);
    }
    text += split(data);
    text += &grid(data);
    Ok(text)
}

/// What was found out of the data, line by line.
pub fn found(data: &Recognised) -> Vec<String> {
    let mut lines: Vec<String> = taken(data).into_iter().collect();
    lines.extend(preview::lines("It", &data.source, &data.preview));
    let Preview { ratings, times, .. } = &data.preview;
    let missing: Vec<&str> =
        [("rating", ratings.is_none()), ("timestamp", times.is_none())].into_iter().filter(|(_, is)| *is).map(|(of, _)| of).collect();
    let is_word = |text: &str| !text.contains(|c: char| c.is_ascii_digit());
    let may_be_names = data.preview.first.first().is_some_and(|first| is_word(&first.user) && is_word(&first.item));
    if !data.source.has_names() && may_be_names {
        lines.push("If the first line has names, name two of them by --user and --item.".to_owned());
    }
    if !missing.is_empty() && !data.source.is_split() {
        lines.push(format!(
            "Nothing is taken for a {0}; name the column by --{1}, if there is one.",
            missing.join(" or a "),
            missing.join(" or --")
        ));
    }
    lines
}

/// A text as YAML: in quotes, unless it is one that needs none.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/'))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | ':'))
        && !text.ends_with(':')
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Which file of an archive or a folder is taken.
fn taken(data: &Recognised) -> Option<String> {
    if data.source.is_split() {
        return None; // all its files are named as it is read
    }
    let (_, path) = *data.source.files().first()?;
    let below = path.strip_prefix(data.path.as_str()).filter(|below| !below.is_empty())?;
    let (of, file) = if data.path.ends_with('/') { ("folder", below) } else { ("archive", below.strip_prefix('/')?) };
    Some(format!("Of the {of}'s files, {} is taken.", dataset::quote::value(file)))
}

/// The line of the k-core: the largest k of which enough stays, as far as all rows were looked at.
fn k_core(preview: &Preview) -> String {
    let line =
        |k: u32, stays: &str| format!("    k_core: {k}            # every user and item that stays has at least {k} interactions{stays}\n");
    if !preview.is_whole {
        return line(K_CORE, "");
    }
    let interactions = |k: u32| preview.core(k).interactions;
    let all = interactions(1);
    let kept = (2..=K_CORE).rev().map(|k| (k, interactions(k))).find(|&(_, kept)| kept > 0 && KEPT_OF * kept >= all);
    match kept {
        Some((k, kept)) => line(k, &format!(": {} of {} stay", count(kept), count(all))),
        None => format!(
            "    # k_core: 2          # would keep users and items with at least 2 interactions, and {} of {}\n",
            count(interactions(2)),
            count(all)
        ),
    }
}

fn split(data: &Recognised) -> &'static str {
    match (data.source.is_split(), data.preview.times) {
        (true, _) if data.source.parts().contains(&Split::Validation) => "    split: {kind: given}\n",
        (true, _) => "    split: {kind: given, validation: 0.05, seed: 1}\n",
        (false, None) => "    split: {kind: random, test: 0.2, validation: 0.1, seed: 1}\n",
        (false, Some(_)) => {
            "    split: {kind: random, test: 0.2, validation: 0.1, seed: 1}\n    \
             # split: {kind: temporal, test: 0.2, validation: 0.1}     # by time: the last 20% are the test\n    \
             # split: {kind: leave-last, validation: true}             # each user's last item, for sas-rec and gru4rec\n"
        }
    }
}

fn grid(data: &Recognised) -> String {
    let ease = if data.preview.is_whole && data.preview.items <= EASE_ITEMS {
        "      - {kind: ease, regularization: [100, 300, 1000]}\n"
    } else {
        ""
    };
    format!(
        "grid:\n\
         \x20 # Without sampling, at once: what learning has to beat.\n\
         \x20 - backbones:\n\
         \x20     - {{kind: popularity}}\n\
         \x20     - {{kind: item-knn, neighbours: 100, shrink: [0, 10]}}\n\
         {ease}\
         \x20 # A list of kinds is compared, a list of values is tuned on validation.\n\
         \x20 - backbones:\n\
         \x20     - {{kind: mf, dim: 64}}\n\
         \x20   losses:\n\
         \x20     - {{kind: bpr}}\n\
         \x20   samplers:\n\
         \x20     - {{kind: uniform, negatives: 1}}\n\
         \x20   optimizer: {{kind: adam, learning_rate: [0.01, 0.001], weight_decay: 0.00001}}\n\
         \x20 - backbones:\n\
         \x20     - {{kind: mf, dim: 64, init: {{kind: normal, std: 1.0}}}}\n\
         \x20     - {{kind: light-gcn, dim: 64, layers: 2, init: {{kind: normal, std: 1.0}}}}\n\
         \x20   losses:\n\
         \x20     - {{kind: softmax, temperature: [0.1, 0.2]}}\n\
         \x20     - {{kind: softmax-at-k, cutoff: 20, temperature: 0.2, weight_temperature: [1.25, 2.25], quantile_every: 5}}\n\
         \x20   samplers:\n\
         \x20     - {{kind: uniform, negatives: 100}}\n\
         \x20   optimizer: {{kind: adam, learning_rate: 0.1}}\n\
         training: {{epochs: 100, batch_size: 1024, evaluate_every: 5, patience: 3, select_by: ndcg@20}}\n\
         seeds: [1, 2, 3]        # of the picked methods: a verdict holds for other seeds only where there are several\n\
         evaluation:\n\
         \x20 metrics: [ndcg, recall, precision, mrr]\n\
         \x20 cutoffs: [20, 10]\n\
         # In an editor: `ranksweep schema > ranksweep.schema.json`, and `# yaml-language-server: $schema=ranksweep.schema.json` as the first line here.\n\
         # More: `ranksweep kinds` lists the losses, samplers and models, `ranksweep kinds softmax` says what there is to know of one.\n"
    )
}

/// The name of a sweep over a file, a folder or a pattern: that of the file without its suffixes, or of the last folder with a plain name.
pub fn name(path: &str) -> String {
    let mut steps = path.split('/').filter(|step| !step.is_empty() && !step.contains(['*', '?', '[', '=', ':']));
    let last = steps.next_back().unwrap_or_default();
    let stem = last.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let name: String = stem.chars().take(LETTERS).map(letter).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "data".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Location;
    use pipeline::source::KnownColumns;

    fn recognised(name: &str, content: &str) -> Recognised {
        let path = format!("memory:///init/{name}");
        Location::parse(&path).unwrap().write(content.to_owned()).unwrap();
        let source = Source::recognise(&path, KnownColumns::default()).unwrap();
        let preview = Preview::read(&source).unwrap();
        Recognised { path, source, preview }
    }

    #[test]
    fn the_file_says_what_was_found() {
        let data = recognised("events.csv", "user,item,stars,date\nu1,i1,4.5,2024-05-01\nu2,i1,1,2024-06-01\n");
        let text = sweep_file(&data, "events.yaml", "./runs").unwrap();
        for expected in [
            "# It is read as text separated by `,` with names in its first line, and has 2 rows.\n",
            "# In all 2 rows: 2 users, 1 item, ratings from 1 to 4.5, times from 2024-05-01 to 2024-06-01.\n",
            "#     user u1, item i1, rating 4.5, time 2024-05-01\n",
            "name: events\n",
            "columns: {user: \"user\", item: \"item\", rating: \"stars\", timestamp: \"date\"}",
            "    # min_rating: 4 ",
            "{kind: ease,",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn what_may_be_a_header_is_asked_for_and_commands_can_be_typed() {
        let data = recognised("words.csv", "wer,was\nanna,brot\nbob,milch\n");
        let text = sweep_file(&data, "my sweeps.yaml", "./runs").unwrap();
        assert!(text.contains("# If the first line has names, name two of them by --user and --item.\n"), "{text}");
        assert!(text.contains("#     ranksweep plan 'my sweeps.yaml'    what"), "{text}");
        let numbers = recognised("numbers.csv", "1,anna\n2,brot\n");
        assert!(!sweep_file(&numbers, "n.yaml", "./runs").unwrap().contains("If the first line"));
    }

    #[test]
    fn all_formats_give_files_that_hold_together() {
        Location::parse("memory:///init/train.txt").unwrap().write("0 1 2\n").unwrap();
        Location::parse("memory:///init/test.txt").unwrap().write("0 3\n").unwrap();
        let files = [
            ("tabs.tsv", "u\ti\nv\tj\n"),
            ("u.data", "1\t2\t3\t881250949\n"),
            ("x.inter", "user_id:token\titem_id:token\na\tb\n"),
            ("reviews.jsonl", "{\"user_id\": \"a\", \"item\": \"b\"}\n"),
            ("train.txt", "0 1 2\n"),
            ("odd \"name\".csv", "a;b\nc;d\n"),
            ("null.csv", "u,i\nv,j\n"),
            ("True.csv", "u,i\nv,j\n"),
            ("2024.csv", "u,i\nv,j\n"),
        ];
        for (name, content) in files {
            let data = recognised(name, content);
            let text = sweep_file(&data, "x.yaml", "null").unwrap();
            let file = SweepFile::parse(&text, "x.yaml").unwrap();
            assert_eq!((&file.name.value[..], &file.storage.value[..]), (&super::name(name)[..], "null"));
            assert!(file.splits().all(|(_, split)| split.source == data.source), "{text}");
        }
    }

    #[test]
    fn the_k_core_leaves_something() {
        let line = |rows: String| {
            let text = sweep_file(&recognised("core.csv", &rows), "core.yaml", "./runs").unwrap();
            text.lines().find(|line| line.contains("k_core")).unwrap().trim().to_owned()
        };
        let block =
            |users: u32, items: u32| (0..users).flat_map(move |user| (0..items).map(move |item| format!("u{user},i{item}\n"))).collect();
        assert_eq!(line(block(6, 6)), "k_core: 5            # every user and item that stays has at least 5 interactions: 36 of 36 stay");
        assert_eq!(
            line(block(3, 50)),
            "k_core: 3            # every user and item that stays has at least 3 interactions: 150 of 150 stay"
        );
        let chain: String = (100..120).map(|at| format!("u{at},i{at}\n")).collect();
        let expected = |kept: &str| format!("# k_core: 2          # would keep users and items with at least 2 interactions, and {kept}");
        assert_eq!(line(chain.clone()), expected("0 of 20"));
        let long: String = (100..20_000).map(|at| format!("u{at},i{at}\n")).collect();
        assert_eq!(line(format!("{}{long}", block(40, 40))), expected("1,600 of 21,500"));
    }

    #[test]
    fn names_come_from_paths() {
        let cases = [
            ("data/Ratings 2024.csv.gz", "ratings-2024"),
            ("s3://bucket/events/year=*/part-*.parquet", "events"),
            ("logs/", "logs"),
            ("*.csv", "data"),
            ("u.data", "u"),
        ];
        for (path, expected) in cases {
            assert_eq!(name(path), expected, "{path}");
        }
    }
}
