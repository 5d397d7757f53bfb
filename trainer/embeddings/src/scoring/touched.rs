//! Which rows of a table a batch touches, and where.

/// The distinct ids of a list, and the places of each.
#[derive(Default)]
pub struct Touched {
    /// The distinct ids, ascending.
    pub rows: Vec<u32>,
    /// `[ids]`: the place of each id in `rows`.
    pub locals: Vec<u32>,
    /// `[ids]`: places in the list, by row, ascending within a row.
    places: Vec<u32>,
    /// `[rows]`: where the places of each row end.
    ends: Vec<u32>,
    keys: Vec<u64>,
}

impl Touched {
    /// Looks through a list of ids.
    pub fn find(&mut self, ids: &[u32]) {
        self.keys.clear();
        self.keys.extend(ids.iter().zip(0u64..).map(|(&id, place)| u64::from(id) << 32 | place));
        self.keys.sort_unstable();
        self.rows.clear();
        self.ends.clear();
        self.places.clear();
        self.locals.resize(ids.len(), 0);
        for &key in &self.keys {
            let (row, place) = ((key >> 32) as u32, key as u32);
            if self.rows.last() != Some(&row) {
                self.rows.push(row);
                self.ends.push(self.places.len() as u32);
            }
            self.places.push(place);
            self.locals[place as usize] = self.rows.len() as u32 - 1;
            *self.ends.last_mut().expect("a row was pushed") += 1;
        }
    }

    /// Where the k-th row stands in the list.
    pub fn places(&self, k: usize) -> &[u32] {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.places[start as usize..self.ends[k] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_id_is_found_at_its_places(lists in prop::collection::vec(prop::collection::vec(0u32..20, 0..40), 1..4)) {
            let mut touched = Touched::default();
            for ids in lists {
                touched.find(&ids);
                prop_assert!(touched.rows.is_sorted_by(|a, b| a < b));
                prop_assert!(ids.iter().zip(&touched.locals).all(|(&id, &local)| touched.rows[local as usize] == id));
                for (k, row) in touched.rows.iter().enumerate() {
                    let expected: Vec<u32> = (0..ids.len() as u32).filter(|&place| ids[place as usize] == *row).collect();
                    prop_assert_eq!(touched.places(k), &expected);
                }
            }
        }
    }
}
