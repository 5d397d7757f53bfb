//! Vectors as those of [`Factors`], with a user's vector made of its history, which is longer when test is ranked (SASRec, GRU4Rec).

use super::{
    Factors, Matrix, Scorer, ScorerKind, Similarity,
    factors::FactorSizes,
    kind::Stored,
    scores::{Scores, vectors::Vectors},
    tensors::{Tensors, check_finite, dense},
};
use crate::Result;
use dataset::Interactions;
use safetensors::tensor::TensorView;

/// Vectors of users' histories before validation and before test, and of items.
#[derive(Clone, Debug, PartialEq)]
pub struct Histories {
    /// `[users, dim]`, of the histories that end before validation: of train.
    pub validation: Matrix,
    /// `[users, dim]`, of the histories that end before test: of train and validation.
    pub test: Matrix,
    /// `[items, dim]`
    pub items: Matrix,
    /// How a row of each makes a score.
    pub similarity: Similarity,
}

impl ScorerKind for Histories {
    fn items(&self) -> usize {
        self.items.rows
    }

    fn users(&self) -> Option<usize> {
        Some(self.test.rows)
    }

    fn values(&self) -> Vec<f32> {
        [&*self.validation.values, &*self.test.values, &*self.items.values].concat()
    }

    fn check(&self) -> std::result::Result<(), String> {
        let Self { validation, test, items, .. } = self;
        check_finite(&[("users_before_validation", validation), ("users_before_test", test), ("items", items)])?;
        if [validation.dim, test.dim] != [items.dim; 2] || validation.rows != test.rows {
            let [before, after] = [validation, test].map(|users| format!("[{}, {}]", users.rows, users.dim));
            return Err(format!(
                "user vectors are {before} before validation and {after} before test, item vectors have {} dimensions",
                items.dim
            ));
        }
        Ok(())
    }

    fn scores<'a>(&'a self, history: &'a Interactions, is_ordered: bool, memory: usize) -> Result<Box<dyn Scores + 'a>> {
        Ok(Box::new(Vectors::new(&self.test, &self.items, self.similarity, is_ordered.then_some(history), memory)))
    }

    fn before_validation(&self) -> Option<Scorer> {
        let Self { validation, items, similarity, .. } = self;
        Some(Scorer::Factors(Factors { users: validation.clone(), items: items.clone(), similarity: *similarity }))
    }
}

impl Stored for Histories {
    type Sizes = FactorSizes;

    fn sizes(&self) -> FactorSizes {
        let Self { test, items, similarity, .. } = self;
        FactorSizes { similarity: *similarity, users: test.rows, items: items.rows, dim: items.dim }
    }

    fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
        let Self { validation, test, items, .. } = self;
        vec![dense("users_before_validation", validation), dense("users_before_test", test), dense("items", items)]
    }

    fn read(FactorSizes { similarity, users, items, dim }: FactorSizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String> {
        Ok(Self {
            validation: tensors.matrix("users_before_validation", users, dim)?,
            test: tensors.matrix("users_before_test", users, dim)?,
            items: tensors.matrix("items", items, dim)?,
            similarity,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Split;

    #[test]
    fn each_part_is_ranked_by_the_histories_before_it() {
        let matrix = |value: f32| Matrix { rows: 1, dim: 1, values: vec![value] };
        let similarity = Similarity::Cosine;
        let scorer = Scorer::Histories(Histories { validation: matrix(1.0), test: matrix(2.0), items: matrix(3.0), similarity });
        let before_validation = Scorer::Factors(Factors { users: matrix(1.0), items: matrix(3.0), similarity });
        assert_eq!(*scorer.of_part(Split::Validation), before_validation);
        assert_eq!(*scorer.of_part(Split::Test), scorer);
        assert_eq!(*before_validation.of_part(Split::Validation), before_validation);
    }
}
