//! The losses over all of a user's negatives, held against each other and against the metric on random scores.
//!
//! ```text
//! CCE = ln(1 + sum_j exp(s_j - s+))     BPR = sum_j ln(1 + exp(s_j - s+))     BCE = ln(1 + exp(-s+)) + sum_j ln(1 + exp(s_j))
//! ```
//! Section 3.2 of the same paper: Theorem 1, Propositions 1 and 2.

use crate::{Statement, normal::normal_from};

/// Random cases of each statement.
const CASES: usize = 10_000;
/// The most negatives of a case.
const NEGATIVES: f64 = 50.0;
/// The most that rounding may add.
const ROUNDING: f64 = 1e-9;
/// How far a score is moved.
const STEP: f64 = 0.01;

/// A positive's score and those of all negatives.
struct ScoredUser {
    positive: f64,
    negatives: Vec<f64>,
}

impl ScoredUser {
    /// Normal scores of a random size.
    fn draw(uniform: &mut impl FnMut() -> f64) -> Self {
        let (count, size) = (1 + (NEGATIVES * uniform()) as usize, 2.0 * uniform());
        let mut score = || size * normal_from(uniform());
        Self { positive: score(), negatives: (0..count).map(|_| score()).collect() }
    }

    /// `-ln NDCG` of the positive alone, at the rank behind all negatives that score at least as high.
    fn metric(&self) -> f64 {
        let rank = 1 + self.negatives.iter().filter(|&&score| score >= self.positive).count();
        (1.0 + rank as f64).log2().ln()
    }

    fn cce(&self) -> f64 {
        self.negatives.iter().map(|score| (score - self.positive).exp()).sum::<f64>().ln_1p()
    }

    fn bpr(&self) -> f64 {
        self.negatives.iter().map(|score| softplus(score - self.positive)).sum()
    }

    fn bce(&self) -> f64 {
        softplus(-self.positive) + self.negatives.iter().copied().map(softplus).sum::<f64>()
    }

    fn losses(&self) -> [f64; 3] {
        [self.cce(), self.bpr(), self.bce()]
    }

    /// Whether each loss is less where the positive scores higher, and more where a negative does.
    fn is_steered(&self) -> bool {
        let higher = Self { positive: self.positive + STEP, negatives: self.negatives.clone() };
        let rises = |at: usize| {
            let mut negatives = self.negatives.clone();
            negatives[at] += STEP;
            is_below(self.losses(), Self { positive: self.positive, negatives }.losses())
        };
        is_below(higher.losses(), self.losses()) && (0..self.negatives.len()).all(rises)
    }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn is_below(less: [f64; 3], more: [f64; 3]) -> bool {
    less.iter().zip(more).all(|(&less, more)| less < more)
}

/// The paper's statements about the full losses; `uniform` gives numbers of `[0, 1)`.
pub fn full_losses(uniform: &mut impl FnMut() -> f64) -> Vec<Statement> {
    let users: Vec<ScoredUser> = (0..CASES).map(|_| ScoredUser::draw(uniform)).collect();
    let of = |holds: fn(&ScoredUser) -> bool| users.iter().map(holds).collect::<Vec<_>>();
    let liked = users.iter().filter(|user| user.positive >= 0.0);
    let alone = users.iter().map(|user| ScoredUser { positive: user.positive, negatives: user.negatives[..1].to_vec() });
    vec![
        Statement::of("-log NDCG is at most CCE of all negatives", "Theorem 1", of(|user| user.metric() <= user.cce() + ROUNDING)),
        Statement::of("CCE is at most BPR, of all negatives", "Theorem 1", of(|user| user.cce() <= user.bpr() + ROUNDING)),
        Statement::of(
            "BPR is at most BCE, of all negatives, where the positive scores at least 0",
            "Theorem 1",
            liked.map(|user| user.bpr() <= user.bce() + ROUNDING),
        ),
        Statement::of("CCE of one negative is BPR", "Proposition 1", alone.map(|user| (user.cce() - user.bpr()).abs() <= ROUNDING)),
        Statement::of(
            "all three fall with the positive's score and rise with each negative's",
            "Proposition 2",
            of(ScoredUser::is_steered),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_near, fractions};

    /// A positive at 1 and negatives at 2 and 0: ln(1 + e + 1/e), ln(1 + e) + ln(1 + 1/e), ln(1 + 1/e) + ln(1 + e^2) + ln 2, and rank 2.
    #[test]
    fn the_losses_by_hand() {
        let user = ScoredUser { positive: 1.0, negatives: vec![2.0, 0.0] };
        let expected = [1.407_605_96, 1.626_523_38, 3.133_336_88];
        user.losses().into_iter().zip(expected).for_each(|(found, expected)| assert_near(found, expected, 1e-8));
        assert_near(user.metric(), 0.460_560_75, 1e-8);
    }

    #[test]
    fn the_paper_is_right_about_full_losses() {
        let statements = full_losses(&mut fractions(1));
        assert!(statements.iter().all(Statement::holds), "{statements:?}");
        let cases: Vec<u64> = statements.iter().map(|statement| statement.cases).collect();
        assert!((4_000..6_000).contains(&cases[2]) && [0, 1, 3, 4].iter().all(|&at| cases[at] == 10_000), "{cases:?}");
    }

    /// Without the condition BCE bounds nothing: a positive at -2 and forty negatives at -3.
    #[test]
    fn the_condition_of_theorem_1_is_needed() {
        let user = ScoredUser { positive: -2.0, negatives: vec![-3.0; 40] };
        assert!(user.bpr() > user.bce());
    }
}
