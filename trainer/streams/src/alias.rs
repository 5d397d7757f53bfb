//! Draws from fixed weights in constant time: Walker's alias table, built by Vose's method.

use crate::Stream;

/// A table of columns of equal probability, each shared by an item and its alias.
#[derive(Clone, Debug)]
pub struct Alias {
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    /// The item's own part, a fraction of 2^32.
    own: u32,
    alias: u32,
}

impl Alias {
    /// Bytes of the table for each item.
    pub const BYTES: usize = size_of::<Column>();

    /// Makes the table of weights that are not negative; those of 0 are never drawn.
    pub fn new(weights: &[f64]) -> Self {
        let scale = weights.len() as f64 / weights.iter().sum::<f64>();
        let mut parts: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
        let heaviest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0) as u32;
        let full = |item: u32| Column { own: u32::MAX, alias: if weights[item as usize] > 0.0 { item } else { heaviest } };
        let mut columns: Vec<Column> = (0..weights.len() as u32).map(full).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) = (0..weights.len() as u32).partition(|&item| parts[item as usize] < 1.0);
        while let (Some(&from), Some(to)) = (large.last(), small.pop()) {
            columns[to as usize] = Column { own: (parts[to as usize] * 2f64.powi(32)) as u32, alias: from };
            parts[from as usize] -= 1.0 - parts[to as usize];
            if parts[from as usize] < 1.0 {
                large.pop();
                small.push(from);
            }
        }
        for item in small.into_iter().filter(|&item| weights[item as usize] == 0.0) {
            columns[item as usize].own = 0; // rounding left it over
        }
        Self { columns }
    }

    /// Draws an item.
    #[inline]
    pub fn draw(&self, rng: &mut Stream) -> u32 {
        let (item, fraction) = rng.below_with_fraction(self.columns.len() as u32);
        let column = self.columns[item as usize];
        if fraction < column.own { item } else { column.alias }
    }

    /// For each item the part that is its own, a fraction of 2^32, and its alias.
    pub fn columns(&self) -> Vec<[u32; 2]> {
        self.columns.iter().map(|column| [column.own, column.alias]).collect()
    }

    /// The probability of each item that the table stands for.
    pub fn probabilities(&self) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.columns.len()];
        for (item, column) in self.columns.iter().enumerate() {
            let own = f64::from(column.own) / 2f64.powi(32);
            probabilities[item] += own / self.columns.len() as f64;
            probabilities[column.alias as usize] += (1.0 - own) / self.columns.len() as f64;
        }
        probabilities
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worked_table_stands_for_its_weights() {
        let probabilities = Alias::new(&[0.1, 0.2, 0.3, 0.4]).probabilities();
        for (found, expected) in probabilities.iter().zip([0.1, 0.2, 0.3, 0.4]) {
            assert!((found - expected).abs() < 1e-9, "{probabilities:?}");
        }
    }

    proptest! {
        #[test]
        fn tables_stand_for_their_weights(weights in prop::collection::vec(prop_oneof![Just(0.0), 1e-3..1e3f64], 1..60)) {
            prop_assume!(weights.iter().any(|&weight| weight > 0.0));
            let total: f64 = weights.iter().sum();
            for (found, weight) in Alias::new(&weights).probabilities().iter().zip(&weights) {
                prop_assert!((found - weight / total).abs() < 1e-9);
                prop_assert!((*weight == 0.0) == (*found == 0.0));
            }
        }
    }
}
