//! The variance of a mean difference over users and replicates (seeds, or splits), and what follows from it.
//!
//! ```text
//! Q1 = s²_d / U                                users: the differences of the users' means over replicates
//! Q2 = sum over both methods of s~²_m / n_m    replicates: moderated variances of the replicates' means
//! Q3 = sum over both methods of e_m / n_m      e_m = MS(users x replicates) / U, which is part of Q1 and of Q2; at most Q1
//! V = (Q1 - Q3) + θ                            θ: what Q2 estimates
//! ```
//! Users and replicates are crossed, so their variances add up and their interaction, which both hold, is counted once. `Q2` is known from
//! few replicates, and what is not known of it is averaged out: see [`BehrensFisher`]. Replicates add to the variance, so that nothing is surer than
//! users alone make it (`V >= Q1`), also where `Q2` is below `Q3` by chance. One number of degrees of freedom for both parts, after Satterthwaite, calls too much different where
//! replicates are few: 11% for 5%, with two seeds (docs/statistics.md). Without replicates' variance this is the paired t-test; without users' it is
//! a t-test with moderated variances (Smyth's moderated t), and not Welch's, which takes each method's own.

use super::{Interval, behrens_fisher::BehrensFisher, students_t::Students};

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

impl Crossed {
    /// The standard error: the square root of `Q1 + max(0, Q2 - Q3)`.
    pub fn standard_error(&self) -> f64 {
        (self.users + (self.replicates - self.interaction).max(0.0)).sqrt()
    }

    /// What users add to what replicates show: `Q1 - Q3`.
    fn users_alone(&self) -> f64 {
        (self.users - self.interaction).max(0.0)
    }

    /// Both parts, where there are both.
    fn both(&self) -> Option<BehrensFisher> {
        let Self { users_degrees, replicates, replicates_degrees, .. } = *self;
        let users = self.users_alone();
        (users > 0.0 && replicates > 0.0 && replicates_degrees > 0.0).then_some(BehrensFisher {
            users,
            users_degrees,
            replicates,
            replicates_degrees,
            interaction: self.interaction,
        })
    }

    /// The variance and the degrees of freedom of the one part there is.
    fn one(&self) -> (f64, f64) {
        if self.replicates > 0.0 { (self.replicates, self.replicates_degrees) } else { (self.users, self.users_degrees) }
    }

    /// The users' variance and its degrees of freedom, where there are replicates that can only add to it.
    fn at_least(&self) -> Option<(f64, Students)> {
        (self.users > 0.0 && self.replicates > 0.0).then(|| (self.users, Students::new(self.users_degrees)))
    }

    /// Student's quantiles `z` of users and `t` of replicates that are exceeded with probability `alpha / 2`.
    pub(crate) fn quantiles(&self, alpha: f64) -> [f64; 2] {
        let quantile = |part: f64, degrees: f64| if part > 0.0 { Students::new(degrees).upper_quantile(alpha / 2.0) } else { 0.0 };
        let t = quantile(self.replicates, self.replicates_degrees);
        [if self.users > 0.0 { quantile(self.users, self.users_degrees) } else { t }, t]
    }

    /// A scale of differences in closed form, near the half width of the quantiles' level: `sqrt(Q1 z² + max(0, Q2 t² - Q3 z²))`, after
    /// Banerjee, Sankhya 1960.
    pub(crate) fn scale(&self, [z, t]: [f64; 2]) -> f64 {
        let users = self.users * z * z;
        (users + (self.replicates * t * t - self.interaction * z * z).max(0.0)).sqrt()
    }

    /// Half the width of the interval at the level `1 - alpha`: the size of difference whose p-value is `alpha`.
    pub fn half_width(&self, alpha: f64) -> f64 {
        let scale = self.scale(self.quantiles(alpha));
        if !(scale > 0.0 && scale.is_finite()) {
            return scale;
        }
        let by_quantile = |(variance, students): (f64, Students)| variance.sqrt() * students.upper_quantile(alpha / 2.0);
        let (variance, degrees) = self.one();
        let half = self.both().map_or_else(|| by_quantile((variance, Students::new(degrees))), |both| both.half_width(alpha, scale));
        half.max(self.at_least().map_or(0.0, by_quantile))
    }

