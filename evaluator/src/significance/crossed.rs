//! The variance of a mean difference over users and replicates (seeds, or splits), and what follows from it.
//!
//! ```text
//! Q1 = s²_d / U                                users: the differences of the users' means over replicates
//! Q2 = sum over both methods of s~²_m / n_m    replicates: moderated variances of the replicates' means
//! Q3 = sum over both methods of e_m / n_m      e_m = MS(users x replicates) / U, which is part of Q1 and of Q2
//! h² = Q1 z² + max(0, Q2 t² - Q3 z²)           z, t: Student's quantiles with the degrees of freedom of users and of replicates
//! ```
//! `difference ± h` is the interval, and the p-value is the level at which it reaches zero. Users and replicates are crossed, so their
//! variances add up and their interaction, which both hold, is taken out once, as of the users. Each part has its own quantile (Banerjee, Sankhya 1960), as
//! Satterthwaite's single number of degrees of freedom calls too much different where replicates are few: 11% for 5%, with two seeds
//! (docs/statistics.md). Without replicates' variance this is Student's t; without users' it is Welch's with moderated variances.

use super::{Interval, students_t::Students};

/// The parts of the variance of a mean difference, or of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossed {
    /// Q1, by users.
    pub users: f64,
    /// The degrees of freedom of `users`.
    pub users_degrees: f64,
    /// Q2, by replicates; zero where there are none to count.
    pub replicates: f64,
    /// The degrees of freedom of `replicates`.
    pub replicates_degrees: f64,
    /// Q3, which `users` and `replicates` both hold.
    pub interaction: f64,
}

/// Beyond so many standard errors p-values are zero.
const FARTHEST: f64 = 32.0;

impl Crossed {
    /// The standard error: the square root of `Q1 + max(0, Q2 - Q3)`.
    pub fn standard_error(&self) -> f64 {
        (self.users + (self.replicates - self.interaction).max(0.0)).sqrt()
    }

    /// The quantiles `z` and `t` that are exceeded with probability `alpha / 2`.
    pub(crate) fn quantiles(&self, alpha: f64) -> [f64; 2] {
        let quantile = |part: f64, degrees: f64| if part > 0.0 { Students::new(degrees).upper_quantile(alpha / 2.0) } else { 0.0 };
        let t = quantile(self.replicates, self.replicates_degrees);
        [if self.users > 0.0 { quantile(self.users, self.users_degrees) } else { t }, t]
    }

    /// `h` for these quantiles.
    pub(crate) fn half_width_at(&self, [z, t]: [f64; 2]) -> f64 {
        let users = self.users * z * z;
        (users + (self.replicates * t * t - self.interaction * z * z).max(0.0)).sqrt()
    }

    /// Half the width of the interval at the level `1 - alpha`.
    pub fn half_width(&self, alpha: f64) -> f64 {
        self.half_width_at(self.quantiles(alpha))
    }

    /// The interval of a difference at the level `1 - alpha`; infinite where users or replicates have no degrees of freedom.
    pub fn interval(&self, difference: f64, alpha: f64) -> Interval {
        let half = self.half_width(alpha);
        Interval { low: difference - half, high: difference + half }
    }

    /// Two-sided. 1 where the difference is zero or has no known variance, 0 where it has none.
    pub fn p_value(&self, difference: f64) -> f64 {
        let size = difference.abs();
        if size == 0.0 || self.standard_error().is_nan() || self.standard_error().is_infinite() {
            return 1.0;
        }
        if self.users == 0.0 || self.replicates == 0.0 {
            let (part, degrees) =
                if self.replicates == 0.0 { (self.users, self.users_degrees) } else { (self.replicates, self.replicates_degrees) };
            return 2.0 * Students::new(degrees).tail(size / part.sqrt());
        }
        2.0 * Students::new(self.users_degrees).tail(self.reach(size))
    }

