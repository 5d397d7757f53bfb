//! `theory dro`: whether hard negative sampling is distributionally robust optimisation, and which negatives it trains on.

use super::{Study, fractions};
use crate::{
    figure::{Axis, Chart, LegendEntry, Line, Panel, PlotStyle},
    number,
    tables::{numbers, numbers_or_null, texts},
    text_table::TextTable,
};
use anyhow::{Context, Result};
use arrow::datatypes::{Float64Type, UInt32Type, UInt64Type};
use dataset::table::Column;
use theory::dro::{Temperatures, dns, normal_losses, pool_of, softmax_v, statements, temperatures};

/// Random users of whom the printed temperature is looked at.
const USERS: usize = 200;
/// Pools over which the probabilities of Softmax-v are averaged.
const POOLS: usize = 200;
/// Divergences of the paper's grid.
const RHOS: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
/// The picture's samplers, panel by panel; DNS(5, 200) stands in two.
const STRATEGIES: [Strategy; 8] = [
    Strategy::Dns { negatives: 1, candidates: 200 },
    Strategy::Dns { negatives: 5, candidates: 200 },
    Strategy::Dns { negatives: 20, candidates: 200 },
    Strategy::Dns { negatives: 5, candidates: 50 },
    Strategy::Dns { negatives: 5, candidates: 400 },
    Strategy::SoftmaxV { divergence: 0.1, candidates: 200 },
    Strategy::SoftmaxV { divergence: 1.0, candidates: 200 },
    Strategy::SoftmaxV { divergence: 10.0, candidates: 200 },
];
const PANELS: [(&str, &[usize]); 3] = [("DNS(M, 200)", &[0, 1, 2]), ("DNS(5, N)", &[3, 1, 4]), ("Softmax-v(ρ, 200)", &[5, 6, 7])];
/// Ranks at which a curve has a point, at most.
const POINTS: u32 = 100;

/// The fewest negatives of a user: the largest pool of the picture.
pub(crate) const LEAST: u64 = 400;
/// The most: hypergeometric probabilities take time by rank and negative.
pub(crate) const MOST: u64 = 20_000;

/// A strategy of hard negative sampling whose negatives are looked at.
#[derive(Clone, Copy)]
enum Strategy {
    Dns { negatives: usize, candidates: usize },
    SoftmaxV { divergence: f64, candidates: usize },
}

impl Strategy {
    fn name(self) -> String {
        match self {
            Self::Dns { negatives, candidates } => format!("DNS({negatives}, {candidates})"),
            Self::SoftmaxV { divergence, candidates } => format!("Softmax-v({divergence}, {candidates})"),
        }
    }

    /// The probability of each rank to be trained on.
    fn probabilities(self, losses: &[f64], uniform: &mut impl FnMut() -> f64) -> Vec<f64> {
        match self {
            Self::Dns { negatives, candidates } => dns(losses.len(), candidates, negatives),
            Self::SoftmaxV { divergence, candidates } => {
                let pools: Vec<Vec<usize>> = (0..POOLS).map(|_| pool_of(losses.len(), candidates, uniform)).collect();
                softmax_v(losses, divergence, &pools)
            }
        }
    }
}

/// The share of a sampler's negatives that are among the best, at some ranks.
struct Curve {
    sampler: Strategy,
    points: Vec<(u32, f64)>,
}

impl Curve {
    fn new(sampler: Strategy, losses: &[f64], seed: u64) -> Self {
        let probabilities = sampler.probabilities(losses, &mut fractions(seed));
        let ranks = ranks(losses.len() as u32);
        let (mut points, mut sum) = (Vec::with_capacity(ranks.len()), 0.0);
        for (rank, probability) in (1..).zip(probabilities) {
            sum += probability;
            if ranks.binary_search(&rank).is_ok() {
                points.push((rank, sum.min(1.0)));
            }
        }
        Self { sampler, points }
    }
}

/// Ascending ranks, evenly apart in logarithms as far as whole numbers are.
fn ranks(most: u32) -> Vec<u32> {
    let step = f64::from(most).ln() / f64::from(POINTS);
    let mut ranks: Vec<u32> = (0..=POINTS).map(|point| (f64::from(point) * step).exp().round() as u32).collect();
    ranks.dedup();
    ranks
}

/// Looks at users with so many negatives.
///
/// # Errors
/// When a picture has no axis.
pub(crate) fn study(negatives: u32, seed: u64) -> Result<Study> {
    let losses = normal_losses(negatives as usize);
    let curves: Vec<Curve> = STRATEGIES.into_iter().map(|sampler| Curve::new(sampler, &losses, seed)).collect();
    let mut draws = fractions(seed);
    let temperatures = temperatures(negatives as usize, USERS, &RHOS, &mut draws);
    Ok(Study {
        name: "dro",
        heading: format!(
            "Is hard negative sampling distributionally robust? {} negatives of a user (paper 003, Lemma 1, Theorems 1 and 2, Figure 7)",
            number::count(negatives as usize)
        ),
        tables: vec![("", temperature_columns(negatives, &temperatures)), ("_distributions", curve_columns(negatives, &curves))],
        statements: statements(negatives as usize, &mut draws),
        chart: chart(negatives, &curves)?,
        rows: rows(&temperatures),
        remarks: remarks(negatives),
    })
}

