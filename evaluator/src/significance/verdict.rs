//! What is said of a pair of methods: better, worse, equivalent or undecided; of a metric that has no better, higher or lower.
//!
//! With a margin `m` two methods are equivalent when the interval of their difference lies within `±m`: two one-sided tests (Schuirmann,
//! J. Pharmacokinet. Biopharm. 1987) at half the level each, so that the one interval which is printed carries all four verdicts.

use super::{Interval, Tested};
use crate::metric::Direction;

/// What is said of the first method of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The method ranks better: the difference is significant, and not known to be within the margin.
    Better,
    /// The method ranks worse: the difference is significant, and not known to be within the margin.
    Worse,
    /// The method's mean is higher, by a metric of which neither more nor less is better: the difference is significant, and not known to be within the
    /// margin.
    Higher,
    /// The method's mean is lower, by a metric of which neither more nor less is better.
    Lower,
    /// The difference is within the margin.
    Equivalent,
    /// It is not shown that the means differ, nor that the difference is within the margin.
    Undecided,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 6] = [Self::Better, Self::Worse, Self::Higher, Self::Lower, Self::Equivalent, Self::Undecided];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }

    /// The verdict on the other method of the pair.
    pub fn reversed(self) -> Self {
        match self {
            Self::Better => Self::Worse,
            Self::Worse => Self::Better,
            Self::Higher => Self::Lower,
            Self::Lower => Self::Higher,
            Self::Equivalent | Self::Undecided => self,
        }
    }

    /// Finds the verdict by a metric of this direction from the difference, its adjusted interval where the test has one, whether it is significant, and
    /// the margin in units of the metric.
    ///
    /// A significant test of ranks whose effect goes against the difference of the means decides nothing.
    pub(crate) fn new(
        direction: Direction,
        difference: f64,
        tested: &Tested,
        interval: Option<Interval>,
        significant: bool,
        margin: Option<f64>,
    ) -> Self {
        let within = |(interval, margin): (Interval, f64)| interval.low > -margin && interval.high < margin;
        if interval.zip(margin).is_some_and(within) {
            return Self::Equivalent;
        }
        match significant {
            true if difference > 0.0 && tested.effect_size >= 0.0 => Self::of_higher(direction),
            true if difference < 0.0 && tested.effect_size <= 0.0 => Self::of_higher(direction).reversed(),
            _ => Self::Undecided,
        }
    }

    /// What is said of the method with the higher mean.
    fn of_higher(direction: Direction) -> Self {
        match direction {
            Direction::HigherIsBetter => Self::Better,
            Direction::LowerIsBetter => Self::Worse,
            Direction::Neither => Self::Higher,
        }
    }
}

/// The interval as the verdict has it: where step-down tests tell a difference from zero that the simultaneous interval still holds, it ends
/// at zero. Stefansson, Kim and Hsu 1988; the simultaneous interval itself stays one.
pub(crate) fn agreeing(interval: Interval, difference: f64, significant: bool) -> Interval {
    match significant {
        true if difference > 0.0 => Interval { low: interval.low.max(0.0), ..interval },
        true => Interval { high: interval.high.min(0.0), ..interval },
        false => interval,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(difference: f64, half: f64, margin: Option<f64>) -> &'static str {
        let tested = Tested { statistic: 0.0, p_value: 0.01, effect_size: difference };
        let interval = Interval { low: difference - half, high: difference + half };
        Verdict::new(Direction::HigherIsBetter, difference, &tested, Some(interval), difference.abs() > half, margin).name()
    }

    #[test]
    fn four_verdicts() {
        assert_eq!([verdict(0.3, 0.1, None), verdict(-0.3, 0.1, None), verdict(0.05, 0.1, None)], ["better", "worse", "undecided"]);
        assert_eq!(verdict(0.05, 0.1, Some(0.2)), "equivalent");
        assert_eq!(verdict(0.05, 0.01, Some(0.2)), "equivalent", "a difference that is sure and too small to matter");
        assert_eq!(verdict(0.25, 0.1, Some(0.2)), "better");
        assert_eq!(verdict(0.15, 0.2, Some(0.2)), "undecided");
    }

    /// Hedges' correction is 0 there.
    #[test]
    fn two_users_decide_without_an_effect_size() {
        let tested = Tested { statistic: 199.0, p_value: 0.003, effect_size: 0.0 };
        assert_eq!(Verdict::new(Direction::HigherIsBetter, 0.1, &tested, None, true, None), Verdict::Better);
        assert_eq!(Verdict::new(Direction::HigherIsBetter, -0.1, &tested, None, true, None), Verdict::Worse);
    }

    #[test]
    fn a_test_against_the_means_decides_nothing() {
        let contrary = Tested { statistic: 0.0, p_value: 0.001, effect_size: -0.2 };
        assert_eq!(Verdict::new(Direction::HigherIsBetter, 0.1, &contrary, None, true, None), Verdict::Undecided);
    }

    #[test]
    fn more_is_better_where_the_metric_says_so() {
        let said = |direction, difference: f64| {
            let tested = Tested { statistic: 0.0, p_value: 0.01, effect_size: difference };
            Verdict::new(direction, difference, &tested, None, true, None).name()
        };
        assert_eq!([said(Direction::LowerIsBetter, 0.1), said(Direction::LowerIsBetter, -0.1)], ["worse", "better"]);
        assert_eq!([said(Direction::Neither, 0.1), said(Direction::Neither, -0.1)], ["higher", "lower"]);
    }

    #[test]
    fn the_other_side_has_the_other_verdict() {
        assert_eq!(
            Verdict::ALL.map(|verdict| verdict.reversed().name()),
            ["worse", "better", "lower", "higher", "equivalent", "undecided"]
        );
    }

    #[test]
    fn an_interval_never_contradicts_its_verdict() {
        let wide = Interval { low: -0.1, high: 0.5 };
        assert_eq!(agreeing(wide, 0.2, true), Interval { low: 0.0, high: 0.5 });
        assert_eq!(agreeing(Interval { low: -0.5, high: 0.1 }, -0.2, true), Interval { low: -0.5, high: 0.0 });
        assert_eq!(agreeing(wide, 0.2, false), wide);
    }
}
