//! Partial areas and metrics over uniform permutations of positives and negatives.
//!
//! A permutation is a uniform subset of places for the positives (Floyd's method); one pass over it gives every count. Blocks of
//! permutations are independent, each with draws of its own, and are added up in their order: the result is the same for any number of
//! threads.

use super::{
    Brackets, Correlation, TopKMetric,
    correlation::{depths, discounts},
    hits_bracket,
    moments::Moments,
};
use crate::{Result, error::within};
use rayon::prelude::*;

/// Permutations of a block: what has draws of its own.
const BLOCK: u32 = 1_000;
/// Blocks whose sums are held at once.
const WAVE: u32 = 1 << 10;
/// Places of a list at most: one byte for each, and each thread has a list.
const MOST: u64 = 1 << 24;

/// The lists that are permuted, and where they are cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Study {
    /// N+: positives of a list.
    pub positives: u32,
    /// N-: negatives of a list.
    pub negatives: u32,
    /// How many lists.
    pub permutations: u32,
    /// The lengths that the metrics cut lists to.
    pub cutoffs: Vec<u32>,
}

/// The correlations and brackets of the permuted lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Correlations by metric, cutoff and depth.
    pub correlations: Vec<Correlation>,
    /// Theorem 3, by cutoff: of those that are at most N+ and N-.
    pub brackets: Vec<(u32, Brackets)>,
}

impl Study {
    /// Whether there are such lists.
    ///
    /// # Errors
    /// The first value that is out of range.
    pub fn check(&self) -> Result<()> {
        within("positives", self.positives.into(), 1, MOST, "")?;
        within("negatives", self.negatives.into(), 1, MOST - u64::from(self.positives.min(MOST as u32 - 1)), " beside the positives")?;
        within("permutations", self.permutations.into(), 2, u32::MAX.into(), ", as one alone has no correlation")?;
        let places = u64::from(self.positives) + u64::from(self.negatives);
        self.cutoffs.iter().try_for_each(|&cutoff| within("cutoffs", cutoff.into(), 1, places, ", the places of a list"))
    }

    /// Permutes and counts. `draws` gives the source of integers below a bound for each block of permutations.
    ///
    /// # Panics
    /// When [`check`](Self::check) refuses the study.
    pub fn run<D: FnMut(u32) -> u32>(&self, draws: impl Fn(u32) -> D + Sync) -> Findings {
        let layout = Layout::new(self);
        let blocks = self.permutations.div_ceil(BLOCK);
        let mut all = layout.tally();
        for wave in (0..blocks).step_by(WAVE as usize) {
            let of_block = |block: u32| layout.block(BLOCK.min(self.permutations - block * BLOCK), draws(block));
            let tallies: Vec<Tally> = (wave..blocks.min(wave + WAVE)).into_par_iter().map(of_block).collect();
            tallies.iter().for_each(|tally| all.join(tally));
        }
        layout.findings(&all)
    }
}

/// The places that are counted, and what a uniform permutation has on average.
struct Layout<'a> {
    study: &'a Study,
    depths: Vec<u32>,
    discounts: Vec<f64>,
    mean_hits: Vec<f64>,
    mean_gains: Vec<f64>,
    mean_sums: Vec<f64>,
}

/// Sums over permutations.
struct Tally {
    /// Hits and gains at the cutoffs against the sums at the depths.
    moments: Moments,
    brackets: Vec<Brackets>,
}

impl Tally {
    fn join(&mut self, other: &Self) {
        self.moments.join(&other.moments);
        self.brackets.iter_mut().zip(&other.brackets).for_each(|(all, other)| all.join(other));
    }
}

/// Running values of one list: after each place, and after each negative.
struct Pass {
    hits: Vec<u32>,
    gains: Vec<f64>,
    sums: Vec<u64>,
}

