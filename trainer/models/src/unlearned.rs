//! What a training cannot learn of a dataset, known before it begins.

use super::{Backbone, FoldIn, kind::Learned};
use dataset::{Dataset, Split};

/// The share of users, or of items, above which they are worth a word: one in a hundred.
const SHARE: usize = 100;

impl Backbone {
    /// What a training of the model cannot learn of a dataset, in sentences: many users or items without train interactions, histories longer than the model reads, and
    /// interactions that it reads though they came after held-out ones; of links between nodes, that no node has any on both sides. Empty for a model that another program
    /// trained.
    pub fn unlearned(&self, dataset: &Dataset) -> Vec<String> {
        if self.is_pretrained() {
            return Vec::new();
        }
        if dataset.one_node_set {
            return one_sided(dataset).into_iter().collect(); // a node without links to others may have some from them
        }
        let has_graph = matches!(self.how_to_fold_in(), FoldIn::Attached);
        let longest = self.learned().and_then(Learned::longest_history);
        let of_order = longest.map(|longest| [longer(dataset, longest as usize), read_too_late(dataset)]).into_iter().flatten();
        [users(dataset), items(dataset, has_graph)].into_iter().chain(of_order).flatten().collect()
    }
}

/// The parts that a model reads.
fn read(dataset: &Dataset) -> Vec<Split> {
    std::iter::once(Split::Train).chain(dataset.fold_in.is_some().then_some(Split::FoldIn)).collect()
}

fn users(dataset: &Dataset) -> Option<String> {
    let parts = read(dataset);
    let is_empty = |user: &usize| parts.iter().all(|&split| dataset.split(split).row(*user).is_empty());
    let (without, all) = ((0..dataset.users()).filter(is_empty).count(), dataset.users());
    (without * SHARE > all)
        .then(|| format!("{without} of {all} users have no train interaction, so that nothing is learned of their taste"))
}

fn items(dataset: &Dataset, has_graph: bool) -> Option<String> {
    let counts = dataset.train.item_counts(dataset.items());
    let (without, all) = (counts.iter().filter(|&&count| count == 0).count(), counts.len());
    let edges = if has_graph { ": no edge of the graph reaches them" } else { "" };
    (without * SHARE > all)
        .then(|| format!("{without} of {all} items have no train interaction, so that nothing is learned of who likes them{edges}"))
}

/// Links of one set of nodes, none of which has links on both sides.
fn one_sided(dataset: &Dataset) -> Option<String> {
    let taken = dataset.train.item_counts(dataset.items());
    let is_both = |&node: &usize| !dataset.train.row(node).is_empty() && taken.get(node).is_some_and(|&count| count > 0);
    let words =
        "no node has train links on both sides: `link-prediction` takes users and items for one set of nodes, and these look like two";
    (!(0..dataset.users()).any(|node| is_both(&node))).then(|| words.to_owned())
}

fn longer(dataset: &Dataset, longest: usize) -> Option<String> {
    let parts = read(dataset);
    let length = |user: usize| parts.iter().map(|&split| dataset.split(split).row(user).len()).sum::<usize>();
    let (longer, all) = ((0..dataset.users()).filter(|&user| length(user) > longest).count(), dataset.users());
    (longer > 0).then(|| {
        format!("{longer} of {all} users have more than `max_length` {longest} train interactions: what comes next is predicted from the last {longest} before it")
    })
}

fn read_too_late(dataset: &Dataset) -> Option<String> {
    let order = dataset.order.as_ref()?;
    let places = |split: Split, user: usize| {
        let offsets = dataset.split(split).offsets();
        order.split(split)[offsets[user]..offsets[user + 1]].iter().copied()
    };
    let parts = read(dataset);
    let is_late = |&user: &usize| {
        let last = parts.iter().flat_map(|&split| places(split, user)).max();
        let first = [Split::Validation, Split::Test].into_iter().flat_map(|split| places(split, user)).min();
        last.zip(first).is_some_and(|(last, first)| first < last)
    };
    let late = (0..dataset.users()).filter(is_late).count();
    (late > 0).then(|| {
        let all = dataset.users();
        format!("{late} of {all} users have held-out interactions that came before others of train, as the split is not by time: a model of sequences predicts these from what came later")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::{Interactions, Order};
    use testing::dataset_of;

    fn backbone(text: &str) -> Backbone {
        serde_json::from_str(text).unwrap()
    }

    /// User 0 has three train items, user 1 one, user 2 none; item 3 is user 2's test item alone.
    fn dataset() -> Dataset {
        let mut dataset = dataset_of([3, 4], &[(0, 0), (0, 1), (0, 2), (1, 0)]);
        dataset.test = Interactions::from_pairs(3, [(1, 1), (2, 3)].into_iter());
        dataset.order = Some(Order { train: vec![0, 1, 2, 1], test: vec![0, 0], ..Order::default() });
        dataset
    }

    #[test]
    fn users_and_items_without_train_interactions() {
        let users = "1 of 3 users have no train interaction, so that nothing is learned of their taste";
        let items = "1 of 4 items have no train interaction, so that nothing is learned of who likes them";
        assert_eq!(backbone(r#"{"mf": {"dim": 2}}"#).unlearned(&dataset()), [users, items]);
        let of_graph = [users.to_owned(), format!("{items}: no edge of the graph reaches them")];
        assert_eq!(backbone(r#"{"light-gcn": {"dim": 2, "layers": 1}}"#).unlearned(&dataset()), of_graph);
        assert!(backbone(r#"{"mf": {"dim": 2}}"#).unlearned(&dataset_of([1, 2], &[(0, 0), (0, 1)])).is_empty());
    }

    #[test]
    fn links_from_some_nodes_to_others_alone() {
        let linked = |pairs: &[(u32, u32)]| Dataset { one_node_set: true, ..dataset_of([3, 3], pairs) };
        let said = |pairs: &[(u32, u32)]| backbone(r#"{"mf": {"dim": 2}}"#).unlearned(&linked(pairs));
        assert!(said(&[(0, 2), (1, 2)])[0].starts_with("no node has train links on both sides"));
        assert!(said(&[(0, 1), (1, 2)]).is_empty());
    }

    /// User 1's test item came before its train item.
    #[test]
    fn histories_that_are_too_long_or_read_too_late() {
        let of_order = |max_length: u32| {
            let model = backbone(&format!(r#"{{"gru4rec": {{"dim": 2, "max_length": {max_length}}}}}"#));
            model.unlearned(&dataset()).split_off(2)
        };
        let late = "1 of 3 users have held-out interactions that came before others of train, as the split is not by time: a model of \
                    sequences predicts these from what came later";
        let longer =
            "1 of 3 users have more than `max_length` 2 train interactions: what comes next is predicted from the last 2 before it";
        assert_eq!(of_order(2), [longer, late]);
        assert_eq!(of_order(3), [late]);
        let mut by_time = dataset();
        by_time.order = Some(Order { train: vec![0, 1, 2, 0], test: vec![1, 0], ..Order::default() });
        let model = backbone(r#"{"sas-rec": {"dim": 2, "max_length": 3}}"#);
        assert_eq!(model.unlearned(&by_time).len(), 2);
    }
}
