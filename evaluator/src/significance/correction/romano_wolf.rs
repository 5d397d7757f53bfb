//! Adjusting comparisons by the joint distribution of their statistics.
//!
//! ```text
//! step-down:    p_(j) = max over i <= j of (1 + #{resamples : max over l >= i of T*_(l) >= T_(i)}) / (R + 1),   T_(1) >= T_(2) >= ...
//! single step:  c such that max over all T* exceeds it with probability alpha; difference ± c h are simultaneous intervals
//! ```
//! The largest statistic is held against the largest of all, the next against the largest of those that are left, and so on: as far as
//! comparisons go together, and their statistics have tails alike, less is paid for their number than after Holm. Romano and Wolf, Econometrica 2005,
//! doi:10.1111/j.1468-0262.2005.00615.x, algorithms 3.1 and 4.1; Westfall and Young 1993.
//!
//! Against the best: which method is best was found in the same data, so that its comparisons are those of all pairs, of which they are reported.

use super::{Correction, CorrectionKind, holm::Holm};
use rayon::prelude::*;

/// `romano-wolf`
pub(super) struct RomanoWolf;

/// Without a joint resampling Holm's is the step-down that is left.
impl CorrectionKind for RomanoWolf {
    fn name(&self) -> &'static str {
        "romano-wolf"
    }

    fn words(&self) -> &'static str {
        "adjusted after Romano and Wolf"
    }

    fn adjust(&self, p_values: &[f64]) -> Vec<f64> {
        Holm.adjust(p_values)
    }

    fn level(&self, alpha: f64, comparisons: usize, significant: usize) -> f64 {
        Holm.level(alpha, comparisons, significant)
    }

    fn multiplies(&self, comparisons: usize) -> usize {
        Holm.multiplies(comparisons)
    }

    fn is_joint(&self) -> bool {
        true
    }

    fn without_resamples(&self, _own: Correction) -> Correction {
        Correction::Holm
    }
}

/// Resamples that one task draws.
const CHUNK: u32 = 256;

/// The statistics of a resample, in the order of the observed ones.
pub(crate) type Draw<'a> = &'a (dyn Fn(u32, &mut [f64]) + Sync);

/// What the joint distribution says of a family.
pub(crate) struct Adjusted {
    /// One for each comparison.
    pub(crate) p_values: Vec<f64>,
    /// `c`: what the largest of all statistics exceeds with probability alpha.
    pub(crate) critical: f64,
}

/// Adjusts all comparisons of a family by steps down.
pub(crate) fn step_down(observed: &[f64], resamples: u32, alpha: f64, draw: Draw<'_>) -> Adjusted {
    let mut order: Vec<usize> = (0..observed.len()).collect();
    order.sort_by(|&left, &right| observed[right].total_cmp(&observed[left]));
    let (counts, maxima) = count(observed.len(), observed.len(), resamples, draw, &|drawn, counts| {
        let mut largest = 0.0f64;
        for (place, &comparison) in order.iter().enumerate().rev() {
            largest = largest.max(drawn[comparison]);
            counts[place] += u32::from(largest >= observed[comparison]);
        }
        largest
    });
    let mut p_values = vec![1.0; observed.len()];
    let mut largest = 0.0f64;
    for (&comparison, count) in order.iter().zip(counts) {
        largest = largest.max(p_value(count, resamples));
        p_values[comparison] = largest;
    }
    Adjusted { p_values, critical: critical(maxima, alpha) }
}

/// The p-value of a statistic that so many resamples reach.
pub(crate) fn p_value(count: u32, resamples: u32) -> f64 {
    f64::from(1 + count) / f64::from(1 + resamples)
}

/// What a statistic has to exceed for a p-value below alpha, from the resampled ones; infinite where there are too few.
pub(crate) fn critical(mut drawn: Vec<f64>, alpha: f64) -> f64 {
    // The largest count with (1 + count) / (1 + resamples) < alpha.
    let count = (alpha * (1 + drawn.len()) as f64 - 1.0).ceil() as i64 - 1;
    let Ok(place) = usize::try_from(count) else { return f64::INFINITY };
    if place >= drawn.len() {
        return 0.0;
    }
    *drawn.select_nth_unstable_by(place, |left, right| right.total_cmp(left)).1
}

/// Sums up counts over resamples, and gathers what `add` says of each: its largest statistic.
fn count(
    drawn: usize,
    counted: usize,
    resamples: u32,
    draw: Draw<'_>,
    add: &(dyn Fn(&[f64], &mut [u32]) -> f64 + Sync),
) -> (Vec<u32>, Vec<f64>) {
    let chunk = |chunk: u32| {
        let (mut statistics, mut counts) = (vec![0.0; drawn], vec![0; counted]);
        let resamples = chunk * CHUNK..resamples.min((chunk + 1) * CHUNK);
        let maxima: Vec<f64> = resamples
            .map(|resample| {
                draw(resample, &mut statistics);
                add(&statistics, &mut counts)
            })
            .collect();
        (counts, maxima)
    };
    let chunks: Vec<(Vec<u32>, Vec<f64>)> = (0..resamples.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    let mut counts = vec![0; counted];
    chunks.iter().for_each(|(part, _)| counts.iter_mut().zip(part).for_each(|(count, part)| *count += part));
    (counts, chunks.into_iter().flat_map(|(_, maxima)| maxima).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four resamples of three comparisons, by hand. In order of the observed: b (3), a (2), c (1).
    const DRAWN: [[f64; 3]; 4] = [[0.5, 1.0, 2.5], [2.5, 0.5, 0.1], [0.1, 3.5, 0.5], [0.2, 0.3, 0.4]];

    fn draw(resample: u32, out: &mut [f64]) {
        out.copy_from_slice(&DRAWN[resample as usize]);
    }

    #[test]
    fn worked_example() {
        let adjusted = step_down(&[2.0, 3.0, 1.0], 4, 0.5, &draw);
        // b: the maxima 2.5, 2.5, 3.5, 0.4 reach 3 once; a: those of a and c, 2.5, 2.5, 0.5, 0.4, reach 2 twice; c: 2.5 alone reaches 1, raised to a's.
        assert_eq!(adjusted.p_values, [3.0 / 5.0, 2.0 / 5.0, 3.0 / 5.0]);
        // (1 + count) / 5 < 0.5 allows one: the second largest maximum.
        assert_eq!(adjusted.critical, 2.5);
    }

    #[test]
    fn the_critical_value_agrees_with_the_p_value() {
        let drawn: Vec<f64> = (1..=999).map(f64::from).collect();
        let critical = critical(drawn.clone(), 0.05);
        let p = |statistic: f64| p_value(drawn.iter().filter(|&&drawn| drawn >= statistic).count() as u32, 999);
        assert!(p(critical) >= 0.05 && p(critical + 0.5) < 0.05, "{critical}");
        assert_eq!(super::critical(vec![1.0; 9], 0.05), f64::INFINITY);
    }
}