    /// The interval of a difference at the level `1 - alpha`; infinite where users or replicates have no degrees of freedom.
    pub fn interval(&self, difference: f64, alpha: f64) -> Interval {
        let half = self.half_width(alpha);
        Interval { low: difference - half, high: difference + half }
    }

    /// The two-sided p-value of a difference. 1 where the difference is zero or has no known variance, 0 where it has none.
    pub fn p_value(&self, difference: f64) -> f64 {
        let size = difference.abs();
        if size == 0.0 || self.standard_error().is_nan() || self.standard_error().is_infinite() {
            return 1.0;
        }
        let two_sided = |(variance, students): (f64, Students)| 2.0 * students.tail(size / variance.sqrt());
        let (variance, degrees) = self.one();
        let p_value = self.both().map_or_else(|| two_sided((variance, Students::new(degrees))), |both| both.p_value(size));
        p_value.max(self.at_least().map_or(0.0, two_sided))
    }

    /// The p-value of two one-sided tests that the difference is not within `margin` of zero.
    pub fn p_equivalence(&self, difference: f64, margin: f64) -> f64 {
        let one_sided = |distance: f64| if distance > 0.0 { self.p_value(distance) / 2.0 } else { 1.0 - self.p_value(distance) / 2.0 };
        one_sided(margin - difference).max(one_sided(margin + difference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Crossed = Crossed { users: 3.6e-6, users_degrees: 938.0, replicates: 6.6e-6, replicates_degrees: 4.0, interaction: 0.9e-6 };

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-3), "{found} {expected}");
    }

    /// t(.025, 938) = 1.96249626940, t(.025, 4) = 2.77644510520: by hand, scale² = 3.6e-6 z² + 6.6e-6 t² - 0.9e-6 z².
    #[test]
    fn the_scale_has_a_quantile_for_each_part() {
        let (z, t): (f64, f64) = (1.962_496_269_398_767_5, 2.776_445_105_197_799);
        let expected = (3.6e-6 * z * z + 6.6e-6 * t * t - 0.9e-6 * z * z).sqrt();
        near(BOTH.scale(BOTH.quantiles(0.05)) * 1e3, expected * 1e3);
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

    /// Of replicates whose variance is known, interaction is counted once: 3.6e-6 - 2e-6 + 2.6e-6, with Student's t of 938 degrees of freedom for the first
    /// part.
    #[test]
    fn interaction_is_counted_once() {
        let known = Crossed { replicates: 2.6e-6, replicates_degrees: 1e9, interaction: 2e-6, ..BOTH };
        near(known.standard_error() * 1e3, 4.2e-6f64.sqrt() * 1e3);
        let degrees = 938.0 * (4.2f64 / 1.6).powi(2);
        near(known.half_width(0.05) * 1e3, 4.2e-6f64.sqrt() * Students::new(degrees).upper_quantile(0.025) * 1e3);
    }

    /// All of the users' variance is interaction: what replicates show is all there is.
    #[test]
    fn interaction_takes_no_more_than_there_is() {
        let explained = Crossed { interaction: 60e-6, ..BOTH };
        near(explained.half_width(0.05) * 1e3, 6.6e-6f64.sqrt() * 2.776_445_105_197_799 * 1e3);
        near(explained.p_value(explained.half_width(0.05)), 0.05);
    }

    /// `2 * scipy.stats.t.sf(3, 938)`: replicates that lie closer together than their interaction with users says are no reason to be surer.
    #[test]
    fn nothing_is_surer_than_users_alone() {
        let close = Crossed { replicates: 0.2e-6, ..BOTH };
        near(close.p_value(3.0 * 3.6e-6f64.sqrt()), 0.002_771_162_521_648_811);
        near(close.half_width(0.002_771_162_521_648_811) * 1e3, 3.0 * 3.6e-6f64.sqrt() * 1e3);
        let known = Crossed { replicates: 0.2e-6, interaction: 60e-6, ..BOTH };
        near(known.half_width(0.05) * 1e3, 1.962_496_269_398_767_5 * 3.6e-6f64.sqrt() * 1e3);
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
