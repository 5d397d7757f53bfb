//! Metrics of users' items, ranked as in a sweep.

use crate::{
    arrays::{Lists, interactions, named, values},
    refused,
};
use evaluator::{
    Matrix, MetricAt, Result, Scorer, Similarity,
    metric::{self, depth},
    rank::rank_within,
    settings::{Recall, Ties},
};
use pyo3::{Bound, FromPyObject, PyResult, Python, pyfunction, types::PyBytes};
use rayon::prelude::*;
use std::ops::Range;

/// Users whose scores are ranked at once: as unit vectors, of so many dimensions.
const USERS_AT_ONCE: usize = 64;
/// Bytes of working space; it does not change results.
const MEMORY: usize = 256 << 20;

/// The metrics that Python asks for, and the lists that they need.
#[derive(FromPyObject)]
pub(crate) struct Asked {
    metrics: Vec<String>,
    recall: String,
    ties: String,
    held_out: Lists,
    masked: Lists,
}

/// The metrics that were asked for, parsed, and the lists in rows.
struct Task {
    metrics: Vec<MetricAt>,
    recall: Recall,
    ties: Ties,
    held_out: (Vec<u64>, Vec<u32>),
    masked: (Vec<u64>, Vec<u32>),
}

impl Task {
    fn new(asked: &Asked) -> PyResult<Self> {
        let metrics = asked.metrics.iter().map(|name| name.parse()).collect::<Result<_>>().map_err(refused)?;
        let (recall, ties) = (named("recall", &asked.recall)?, named("ties", &asked.ties)?);
        Ok(Self { metrics, recall, ties, held_out: asked.held_out.read()?, masked: asked.masked.read()? })
    }

    /// Each metric's values of these users, NaN for those who have nothing held out.
    fn measure(&self, scorer: &Scorer, users: Range<usize>) -> Result<Vec<Vec<f64>>> {
        let [masked, held_out] = [&self.masked, &self.held_out].map(|lists| interactions(lists, users.clone()));
        let limit = depth(&self.metrics);
        let rankings = rank_within(scorer, &masked, &[&masked], &held_out, self.ties, MEMORY, limit)?;
        let spread = |&at: &MetricAt| {
            let mut all = vec![f64::NAN; users.len()];
            for (user, value) in rankings.users.iter().zip(metric::values(&rankings, at, self.recall)) {
                all[*user as usize] = value;
            }
            all
        };
        Ok(self.metrics.iter().map(spread).collect())
    }
}

/// Metrics of vectors, `[users, dim]` and `[items, dim]` of 32-bit numbers: for each metric 64-bit numbers by user.
#[pyfunction]
pub(crate) fn of_vectors<'py>(
    py: Python<'py>,
    users: &[u8],
    items: &[u8],
    dim: usize,
    similarity: &str,
    asked: Asked,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (task, similarity): (Task, Similarity) = (Task::new(&asked)?, named("similarity", similarity)?);
    let matrix = |bytes: &[u8]| {
        let values: Vec<f32> = values(bytes);
        Matrix { rows: values.len() / dim, dim, values }
    };
    let (users, items) = (matrix(users), matrix(items));
    let measured = py.detach(|| {
        let count = users.rows;
        task.measure(&Scorer::Factors { users, items, similarity }, 0..count)
    });
    Ok(bytes(py, &measured.map_err(refused)?))
}

/// Metrics of scores, `[users, items]` of 32-bit numbers: for each metric 64-bit numbers by user.
#[pyfunction]
pub(crate) fn of_scores<'py>(py: Python<'py>, scores: &[u8], items: usize, asked: Asked) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let task = Task::new(&asked)?;
    let measured = py.detach(|| {
        let scores: Vec<f32> = values(scores);
        let blocks: Vec<usize> = (0..scores.len() / items).step_by(USERS_AT_ONCE).collect();
        let of_block = |first: usize| {
            let rows = &scores[first * items..scores.len().min((first + USERS_AT_ONCE) * items)];
            task.measure(&scorer(rows, items), first..first + rows.len() / items)
        };
        blocks.into_par_iter().map(of_block).collect::<Result<Vec<_>>>()
    });
    let blocks = measured.map_err(refused)?;
    let of_metric = |metric: usize| blocks.iter().flat_map(|block| block[metric].iter().copied()).collect();
    Ok(bytes(py, &(0..task.metrics.len()).map(of_metric).collect::<Vec<Vec<f64>>>()))
}

/// Unit vectors as users, and the users' scores as the items' coordinates.
fn scorer(scores: &[f32], items: usize) -> Scorer {
    let dim = scores.len() / items;
    let unit = (0..dim * dim).map(|at| if at / dim == at % dim { 1.0 } else { 0.0 });
    let by_item = (0..items).flat_map(|item| (0..dim).map(move |user| scores[user * items + item]));
    Scorer::Factors {
        users: Matrix { rows: dim, dim, values: unit.collect() },
        items: Matrix { rows: items, dim, values: by_item.collect() },
        similarity: Similarity::Dot,
    }
}

fn bytes<'py>(py: Python<'py>, measured: &[Vec<f64>]) -> Vec<Bound<'py, PyBytes>> {
    measured.iter().map(|values| PyBytes::new(py, bytemuck::cast_slice(values))).collect()
}
