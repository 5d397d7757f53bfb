//! Full-catalogue ranking, metrics, significance and result tables. Reads stored scorers and prepared datasets, nothing of training.

pub mod command;
mod error;
pub mod evaluate;
pub mod findings;
pub mod groups;
pub mod metric;
pub mod part;
pub mod rank;
pub mod scorer;
pub mod settings;
pub mod significance;
pub mod tables;
mod trial_values;

pub use error::{Error, Result};
pub use metric::{Metric, MetricAt};
pub use rank::Rankings;
pub use scorer::{
    Factors, Histories, ItemWeights, Layer, Lists, Matrix, Network, Scorer, ScorerKind, Similarity, SparseItemWeights, SparseMatrix,
    TanhLayer, UserNeighbours,
};
pub use settings::Evaluation;
pub use trial_values::TrialValues;