fn temperature_columns(negatives: u32, rows: &[Temperatures]) -> Vec<Column> {
    let number = |name, field: fn(&Temperatures) -> f64| numbers::<Float64Type>(name, rows.iter().map(field));
    let count = |name, field: fn(&Temperatures) -> u64| numbers::<UInt64Type>(name, rows.iter().map(field));
    vec![
        numbers::<UInt32Type>("negatives", rows.iter().map(|_| negatives)),
        number("divergence", |row| row.rho),
        count("pairs", |row| row.pairs),
        count("without_temperature", |row| row.unsolved),
        numbers_or_null::<Float64Type>("ratio", rows.iter().map(|row| row.ratio)),
        number("reached", |row| row.reached),
        number("asked_share", |row| (-row.rho).exp()),
        number("share", |row| row.beta),
    ]
}

fn curve_columns(negatives: u32, curves: &[Curve]) -> Vec<Column> {
    let all = || curves.iter().flat_map(|curve| curve.points.iter().map(|&point| (curve.sampler, point)));
    vec![
        numbers::<UInt32Type>("negatives", all().map(|_| negatives)),
        texts("sampler", all().map(|(sampler, _)| sampler.name())),
        numbers::<UInt32Type>("rank", all().map(|(_, (rank, _))| rank)),
        numbers::<Float64Type>("cumulative", all().map(|(_, (_, share))| share)),
    ]
}

fn rows(temperatures: &[Temperatures]) -> TextTable {
    let mut rows =
        TextTable::new(&["ρ", "pairs with a temperature", "printed / exact", "divergence reached", "β = e^-ρ", "β of the loss there"]);
    for row in temperatures {
        rows.add([
            row.rho.to_string(),
            format!("{} of {}", number::count((row.pairs - row.unsolved) as usize), number::count(row.pairs as usize)),
            row.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}")),
            format!("{:.4}", row.reached),
            format!("{:.4}", (-row.rho).exp()),
            format!("{:.4}", row.beta),
        ]);
    }
    rows
}

fn remarks(negatives: u32) -> Vec<String> {
    let most = f64::from(negatives).ln();
    vec![
        format!(
            "No distribution over {} negatives is further than {most:.2} from the uniform one: from there on the ball holds all of them, no temperature belongs to it, and \
             the printed one trains on the hardest negative almost alone.",
            number::count(negatives as usize)
        ),
        "Pairs are of random users with normal scores; β of the loss there is the share of negatives whose mean loss, from the top, is that of the \
         softmax at the printed temperature: the DNS that is as hard."
            .into(),
    ]
}

fn chart(negatives: u32, curves: &[Curve]) -> Result<Chart> {
    let key = |(place, curve): (usize, &Curve)| LegendEntry { name: curve.sampler.name(), color: place + 1, dashed: false };
    Ok(Chart {
        title: "Which negatives are trained on".into(),
        notes: vec![format!(
            "The share of trained negatives that are among the best of a user's {}. The faster a curve rises, the harder the sampler.",
            number::count(negatives as usize)
        )],
        keys: curves.iter().enumerate().map(key).collect(),
        columns: 3,
        panels: PANELS.into_iter().map(|(title, keys)| panel(title, keys, negatives, curves)).collect::<Result<_>>()?,
    })
}

fn panel(title: &str, keys: &[usize], negatives: u32, curves: &[Curve]) -> Result<Panel> {
    let points = |key: usize| curves[key].points.iter().map(|&(rank, share)| (f64::from(rank), share)).collect();
    Ok(Panel {
        title: title.into(),
        across: "rank among all negatives".into(),
        up: "share of the trained negatives".into(),
        x: Axis::logarithmic([1.0, f64::from(negatives)].into_iter(), 0.0).context("no ranks")?,
        y: Axis::around([0.0, 1.0].into_iter(), 0.0, 5).context("no shares")?,
        lines: keys.iter().map(|&key| Line { key, points: points(key), mark: PlotStyle::Line }).collect(),
        levels: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::text_of;
    use super::*;

    #[test]
    fn the_terminal_says_what_held_and_beyond_which_divergence_nothing_is() {
        let study = study(400, 1).unwrap();
        assert!(study.statements.iter().all(theory::Statement::holds));
        let text = text_of(&study);
        for part in ["Lemma 1", "Theorem 1", "further than 5.99", "Figure 7", "printed / exact"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(study.chart.svg().is_ok());
    }

    #[test]
    fn curves_end_with_all_negatives() {
        let losses = normal_losses(1_000);
        for sampler in STRATEGIES {
            let curve = Curve::new(sampler, &losses, 1);
            let &(rank, share) = curve.points.last().unwrap();
            assert!(rank == 1_000 && (share - 1.0).abs() < 1e-9, "{}: {share} at {rank}", sampler.name());
        }
        assert_eq!(ranks(4), [1, 2, 3, 4]);
    }
}
