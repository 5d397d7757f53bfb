//! How many more seeds or users would decide what is undecided, from the measured variances.
//!
//! ```text
//! se²(n, U) = (w + e / n) / U + b / n,   needed: target >= (c + z_0.8) se
//! ```
//! with the variance `w` of users' differences, `e` of the interaction of users and replicates, `b` of replicates, for each user and each
//! replicate; `c` is the family's critical value. Then the verdict comes out in 80% of such sweeps, if the true difference is the measured
//! one; for equivalence the target is what is left of the margin beyond it.

use super::crossed::Crossed;
use statrs::distribution::{ContinuousCDF, Normal};

/// The share of sweeps that should come to a verdict.
pub const POWER: f64 = 0.8;
/// More replicates than this are not advised.
const MOST_REPLICATES: u32 = 1000;

/// The variances of a difference of two methods with equally many replicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variances {
    /// Variance of the users' true differences, for one user.
    pub users: f64,
    /// Variance of the interaction of users and replicates, for one user and one replicate of each method.
    pub interaction: f64,
    /// Variance of the replicates, for one replicate of each method.
    pub replicates: f64,
}

/// What would decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    /// Replicates (seeds) of each method, with the users there are; none where no number would do.
    pub replicates: Option<u32>,
    /// Users, with the replicates there are; none where no number would do.
    pub users: Option<u64>,
}

impl Variances {
    /// Takes a measured variance of a difference apart, of methods with so many replicates each.
    pub fn of(crossed: &Crossed, replicates: f64) -> Self {
        let users = crossed.users_degrees + 1.0;
        let explained = crossed.interaction.min(crossed.users);
        Self {
            users: (crossed.users - explained) * users,
            interaction: explained * users * replicates,
            replicates: (crossed.replicates - crossed.interaction).max(0.0) * replicates,
        }
    }

    fn standard_error(&self, replicates: f64, users: f64) -> f64 {
        ((self.users + self.interaction / replicates) / users + self.replicates / replicates).sqrt()
    }

    /// The smallest difference that [`POWER`] of sweeps with so many replicates and users tell from zero, at a critical value.
    pub fn detectable(&self, replicates: u32, users: usize, critical: f64) -> f64 {
        (critical + beyond()) * self.standard_error(f64::from(replicates), users as f64)
    }

    /// What is needed to tell a difference of size `target` from zero.
    pub fn needed(&self, target: f64, replicates: u32, users: usize, critical: f64) -> Needed {
        let enough = |replicates: &u32| self.detectable(*replicates, users, critical) <= target;
        let most = (target / (critical + beyond())).powi(2);
        let (count, left) = (f64::from(replicates), most - self.replicates / f64::from(replicates));
        let more = (self.users + self.interaction / count) / left;
        Needed {
            replicates: (replicates..=MOST_REPLICATES).find(enough),
            users: Some(more).filter(|more| left > 0.0 && more.is_finite() && *more < 1e12).map(|more| more.ceil() as u64),
        }
    }
}

/// The critical value of so many comparisons, each at the level `alpha` shared out evenly: an upper bound of a joint adjustment's.
pub fn critical(alpha: f64, comparisons: usize) -> f64 {
    super::normal_quantile(alpha / comparisons.max(1) as f64)
}

fn beyond() -> f64 {
    Normal::standard().inverse_cdf(POWER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIANCES: Variances = Variances { users: 0.02, interaction: 0.01, replicates: 4e-6 };

    /// By hand: se² = (0.02 + 0.01 / n) / 1000 + 4e-6 / n, and 1.96 + 0.8416 = 2.8016 of it.
    #[test]
    fn worked_example() {
        let detectable = VARIANCES.detectable(5, 1000, 1.96);
        assert!((detectable - 2.801_621_233_6 * (2.2e-5f64 + 0.8e-6).sqrt()).abs() < 1e-9, "{detectable}");
        // 0.013: se² may be 2.15315e-5, so (1e-5 + 4e-6) / n may be 1.5315e-6: 9.14 replicates.
        let needed = VARIANCES.needed(0.013, 3, 1000, 1.96);
        assert_eq!(needed.replicates, Some(10));
        // with 3: (0.02 + 0.01 / 3) / U may be 2.15315e-5 - 1.33333e-6 = 2.01982e-5
        assert_eq!(needed.users, Some(1156));
    }

    #[test]
    fn what_no_number_decides_is_none() {
        assert_eq!(VARIANCES.needed(0.001, 3, 1000, 1.96), Needed { replicates: None, users: None });
        assert_eq!(VARIANCES.needed(0.012, 3, 1000, 1.96).replicates, None);
    }

    #[test]
    fn a_variance_is_taken_apart_and_put_together() {
        let crossed = Crossed { users: 2.5e-5, users_degrees: 999.0, replicates: 7e-6, replicates_degrees: 4.0, interaction: 4e-6 };
        let variances = Variances::of(&crossed, 3.0);
        assert!((variances.standard_error(3.0, 1000.0) - crossed.standard_error()).abs() < 1e-15);
        assert!((variances.users - 0.021).abs() < 1e-15 && (variances.replicates - 9e-6).abs() < 1e-18);
    }
}
