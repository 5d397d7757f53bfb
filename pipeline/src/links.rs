//! Rows as links between the nodes of one set.
//!
//! A link of a node to itself is left out. Links that hold in both directions become two rows each, whichever of the two the source has; both where it has both, of which
//! cleaning leaves one each.

use crate::{
    Result,
    source::{Rejected, Rows, Sink, Sinks},
};

/// How rows are links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Links {
    /// Whether a link holds in both directions.
    pub(crate) symmetric: bool,
}

impl Links {
    /// Sinks of rows, each of which goes on to `sinks` as the links that it becomes.
    pub(crate) fn sinks(self, sinks: &dyn Sinks) -> impl Sinks {
        LinkSinks { links: self, sinks }
    }

    /// Rows that a link becomes.
    pub(crate) fn directions(self) -> u64 {
        if self.symmetric { 2 } else { 1 }
    }

    /// Gives rows as links: as they stand, and after them turned round where links hold in both directions.
    pub(crate) fn of<T>(self, rows: Rows<'_>, take: impl FnOnce(Rows<'_>) -> T) -> T {
        let kept: Vec<usize> = (0..rows.users.len()).filter(|&place| rows.users[place] != rows.items[place]).collect();
        let (mut users, mut items): (Vec<&str>, Vec<&str>) = kept.iter().map(|&place| (rows.users[place], rows.items[place])).unzip();
        let numbers = |numbers: Option<&[f64]>| {
            let kept = |numbers: &[f64]| kept.iter().map(|&place| numbers[place]).collect::<Vec<_>>().repeat(self.directions() as usize);
            numbers.map(kept)
        };
        let (ratings, times) = (numbers(rows.ratings), numbers(rows.times));
        if self.symmetric {
            let turned = users.clone();
            users.extend_from_slice(&items);
            items.extend_from_slice(&turned);
        }
        take(Rows { users: &users, items: &items, ratings: ratings.as_deref(), times: times.as_deref() })
    }
}

/// Sinks of the links of rows.
struct LinkSinks<'a> {
    links: Links,
    sinks: &'a dyn Sinks,
}

impl Sinks for LinkSinks<'_> {
    fn threads(&self) -> usize {
        self.sinks.threads()
    }

    fn sink(&self) -> Box<dyn Sink + '_> {
        Box::new(LinkSink { links: self.links, sink: self.sinks.sink() })
    }

    fn reject(&self, rejected: Rejected<'_>) -> Result<()> {
        self.sinks.reject(rejected)
    }
}

struct LinkSink<'a> {
    links: Links,
    sink: Box<dyn Sink + 'a>,
}

impl Sink for LinkSink<'_> {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
        self.links.of(rows, |links| self.sink.rows(links))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(symmetric: bool) -> Vec<(String, String, f64, Option<f64>)> {
        let rows = Rows { users: &["a", "b", "c"], items: &["b", "b", "a"], ratings: None, times: Some(&[1.0, 2.0, 3.0]) };
        Links { symmetric }.of(rows, |rows| {
            let row = |place: usize| {
                let (user, item) = (rows.users[place].to_owned(), rows.items[place].to_owned());
                (user, item, rows.times.unwrap()[place], rows.ratings.map(|ratings| ratings[place]))
            };
            (0..rows.users.len()).map(row).collect()
        })
    }

    #[test]
    fn links_of_a_node_to_itself_are_left_out_and_others_turned_round() {
        let link = |from: &str, to: &str, time: f64| (from.to_owned(), to.to_owned(), time, None);
        assert_eq!(links(false), [link("a", "b", 1.0), link("c", "a", 3.0)]);
        assert_eq!(links(true), [link("a", "b", 1.0), link("c", "a", 3.0), link("b", "a", 1.0), link("a", "c", 3.0)]);
    }
}
