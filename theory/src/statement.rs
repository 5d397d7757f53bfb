//! A statement of a paper, held against numbers.

/// A statement, how often it was checked, and how often it was false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The claim.
    pub claim: String,
    /// Where the statement comes from: paper and place.
    pub source: &'static str,
    /// Cases that the statement was checked on.
    pub cases: u64,
    /// Cases in which the statement was false.
    pub violations: u64,
}

impl Statement {
    /// A claim and whether it was true, case by case.
    pub fn of(claim: impl Into<String>, source: &'static str, cases: impl IntoIterator<Item = bool>) -> Self {
        let mut statement = Self { claim: claim.into(), source, cases: 0, violations: 0 };
        for holds in cases {
            statement.cases += 1;
            statement.violations += u64::from(!holds);
        }
        statement
    }

    /// Whether the statement was true in all cases.
    pub fn holds(&self) -> bool {
        self.violations == 0
    }
}
