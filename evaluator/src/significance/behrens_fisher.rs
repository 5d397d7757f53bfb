//! The distribution of a mean difference whose variance has two parts, of which one is known from few replicates: a Behrens-Fisher problem.
//!
//! ```text
//! V = A + θ                                A: what users add, Q1 - Q3;   θ: what replicates show, of which Q2 is the estimate
//! θ | Q2 ~ θ^(-ν/2) exp(-ν Q2 / (2 θ)) π(θ),   π(θ) = (1 + A / θ)^w (1 + (κ / θ)^4) / θ,  w = 1/4,  κ = Q3 min(1, ν - 1) / 3, at least 0
//! p(d) = E over θ of P(|T| > |d| / sqrt(A + θ)),   T: Student's t with ν_u ((A + θ) / A)² degrees of freedom
//! ```
//! The first factor lies between two priors. With `w = 0` it is Jeffreys', which gives the solution of Behrens and Fisher: it errs on the careful side
//! when replicates are few. With `w = 1` it is the second-order probability matching one (Ghosh and Kim, Canad. J. Statist. 2001), which then errs
//! on the other. The second factor says that replicates may add nothing: where they lie as close together as their interaction with users, `Q3`,
//! alone would have them, `θ` is small and users decide, who are never surer than by themselves ([`Crossed`](super::Crossed)). A single degree of
//! freedom does not tell this, so that `κ` is zero there. Where one part is all there is, [`Crossed`](super::Crossed) asks none of this: without users' part (`A = 0`) it takes Student's t with `ν` degrees of
//! freedom, without replicates' the one of users. docs/statistics.md has the error rates.
//!
//! The expectation is an integral over `y = log(θ / Q2)`, by the trapezoidal rule: the integrand is analytic and falls off on both sides, so that
//! the error falls exponentially in the inverse of the step.

use super::students_t::Students;

/// The two parts of a variance.
pub(crate) struct BehrensFisher {
    /// `A`.
    pub(crate) users: f64,
    /// `ν_u`.
    pub(crate) users_degrees: f64,
    /// `Q2`, more than zero.
    pub(crate) replicates: f64,
    /// `ν`.
    pub(crate) replicates_degrees: f64,
    /// `Q3`.
    pub(crate) interaction: f64,
}

/// `w`: how far the prior is from Jeffreys' to the matching one.
const MATCHING: f64 = 1.0 / 4.0;
/// `κ` as a share of `Q3`: below it, replicates add nothing.
const NOTHING: f64 = 1.0 / 3.0;
/// The widest step over `log θ`.
const STEP: f64 = 0.25;
/// The step in standard deviations of `log θ`.
const STEP_OF_DEVIATION: f64 = 0.5;
/// Weights below this share of what was added up no longer count.
const NEGLIGIBLE: f64 = 1e-18;

/// What the integral gives for a difference.
struct Tails {
    p_value: f64,
    /// The derivative of `-p_value` by the size of the difference.
    density: f64,
}

/// Sums over nodes of the integral.
#[derive(Default)]
struct QuadratureSums {
    weight: f64,
    tail: f64,
    density: f64,
}

impl BehrensFisher {
    /// The two-sided p-value of a difference of this size.
    pub(crate) fn p_value(&self, size: f64) -> f64 {
        self.tails(size).p_value
    }

    /// The size whose p-value is `alpha`: Newton's steps for `log p` over `log size`, from a first guess, halved in logarithm where they leave the
    /// bracket.
    pub(crate) fn half_width(&self, alpha: f64, guess: f64) -> f64 {
        let (mut size, mut low, mut high) = (guess, 0.0, f64::INFINITY);
        for _ in 0..200 {
            let Tails { p_value, density } = self.tails(size);
            *(if p_value > alpha { &mut low } else { &mut high }) = size;
            let step = (p_value / alpha).ln() * p_value / (density * size);
            if step.abs() < 1e-12 {
                break;
            }
            let next = size * step.clamp(-2.0, 2.0).exp();
            size = if next > low && next < high { next } else { (low.max(high * 1e-9) * high).sqrt() };
        }
        size
    }

    /// `1 + (κ / θ)^4`, as a share of its value at `Q2`.
    fn adds_nothing(&self, theta: f64) -> f64 {
        let kappa = NOTHING * self.interaction * (self.replicates_degrees - 1.0).clamp(0.0, 1.0);
        if kappa == 0.0 {
            return 1.0;
        }
        let unit = kappa.max(self.replicates);
        let sum = |theta: f64| (theta / unit).powi(4) + (kappa / unit).powi(4);
        sum(theta) / sum(self.replicates) * (self.replicates / theta).powi(4)
    }

