//! Text with any separator, with or without a header.

use super::{
    Has, KnownColumns, SourceKind,
    beginning::Beginning,
    columns::Columns,
    files,
    records::{Records, Step},
    roles,
    row::Sinks,
    several::Several,
    text::{self, Header, Layout, OnBadRow},
};
use crate::{Error, Result};
use dataset::{Split, quote};
use serde::{Deserialize, Serialize};

/// `delimited` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delimited {
    /// The file, a folder with `/` at its end, or a pattern.
    pub path: String,
    /// One or more characters between fields.
    #[serde(default = "comma")]
    pub separator: String,
    /// Whether the first line holds names.
    #[serde(default = "yes")]
    pub header: bool,
    /// Which columns hold what.
    pub columns: Columns,
    /// What to do with a row that cannot be used.
    #[serde(default)]
    pub on_bad_row: OnBadRow,
}

fn comma() -> String {
    ",".to_owned()
}

fn yes() -> bool {
    true
}

impl SourceKind for Delimited {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        vec![("source.path", Split::Train, &self.path)]
    }

    fn recognise(beginning: &Beginning) -> Result<Option<Self>> {
        let Some(text) = beginning.text().filter(|text| !text.starts_with(['{', '['])) else { return Ok(None) };
        let (file, known) = (beginning.at.name(), &beginning.known);
        let found = |least: f64| SEPARATORS.iter().filter_map(move |separator| Some((*separator, table(text, separator, least)?)));
        let is_named = |(_, rows): &(&str, Vec<Vec<String>>)| roles::by_name(file, &rows[0], known).is_ok();
        let Some((separator, rows)) = found(ALIKE).next().or_else(|| found(ALIKE_BELOW_NAMES).find(is_named)) else {
            return Ok(None);
        };
        let header = has_header(&rows, known);
        let columns = match header {
            true => roles::by_name(file, &rows[0], known)?,
            false => roles::by_value(file, &rows, known)?,
        };
        let (path, separator) = (beginning.path.clone(), separator.to_owned());
        Ok(Some(Self { path, separator, header, columns, on_bad_row: OnBadRow::default() }))
    }

    fn words(&self) -> Option<String> {
        let header = if self.header { "with names in its first line" } else { "without names" };
        Some(format!("text separated by `{}` {header}", self.separator.escape_default()))
    }

    fn has_names(&self) -> bool {
        self.header
    }

    fn ratings(&self) -> Has {
        Has::from(self.columns.rating.is_some())
    }

    fn timestamps(&self) -> Has {
        Has::from(self.columns.timestamp.is_some())
    }

    /// 1 since a row that is left out is one line, whatever its quotes take for their own; 2 since it is all of them where the quotes are sound and a value is not.
    fn revision(&self) -> u32 {
        2 * u32::from(self.skips())
    }

    fn skips(&self) -> bool {
        self.on_bad_row == OnBadRow::Skip
    }

    fn skip_bad_rows(&mut self) -> bool {
        self.on_bad_row = OnBadRow::Skip;
        true
    }

    fn check(&self) -> Result<()> {
        check_separator(&self.separator)?;
        self.columns.check(self.header)
    }

    fn read(&self, _part: Split, sinks: &dyn Sinks) -> Result<()> {
        let files = files::all("source.path", &self.path)?;
        let layout = Layout {
            separator: &self.separator,
            header: if self.header { Header::Names } else { Header::Absent },
            columns: self.columns.clone(),
            on_bad_row: self.on_bad_row,
            is_part: files.len() > 1,
            has_columns: true,
            advice: "correct the row, or set `on_bad_row: skip`",
        };
        Several::of(&files, sinks).read(|at, sinks| text::read(at, &layout, sinks))
    }
}

/// Separators that are looked for, the most telling first.
const SEPARATORS: [&str; 6] = ["::", "\t", ";", "|", ",", " "];
/// Records that are looked at, and the share of them that must have as many fields as the first.
const LINES: usize = 500;
const ALIKE: f64 = 0.95;
/// The same where the first record names users and items: the reader then tells which lines have another length.
const ALIKE_BELOW_NAMES: f64 = 0.5;

