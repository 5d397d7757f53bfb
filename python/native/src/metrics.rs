//! Metrics of users' items, ranked as in a sweep.

use crate::{
    arrays::{Lists, interactions, named, values},
    refused,
    threads::shared_out,
};
use evaluator::{
    Factors, Lists as RankedLists, Matrix, MetricAt, Rankings, Result, Scorer, Similarity,
    metric::{self, Given, depth},
    rank::{check_held_out, rank_within},
    settings::{RecallDenominator, Ties},
};
use pyo3::{Bound, FromPyObject, PyResult, Python, exceptions::PyValueError, pyfunction, types::PyBytes};
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
    history: Lists,
    has_history: bool,
}

/// The metrics that were asked for, parsed, and the lists in rows.
struct Task {
    metrics: Vec<MetricAt>,
    recall: RecallDenominator,
    ties: Ties,
    held_out: (Vec<u64>, Vec<u32>),
    masked: (Vec<u64>, Vec<u32>),
    /// What users are known to have: how popular items are follows from it.
    history: (Vec<u64>, Vec<u32>),
}

impl Task {
    fn new(asked: &Asked) -> PyResult<Self> {
        let metrics: Vec<MetricAt> = asked.metrics.iter().map(|name| name.parse()).collect::<Result<_>>().map_err(refused)?;
        if let Some(at) = metrics.iter().find(|at| at.metric.needs_history() && !asked.has_history) {
            return Err(PyValueError::new_err(format!("{at} needs to know what users have: pass history, or masked")));
        }
        let (recall, ties) = (named("recall", &asked.recall)?, named("ties", &asked.ties)?);
        let [held_out, masked, history] = [&asked.held_out, &asked.masked, &asked.history].map(Lists::read);
        Ok(Self { metrics, recall, ties, held_out: held_out?, masked: masked?, history: history? })
    }

    /// Ranks these users, as users from 0 on.
    fn rank(&self, scorer: &Scorer, users: Range<usize>) -> Result<Rankings> {
        let [masked, held_out] = [&self.masked, &self.held_out].map(|lists| interactions(lists, users.clone()));
        rank_within(scorer, &masked, &[&masked], &held_out, self.ties, MEMORY, depth(&self.metrics))
    }

    /// That no item is held out and masked, of all users: those of a part of them are numbered anew.
    fn check(&self, users: usize, items: usize) -> Result<()> {
        let [masked, held_out] = [&self.masked, &self.held_out].map(|lists| interactions(lists, 0..users));
        check_held_out(items, &[&masked], &held_out)
    }

    /// Each metric's values of all users, NaN for those who have nothing held out; a single one of a metric of all users' lists.
    fn measure(&self, rankings: &Rankings, users: usize, items: usize) -> Vec<Vec<f64>> {
        let history = interactions(&self.history, 0..users);
        let given = Given::new(self.recall, &history, items);
        let spread = |&at: &MetricAt| {
            let values = metric::values(rankings, at, &given);
            if !at.metric.is_per_user() {
                return values;
            }
            let mut all = vec![f64::NAN; users];
            for (user, value) in rankings.users.iter().zip(values) {
                all[*user as usize] = value;
            }
            all
        };
        self.metrics.iter().map(spread).collect()
    }
}

/// Metrics of vectors, `[users, dim]` and `[items, dim]` of 32-bit numbers: for each metric 64-bit numbers by user, or one of all users.
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
    let work = || -> Result<Vec<Vec<f64>>> {
        let (count, catalogue) = (users.rows, items.rows);
        let rankings = task.rank(&Scorer::Factors(Factors { users, items, similarity }), 0..count)?;
        Ok(task.measure(&rankings, count, catalogue))
    };
    let measured = py.detach(|| shared_out(work))?.map_err(refused)?;
    Ok(bytes(py, &measured))
}

/// Metrics of scores, `[users, items]` of 32-bit numbers: for each metric 64-bit numbers by user, or one of all users.
#[pyfunction]
pub(crate) fn of_scores<'py>(py: Python<'py>, scores: &[u8], items: usize, asked: Asked) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let task = Task::new(&asked)?;
    let work = || -> Result<Vec<Vec<f64>>> {
        let scores: Vec<f32> = values(scores);
        let users = scores.len() / items;
        task.check(users, items)?;
        let blocks: Vec<usize> = (0..users).step_by(USERS_AT_ONCE).collect();
        let of_block = |first: usize| {
            let rows = &scores[first * items..scores.len().min((first + USERS_AT_ONCE) * items)];
            Ok((first as u32, task.rank(&scorer(rows, items), first..first + rows.len() / items)?))
        };
        let blocks = blocks.into_par_iter().map(of_block).collect::<Result<Vec<_>>>()?;
        Ok(task.measure(&Rankings::joined(blocks), users, items))
    };
    let measured = py.detach(|| shared_out(work))?.map_err(refused)?;
    Ok(bytes(py, &measured))
}

/// Metrics of lists, the best item first, of a catalogue of so many items: for each metric 64-bit numbers by user, or one of all users.
#[pyfunction]
pub(crate) fn of_lists<'py>(py: Python<'py>, recommended: Lists, items: usize, asked: Asked) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (task, (starts, listed)) = (Task::new(&asked)?, recommended.read()?);
    let row = |bounds: &[u64]| {
        let list = &listed[bounds[0] as usize..bounds[1] as usize];
        list.iter().copied().zip((0..list.len()).map(|place| -(place as f64))).collect()
    };
    let lists = RankedLists::from_rows(items, starts.windows(2).map(row).collect()).map_err(PyValueError::new_err)?;
    let work = || -> Result<Vec<Vec<f64>>> {
        let users = lists.users();
        let rankings = task.rank(&Scorer::Lists(lists), 0..users)?;
        Ok(task.measure(&rankings, users, items))
    };
    let measured = py.detach(|| shared_out(work))?.map_err(refused)?;
    Ok(bytes(py, &measured))
}

/// Unit vectors as users, and the users' scores as the items' coordinates.
fn scorer(scores: &[f32], items: usize) -> Scorer {
    let dim = scores.len() / items;
    let unit = (0..dim * dim).map(|at| if at / dim == at % dim { 1.0 } else { 0.0 });
    let by_item = (0..items).flat_map(|item| (0..dim).map(move |user| scores[user * items + item]));
    Scorer::Factors(Factors {
        users: Matrix { rows: dim, dim, values: unit.collect() },
        items: Matrix { rows: items, dim, values: by_item.collect() },
        similarity: Similarity::Dot,
    })
}

fn bytes<'py>(py: Python<'py>, measured: &[Vec<f64>]) -> Vec<Bound<'py, PyBytes>> {
    measured.iter().map(|values| PyBytes::new(py, bytemuck::cast_slice(values))).collect()
}
