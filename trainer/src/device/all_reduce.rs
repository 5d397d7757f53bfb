//! How the gradients of ranks meet on their devices: as whole tables, or row by row.

/// Whether the gradients of a table `[rows, dim]`, of which each of so many ranks has at most `room` rows, meet row by row: where the rows of all ranks with their ids
/// are fewer bytes than a ring sends of the whole table.
pub(crate) fn is_by_row(ranks: usize, room: usize, [rows, dim]: [usize; 2]) -> bool {
    ranks * room * (dim + 1) < 2 * rows * dim
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice a table of ten rows of three numbers are 60 numbers; three rows with their ids of each of four ranks are 48, and four are 64.
    #[test]
    fn gradients_meet_in_the_way_with_fewer_bytes() {
        assert_eq!([3, 4].map(|room| is_by_row(4, room, [10, 3])), [true, false]);
        assert!(is_by_row(2, 7, [10, 3]) && !is_by_row(2, 8, [10, 3]));
    }
}
