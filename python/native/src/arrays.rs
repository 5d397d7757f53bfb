//! Arrays of Python as the evaluator's own types.

use bytemuck::{AnyBitPattern, pod_read_unaligned};
use dataset::Interactions;
use pyo3::{FromPyObject, PyResult, exceptions::PyValueError, pybacked::PyBackedBytes};
use serde::de::DeserializeOwned;

/// Lists of items, one for each user: `items[starts[user]..starts[user + 1]]`, as the `indptr` and `indices` of a sparse matrix.
#[derive(FromPyObject)]
pub(crate) struct Lists(PyBackedBytes, PyBackedBytes);

impl Lists {
    /// Where each user's items begin, and the items.
    ///
    /// # Errors
    /// Lists that do not go together.
    pub(crate) fn read(&self) -> PyResult<(Vec<u64>, Vec<u32>)> {
        let (starts, items): (Vec<u64>, Vec<u32>) = (values(&self.0), values(&self.1));
        let ascends = starts.first() == Some(&0) && starts.is_sorted() && starts.last() == Some(&(items.len() as u64));
        if ascends { Ok((starts, items)) } else { Err(PyValueError::new_err("the starts of the users' lists do not ascend to their end")) }
    }
}

/// The lists of `users`, as those of users from 0 on.
pub(crate) fn interactions((starts, items): &(Vec<u64>, Vec<u32>), users: std::ops::Range<usize>) -> Interactions {
    let row = |user: usize| items[starts[user] as usize..starts[user + 1] as usize].iter().copied();
    let pairs = users.clone().zip(0..).flat_map(|(user, id)| row(user).map(move |item| (id, item)));
    Interactions::from_pairs(users.len(), pairs)
}

/// The numbers that bytes hold.
pub(crate) fn values<T: AnyBitPattern>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(pod_read_unaligned).collect()
}

/// A setting from its name in sweep files.
///
/// # Errors
/// A name that is not known, with those that are.
pub(crate) fn named<T: DeserializeOwned>(key: &str, name: &str) -> PyResult<T> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("{key}: {error}"));
    serde_json::from_value(name.into()).map_err(wrong)
}

/// A value read from a text of JSON, into which Python has written an argument.
///
/// # Errors
/// An argument that says something else.
pub(crate) fn parsed<T: DeserializeOwned>(key: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| {
        let words = error.to_string();
        PyValueError::new_err(format!("{key}: {}", words.split(" at line ").next().unwrap_or(&words)))
    })
}