    /// The quantile `z` at which `h` is the size of the difference: doubled until `h` is beyond, then false position.
    fn reach(&self, size: f64) -> f64 {
        let (users, replicates) = (Students::new(self.users_degrees), Students::new(self.replicates_degrees));
        let excess = |z: f64| self.half_width_at([z, replicates.upper_quantile(users.tail(z))]) - size;
        let (mut low, mut high) = (0.0, 1.0);
        let (mut below, mut above) = (-size, excess(high));
        while above <= 0.0 {
            (low, below, high) = (high, above, 2.0 * high);
            if low >= FARTHEST {
                return f64::INFINITY;
            }
            above = excess(high);
        }
        for _ in 0..200 {
            let middle = (low * above - high * below) / (above - below);
            let found = excess(middle);
            if found.abs() <= 1e-13 * size || high - low <= 1e-14 * high {
                return middle;
            }
            // The end that stays is halved (the Illinois rule), so that both ends close in.
            if found < 0.0 {
                (low, below, above) = (middle, found, above / 2.0);
            } else {
                (high, above, below) = (middle, found, below / 2.0);
            }
        }
        (low + high) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Crossed = Crossed { users: 3.6e-6, users_degrees: 938.0, replicates: 6.6e-6, replicates_degrees: 4.0, interaction: 0.9e-6 };

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-3), "{found} {expected}");
    }

    /// t(.025, 938) = 1.96249626940, t(.025, 4) = 2.77644510520: by hand, h² = 3.6e-6 z² + 6.6e-6 t² - 0.9e-6 z².
    #[test]
    fn parts_have_their_own_quantiles() {
        let (z, t): (f64, f64) = (1.962_496_269_398_767_5, 2.776_445_105_197_799);
        let expected = (3.6e-6 * z * z + 6.6e-6 * t * t - 0.9e-6 * z * z).sqrt();
        near(BOTH.half_width(0.05) * 1e3, expected * 1e3);
        near(BOTH.standard_error() * 1e3, 9.3e-6f64.sqrt() * 1e3);
    }

    #[test]
    fn the_p_value_is_the_level_whose_interval_ends_at_zero() {
        for alpha in [0.4, 0.05, 0.001, 1e-7] {
            near(BOTH.p_value(BOTH.half_width(alpha)), alpha);
            near(BOTH.p_value(-BOTH.half_width(alpha)), alpha);
        }
        let few = Crossed { users: 1e-9, replicates_degrees: 1.0, interaction: 1e-10, ..BOTH };
        near(few.p_value(few.half_width(0.2)), 0.2);
    }

    /// Interaction explains all of the replicates' variance: what is left is the users'.
    #[test]
    fn replicates_never_take_variance_away() {
        let explained = Crossed { interaction: 60e-6, ..BOTH };
        near(explained.half_width(0.05) * 1e3, 3.6e-6f64.sqrt() * 1.962_496_269_398_767_5 * 1e3);
        near(explained.standard_error() * 1e3, 3.6e-6f64.sqrt() * 1e3);
        near(explained.p_value(explained.half_width(0.05)), 0.05);
    }

    /// `2 * scipy.stats.t.sf(3, 938)` and `2 * scipy.stats.t.sf(3, 4)`
    #[test]
    fn one_source_alone_is_student_s_t() {
        let users = Crossed { replicates: 0.0, interaction: 0.0, ..BOTH };
        near(users.p_value(3.0 * 3.6e-6f64.sqrt()), 0.002_771_162_521_648_811);
        let replicates = Crossed { users: 0.0, interaction: 0.0, ..BOTH };
        near(replicates.p_value(3.0 * 6.6e-6f64.sqrt()), 0.039_941_968_071_718_6);
        near(replicates.half_width(0.05) * 1e3, 2.776_445_105_197_799 * 6.6e-6f64.sqrt() * 1e3);
    }

    #[test]
    fn no_nan() {
        let none = Crossed { users: 0.0, users_degrees: 9.0, replicates: 0.0, replicates_degrees: 0.0, interaction: 0.0 };
        assert_eq!((none.p_value(0.0), none.p_value(0.1), none.half_width(0.05)), (1.0, 0.0, 0.0));
        assert_eq!(BOTH.p_value(0.0), 1.0);
        assert!(BOTH.p_value(1e9) < 1e-40);
        let unknown = Crossed { users: f64::INFINITY, ..BOTH };
        assert_eq!(unknown.p_value(0.1), 1.0);
    }
}
