//! The evaluator's metrics and tests on arrays, as `ranksweep_native` in Python: what `ranksweep.metrics` and `ranksweep.significance` call.
//!
//! Arrays come as bytes in C order and in the machine's byte order; `python/ranksweep/metrics.py` says what they hold.

mod arrays;
mod metrics;
mod significance;
mod threads;

use pyo3::{PyErr, exceptions::PyValueError, prelude::pymodule};
use std::error::Error;

/// The module, whose functions take bytes. Their faces in Python have the types.
#[pymodule]
mod ranksweep_native {
    #[pymodule_export]
    use super::metrics::{of_lists, of_scores, of_vectors};
    #[pymodule_export]
    use super::significance::compare;
}

/// An error and its causes, as Python's `ValueError`.
fn refused(error: impl Error) -> PyErr {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    PyValueError::new_err(text)
}
