//! How many more seeds or users would decide what is undecided, from the measured variances.
//!
//! ```text
//! Q1 = (w + e / n) / U,   Q2 = b / n + e / (n U),   Q3 = e / (n U),   needed: target >= c h + z_0.8 se
//! ```
//! with the variance `w` of users' differences, `e` of the interaction of users and replicates, `b` of replicates, for each user and each
//! replicate. `se` is the standard error of these parts ([`Crossed`]) and `h` their half width by Student's quantiles, which are large where
//! replicates are few; `c` is by how much the adjustment for other comparisons widens it now. Then the verdict comes out in about 80% of such sweeps,
//! if the true difference is the measured one. For equivalence the target is what is left of the margin beyond it, and `z_0.9` stands in the place of `z_0.8`: a difference
//! may leave the margin on either side (Schuirmann 1987), and does so as often on both where there is none. A difference just within the margin is told from zero
//! before it is known to be within: the smaller number counts.

use super::{crossed::Crossed, spread::MethodSpread, students_t::UpperQuantiles};
use statrs::distribution::{ContinuousCDF, Normal};

/// The share of sweeps that should come to a verdict.
pub const POWER: f64 = 0.8;
/// More replicates than this are not advised.
const MOST_REPLICATES: u32 = 1000;
/// More users than this are not advised.
const MOST_USERS: u64 = 1_000_000_000_000;

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

impl Variances {
    /// Takes a measured variance of a difference apart, by the spreads of the methods.
    pub(crate) fn of(crossed: &Crossed, spreads: [&MethodSpread; 2]) -> Self {
        let sum = |part: fn(&MethodSpread) -> f64| spreads.map(part).iter().sum::<f64>();
        let users = crossed.users_degrees + 1.0;
        // What is not counted has been left out of the measured variance: users, replicates, or their interaction with them.
        let interaction = if crossed.interaction > 0.0 { sum(|spread| spread.interaction) } else { 0.0 };
        let replicates = if crossed.replicates > 0.0 { sum(|spread| spread.variance) } else { 0.0 };
        Self {
            users: (crossed.users - crossed.interaction).max(0.0) * users,
            interaction: interaction * users,
            replicates: (replicates - interaction).max(0.0),
        }
    }

    /// The variance of a difference with so many replicates and users.
    fn crossed(&self, replicates: u32, users: f64, replicates_degrees: f64) -> Crossed {
        let replicates = f64::from(replicates);
        let interaction = self.interaction / replicates / users;
        Crossed {
            users: self.users / users + interaction,
            users_degrees: users - 1.0,
            replicates: self.replicates / replicates + interaction,
            replicates_degrees,
            interaction,
        }
    }

    /// The smallest difference that [`POWER`] of sweeps with so many replicates and users tell from zero at a level, where the variance over replicates
    /// has so many degrees of freedom. The level `alpha / m` for `m` comparisons gives an upper bound of what a joint adjustment tells apart.
    pub fn detectable(&self, replicates: u32, users: usize, degrees: f64, level: f64) -> f64 {
        let crossed = self.crossed(replicates, users as f64, degrees);
        crossed.half_width(level) + quantile(POWER) * crossed.standard_error()
    }
}

/// What is known of a difference now.
pub(crate) struct Measured<'a> {
    /// Its variances.
    pub(crate) variances: Variances,
    /// The replicates of each method; none of a method that fits at once, which has the variance of no replicate, and any number of them.
    pub(crate) replicates: [Option<u32>; 2],
    /// The degrees of freedom of the variance over replicates.
    pub(crate) degrees: f64,
    /// How many users there are.
    pub(crate) users: u64,
    /// Student's quantiles that are exceeded with probability `alpha / 2`.
    pub(crate) quantiles: &'a UpperQuantiles,
    /// By how much an adjustment for other comparisons widens the interval.
    pub(crate) widened: f64,
}

/// What would decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    /// Replicates (seeds) of each method, with the users there are; none where no number would do.
    pub replicates: Option<u32>,
    /// Users, with the replicates there are; none where no number would do.
    pub users: Option<u64>,
}

impl Needed {
    /// The smaller number of each.
    fn or(self, other: Self) -> Self {
        let replicates = self.replicates.into_iter().chain(other.replicates).min();
        Self { replicates, users: self.users.into_iter().chain(other.users).min() }
    }
}

