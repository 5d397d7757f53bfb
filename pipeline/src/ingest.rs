//! Raw rows on their way into cleaning: ids become codes, rows below the threshold are left out.

use crate::{
    Result,
    clean::Cleaning,
    coder::Coder,
    edges::pair,
    partitions::Partitions,
    source::{Rows, Sink},
};
use std::sync::atomic::Ordering;

/// Takes the rows that one thread reads.
pub(crate) struct Ingest<'a, 'b> {
    cleaning: &'a Cleaning<'b>,
    users: Coder<'a>,
    items: Coder<'a>,
    user_codes: Vec<u32>,
    item_codes: Vec<u32>,
    partitions: Partitions,
    read: usize,
    rated: usize,
    timed: bool,
}

impl<'a, 'b> Ingest<'a, 'b> {
    pub(crate) fn new(cleaning: &'a Cleaning<'b>) -> Self {
        let (users, items) = (Coder::new(&cleaning.users), Coder::new(&cleaning.items));
        let (user_codes, item_codes, partitions) = (Vec::new(), Vec::new(), Partitions::default());
        Self { cleaning, users, items, user_codes, item_codes, partitions, read: 0, rated: 0, timed: false }
    }
}

impl Sink for Ingest<'_, '_> {
    fn rows(&mut self, rows: Rows<'_>) -> Result<()> {
        let reaches = rows.reaching(self.cleaning.min_rating)?;
        self.users.code(rows.users, &mut self.user_codes);
        self.items.code(rows.items, &mut self.item_codes);
        self.read += rows.users.len();
        self.timed = rows.times.is_some();
        let mut begun = 0;
        for (place, (&user, &item)) in self.user_codes.iter().zip(&self.item_codes).enumerate() {
            if reaches(place) {
                let time = rows.times.map_or(0.0, |times| times[place]);
                begun += usize::from(self.partitions.push(user, (pair(user, item), time)));
                self.rated += 1;
            }
        }
        self.cleaning.hold(begun)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.cleaning.timed.fetch_or(self.timed, Ordering::Relaxed);
        self.cleaning.read.fetch_add(self.read, Ordering::Relaxed);
        self.cleaning.rated.fetch_add(self.rated, Ordering::Relaxed);
        self.cleaning.keep(self.partitions);
        Ok(())
    }
}
