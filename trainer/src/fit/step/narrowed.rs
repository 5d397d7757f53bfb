//! What a hard sampler's rule leaves of the candidates of a step's rows.

use rayon::prelude::*;
use samplers::Choice;

/// The chosen candidates of all rows, as many in each.
pub(crate) struct Narrowed {
    /// Candidates of a row.
    candidates: usize,
    /// `[B, M]`, places among the row's candidates.
    places: Vec<u32>,
    /// `[B, M]`
    pub(crate) weights: Vec<f32>,
    /// `[B]`, the positives' ranks as the rule estimates them.
    pub(crate) ranks: Vec<f32>,
}

impl Narrowed {
    /// Narrows so many rows and candidates to the `chosen` that are left in each row: `choose(row, choice)`.
    pub(crate) fn new([rows, candidates, chosen]: [usize; 3], choose: impl Fn(usize, &mut Choice) + Sync) -> Self {
        let (mut places, mut weights, mut ranks) = (vec![0; rows * chosen], vec![0.0; rows * chosen], vec![0.0; rows]);
        let of_rows = places.par_chunks_exact_mut(chosen).zip(weights.par_chunks_exact_mut(chosen)).zip(&mut ranks).enumerate();
        of_rows.for_each_init(Choice::default, |choice, (row, ((places, weights), rank))| {
            choose(row, choice);
            places.copy_from_slice(&choice.places);
            weights.copy_from_slice(&choice.weights);
            *rank = choice.rank;
        });
        Self { candidates, places, weights, ranks }
    }

    /// Narrows each row to its first candidates, each of which counts as it is.
    pub(crate) fn first([rows, candidates, first]: [usize; 3]) -> Self {
        let places = (0..rows).flat_map(|_| 0..first as u32).collect();
        Self { candidates, places, weights: vec![1.0; rows * first], ranks: vec![0.0; rows] }
    }

    fn chosen(&self) -> usize {
        self.places.len() / self.ranks.len()
    }

    /// `[B, M]` of `[B, N]`.
    pub(crate) fn take(&self, values: &[f32]) -> Vec<f32> {
        let rows = values.chunks_exact(self.candidates).zip(self.places.chunks_exact(self.chosen()));
        rows.flat_map(|(values, places)| places.iter().map(|&place| values[place as usize])).collect()
    }

    /// `[B, N]` of `[B, M]`, 0 for what was not chosen.
    pub(crate) fn put_back(&self, chosen: &[f32]) -> Vec<f32> {
        let mut values = vec![0.0; self.ranks.len() * self.candidates];
        let rows = values.chunks_exact_mut(self.candidates).zip(self.places.chunks_exact(self.chosen()));
        for ((values, places), chosen) in rows.zip(chosen.chunks_exact(self.chosen())) {
            places.iter().zip(chosen).for_each(|(&place, &value)| values[place as usize] = value);
        }
        values
    }
}
