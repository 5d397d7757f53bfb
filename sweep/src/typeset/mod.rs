//! Tables as a README or a paper takes them: GitHub's Markdown, and LaTeX for the package booktabs.

mod latex;
mod markdown;

pub(crate) use latex::latex;
pub(crate) use markdown::markdown;

/// A dataset's table, its texts not yet escaped, and what is said of it.
pub(crate) struct Table<'a> {
    /// The dataset's name.
    pub(crate) dataset: &'a str,
    /// What the table is of.
    pub(crate) heading: String,
    /// The titles of the columns; the first is that of the methods.
    pub(crate) columns: Vec<String>,
    /// A row for each method, with a cell for each column.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// How to read bold numbers, letters and verdicts, for a caption.
    pub(crate) how_to_read: String,
    /// What a careful reader should know: a paragraph each.
    pub(crate) notes: Vec<String>,
}

/// The content of a place in a table.
pub(crate) enum Cell {
    Text(String),
    Mean {
        value: String,
        /// Whether no method has a larger one.
        best: bool,
        /// Methods that share one do not differ significantly by this metric; empty where not all pairs are compared.
        letters: String,
    },
}
