//! The pictures of the page.

use super::{
    super::{Exchange, H200, Step, collective::Gradients, work::tests::GOWALLA},
    Batch, examples,
    law::Law,
};
use crate::figure::{Axis, Chart, Key, Line, Mark, Panel};

/// Each picture by its name.
pub(super) fn all() -> [(&'static str, Chart); 2] {
    [("exchange", exchange()), ("speedup", speedup())]
}

fn key(name: &str, color: usize, dashed: bool) -> Key {
    Key { name: name.to_owned(), color, dashed }
}

/// Bytes that a rank sends for the items' gradients, by the size of the catalogue.
fn exchange() -> Chart {
    let panel = |(batch, ranks): (Batch, u32)| {
        let work = batch.of(GOWALLA, ranks);
        let draws = work.scores(work.rows_of(ranks));
        let sent = |items: f64, law: Option<Law>| {
            let touched = law.map_or(items, |law| law.different(items, draws));
            let way = if law.is_some() { Exchange::Rows } else { Exchange::Dense };
            Gradients { rows: items, dim: work.dim, touched }.meet(way, &H200, ranks).bytes / 1e6
        };
        let sizes: Vec<f64> = (0..=70).map(|step| 10_f64.powf(4.0 + f64::from(step) / 20.0).round()).collect();
        let line = |key, law| Line { key, points: sizes.iter().map(|&items| (items, sent(items, law))).collect(), mark: Mark::Line };
        let lines = vec![line(0, None), line(1, Some(Law::Uniform)), line(2, Some(Law::Popularity))];
        Panel {
            title: format!("{ranks} GPUs, {}", batch.name()),
            across: "items".into(),
            up: "MB sent by each GPU in a step".into(),
            x: Axis::logarithmic(sizes.iter().copied(), 0.02).unwrap(),
            y: Axis::logarithmic([1.0, 2e4].into_iter(), 0.02).unwrap(),
            lines,
            levels: Vec::new(),
        }
    };
    Chart {
        title: "Gradients of the items: the table, or the rows that were touched".into(),
        notes: vec!["1000 negatives a row, vectors of 64 floats. Popularity: the j-th item is drawn in proportion to 1 / j.".into()],
        keys: vec![
            key("the whole table (dense)", 0, true),
            key("rows, uniform draws", 1, false),
            key("rows, draws by popularity", 2, false),
        ],
        columns: 2,
        panels: [(Batch::Whole, 8), (Batch::EachRank, 8)].map(panel).into(),
    }
}

/// Work done in a second against one GPU's, by the number of GPUs.
fn speedup() -> Chart {
    let counts: Vec<u32> = (0..=6).map(|power| 1 << power).collect();
    let panel = |batch: Batch| {
        let times = |key: usize, ranks: u32| {
            let (_, work) = examples()[key];
            let seconds = |ranks: u32| Step::on(&batch.of(work, ranks), &H200, ranks).seconds(&H200);
            batch.of(work, ranks).rows / work.rows * seconds(1) / seconds(ranks)
        };
        let line = |key| Line { key, points: counts.iter().map(|&ranks| (ranks.into(), times(key, ranks))).collect(), mark: Mark::Both };
        let ideal = Line { key: 3, points: counts.iter().map(|&ranks| (ranks.into(), ranks.into())).collect(), mark: Mark::Line };
        Panel {
            title: batch.name().to_owned(),
            across: "GPUs".into(),
            up: "times the work of one GPU".into(),
            x: Axis::logarithmic([1.0, 64.0].into_iter(), 0.03).unwrap(),
            y: Axis::logarithmic([0.5, 64.0].into_iter(), 0.03).unwrap(),
            lines: (0..3).map(line).chain([ideal]).collect(),
            levels: Vec::new(),
        }
    };
    let [mf, graph, large] = examples().map(|(name, _)| name);
    Chart {
        title: "One trial on many GPUs, and one trial on each".into(),
        notes: vec!["Modelled, not measured. Eight GPUs a node; beyond 8 a trial goes over the network.".into()],
        keys: vec![key(mf, 1, false), key(graph, 2, false), key(large, 3, false), key("as many trials, one on each", 0, true)],
        columns: 2,
        panels: Batch::ALL.map(panel).into(),
    }
}
