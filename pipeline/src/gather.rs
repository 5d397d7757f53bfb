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

/// Read, threshold, duplicates, k-core. All interactions are train.
pub(crate) fn whole(preparation: &Preparation, rejected: &mut RejectedRows, limits: &Limits, steps: &mut Steps<'_>) -> Result<Edges> {
    let mut catalogue = Catalogue::default();
    let Cleaned { read, rated, timed, rows } =
        clean(&preparation.source, Split::Train, preparation.min_rating, &mut catalogue, rejected, limits)?;
    if preparation.source.skips() {
        steps.add(Counts { step: "rejected (rejected.tsv)".to_owned(), users: 0, items: 0, interactions: rejected.count });
    }
    if read == 0 {
        return Err(nothing(preparation, Split::Train, rejected));
    }
    steps.add(Counts { step: "read".to_owned(), users: catalogue.users.len(), items: catalogue.items.len(), interactions: read });
    let mut degrees = Degrees::of(&rows, catalogue.items.len());
    let distinct = degrees.counts("one per user and item");
    if let Some(least) = preparation.min_rating {
        steps.narrow("min_rating", Counts { step: format!("rating at least {least}"), interactions: rated, ..distinct.clone() })?;
    }
    steps.add(distinct);
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
    let (mut all, mut total) = (Vec::new(), 0);
    for part in preparation.source.parts() {
        let Cleaned { read, rows, .. } = clean(&preparation.source, part, None, &mut catalogue, rejected, limits)?;
        if read == 0 {
            return Err(nothing(preparation, part, rejected));
        }
        total += read;
        all.push((part, rows));
    }
    let degrees = Degrees::sum(&all.iter().map(|(_, rows)| Degrees::of(rows, catalogue.items.len())).collect::<Vec<_>>());
    let distinct = degrees.counts("one per user and item");
    steps.add(Counts { step: "read".to_owned(), interactions: total, ..distinct.clone() });
    steps.add(distinct);
    let row = |user| all.iter().flat_map(move |(part, rows)| rows.row(user).map(|(item, _)| (item, *part)));
    let Numbered { user_ids, item_ids, offsets, items, payload: parts } = Numbered::new(&catalogue, &degrees, Split::Train, row);
    drop((all, catalogue));
    give_back();
    let edges = Edges { user_ids, item_ids, offsets, items, times: None, parts };
    check_parts(&edges)?;
    Ok(edges)
}

/// That no interaction is in two parts.
fn check_parts(edges: &Edges) -> Result<()> {
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
        0 => "the file holds no interactions (expected at least one row)".to_owned(),
        count => format!("all {count} rows were rejected, the first at {}; correct the separator, the columns or the rows", rejected.first),
    };
    Error::File { at: Location::parse(at).map_or_else(|_| (*at).to_owned(), |at| at.to_string()), reason }
}
