//! `dataset_pairs.parquet`: every pair of methods of a comparison over several datasets.

use crate::report::across::{AcrossDatasets, Control, RankedPair};
use crate::tables::{numbers, numbers_or_null, texts};
use arrow::datatypes::{Float64Type, UInt32Type};
use dataset::{FileEntry, Location, Result, table};
use evaluator::significance::{Interval, datasets::Improvement};
use rayon::prelude::*;

/// Writes the table, one row for each pair, `method_a` with the better average rank, or the same.
///
/// # Errors
/// When it cannot be stored.
pub(crate) fn write(at: &Location, across: &AcrossDatasets, control: Option<&Control>) -> Result<FileEntry> {
    let pairs = || across.pairs.iter();
    let method = |place: usize| &across.methods[place];
    let improvements: Vec<Improvement> = across.pairs.par_iter().map(|pair| across.improvement(pair.one, pair.other)).collect();
    let end = |name, of: fn(Interval) -> f64| numbers_or_null::<Float64Type>(name, improvements.iter().map(|found| found.interval.map(of)));
    let value = |name, of: fn(&RankedPair) -> f64| numbers::<Float64Type>(name, pairs().map(of));
    let count = |name, of: fn(&RankedPair) -> usize| numbers::<UInt32Type>(name, pairs().map(|pair| of(pair) as u32));
    let columns = vec![
        texts("metric", pairs().map(|_| across.at.metric.name())),
        numbers_or_null::<UInt32Type>("cutoff", pairs().map(|_| across.at.cutoff)),
        texts("method_a", pairs().map(|pair| &method(pair.one).key)),
        texts("method_b", pairs().map(|pair| &method(pair.other).key)),
        numbers::<UInt32Type>("datasets", pairs().map(|_| across.datasets.len() as u32)),
        numbers::<Float64Type>("rank_a", pairs().map(|pair| method(pair.one).average_rank)),
        numbers::<Float64Type>("rank_b", pairs().map(|pair| method(pair.other).average_rank)),
        value("nemenyi_p", |pair| pair.nemenyi),
        value("z", |pair| pair.z_test.z),
        value("z_p", |pair| pair.z_test.p_value),
        value("holm_p", |pair| pair.z_test.p_adjusted),
        numbers_or_null::<Float64Type>("control_p", pairs().map(|pair| control.and_then(|control| control.p(pair.one, pair.other)))),
        count("wins", |pair| pair.record.wins),
        count("ties", |pair| pair.record.ties),
        count("losses", |pair| pair.record.losses),
        count("wins_by_mean", |pair| pair.by_mean.wins),
        count("ties_by_mean", |pair| pair.by_mean.ties),
        count("losses_by_mean", |pair| pair.by_mean.losses),
        numbers::<Float64Type>("improvement", improvements.iter().map(|found| found.probability)),
        end("improvement_low", |ends| ends.low),
        end("improvement_high", |ends| ends.high),
    ];
    table::write(at, &table::batch(columns))
}
