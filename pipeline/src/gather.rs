//! From a source to numbered interactions: the two ways, for sources that come whole and for those that come split.

use crate::{
    Error, Limits, Preparation, Result,
    clean::{Cleaned, clean},
    edges::{Catalogue, Edges, Numbered},
    freed::give_back,
    k_core::{self, Degrees},
    rejected::RejectedRows,
    steps::Steps,
};
use dataset::{Counts, Location, Split, quote};

/// What reading gave.
pub(crate) struct Reading {
    /// The rows of each part.
    pub(crate) parts: Vec<(Split, usize)>,
    /// Rows that reach the threshold.
    pub(crate) rated: usize,
    /// Whether the source has timestamps.
    pub(crate) timed: bool,
    /// Users of any row.
    pub(crate) users: usize,
    /// Items of any row.
    pub(crate) items: usize,
}

impl Reading {
    fn rows(&self) -> usize {
        self.parts.iter().map(|(_, rows)| rows).sum()
    }

    /// Checks that there is something in each part.
    ///
    /// # Errors
    /// [`Error::File`] for the first part without rows.
    pub(crate) fn check(&self, preparation: &Preparation, rejected: &RejectedRows) -> Result<()> {
        match self.parts.iter().find(|(_, rows)| *rows == 0) {
            Some((part, _)) => Err(nothing(preparation, *part, rejected)),
            None => Ok(()),
        }
    }

    /// Reports what was read of a source that comes whole, and what is left of it.
    ///
    /// # Errors
    /// When nothing reaches the threshold.
    pub(crate) fn report(&self, preparation: &Preparation, distinct: Counts, steps: &mut Steps<'_>) -> Result<()> {
        steps.add(Counts { step: "read".to_owned(), users: self.users, items: self.items, interactions: self.rows() });
        if let Some(least) = preparation.min_rating {
            steps
                .narrow("min_rating", Counts { step: format!("rating at least {least}"), interactions: self.rated, ..distinct.clone() })?;
        }
        steps.add(distinct);
        Ok(())
    }

    /// Reports what was read of a source that comes split.
    pub(crate) fn report_given(&self, distinct: Counts, steps: &mut Steps<'_>) {
        steps.add(Counts { step: "read".to_owned(), interactions: self.rows(), ..distinct.clone() });
        steps.add(distinct);
    }
}

/// Reports the rows that were left out, of a source that may leave some out.
pub(crate) fn report_rejected(preparation: &Preparation, rejected: &RejectedRows, steps: &mut Steps<'_>) {
    if preparation.source.skips() {
        steps.add(Counts { step: "rejected (rejected.tsv)".to_owned(), users: 0, items: 0, interactions: rejected.count });
    }
}

/// The name of the step after duplicates.
pub(crate) const DISTINCT: &str = "one per user and item";

/// Read, threshold, duplicates, k-core. All interactions are train.
pub(crate) fn whole(preparation: &Preparation, rejected: &mut RejectedRows, limits: &Limits, steps: &mut Steps<'_>) -> Result<Edges> {
    let mut catalogue = Catalogue::default();
    let Cleaned { read, rated, timed, rows } = clean(preparation, Split::Train, preparation.min_rating, &mut catalogue, rejected, limits)?;
    let reading = Reading { parts: vec![(Split::Train, read)], rated, timed, users: catalogue.users.len(), items: catalogue.items.len() };
    report_rejected(preparation, rejected, steps);
    reading.check(preparation, rejected)?;
    let mut degrees = Degrees::of(&rows, catalogue.items.len());
    reading.report(preparation, degrees.counts(DISTINCT), steps)?;
    if let Some(bounds) = preparation.k_core {
        let rounds = k_core::peel(&rows, &mut degrees, bounds.bounds());
        steps.narrow("k_core", degrees.counts(bounds.step(rounds)))?;
    }
    let Numbered { user_ids, item_ids, offsets, items, payload } = Numbered::new(&catalogue, &degrees, 0.0, |user| rows.row(user));
    drop((rows, catalogue));
    give_back();
    let parts = vec![Split::Train; items.len()];
    Ok(Edges { user_ids, item_ids, offsets, items, times: timed.then_some(payload), parts })
}

/// Read and duplicates, part by part. Each interaction is in the part it came in.
pub(crate) fn given(preparation: &Preparation, rejected: &mut RejectedRows, limits: &Limits, steps: &mut Steps<'_>) -> Result<Edges> {
    let mut catalogue = Catalogue::default();
    let mut reading = Reading { parts: Vec::new(), rated: 0, timed: false, users: 0, items: 0 };
    let mut all = Vec::new();
    for part in preparation.source.parts() {
        let Cleaned { read, rows, .. } = clean(preparation, part, None, &mut catalogue, rejected, limits)?;
        reading.parts.push((part, read));
        reading.check(preparation, rejected)?;
        all.push((part, rows));
    }
    let degrees = Degrees::sum(&all.iter().map(|(_, rows)| Degrees::of(rows, catalogue.items.len())).collect::<Vec<_>>());
    reading.report_given(degrees.counts(DISTINCT), steps);
    let row = |user| all.iter().flat_map(move |(part, rows)| rows.row(user).map(|(item, _)| (item, *part)));
    let Numbered { user_ids, item_ids, offsets, items, payload: parts } = Numbered::new(&catalogue, &degrees, Split::Train, row);
    drop((all, catalogue));
    give_back();
    let edges = Edges { user_ids, item_ids, offsets, items, times: None, parts };
    check_parts(&edges)?;
    Ok(edges)
}

/// Checks that no interaction is in two parts.
pub(crate) fn check_parts(edges: &Edges) -> Result<()> {
    for (user, row) in edges.offsets.windows(2).enumerate() {
        let twice = (row[0] + 1..row[1]).find(|&place| edges.items[place - 1] == edges.items[place]);
        if let Some(place) = twice {
            let (user, item) = (quote::value(&edges.user_ids[user]), quote::value(&edges.item_ids[edges.items[place] as usize]));
            let [one, other] = [edges.parts[place - 1], edges.parts[place]].map(Split::name);
            let reason = format!(
                "user `{user}` has item `{item}` in {one} and in {other} (expected each interaction in one part; remove it from one)"
            );
            return Err(Error::setting("source", reason));
        }
    }
    Ok(())
}

fn nothing(preparation: &Preparation, part: Split, rejected: &RejectedRows) -> Error {
    let files = preparation.source.files();
    let at = files.iter().find(|(key, _)| key.ends_with(part.name())).or(files.first()).map_or("the source", |(_, path)| path);
    let reason = match rejected.count {
        0 if preparation.split.links().is_some() => {
            "no row links two nodes (expected rows of two ids that differ; check `columns`)".to_owned()
        }
        count if preparation.split.links().is_some() => format!(
            "no row links two nodes, and {count} were rejected, the first at {} (expected rows of two ids that differ; check `columns`)",
            rejected.first
        ),
        0 => "the file holds no interactions (expected at least one row)".to_owned(),
        count => format!("all {count} rows were rejected, the first at {}; correct the separator, the columns or the rows", rejected.first),
    };
    Error::File { at: Location::parse(at).map_or_else(|_| (*at).to_owned(), |at| at.to_string()), reason }
}
