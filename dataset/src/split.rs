//! The parts of a dataset.

/// One of the parts of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// What models learn from.
    Train,
    /// What values are tuned and training is stopped on.
    Validation,
    /// What is reported.
    Test,
    /// The histories of users whom no training sees, where the split holds users out: a model knows them by these when it is ranked.
    FoldIn,
}

impl Split {
    /// The name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::FoldIn => "fold-in",
            Self::Validation => "validation",
            Self::Test => "test",
        }
    }
}
