//! Who is served how well: means over users with histories of about the same length, and over items of about the same popularity.

mod equal;
mod of_items;
mod of_users;

pub(crate) use of_items::of_items;
pub(crate) use of_users::of_users;

/// What groups are made of, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// Users by how many items they are known to have.
    Users,
    /// Items by how many users are known to have them.
    Items,
}

impl Grouping {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Users, Self::Items];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Items => "items",
        }
    }
}

/// What one trial reached in one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupValue {
    /// What the group is of.
    pub of: Grouping,
    /// The group's number, from 1: users with the shortest histories, items with the fewest users.
    pub group: u32,
    /// The smallest number of items of a user of the group, or of users of an item.
    pub low: u32,
    /// The largest number of items of a user of the group, or of users of an item.
    pub high: u32,
    /// How many users or items the group has.
    pub size: u32,
    /// Of users the name of a metric that each of them has; of items `recall`, their held-out interactions that are in the user's list as a share of all of
    /// these, and `exposure`, their places in lists as a share of all.
    pub metric: String,
    /// Where lists are cut; `None` for `auc`.
    pub cutoff: Option<u32>,
    /// The value.
    pub value: f64,
}
