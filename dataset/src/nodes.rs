//! Users and items that are one set of nodes.

use crate::{Dataset, Interactions};
use std::collections::HashMap;

impl Dataset {
    /// Each user's own node among the items, where users and items are one set: what is never ranked for it.
    pub fn own_nodes(&self) -> Option<Interactions> {
        if !self.one_node_set {
            return None;
        }
        let places: HashMap<&str, u32> = self.item_ids.iter().map(String::as_str).zip(0..).collect();
        let own = |(user, id): (u32, &String)| places.get(id.as_str()).map(|&item| (user, item));
        let pairs: Vec<(u32, u32)> = (0..).zip(&self.user_ids).filter_map(own).collect();
        Some(Interactions::from_pairs(self.users(), pairs.into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes a and c are on both sides, at different places.
    #[test]
    fn a_node_is_found_by_its_own_id() {
        let nobody = || Interactions::empty(3);
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let dataset = Dataset {
            name: "links".into(),
            fingerprint: "f00d".into(),
            user_ids: ids(&["a", "b", "c"]),
            item_ids: ids(&["c", "d", "a"]),
            train: nobody(),
            fold_in: None,
            validation: nobody(),
            test: nobody(),
            one_node_set: true,
            order: None,
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        };
        assert_eq!(dataset.own_nodes().unwrap().pairs().collect::<Vec<_>>(), [(0, 2), (2, 0)]);
        assert_eq!(Dataset { one_node_set: false, ..dataset }.own_nodes(), None);
    }
}