    fn tails(&self, size: f64) -> Tails {
        let step = STEP.min(STEP_OF_DEVIATION * (2.0 / self.replicates_degrees).sqrt());
        let (mut sums, mut node) = (QuadratureSums::default(), 0.0);
        for direction in [-step, step] {
            let mut y = node;
            while self.add(&mut sums, y, size) {
                y += direction;
            }
            node = step; // the second walk begins beside the first one's start
        }
        Tails { p_value: sums.tail / sums.weight, density: sums.density / sums.weight }
    }

    /// Adds the node at `y`; false where it was negligible.
    fn add(&self, sums: &mut QuadratureSums, y: f64, size: f64) -> bool {
        let theta = self.replicates * y.exp();
        let variance = self.users + theta;
        let likelihood = -self.replicates_degrees / 2.0 * (y + (-y).exp() - 1.0);
        let matching = MATCHING * ((variance / (self.users + self.replicates)).ln() - y);
        let weight = (likelihood + matching).exp() * self.adds_nothing(theta);
        let deviation = variance.sqrt();
        let students = Students::new(self.users_degrees * (variance / self.users).powi(2));
        let (scaled, two_sided) = (size / deviation, 2.0 * weight);
        let tail = two_sided * students.tail(scaled);
        sums.weight += weight;
        sums.tail += tail;
        sums.density += two_sided * students.density(scaled) / deviation;
        weight > NEGLIGIBLE * sums.weight || tail > NEGLIGIBLE * sums.tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    /// The integral over θ by `scipy.integrate.quad` on `log θ` split at its mode, `epsrel=1e-13`.
    #[test]
    fn p_values() {
        let worked = [
            ([0.7, 300.0, 0.3, 2.0, 0.2], 2.5, 0.052_211_141_606_090_5),
            ([0.7, 300.0, 0.3, 1.0, 0.2], 9.0, 0.030_788_639_583_492_28),
            ([0.7, 300.0, 0.3, 1.5, 0.3], 2.5, 0.076_198_867_639_339),
            ([0.7, 20.0, 1.2, 2.0, 0.0], 4.0, 0.069_732_103_908_427_78),
            ([0.7, 1e5, 0.5, 37.5, 0.3], 5.0, 1.041_887_957_787_014_4e-5),
            ([2.0, 999.0, 6.0, 4.0, 1.0], 0.4, 0.895_113_007_546_895_4),
            ([0.7, 300.0, 0.05, 2.0, 0.6], 1.9, 0.025_022_239_588_878_926),
            ([0.7, 300.0, 0.3, 0.35, 0.2], 9.0, 0.212_137_733_005_511_3),
            ([0.7, 300.0, 1e-4, 0.35, 0.0], 4.0, 0.014_871_224_346_723_83),
        ];
        for ([users, users_degrees, replicates, replicates_degrees, interaction], size, expected) in worked {
            let both = BehrensFisher { users, users_degrees, replicates, replicates_degrees, interaction };
            near(both.p_value(size), expected);
        }
    }

    /// `2 * scipy.stats.t.sf(3, [938, 4, 1])`
    #[test]
    fn one_part_alone_is_student_s_t() {
        for (degrees, expected) in [(4.0, 0.039_941_968_071_718_6), (1.0, 0.204_832_764_699_133_45)] {
            let replicates =
                BehrensFisher { users: 1e-30, users_degrees: 938.0, replicates: 1.0, replicates_degrees: degrees, interaction: 0.0 };
            near(replicates.p_value(3.0), expected);
        }
        let users = BehrensFisher { users: 1.0, users_degrees: 938.0, replicates: 1e-30, replicates_degrees: 4.0, interaction: 0.0 };
        near(users.p_value(3.0), 0.002_771_162_521_648_811);
    }

    #[test]
    fn the_half_width_is_where_the_p_value_is_alpha() {
        for degrees in [1.0, 2.0, 7.5, 400.0] {
            for replicates in [1e-4, 0.3, 1.0, 40.0] {
                for interaction in [0.0, 0.4] {
                    let both = BehrensFisher { users: 0.7, users_degrees: 300.0, replicates, replicates_degrees: degrees, interaction };
                    for alpha in [0.5, 0.05, 1e-6] {
                        near(both.p_value(both.half_width(alpha, 1.0)), alpha);
                    }
                }
            }
        }
    }
}