/// The rows of a text with at least two fields in each, of which at least the share `least` has as many fields as the first; the others are left out.
fn table(text: &str, separator: &str, least: f64) -> Option<Vec<Vec<String>>> {
    let mut records = Records::new(text.as_bytes(), 1, separator.as_bytes());
    let mut rows: Vec<Option<Vec<String>>> = Vec::new();
    while rows.len() < LINES {
        rows.push(match records.step() {
            Step::Record(record) => {
                let fields = || record.fields.iter().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect();
                record.sound.then(fields)
            }
            Step::Open { .. } => {
                records.leave_first_line_out();
                None
            }
            Step::End => break,
        });
    }
    let width = rows.first()?.as_ref()?.len();
    let count = rows.len();
    let rows: Vec<Vec<String>> = rows.into_iter().flatten().filter(|row| row.len() == width).collect();
    (width > 1 && rows.len() as f64 >= least * count as f64).then_some(rows)
}

/// Whether the first row holds names: some that are known or asked for, or, where no column is asked for by its index, text above a column of numbers or of times,
/// which may have empty fields.
fn has_header(rows: &[Vec<String>], known: &KnownColumns) -> bool {
    let KnownColumns { user, item, rating, timestamp } = known;
    let asked = || [user, item, rating, timestamp].into_iter().flatten();
    let is_index = |name: &String| name.parse::<usize>().is_ok();
    if asked().any(|name| rows[0].contains(name) && !is_index(name)) || rows[0].iter().any(|name| roles::is_known(name)) {
        return true;
    }
    let is_above = |is: fn(&str) -> bool, least: usize| {
        move |column: usize| {
            let below = || rows[1..].iter().map(|row| row[column].as_str()).filter(|field| !field.is_empty());
            !rows[0][column].is_empty() && !is(&rows[0][column]) && below().count() >= least && below().all(is)
        }
    };
    let any = |is: fn(&str) -> bool, least: usize| (0..rows[0].len()).any(is_above(is, least));
    !asked().any(is_index) && (any(roles::is_number, 1) || any(roles::is_time, 1) || any(roles::begins_with_digit, 2))
}

