//! The validation metric of a model, and its per-user values.

use crate::{Error, Result};
use arrow::array::{Float64Array, StringArray, UInt32Array};
use dataset::{Dataset, Interactions, Split, table};
use evaluator::{
    MetricAt, Rankings, Scorer,
    metric::{self, Given},
    part::RankedPart,
    rank,
    settings::{RecallDenominator, Ties, Users},
};
use std::sync::Arc;

/// One model's validation: users of whom nothing is known are left out, known items are masked, ties are pessimistic, recall is the
/// standard one.
#[derive(Debug, PartialEq)]
pub(crate) struct Validation {
    pub(crate) mean: f64,
    users: Vec<u32>,
    values: Vec<f64>,
}

/// Ranks the validation part; `None` where there is none.
pub(crate) fn validate(scorer: &Scorer, dataset: &Dataset, select_by: MetricAt, memory: usize) -> Result<Option<Validation>> {
    let Some(part) = ranked(dataset)? else { return Ok(None) };
    let (known, own, depth) = (dataset.known(), dataset.own_nodes(), metric::depth(&[select_by]));
    let masked: Vec<&Interactions> = [&*known].into_iter().chain(&own).collect();
    let rankings = rank::rank_within(scorer, &known, &masked, &part.interactions, Ties::Pessimistic, memory, depth)?;
    Ok(Some(Validation::new(rankings, select_by, dataset)))
}

/// What is ranked of the validation part; `None` where there is none. What is random about users whom no training touches picks no model.
pub(crate) fn ranked(dataset: &Dataset) -> Result<Option<RankedPart<'_>>> {
    if dataset.validation.is_empty() {
        return Ok(None);
    }
    RankedPart::new(dataset, Split::Validation, Users::Known).map(Some).map_err(Error::impossible)
}

impl Validation {
    /// The validation metric of at least one user's ranks.
    pub(crate) fn new(rankings: Rankings, select_by: MetricAt, dataset: &Dataset) -> Self {
        // What picks looks at ranks alone, for which it does not matter what models know.
        let given = Given::new(RecallDenominator::Standard, &dataset.train, dataset.items());
        let values = metric::values(&rankings, select_by, &given);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Self { mean, users: rankings.users, values }
    }

    /// The bytes of `per_user.parquet`.
    pub(crate) fn table(&self, dataset: &Dataset, select_by: MetricAt) -> Result<Vec<u8>> {
        let rows = self.users.len();
        let user_ids = StringArray::from_iter_values(self.users.iter().map(|&user| &dataset.user_ids[user as usize]));
        let metrics = StringArray::from_iter_values(std::iter::repeat_n(select_by.metric.name(), rows));
        let batch = table::batch(vec![
            ("user", Arc::new(UInt32Array::from(self.users.clone())), false),
            ("user_id", Arc::new(user_ids), false),
            ("metric", Arc::new(metrics), false),
            ("cutoff", Arc::new(UInt32Array::from(vec![select_by.cutoff; rows])), true),
            ("value", Arc::new(Float64Array::from(self.values.clone())), false),
        ]);
        Ok(table::encode(&batch)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evaluator::{Factors, Matrix, Similarity};

    fn part(pairs: &[(u32, u32)]) -> Interactions {
        Interactions::from_pairs(3, pairs.iter().copied())
    }

    /// Users 0 and 1 have item 0, user 2 has nothing in train.
    fn dataset(validation: &[(u32, u32)]) -> Dataset {
        Dataset {
            name: "late".into(),
            fingerprint: "f00d".into(),
            user_ids: ["a", "b", "c"].map(str::to_owned).to_vec(),
            item_ids: ["p", "q", "r", "s"].map(str::to_owned).to_vec(),
            train: part(&[(0, 0), (1, 0)]),
            validation: part(validation),
            one_node_set: false,
            test: part(&[]),
            fold_in: None,
            order: None,
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        }
    }

    fn mean(dataset: &Dataset) -> Result<Option<f64>> {
        let users = Matrix { rows: 3, dim: 1, values: vec![1.0, 1.0, -1.0] };
        let items = Matrix { rows: 4, dim: 1, values: vec![4.0, 3.0, 2.0, 1.0] };
        let scorer = Scorer::Factors(Factors { users, items, similarity: Similarity::Dot });
        Ok(validate(&scorer, dataset, "mrr@3".parse().unwrap(), 1 << 20)?.map(|validation| validation.mean))
    }

    /// Of items 1, 2 and 3 user 0 finds item 1 first and user 1 item 3 last; user 2, who finds item 2 second, counts nowhere.
    #[test]
    fn users_without_train_interactions_do_not_count() {
        let found = mean(&dataset(&[(0, 1), (1, 3), (2, 2)])).unwrap().unwrap();
        assert!((found - (1.0 + 1.0 / 3.0) / 2.0).abs() < 1e-12, "{found}");
        assert_eq!(mean(&dataset(&[])).unwrap(), None);
    }

    #[test]
    fn a_validation_part_of_unknown_users_alone_is_an_error_that_comes_again() {
        let error = mean(&dataset(&[(2, 2)])).unwrap_err();
        assert!(error.repeats() && error.to_string().contains("none of the 1 users with validation interactions"), "{error}");
    }
}
