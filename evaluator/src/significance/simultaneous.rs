//! P-values and half widths of all comparisons of a family, by one procedure, so that no interval contradicts its p-value.

use super::{
    correction::{
        AdjustedPairs, adjust_pairs,
        romano_wolf::{Adjusted, Draw, step_down},
    },
    joint::ratio,
    pairs::{PairKind, Pairs},
};
use crate::significance::{Correction, Significance};
use rayon::prelude::*;

/// What a test of the mean says of each pair by itself.
pub(crate) struct Alone<'a> {
    pub(crate) p_values: Vec<f64>,
    /// Half widths of the intervals at the level `1 - alpha`.
    pub(crate) half_widths: Vec<f64>,
    /// What differences are divided by where they are held against those of other pairs.
    pub(crate) scales: Vec<f64>,
    /// The half width of a pair's interval at any level `1 - alpha`.
    pub(crate) half_width: &'a (dyn Fn(usize, f64) -> f64 + Sync),
}

/// The comparisons of a family.
pub(crate) struct PairsOfFamily<'a> {
    pub(crate) pairs: &'a Pairs,
    /// Which pairs are one comparison.
    pub(crate) kinds: &'a [PairKind],
    /// The size of each pair's difference.
    pub(crate) sizes: Vec<f64>,
    pub(crate) settings: &'a Significance,
}

/// Adjusted p-values and half widths, one for each pair.
pub(crate) struct Simultaneous {
    pub(crate) p_values: Vec<f64>,
    pub(crate) half_widths: Vec<f64>,
}

/// Adjusts by the correction of the settings. `draw` gives the statistics of a resample, in units of the pairs' scales; a joint correction alone asks for it.
pub(crate) fn simultaneous(alone: &Alone<'_>, family: &PairsOfFamily<'_>, resamples: u32, draw: Draw<'_>) -> Simultaneous {
    let correction = family.settings.correction;
    if correction.is_joint() { by_resamples(alone, family, resamples, draw) } else { by_level(alone, family, correction) }
}

fn by_level(alone: &Alone<'_>, family: &PairsOfFamily<'_>, correction: Correction) -> Simultaneous {
    let reported = &family.pairs.reported;
    let AdjustedPairs { p_values: adjusted, level } =
        adjust_pairs(correction, reported, family.kinds, &alone.p_values, family.settings.alpha);
    let widths: Vec<f64> = reported.par_iter().map(|&pair| (alone.half_width)(pair, level)).collect();
    let mut found = Simultaneous { p_values: vec![1.0; alone.p_values.len()], half_widths: alone.half_widths.clone() };
    for ((&pair, p_value), half) in reported.iter().zip(adjusted).zip(widths) {
        (found.p_values[pair], found.half_widths[pair]) = (p_value, half);
    }
    found
}

/// No p-value and no interval is smaller than that of the pair by itself, and one comparison alone is not adjusted.
fn by_resamples(alone: &Alone<'_>, family: &PairsOfFamily<'_>, resamples: u32, draw: Draw<'_>) -> Simultaneous {
    let alpha = family.settings.alpha;
    if family.kinds.iter().filter(|kind| kind.counts()).count() <= 1 {
        return Simultaneous { p_values: alone.p_values.clone(), half_widths: alone.half_widths.clone() };
    }
    let observed: Vec<f64> = family.sizes.iter().zip(&alone.scales).map(|(size, scale)| ratio(*size, *scale)).collect();
    let Adjusted { p_values, critical } = step_down(&observed, resamples, alpha, draw);
    Simultaneous {
        p_values: p_values.iter().zip(&alone.p_values).map(|(joint, alone)| joint.max(*alone)).collect(),
        half_widths: alone.half_widths.iter().zip(&alone.scales).map(|(half, scale)| half.max(scale * critical)).collect(),
    }
}
