//! From a source to numbered interactions: the two ways, for sources that come whole and for those that come split.

use crate::{
    Error, Limits, Preparation, Result,
    clean::{Cleaned, clean},
    edges::{Catalogue, Edges, Numbered, unpair},
    k_core::{self, KCore},
    rejected::RejectedRows,
    steps::Steps,
};
use dataset::{Counts, Interactions, Location, Split};

/// Read, threshold, duplicates, k-core. All interactions are train.
pub(crate) fn whole(preparation: &Preparation, rejected: &mut RejectedRows, limits: &Limits, steps: &mut Steps<'_>) -> Result<Edges> {
    let mut catalogue = Catalogue::default();
    let Cleaned { read, rated, mut pairs, mut times } =
        clean(&preparation.source, Split::Train, preparation.min_rating, &mut catalogue, rejected, limits)?;
    if preparation.source.skips() {
        steps.add(Counts { step: "rejected (rejected.tsv)".to_owned(), users: 0, items: 0, interactions: rejected.count });
    }
    if read == 0 {
        return Err(nothing(preparation, Split::Train, rejected));
    }
    steps.add(Counts { step: "read".to_owned(), users: catalogue.users.len(), items: catalogue.items.len(), interactions: read });
    let distinct = catalogue.counts("one per user and item", &pairs);
    if let Some(least) = preparation.min_rating {
        steps.narrow("min_rating", Counts { step: format!("rating at least {least}"), interactions: rated, ..distinct.clone() })?;
    }
    steps.add(distinct);
    if let Some(bounds) = preparation.k_core {
        let step = peel(bounds, &catalogue, &mut pairs, &mut times);
        steps.narrow("k_core", catalogue.counts(step, &pairs))?;
    }
    Ok(if times.is_empty() {
        let Numbered { user_ids, item_ids, rows } = catalogue.number(&pairs, pairs.iter().map(|_| ()));
        let parts = vec![Split::Train; rows.len()];
        Edges { user_ids, item_ids, pairs: rows.into_iter().map(|row| row.0).collect(), times: None, parts }
    } else {
        let Numbered { user_ids, item_ids, rows } = catalogue.number(&pairs, times.into_iter());
        let parts = vec![Split::Train; rows.len()];
        let (pairs, times) = rows.into_iter().unzip();
        Edges { user_ids, item_ids, pairs, times: Some(times), parts }
    })
}

/// Read and duplicates, part by part. Each interaction is in the part it came in.
pub(crate) fn given(preparation: &Preparation, rejected: &mut RejectedRows, limits: &Limits, steps: &mut Steps<'_>) -> Result<Edges> {
    let mut catalogue = Catalogue::default();
    let (mut pairs, mut parts, mut read) = (Vec::new(), Vec::new(), 0);
    for part in preparation.source.parts() {
        let cleaned = clean(&preparation.source, part, None, &mut catalogue, rejected, limits)?;
        if cleaned.read == 0 {
            return Err(nothing(preparation, part, rejected));
        }
        read += cleaned.read;
        parts.resize(parts.len() + cleaned.pairs.len(), part);
        pairs.extend(cleaned.pairs);
    }
    let distinct = catalogue.counts("one per user and item", &pairs);
    steps.add(Counts { step: "read".to_owned(), interactions: read, ..distinct.clone() });
    steps.add(distinct);
    let Numbered { user_ids, item_ids, rows } = catalogue.number(&pairs, parts.into_iter());
    if let Some(twice) = rows.windows(2).find(|rows| rows[0].0 == rows[1].0) {
        let (user, item) = unpair(twice[0].0);
        let (user, item) = (&user_ids[user as usize], &item_ids[item as usize]);
        let [one, other] = [twice[0].1, twice[1].1].map(Split::name);
        let reason =
            format!("user `{user}` has item `{item}` in {one} and in {other} (expected each interaction in one part; remove it from one)");
        return Err(Error::setting("source", reason));
    }
    let (pairs, parts) = rows.into_iter().unzip();
    Ok(Edges { user_ids, item_ids, pairs, times: None, parts })
}

/// Keeps what is in the k-core; the step in words.
fn peel(bounds: KCore, catalogue: &Catalogue, pairs: &mut Vec<u64>, times: &mut Vec<f64>) -> String {
    let rows = Interactions::from_pairs(catalogue.users.len(), pairs.iter().map(|&pair| unpair(pair)));
    let core = k_core::peel(&rows, &rows.transpose(catalogue.items.len()), bounds.bounds());
    let stays = |pair: u64| {
        let (user, item) = unpair(pair);
        core.users[user as usize] && core.items[item as usize]
    };
    let mut staying = pairs.iter().map(|&pair| stays(pair));
    times.retain(|_| staying.next().expect("each time belongs to a pair"));
    pairs.retain(|&pair| stays(pair));
    bounds.step(core.rounds)
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
