//! How parameter tables start.

use crate::{
    sampler::{Purpose, Stream},
    tables::Tables,
};
use evaluator::Matrix;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// `init` of a backbone: `{kind: xavier-normal}`, `{kind: normal, std: 1.0}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Init {
    /// Normal with variance 2 / (rows + dim), of each table (Glorot and Bengio, AISTATS 2010).
    XavierNormal(XavierNormal),
    /// Normal with a given standard deviation.
    Normal(Normal),
}

/// `xavier-normal` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XavierNormal {}

/// `normal` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Standard deviation, above 0.
    pub std: f64,
}

impl Default for Init {
    fn default() -> Self {
        Self::XavierNormal(XavierNormal {})
    }
}

impl Init {
    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Normal(Normal { std }) if !(*std > 0.0 && std.is_finite()) => Err(format!("std is {std}, expected a number above 0")),
            Self::Normal(_) | Self::XavierNormal(_) => Ok(()),
        }
    }

    fn std(&self, rows: usize, dim: usize) -> f64 {
        match self {
            Self::XavierNormal(_) => (2.0 / (rows + dim) as f64).sqrt(),
            Self::Normal(normal) => normal.std,
        }
    }

    /// Fresh tables. Each row has numbers of its own, whatever the sizes of the tables.
    pub(crate) fn tables(&self, users: usize, items: usize, dim: usize, seed: u64) -> Tables {
        let mut tables = Tables::zeros(users, items, dim);
        for (which, table) in [&mut tables.users, &mut tables.items].into_iter().enumerate() {
            let std = self.std(table.rows, dim);
            let Matrix { values, .. } = table;
            values.par_chunks_exact_mut(dim).enumerate().for_each(|(row, values)| {
                let mut stream = Stream::new(seed, Purpose::Parameters, 0, which as u32, row as u32);
                values.fill_with(|| (std * standard_normal(&mut stream)) as f32);
            });
        }
        tables
    }
}

/// Box and Muller's transform of two uniform numbers.
fn standard_normal(stream: &mut Stream) -> f64 {
    let (radius, angle) = (1.0 - stream.fraction(), stream.fraction());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f32]) -> (f64, f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let central = |power| values.iter().map(|&value| (f64::from(value) - mean).powi(power)).sum::<f64>() / count;
        (mean, central(2), central(4))
    }

    #[test]
    fn values_have_the_moments_of_the_normal_law() {
        let tables = Init::Normal(Normal { std: 0.5 }).tables(2_000, 10, 64, 7);
        let (mean, variance, fourth) = moments(&tables.users.values);
        // Standard errors with 128,000 values: 0.0014, 0.001 and 0.0014.
        assert!(
            mean.abs() < 0.007 && (variance - 0.25).abs() < 0.005 && (fourth - 3.0 * 0.0625).abs() < 0.008,
            "{mean} {variance} {fourth}"
        );
    }

    #[test]
    fn xavier_shrinks_with_the_table() {
        let tables = Init::default().tables(3_936, 36, 64, 7);
        let (_, users, _) = moments(&tables.users.values);
        let (_, items, _) = moments(&tables.items.values);
        assert!((users * 2_000.0 - 1.0).abs() < 0.02 && (items * 50.0 - 1.0).abs() < 0.15, "{users} {items}");
    }

    #[test]
    fn a_row_starts_the_same_in_tables_of_any_size() {
        let init = Init::Normal(Normal { std: 1.0 });
        let (small, large) = (init.tables(3, 2, 8, 1), init.tables(30, 2, 8, 1));
        assert_eq!(small.users.row(2), large.users.row(2));
        assert_ne!(small.users.row(0), small.items.row(0));
    }
}