impl Measured<'_> {
    /// What is needed for a verdict on a difference of size `size`: that it is not zero, or that it is within the margin.
    pub(crate) fn needed(&self, size: f64, margin: Option<f64>) -> Needed {
        let left = margin.map(|margin| margin - size).filter(|&left| left > 0.0);
        let told = self.needed_for(size, POWER);
        left.map_or(told, |left| told.or(self.needed_for(left, f64::midpoint(POWER, 1.0))))
    }

    /// What is needed to tell a difference of size `target` from zero with this power.
    fn needed_for(&self, target: f64, power: f64) -> Needed {
        let fewest = self.replicates.into_iter().flatten().min().unwrap_or(1).max(1);
        let replicates =
            first(u64::from(fewest), u64::from(MOST_REPLICATES), |count| self.detectable(count as u32, self.users, power) <= target);
        let users = first(2, MOST_USERS, |users| self.detectable(fewest, users, power) <= target);
        Needed { replicates: replicates.map(|count| count as u32), users }
    }

    /// The smallest difference that a share `power` of sweeps with so many replicates and users tell from zero. Each replicate more of a method that has
    /// some is a degree of freedom more.
    fn detectable(&self, replicates: u32, users: u64, power: f64) -> f64 {
        let more: f64 = self.replicates.iter().flatten().map(|&count| f64::from(replicates.saturating_sub(count))).sum();
        let crossed = self.variances.crossed(replicates, users as f64, self.degrees + more);
        self.widened * scale(&crossed, self.quantiles) + quantile(power) * crossed.standard_error()
    }
}

/// The scale of a difference by tabulated quantiles of the degrees of freedom of its parts.
pub(crate) fn scale(crossed: &Crossed, quantiles: &UpperQuantiles) -> f64 {
    crossed.scale([crossed.users_degrees, crossed.replicates_degrees].map(|degrees| quantiles.of(degrees)))
}

