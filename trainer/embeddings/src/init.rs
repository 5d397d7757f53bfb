//! How parameter tables start.

use crate::Tables;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use streams::{Purpose, Stream};
use vectors::Matrix;

/// `init` of a backbone: `{kind: xavier-normal}`, `{kind: xavier-uniform}`, `{kind: normal, std: 1.0}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Init {
    /// Normal with variance 2 / (rows + dim), of each table (Glorot and Bengio, AISTATS 2010).
    XavierNormal(XavierNormal),
    /// Uniform between plus and minus sqrt(6 / (rows + dim)), of each table (Glorot and Bengio, AISTATS 2010).
    XavierUniform(XavierUniform),
    /// Normal with a given standard deviation.
    Normal(Normal),
}

/// `xavier-normal` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XavierNormal {}

/// `xavier-uniform` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XavierUniform {}

/// `normal` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
            Self::Normal(_) | Self::XavierNormal(_) | Self::XavierUniform(_) => Ok(()),
        }
    }

    /// `{kind: xavier-uniform}`
    pub fn xavier_uniform() -> Self {
        Self::XavierUniform(XavierUniform {})
    }

    /// Fresh values `[rows, dim]`, each row with random numbers of its own, whatever the number of rows. `which` tells the matrices of a model apart.
    pub fn matrix(&self, [rows, dim]: [usize; 2], seed: u64, which: u32) -> Matrix {
        let mut matrix = Matrix { rows, dim, values: vec![0.0; rows * dim] };
        let (std, bound) = ((2.0 / (rows + dim) as f64).sqrt(), (6.0 / (rows + dim) as f64).sqrt());
        matrix.values.par_chunks_exact_mut(dim).enumerate().for_each(|(row, values)| {
            let mut stream = Stream::new(seed, Purpose::Parameters, 0, which, row as u32);
            values.fill_with(|| match self {
                Self::XavierNormal(_) => (std * stream.standard_normal()) as f32,
                Self::XavierUniform(_) => (bound * (2.0 * stream.fraction() - 1.0)) as f32,
                Self::Normal(normal) => (normal.std * stream.standard_normal()) as f32,
            });
        });
        matrix
    }

    /// Fresh tables.
    pub fn tables(&self, users: usize, items: usize, dim: usize, seed: u64) -> Tables {
        Tables { users: self.matrix([users, dim], seed, 0), items: self.matrix([items, dim], seed, 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variance of a uniform distribution: a third of the square of its bound, here 6 / 4,000.
    #[test]
    fn xavier_uniform_has_the_variance_of_xavier_normal() {
        let matrix = Init::XavierUniform(XavierUniform {}).matrix([3_936, 64], 7, 0);
        let (mean, variance, _) = moments(&matrix.values);
        let largest = matrix.values.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        assert!(mean.abs() < 4e-4 && (variance * 2_000.0 - 1.0).abs() < 0.02, "{mean} {variance}");
        assert!(largest <= 0.038_73 && largest > 0.0387, "{largest}");
    }

    fn moments(values: &[f32]) -> (f64, f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let central = |power| values.iter().map(|&value| (f64::from(value) - mean).powi(power)).sum::<f64>() / count;
        (mean, central(2), central(4))
    }

    #[test]
    fn values_have_the_moments_of_the_normal_distribution() {
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
