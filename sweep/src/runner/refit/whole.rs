//! A dataset with all that it has as train, and nothing held out.

use dataset::{Dataset, Interactions, Order, Split};
use sha2::{Digest, Sha256};

/// Its parts, each of which has other interactions.
const PARTS: [Split; 4] = [Split::Train, Split::FoldIn, Split::Validation, Split::Test];

/// The fingerprint of the dataset with all of this one's interactions as train.
pub(super) fn fingerprint(dataset: &str) -> String {
    hex::encode(&Sha256::digest(format!("all of {dataset}"))[..8])
}

/// The dataset with everything as train. A user who has every item keeps its own train part, as nothing would be left to draw against; the rest stays test, which
/// nothing is trained on and no list recommends.
pub(super) fn of(dataset: Dataset) -> Dataset {
    let [mut train, mut test] = [(); 2].map(|()| Rows { offsets: vec![0], items: Vec::new(), places: Vec::new() });
    for user in 0..dataset.users() {
        let of_parts = |parts: &[Split]| parts.iter().flat_map(|&part| interactions(&dataset, part, user)).collect::<Vec<(u32, u32)>>();
        let all = of_parts(&PARTS);
        let (kept, rest) = if all.len() == dataset.items() { (of_parts(&PARTS[..1]), of_parts(&PARTS[1..])) } else { (all, Vec::new()) };
        train.add(kept);
        test.add(rest);
    }
    let order = dataset.order.as_ref().map(|_| Order { train: train.places, test: test.places, ..Order::default() });
    Dataset {
        fingerprint: fingerprint(&dataset.fingerprint),
        train: Interactions::from_sorted(train.offsets, train.items),
        fold_in: None,
        validation: Interactions::empty(dataset.users()),
        test: Interactions::from_sorted(test.offsets, test.items),
        order,
        ..dataset
    }
}

/// The users' items of a part, each with its place in the user's history.
struct Rows {
    offsets: Vec<usize>,
    items: Vec<u32>,
    places: Vec<u32>,
}

impl Rows {
    fn add(&mut self, mut row: Vec<(u32, u32)>) {
        row.sort_unstable();
        self.items.extend(row.iter().map(|&(item, _)| item));
        self.places.extend(row.iter().map(|&(_, place)| place));
        self.offsets.push(self.items.len());
    }
}

/// A user's items of one part, each with its place in the user's history; 0 where no order is known.
fn interactions(dataset: &Dataset, part: Split, user: usize) -> impl Iterator<Item = (u32, u32)> {
    let of = dataset.split(part);
    // Where nobody is held out, the part of their histories has no users.
    let range = if user < of.users() { of.offsets()[user]..of.offsets()[user + 1] } else { 0..0 };
    let places = dataset.order.as_ref().map(|order| order.split(part));
    range.map(move |at| (of.items()[at], places.map_or(0, |places| places[at])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(pairs: &[(u32, u32)]) -> Interactions {
        Interactions::from_pairs(3, pairs.iter().copied())
    }

    /// User 0 took 4, 1, 2 and 0 in this order; user 1 is held out and took 3 and then 1; user 2 took nothing.
    #[test]
    fn all_parts_become_train_in_the_order_of_time() {
        let dataset = Dataset {
            name: "d".to_owned(),
            fingerprint: "0123456789abcdef".to_owned(),
            user_ids: ["a", "b", "c"].map(str::to_owned).to_vec(),
            item_ids: (0..5).map(|item| item.to_string()).collect(),
            train: part(&[(0, 1), (0, 4)]),
            fold_in: Some(part(&[(1, 3)])),
            validation: part(&[(0, 2)]),
            one_node_set: false,
            test: part(&[(0, 0), (1, 1)]),
            order: Some(Order { train: vec![1, 0], fold_in: vec![0], validation: vec![2], test: vec![3, 1] }),
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        };
        let whole = of(dataset.clone());
        assert_eq!(whole.train, part(&[(0, 0), (0, 1), (0, 2), (0, 4), (1, 1), (1, 3)]));
        assert!(whole.fold_in.is_none() && whole.validation.is_empty() && whole.test.is_empty());
        let histories = whole.histories(&[Split::Train]).unwrap();
        assert_eq!((histories.row(0), histories.row(1), histories.row(2)), (&[4, 1, 2, 0][..], &[3, 1][..], &[][..]));
        assert_ne!(whole.fingerprint, dataset.fingerprint);
        let with_all = Dataset { item_ids: dataset.item_ids[..4].to_vec(), train: part(&[(0, 1), (0, 3)]), ..dataset.clone() };
        let with_all = of(with_all);
        assert_eq!(with_all.train, part(&[(0, 1), (0, 3), (1, 1), (1, 3)]), "user 0 has all of four items");
        assert_eq!(with_all.test, part(&[(0, 0), (0, 2)]));
        let unordered = of(Dataset { fold_in: None, order: None, ..dataset });
        assert_eq!((unordered.train, unordered.order), (part(&[(0, 0), (0, 1), (0, 2), (0, 4), (1, 1)]), None));
    }
}