/// The first number from `least` to `most` that is enough, of which all larger ones are; none where `most` is not.
fn first(least: u64, most: u64, is_enough: impl Fn(u64) -> bool) -> Option<u64> {
    if !is_enough(most) {
        return None;
    }
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = low.midpoint(high);
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

fn quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::{super::spread::Spread, *};

    const VARIANCES: Variances = Variances { users: 0.02, interaction: 0.01, replicates: 4e-6 };

    fn measured(variances: Variances, replicates: [u32; 2], degrees: f64, quantiles: &UpperQuantiles) -> Measured<'_> {
        Measured { variances, replicates: replicates.map(Some), degrees, users: 1000, quantiles, widened: 1.0 }
    }

    /// By hand: se² = (0.02 + 0.01 / n) / U + 4e-6 / n, and 1.95996 + 0.84162 = 2.80159 of it where both parts are known well; by replicates alone
    /// `scipy.stats.t.ppf(0.975, 4)` = 2.77645 in place of 1.95996.
    #[test]
    fn worked_example() {
        let known = VARIANCES.detectable(5, 1_000_000, 1e9, 0.05);
        assert!((known / (2.801_585_218 * (2.2e-8f64 + 0.8e-6).sqrt()) - 1.0).abs() < 1e-5, "{known}");
        let few = Variances { users: 0.0, interaction: 0.0, ..VARIANCES }.detectable(5, 1000, 4.0, 0.05);
        assert!((few / ((2.776_445_105 + 0.841_621_234) * 0.8e-6f64.sqrt()) - 1.0).abs() < 1e-8, "{few}");
    }

    /// By hand, with degrees of freedom so many that all quantiles are 1.95996: 0.013 takes se² of 2.15312e-5, so (1e-5 + 4e-6) / n may be 1.5312e-6: 9.14
    /// replicates; with 3, (0.02 + 0.01 / 3) / U may be 2.15312e-5 - 1.33333e-6 = 2.01979e-5: 1,155.2 users, and a few more for Student's quantile.
    #[test]
    fn what_is_needed_where_variances_are_known() {
        let quantiles = UpperQuantiles::new(0.025);
        let needed = measured(VARIANCES, [3, 3], 1e9, &quantiles).needed(0.013, None);
        assert_eq!(needed.replicates, Some(10));
        assert!((1156..1165).contains(&needed.users.unwrap()), "{needed:?}");
        let wider = Measured { widened: 1.5, ..measured(VARIANCES, [3, 3], 1e9, &quantiles) }.needed(0.013, None);
        assert_eq!(wider, Needed { replicates: None, users: Some(wider.users.unwrap()) });
        assert_eq!(measured(VARIANCES, [3, 3], 1e9, &quantiles).needed(0.001, None), Needed { replicates: None, users: None });
    }

    /// By hand, without replicates: a margin of 0.1 and a variance of 1 for each user take ((1.95996 + 1.28155) / 0.1)² = 1,050.7 users, so that 2 Φ(1.28155) - 1 = 80 % of
    /// sweeps without a difference stay within; a few more for Student's quantile.
    #[test]
    fn equivalence_is_lost_on_either_side() {
        let (quantiles, variances) = (UpperQuantiles::new(0.025), Variances { users: 1.0, interaction: 0.0, replicates: 0.0 });
        let measured = measured(variances, [1, 1], 0.0, &quantiles);
        let users = measured.needed(0.0, Some(0.1)).users.unwrap();
        assert!((1051..1056).contains(&users), "{users}");
        // Just within the margin it is told from zero by (2.80159 / 0.095)² = 869.7 users, and from the margin by (3.24151 / 0.005)² = 420,000.
        let near = measured.needed(0.095, Some(0.1)).users.unwrap();
        assert!((870..875).contains(&near), "{near}");
    }

    /// Users are no matter, and the difference is three standard errors of two replicates. By SciPy: with two and 2 degrees of freedom 4.303 + 0.842 of them are
    /// needed, with three and 4 degrees 2.776 + 0.842 = 3.618 of them, and the difference is 3 sqrt(3 / 2) = 3.674.
    #[test]
    fn few_replicates_are_not_taken_for_many() {
        let quantiles = UpperQuantiles::new(0.025);
        let variances = Variances { users: 1e-18, interaction: 0.0, replicates: 2e-6 };
        assert_eq!(measured(variances, [2, 2], 2.0, &quantiles).needed(3e-3, None).replicates, Some(3));
    }

    /// By SciPy: beside a method without seeds one with n of them has n - 1 degrees. A difference of 2.5 standard deviations of a seed is less than the
    /// (4.303 + 0.842) / sqrt(3) = 2.97 that three take, and more than the (3.182 + 0.842) / 2 = 2.01 of four.
    #[test]
    fn a_method_without_seeds_lends_no_degrees() {
        let quantiles = UpperQuantiles::new(0.025);
        let variances = Variances { users: 1e-18, interaction: 0.0, replicates: 1e-6 };
        let fixed = Measured { replicates: [Some(2), None], ..measured(variances, [2, 2], 1.0, &quantiles) };
        assert_eq!(fixed.needed(2.5e-3, None).replicates, Some(4));
    }

    /// By hand: two methods whose variances of one replicate are 1e-6 and whose interactions 2e-7, with 2 and 10 replicates.
    #[test]
    fn a_variance_is_taken_apart_by_the_spreads_of_the_methods() {
        let spread = |replicates: usize| MethodSpread {
            replicates,
            source: Spread::Own,
            raw: None,
            variance: 1e-6,
            degrees: 4.0,
            interaction: 2e-7,
            scale: 1.0,
        };
        let crossed = Crossed { users: 2.5e-6, users_degrees: 999.0, replicates: 0.6e-6, replicates_degrees: 4.0, interaction: 0.12e-6 };
        let variances = Variances::of(&crossed, [&spread(2), &spread(10)]);
        for (found, expected) in [(variances.users, 2.38e-3), (variances.interaction, 4e-4), (variances.replicates, 1.6e-6)] {
            assert!((found / expected - 1.0).abs() < 1e-9, "{variances:?}");
        }
        let users = Crossed { replicates: 0.0, interaction: 0.0, ..crossed };
        assert_eq!(Variances::of(&users, [&spread(2), &spread(10)]), Variances { users: 2.5e-3, interaction: 0.0, replicates: 0.0 });
    }
}
