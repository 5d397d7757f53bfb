//! Items by their popularity: how often their held-out interactions are found, and how many places of lists they have.

use super::{GroupValue, Grouping, equal::Groups};
use crate::{Rankings, metric::Given};
use dataset::Interactions;

/// From the lists of ranked users and their held-out items, cut after each of these numbers of items. A group without held-out interactions has no recall.
pub(crate) fn of_items(rankings: &Rankings, held_out: &Interactions, given: &Given<'_>, cutoffs: &[u32]) -> Vec<GroupValue> {
    if cutoffs.is_empty() {
        return Vec::new();
    }
    let groups = Groups::new(&given.popularity().counts);
    let sizes = groups.sizes();
    let held = groups.count(held_out.items().iter().map(|&item| item as usize));
    let mut all = Vec::new();
    for &cutoff in cutoffs {
        let listed = || rankings.iter().flat_map(|ranked| ranked.list.iter().take(cutoff as usize).map(move |&item| (ranked.user, item)));
        let hits = groups.count(listed().filter(|&(user, item)| held_out.contains(user as usize, item)).map(|(_, item)| item as usize));
        let places = groups.count(listed().map(|(_, item)| item as usize));
        let shown: u32 = places.iter().sum();
        let shares = |name: &'static str, parts: Vec<u32>, wholes: Vec<u32>| {
            let known = parts.into_iter().zip(wholes).enumerate().filter(|(_, (_, whole))| *whole > 0);
            known.map(move |(group, (part, whole))| (name, group, f64::from(part) / f64::from(whole))).collect::<Vec<_>>()
        };
        let values = [shares("recall", hits, held.clone()), shares("exposure", places, vec![shown; sizes.len()])].concat();
        all.extend(values.into_iter().map(|(metric, group, value)| GroupValue {
            of: Grouping::Items,
            group: group as u32 + 1,
            low: *groups.ranges[group].start(),
            high: *groups.ranges[group].end(),
            size: sizes[group],
            metric: metric.to_owned(),
            cutoff: Some(cutoff),
            value,
        }));
    }
    all
}
