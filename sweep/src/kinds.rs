//! The losses, samplers, models and optimizers that there are, as `docs/kinds.md` has them.

use crate::{file::nearest, report::Style};
use comfy_table::{ContentArrangement, Table, presets};

const PAGE: &str = include_str!("../../docs/kinds.md");
/// The roles of kinds, as headings of the page say them, and the keys of a sweep file that they stand under.
const ROLES: [(&str, &str); 4] = [("loss", "losses"), ("sampler", "samplers"), ("backbone", "backbones"), ("optimizer", "optimizer")];

/// A kind and its section of the page.
struct KindSection {
    role: &'static str,
    name: &'static str,
    title: &'static str,
    /// The text after the title.
    body: &'static str,
}

/// All kinds with their titles, by the key of a sweep file that they stand under.
pub(crate) fn list(style: Style) -> String {
    let mut text = String::new();
    for (role, key) in ROLES {
        let rows = kinds().filter(|kind| kind.role == role).map(|kind| vec![kind.name, kind.title]);
        text += &format!("{}\n{}\n\n", style.bold(key), table(rows, style));
    }
    text + &style.wrap("`ranksweep kinds NAME` has the equation of a kind, its keys with their defaults, its paper and the paper's values.")
        + "\n"
}

/// The page's sections on the kinds of a name, which may be a loss, a sampler, a model and an optimizer.
///
/// # Errors
/// A name that no kind has, with the nearest.
pub(crate) fn described(name: &str, style: Style) -> Result<String, String> {
    let found: Vec<String> = kinds().filter(|kind| kind.name == name).map(|kind| kind.described(style)).collect();
    if found.is_empty() {
        let mut names: Vec<&str> = kinds().map(|kind| kind.name).collect();
        names.sort_unstable();
        names.dedup();
        return Err(nearest::unknown("kind", name, &names));
    }
    Ok(found.join("\n"))
}

/// How many kinds there are.
#[cfg(test)]
pub(crate) fn count() -> usize {
    kinds().count()
}

/// The lines of a kind's equation; none where the page has none, or no such kind.
pub(crate) fn equation(role: &str, name: &str) -> Option<&'static str> {
    let body = kinds().find(|kind| kind.role == role && kind.name == name)?.body;
    body.split_once("```text\n")?.1.split_once("```").map(|(lines, _)| lines)
}

/// The page's sections: ``### loss `bce` ``, a link whose text is the title, and the rest.
fn kinds() -> impl Iterator<Item = KindSection> {
    let sections = PAGE.split("\n### ").skip(1).map(|section| section.split("\n## ").next().unwrap_or(section));
    sections.filter_map(|section| {
        let (heading, rest) = section.split_once('\n')?;
        let (role, name) = heading.split_once(' ')?;
        let (title, rest) = rest.trim_start().strip_prefix('[')?.split_once("](")?;
        Some(KindSection { role, name: name.trim_matches('`'), title, body: rest.split_once('\n')?.1 })
    })
}

impl KindSection {
    fn described(&self, style: Style) -> String {
        let facts = table(self.facts().into_iter().map(|(what, fact)| vec![what, fact]), style);
        let heading = style.bold(&format!("{} {}: {}", self.role, self.name, self.title));
        format!("{}\n\n{facts}\n\n{}", style.wrap(&heading), blocks(self.body, style))
    }

    /// The kind's cells in the table of its role, by the titles of the columns.
    fn facts(&self) -> Vec<(&'static str, &'static str)> {
        let link = format!("](#{}-{})", self.role, self.name);
        let at = PAGE.lines().position(|line| line.starts_with('|') && line.contains(&link));
        let header = PAGE.lines().take(at.unwrap_or(0)).filter(|line| line.starts_with("| kind |")).last();
        let pairs = cells(header.unwrap_or_default()).zip(cells(at.and_then(|at| PAGE.lines().nth(at)).unwrap_or_default()));
        pairs.skip(1).collect()
    }
}

/// Equations as they stand, tables in columns, and paragraphs as wide as the terminal.
fn blocks(body: &str, style: Style) -> String {
    let mut blocks = Vec::new();
    for (place, part) in body.split("```").enumerate() {
        match part.strip_prefix("text\n").filter(|_| place % 2 == 1) {
            Some(equations) => blocks.push(equations.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()),
            None => blocks.extend(part.trim().split("\n\n").filter(|text| !text.is_empty()).map(|text| paragraph(text, style))),
        }
    }
    blocks.join("\n")
}

fn paragraph(text: &str, style: Style) -> String {
    if !text.starts_with('|') {
        return style.wrap(&text.replace('\n', " ")) + "\n";
    }
    let rows = text.lines().enumerate().filter(|(place, _)| *place != 1); // a rule stands below the header
    table(rows.map(|(_, line)| cells(line).collect()), style) + "\n"
}

/// The cells of a line of a table.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.trim_matches('|').split('|').map(str::trim)
}

/// Rows in columns, within the terminal.
fn table<'a>(rows: impl Iterator<Item = Vec<&'a str>>, style: Style) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if let Some(width) = style.width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table.add_rows(rows);
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { width: None, color: false };

    #[test]
    fn every_section_of_the_page_is_a_kind_of_the_list() {
        let sections = PAGE.lines().filter(|line| line.starts_with("### ")).count();
        assert_eq!((kinds().count(), kinds().all(|kind| ROLES.iter().any(|(role, _)| *role == kind.role))), (sections, true));
        let list = list(PLAIN);
        for kind in kinds() {
            assert!(list.lines().any(|line| line.trim().starts_with(kind.name) && line.ends_with(kind.title)), "{}\n{list}", kind.name);
        }
    }

    #[test]
    fn a_kind_has_its_facts_equation_and_keys() {
        let text = described("softmax-at-k", PLAIN).unwrap();
        for expected in [
            "loss softmax-at-k: ",
            "paper",
            "Yang et al., KDD 2025 (SL@K)",
            "a quantile of each user",
            "l(u, i) = ",
            "`quantile_every`",
            "Papers' values: at K = 20",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("```") && !text.contains("|---") && !text.contains("](") && !text.contains("psl"), "{text}");
    }

    #[test]
    fn every_kind_is_described_in_any_width() {
        for (kind, width) in kinds().flat_map(|kind| [30, 80, 200].map(|width| (kind.name, width))) {
            let text = described(kind, Style { width: Some(width), color: false }).unwrap();
            assert!(text.contains("paper") && text.contains("cost"), "{kind}\n{text}");
            assert!(!text.contains("## ") && !text.contains("```") && !text.contains("|--"), "{kind}\n{text}");
        }
    }

    #[test]
    fn a_name_of_several_kinds_gives_them_all() {
        let text = described("softmax", PLAIN).unwrap();
        assert!(text.contains("loss softmax: ") && text.contains("sampler softmax: "), "{text}");
    }

    #[test]
    fn a_slip_is_told_with_the_name_that_was_meant() {
        let error = described("sofmax-at-k", PLAIN).unwrap_err();
        assert!(error.starts_with("unknown kind `sofmax-at-k`: did you mean `softmax-at-k`? (expected one of `ada-sir`, "), "{error}");
    }
}
