//! Users with test items of whom no model knows anything, as they have no train interactions: how many, and what became of them.

use super::{Input, number};
use evaluator::settings::Users;

/// The share of such users above which a reader is told: one in a hundred.
const SHARE: usize = 100;

/// The test users of a dataset.
struct TestUsers {
    /// Users with test items and no train interaction.
    unknown: usize,
    /// Users with test items.
    all: usize,
}

impl TestUsers {
    /// None where nothing was ranked, or all users are known. The split with most of them counts, where there are several.
    fn new(input: &Input, dataset: &str) -> Option<Self> {
        let of_dataset = input.values.iter().filter(|values| values.dataset == dataset);
        let values = of_dataset.max_by_key(|values| values.unknown_users).filter(|values| values.unknown_users > 0)?;
        let left_out = if input.evaluation.users == Users::Known { values.unknown_users } else { 0 };
        Some(Self { unknown: values.unknown_users, all: values.users.len() + left_out })
    }

    /// The test users of a dataset whose unknown ones are above the share.
    fn many(input: &Input, dataset: &str) -> Option<Self> {
        Self::new(input, dataset).filter(|users| users.unknown * SHARE > users.all)
    }

    /// `200 of 303 test users`
    fn counted(&self) -> String {
        format!("{} of {}", number::count(self.unknown), number::counted(self.all, "test user"))
    }
}

/// The note beside how the ranking was made: how many users are left out, or ranked all the same. Nothing where all are known.
pub(super) fn note(input: &Input, dataset: &str) -> String {
    let fate = match input.evaluation.users {
        Users::Known => "left out",
        Users::All => "ranked all the same",
    };
    TestUsers::new(input, dataset).map_or_else(String::new, |users| format!(" Without train interactions, {fate}: {}.", users.counted()))
}

/// The verdict's sentence on unknown users, where there are many.
pub(super) fn clause(input: &Input, dataset: &str) -> String {
    let fate = match input.evaluation.users {
        Users::Known => "do not count",
        Users::All => "count",
    };
    TestUsers::many(input, dataset).map_or_else(String::new, |users| format!(" {} have no train interaction and {fate}.", users.counted()))
}

/// The remark on unknown users, where there are many.
pub(super) fn remark(input: &Input, dataset: &str) -> Option<String> {
    let fate = match input.evaluation.users {
        Users::Known => "they are left out (evaluation.users: known).",
        Users::All => {
            "they are ranked (evaluation.users: all) by what no training touched: mf by the vectors that they began with, light-gcn by a part of \
             these, ease, slim and the nearest neighbours by zeros, popularity as for everyone."
        }
    };
    TestUsers::many(input, dataset).map(|users| format!("{} have no train interaction: {fate}", users.counted()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Report, example};

    /// The example with so many unknown users among, or beside, the 400 that were ranked.
    fn said(users: Users, unknown: usize) -> [String; 3] {
        let mut sweep = example::sweep();
        sweep.evaluation.users = users;
        sweep.values.iter_mut().filter(|values| values.dataset == "books").for_each(|values| values.unknown_users = unknown);
        let input = sweep.input();
        assert_eq!(note(&input, "films") + &clause(&input, "films"), "");
        assert!(Report::new(&input).verdicts[0].ends_with(&clause(&input, "books")));
        [note(&input, "books"), clause(&input, "books"), remark(&input, "books").unwrap_or_default()]
    }

    #[test]
    fn many_users_left_out_are_said_everywhere() {
        assert_eq!(
            said(Users::Known, 5),
            [
                " Without train interactions, left out: 5 of 405 test users.",
                " 5 of 405 test users have no train interaction and do not count.",
                "5 of 405 test users have no train interaction: they are left out (evaluation.users: known)."
            ]
        );
    }

    #[test]
    fn many_users_ranked_all_the_same_are_said_everywhere() {
        let [note, clause, remark] = said(Users::All, 200);
        assert_eq!(note, " Without train interactions, ranked all the same: 200 of 400 test users.");
        assert_eq!(clause, " 200 of 400 test users have no train interaction and count.");
        assert!(remark.starts_with("200 of 400 test users have no train interaction: they are ranked (evaluation.users: all)"), "{remark}");
    }

    #[test]
    fn one_in_a_hundred_is_only_noted_and_none_is_nothing() {
        assert_eq!(said(Users::All, 4), [" Without train interactions, ranked all the same: 4 of 400 test users.", "", ""]);
        assert_eq!(said(Users::Known, 0), ["", "", ""]);
    }
}