impl<'a> Layout<'a> {
    fn new(study: &'a Study) -> Self {
        let (positives, negatives) = (f64::from(study.positives), f64::from(study.negatives));
        let share = positives / (positives + negatives);
        let depths = depths(study.negatives, &study.cutoffs);
        let discounts = discounts(study.cutoffs.iter().copied().max().unwrap_or(0));
        let at_cutoffs = |mean: &dyn Fn(u32) -> f64| study.cutoffs.iter().map(|&cutoff| mean(cutoff)).collect();
        let mean_sum = |&depth: &u32| positives * f64::from(depth) * (f64::from(depth) + 1.0) / (2.0 * (negatives + 1.0));
        Self {
            mean_hits: at_cutoffs(&|cutoff| share * f64::from(cutoff)),
            mean_gains: at_cutoffs(&|cutoff| share * discounts[..cutoff as usize].iter().sum::<f64>()),
            mean_sums: depths.iter().map(mean_sum).collect(),
            study,
            depths,
            discounts,
        }
    }

    fn tally(&self) -> Tally {
        let cutoffs = self.study.cutoffs.len();
        Tally { moments: Moments::new(2 * cutoffs, self.depths.len()), brackets: vec![Brackets::default(); cutoffs] }
    }

    fn block(&self, permutations: u32, mut draw: impl FnMut(u32) -> u32) -> Tally {
        let Study { positives, negatives, ref cutoffs, .. } = *self.study;
        let places = (positives + negatives) as usize;
        let mut tally = self.tally();
        let mut pass =
            Pass { hits: vec![0; places + 1], gains: vec![0.0; self.discounts.len() + 1], sums: vec![0; negatives as usize + 1] };
        let mut list = vec![false; places];
        let (mut x, mut y) = (vec![0.0; 2 * cutoffs.len()], vec![0.0; self.depths.len()]);
        for _ in 0..permutations {
            permute(&mut list, positives, &mut draw);
            pass.over(&list, &self.discounts);
            for (at, &cutoff) in cutoffs.iter().enumerate() {
                x[at] = f64::from(pass.hits[cutoff as usize]) - self.mean_hits[at];
                x[cutoffs.len() + at] = pass.gains[cutoff as usize] - self.mean_gains[at];
                if cutoff <= positives.min(negatives) {
                    let (low, high) = hits_bracket(positives.into(), cutoff.into(), pass.sums[cutoff as usize]);
                    tally.brackets[at].add(low, high, pass.hits[cutoff as usize].into());
                }
            }
            y.iter_mut()
                .zip(&self.depths)
                .zip(&self.mean_sums)
                .for_each(|((y, &depth), mean)| *y = pass.sums[depth as usize] as f64 - mean);
            tally.moments.add(&x, &y);
        }
        tally
    }

    fn findings(&self, tally: &Tally) -> Findings {
        let cutoffs = &self.study.cutoffs;
        let mut correlations = Vec::new();
        for metric in TopKMetric::ALL {
            for (at, &cutoff) in cutoffs.iter().enumerate() {
                // Recall and precision are the hits over a constant: their correlations are the same.
                let x = if metric == TopKMetric::Ndcg { cutoffs.len() + at } else { at };
                let row = |(y, &depth)| Correlation { metric, cutoff, depth, value: tally.moments.correlation(x, y) };
                correlations.extend(self.depths.iter().enumerate().map(row));
            }
        }
        let brackets = cutoffs.iter().copied().zip(tally.brackets.iter().copied()).filter(|(_, brackets)| brackets.lists > 0).collect();
        Findings { correlations, brackets }
    }
}

/// Marks a uniform subset of places.
fn permute(list: &mut [bool], positives: u32, draw: &mut impl FnMut(u32) -> u32) {
    list.fill(false);
    let places = list.len() as u32;
    for last in places - positives..places {
        let place = draw(last + 1);
        let free = if list[place as usize] { last } else { place };
        list[free as usize] = true;
    }
}

impl Pass {
    fn over(&mut self, list: &[bool], discounts: &[f64]) {
        let (mut hits, mut negatives, mut sum) = (0, 0, 0);
        for (place, &positive) in list.iter().enumerate() {
            hits += u32::from(positive);
            self.hits[place + 1] = hits;
            // Without a branch, which no predictor could foresee: a positive writes the last negative's sum again.
            sum += u64::from(hits) * u64::from(!positive);
            negatives += usize::from(!positive);
            self.sums[negatives] = sum;
        }
        let mut gain = 0.0;
        for ((gains, &discount), &positive) in self.gains[1..].iter_mut().zip(discounts).zip(list) {
            gain += if positive { discount } else { 0.0 };
            *gains = gain;
        }
    }
}

#[cfg(test)]
mod tests;