/// A separator must be told from quotes and line ends.
pub(super) fn check_separator(separator: &str) -> Result<()> {
    if separator.is_empty() || separator.contains(['"', '\n', '\r']) {
        let shown = quote::value(separator);
        let reason = format!("\"{shown}\" cannot separate fields (expected one or more characters, no quotes or line ends)");
        return Err(Error::setting("source.separator", reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{Kept, failure, pair, read, source, stored};
    use dataset::Split;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const HEADER: &str = "user,item,stars,when\n";

    fn from(name: &str, content: &str, more: Value) -> crate::Source {
        let columns = json!({"user": "user", "item": "item", "rating": "stars", "timestamp": "when"});
        let mut settings = json!({"path": stored(name, content), "columns": columns});
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        source(json!({"delimited": settings}))
    }

    fn kept(source: &crate::Source) -> Kept {
        read(source, Split::Train).unwrap()
    }

    /// As of programs that write a part for each task, whether or not it has rows.
    #[test]
    fn of_several_files_one_may_be_empty() {
        stored("parts/a.csv", format!("{HEADER}x,y,3,1\n"));
        stored("parts/b.csv", "");
        let columns = json!({"user": "user", "item": "item"});
        let rows = kept(&source(json!({"delimited": {"path": "memory:///sources/parts/", "columns": columns}}))).rows;
        assert_eq!(rows, [pair("x", "y")]);
        let alone = failure(&source(json!({"delimited": {"path": "memory:///sources/parts/b.csv", "columns": columns}})));
        assert!(alone.ends_with("the file is empty (expected a header line)"), "{alone}");
    }

    /// As of `cat a.csv b.csv`, with and without the mark that some files begin with, in quotes and not.
    #[test]
    fn a_header_that_comes_again_is_no_row() {
        let columns = json!({"user": "user", "item": "item"});
        for again in ["user,item", "\u{feff}user,item", "\"user\",\"item\"", " user ,item\r"] {
            let text = format!("user,item\nuser,y\nx,item\n{again}\nmy user,z\n");
            let settings =
                |on_bad_row: &str| json!({"path": stored("again.csv", text.as_str()), "columns": columns, "on_bad_row": on_bad_row});
            let complaint = failure(&source(json!({"delimited": settings("error")})));
            assert!(complaint.contains("line 4: the header once more, as where files with headers were put together"), "{complaint}");
            let rows = kept(&source(json!({"delimited": settings("skip")}))).rows;
            assert_eq!(rows, [pair("user", "y"), pair("x", "item"), pair("my user", "z")], "{again}");
        }
    }

    #[test]
    fn ids_with_commas_and_quotes() {
        let source = from("quotes.csv", "when,stars,item,user\n1, 4.5 ,\"a,\"\"b\"\"\",\"x,y\"\r\n", json!({}));
        assert_eq!(kept(&source).rows, [("x,y".into(), "a,\"b\"".into(), Some(4.5), Some(1.0))]);
    }

    #[test]
    fn columns_by_index_and_a_long_separator() {
        let more = json!({"separator": " | ", "header": false, "columns": {"user": 2, "item": 0}});
        assert_eq!(kept(&from("index.txt", "i1 | x | u1\ni2 | y | u2\n", more)).rows, [pair("u1", "i1"), pair("u2", "i2")]);
    }

    #[test]
    fn bad_rows_are_named() {
        let cases = [
            ("u,i,4\n", "3 fields where the header has 4"),
            ("u,i,good,1\n", "column `stars`: `good` is not a number"),
            ("u,i,NaN,1\n", "column `stars`: `NaN` is not finite"),
            ("u,i,1,-inf\n", "column `when`: `-inf` is not finite"),
            ("u,,4,1\n", "column `item` is empty"),
            ("\"u\"x,i,4,1\n", "text after a closing quote"),
            ("u,\"i,4,1\nv,j,3,2\nw,k\",3,3\n", "column `item`: its quotes hold 3 lines (expected an id on one line"),
            ("u,\"i,4,1\nv,j,3,2\n", "a quoted field that starts here is never closed (close the quote"),
        ];
        for (row, expected) in cases {
            let message = failure(&from("bad.csv", &format!("{HEADER}\nu,i,3,1\n{row}"), json!({})));
            assert!(message.contains("bad.csv line 4: ") && message.contains(expected), "{message}");
            assert!(message.contains("`on_bad_row: skip`"), "{message}");
        }
    }

    /// What stands between a quote that should not be there and the next one, or the end of the file, is read as the lines that it is.
    #[test]
    fn a_stray_quote_costs_its_own_line() {
        let content = format!("{HEADER}u,i,4,1\nu,\"j,4,2\nv,i,3,3\nv,\"k\",3,4\nw,\"i,3,5\nw,j,3,6\n");
        let kept = kept(&from("stray.csv", &content, json!({"on_bad_row": "skip"})));
        let ids: Vec<(&str, &str)> = kept.rows.iter().map(|(user, item, ..)| (&user[..], &item[..])).collect();
        assert_eq!(ids, [("u", "i"), ("v", "i"), ("v", "k"), ("w", "j")]);
        let lines: Vec<(u64, &[u8])> = kept.rejected.iter().map(|(line, _, raw)| (*line, &raw[..])).collect();
        assert_eq!(lines, [(3, &b"u,\"j,4,2"[..]), (6, &b"w,\"i,3,5"[..])]);
    }

    /// Lines of a text that nothing reads are no rows, whatever they look like.
    #[test]
    fn a_sound_record_of_several_lines_is_left_out_as_a_whole() {
        let row = "u,,\"one, two\nthree,four,\"\"five\nsix,seven,eight\"";
        let columns = json!({"user": "user", "item": "item"});
        let kept = kept(&from("text.csv", &format!("user,item,text\n{row}\nv,i,x\n"), json!({"on_bad_row": "skip", "columns": columns})));
        let ids: Vec<(&str, &str)> = kept.rows.iter().map(|(user, item, ..)| (&user[..], &item[..])).collect();
        assert_eq!(ids, [("v", "i")]);
        let [(2, reason, raw)] = &kept.rejected[..] else { panic!("{:?}", kept.rejected) };
        assert!(reason.contains("column `item` is empty") && raw == row.as_bytes(), "{reason}");
    }

    /// Of 256 KiB, the size of a block, whose first row has a stray quote and whose last ones are of one record that ends in the next block.
    #[test]
    fn a_stray_quote_costs_no_record_at_the_end_of_its_block() {
        let mut content = "user,item,note\nu0,i0,\"bad\n".to_owned();
        while content.len() < (256 << 10) - 300 {
            content += "u,i,\n";
        }
        let rows = content.lines().count() - 2;
        content += &format!("long,i,\"{}\"\n{}", "nice,cheap,fast\n".repeat(60), "v,j,\n".repeat(200));
        let columns = json!({"user": "user", "item": "item"});
        let kept = kept(&from("block.csv", &content, json!({"on_bad_row": "skip", "columns": columns})));
        let of = |user: &str| kept.rows.iter().filter(|row| row.0 == user).count();
        assert_eq!((of("u"), of("long"), of("v"), kept.rows.len()), (rows, 1, 200, rows + 201));
        assert_eq!(kept.rejected.iter().map(|(line, ..)| *line).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn bad_rows_are_skipped_and_kept() {
        let content = format!("{HEADER}u,i,4,1\nu,i,4\nv,\"j,x,nan,2\"\nw,j,3,3\n");
        let kept = kept(&from("skip.csv", &content, json!({"on_bad_row": "skip"})));
        assert_eq!(kept.rows.len(), 2);
        let lines: Vec<(u64, &[u8])> = kept.rejected.iter().map(|(line, _, raw)| (*line, &raw[..])).collect();
        assert_eq!(lines, [(3, &b"u,i,4"[..]), (4, &b"v,\"j,x,nan,2\""[..])]);
        assert_eq!(kept.rejected[1].1, "2 fields where the header has 4");
    }

    #[test]
    fn the_first_row_sets_the_width_without_a_header() {
        let more = json!({"header": false, "columns": {"user": 0, "item": 3}});
        let message = failure(&from("short.csv", "a,b,c\n", more.clone()));
        assert!(message.contains("line 1: 3 fields where the indices of `columns` need at least 4"), "{message}");
        let message = failure(&from("width.csv", "a,b,c,d\ne,f,g,h,i\n", more));
        assert!(message.contains("line 2: 5 fields where line 1 has 4"), "{message}");
    }

    #[test]
    fn only_a_usable_row_sets_the_width() {
        let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
        let more = json!({"header": false, "on_bad_row": "skip", "columns": columns});
        for bad in ["\"u1\"x,i1,5,1", "u1", "u1,i1,good,1,extra", "u1,,5,1,extra"] {
            let kept = kept(&from("first.csv", &format!("{bad}\nu2\nu3,i3,4,2\nu4,i4,3\nu5,i5,2,3\n"), more.clone()));
            let rows = [("u3".into(), "i3".into(), Some(4.0), Some(2.0)), ("u5".into(), "i5".into(), Some(2.0), Some(3.0))];
            assert_eq!(kept.rows, rows, "{bad}");
            assert_eq!(kept.rejected.iter().map(|row| row.0).collect::<Vec<_>>(), [1, 2, 4], "{bad}");
            assert_eq!(kept.rejected[2].1, "3 fields where line 3 has 4");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_lost_between_quotes(lines in prop::collection::vec("[ab,\"]{1,6}", 1..60)) {
            let more = json!({"on_bad_row": "skip", "columns": {"user": "user", "item": "item"}});
            let kept = kept(&from("lost.csv", &format!("user,item\n{}\n", lines.join("\n")), more));
            prop_assert_eq!(kept.rows.len() + kept.rejected.len(), lines.len());
        }

        /// A quote anywhere in a block makes all of it go the careful way.
        #[test]
        fn the_fast_way_gives_what_the_careful_one_gives(
            lines in prop::collection::vec(prop_oneof!["[uv]{1,9},[ij]{1,3},[0-9]{1,2},[0-9]{1,17}\r?", "[uü ,.0-9e+\r-]{0,14}", ",? ?,[0-9.]{0,3},1"], 0..60),
            end in "\r?\n?",
            header in any::<bool>(),
        ) {
            let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
            let more = json!({"header": header, "columns": columns, "on_bad_row": "skip"});
            let read = |name: &str, last: &str| {
                let content = format!("user,item,stars,when\n{}\n{last},i,1,2{end}", lines.join("\n"));
                kept(&from(name, &content, more.clone()))
            };
            let (fast, careful) = (read("fast.csv", "last"), read("careful.csv", "\"last\""));
            prop_assert_eq!(fast.rows, careful.rows);
            prop_assert_eq!(fast.rejected, careful.rejected);
        }
    }

    /// Blocks are read by two threads.
    #[test]
    fn lines_are_right_in_every_block() {
        let row = |n: usize| if n % 1_000 == 7 { format!("u{n},i\n") } else { format!("u{n},i,{},{n}\n", n % 5) };
        let content: String = (0..60_000).map(row).collect();
        let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
        let mut kept = kept(&from("blocks.csv", &content, json!({"header": false, "columns": columns, "on_bad_row": "skip"})));
        kept.rows.sort_by(|one, other| one.3.partial_cmp(&other.3).unwrap());
        let good: Vec<usize> = (0..60_000).filter(|n| n % 1_000 != 7).collect();
        assert!(kept.rows.iter().map(|row| row.3.unwrap()).eq(good.iter().map(|&n| n as f64)));
        assert!(kept.rows.iter().zip(&good).all(|(row, n)| row.0 == format!("u{n}") && row.2 == Some((n % 5) as f64)));
        assert_eq!(kept.rejected.iter().map(|row| row.0 as usize).collect::<Vec<_>>(), (0..60).map(|n| n * 1_000 + 8).collect::<Vec<_>>());
        let message = failure(&from("first-failure.csv", &content, json!({"header": false, "columns": columns})));
        assert!(message.contains("first-failure.csv line 8: 2 fields"), "{message}");
    }

    #[test]
    fn a_name_that_stands_twice_in_the_header_means_no_column() {
        let of = |columns| failure(&from("doubled.csv", "who,what,who\na,b,c\n", json!({"columns": columns})));
        let message = of(json!({"user": "who", "item": "what"}));
        assert!(
            message.contains("column `who` (user) stands twice in the header, `who`, `what`, `who`; name it by its place, from 0"),
            "{message}"
        );
        assert_eq!(kept(&from("doubled.csv", "who,what,who\na,b,c\n", json!({"columns": {"user": 2, "item": "what"}}))).rows.len(), 1);
    }

    #[test]
    fn a_column_serves_once_by_its_name_or_its_index() {
        let message = failure(&from("twice.csv", "who,what\na,b\n", json!({"columns": {"user": "who", "item": 0}})));
        assert!(message.contains("column `who` is given twice in `columns` (expected one column for each)"), "{message}");
    }

    #[test]
    fn a_missing_column_lists_the_present_ones() {
        let message = failure(&from("missing.csv", "user,item,rating,when\n", json!({})));
        assert!(
            message.ends_with("no column `stars` (rating) in the header; its 4 columns are `user`, `item`, `rating`, `when`"),
            "{message}"
        );
        assert!(failure(&from("empty.csv", "", json!({}))).contains("the file is empty"));
        let message = failure(&from("semicolons.csv", "user;item;stars;when\na;b;1;2\n", json!({})));
        assert!(
            message.ends_with(
                "no column `user` (user) in the header, which is one column, `user;item;stars;when`; it looks separated by `;`: set `separator: \";\"`"
            ),
            "{message}"
        );
        let message = failure(&from("tabs.csv", "user\titem\tstars\twhen\n", json!({})));
        assert!(message.ends_with("it looks separated by `\\t`: set `separator: \"\\t\"`"), "{message}");
    }

    #[test]
    fn impossible_settings() {
        let message = failure(&from("separator.csv", HEADER, json!({"separator": ""})));
        assert!(message.starts_with("`source.separator`: \"\" cannot separate"), "{message}");
        let message = failure(&from("names.csv", HEADER, json!({"header": false})));
        assert!(message.contains("`header: true`"), "{message}");
    }

    #[test]
    fn a_truncated_gzip_and_a_missing_file() {
        let mut encoder = flate2::read::GzEncoder::new("a,b,1,2\n".as_bytes(), flate2::Compression::none());
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut encoder, &mut bytes).unwrap();
        stored("cut.csv.gz", &bytes[..bytes.len() - 6]);
        let settings = |path: &str| json!({"delimited": {"path": path, "header": false, "columns": {"user": 0, "item": 1}}});
        let message = failure(&source(settings("memory:///sources/cut.csv.gz")));
        assert!(message.contains("cut.csv.gz after line 1: the compressed data ends in the middle"), "{message}");
        let message = failure(&source(settings("memory:///sources/none.csv")));
        assert!(message.contains("memory:///sources/none.csv does not exist"), "{message}");
    }

    #[test]
    fn other_text_encodings_are_refused() {
        stored("latin.csv", b"a,caf\xe9\n".to_vec());
        let settings = json!({"path": "memory:///sources/latin.csv", "header": false, "columns": {"user": 0, "item": 1}});
        let message = failure(&source(json!({"delimited": settings})));
        assert!(message.contains("line 1: column 1 (item): ") && message.contains("not UTF-8"), "{message}");
    }
}
