//! The data of all comparisons over datasets.

use crate::{Error, Result};

/// Complete blocks: a value of every method on every dataset, larger for the better.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteBlocks(Vec<Vec<f64>>);

impl CompleteBlocks {
    /// Takes values by method, then by dataset.
    ///
    /// # Errors
    /// Fewer than two methods or two datasets, methods with different numbers of datasets, and values that are not finite.
    pub fn new(methods: Vec<Vec<f64>>) -> Result<Self> {
        let datasets = methods.first().map_or(0, Vec::len);
        let refuse = |reason: String| Err(Error::Comparison { dataset: "several datasets".to_owned(), reason });
        if methods.len() < 2 || datasets < 2 {
            let (methods, datasets) = (methods.len(), datasets);
            return refuse(format!("methods are compared from 2 methods and 2 datasets on, here are {methods} and {datasets}"));
        }
        for (place, values) in methods.iter().enumerate() {
            if values.len() != datasets {
                return refuse(format!("method {place} has {} values for {datasets} datasets", values.len()));
            }
            if let Some(dataset) = values.iter().position(|value| !value.is_finite()) {
                return refuse(format!("the value of method {place} on dataset {dataset} is {}", values[dataset]));
            }
        }
        Ok(Self(methods))
    }

    /// How many methods there are.
    pub fn methods(&self) -> usize {
        self.0.len()
    }

    /// How many datasets there are.
    pub fn datasets(&self) -> usize {
        self.0[0].len()
    }

    /// A method's values, one for each dataset.
    pub fn values(&self, method: usize) -> &[f64] {
        &self.0[method]
    }

    /// The values on a dataset, one for each method.
    pub(super) fn on(&self, dataset: usize) -> Vec<f64> {
        self.0.iter().map(|values| values[dataset]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_complete_block_is_refused() {
        let message = |methods: &[&[f64]]| CompleteBlocks::new(methods.iter().map(|m| m.to_vec()).collect()).unwrap_err().to_string();
        let few = "several datasets: methods are compared from 2 methods and 2 datasets on, here are ";
        assert_eq!(message(&[&[0.1, 0.2]]), format!("{few}1 and 2"));
        assert_eq!(message(&[&[0.1], &[0.2]]), format!("{few}2 and 1"));
        assert_eq!(message(&[]), format!("{few}0 and 0"));
        assert_eq!(message(&[&[0.1, 0.2], &[0.2]]), "several datasets: method 1 has 1 values for 2 datasets");
        assert_eq!(message(&[&[0.1, 0.2], &[0.2, f64::NAN]]), "several datasets: the value of method 1 on dataset 1 is NaN");
    }
}
