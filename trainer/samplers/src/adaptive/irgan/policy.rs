//! Where a user's items, or the model's rewards, would have the generator go.

use crate::cumulative::Cumulative;
use streams::Stream;

/// The part of the draws that are of the user's own items.
const OWN_SHARE: f64 = 0.2;

/// Draws for each of the user's items.
const DRAWS: usize = 2;

/// Scores of all items, `[n]`, to the derivatives of minus the mean log-likelihood of the user's, ascending.
pub(super) fn likelihood(scores: &mut [f32], own: &[u32]) {
    softmax(scores);
    let share = 1.0 / own.len() as f32;
    own.iter().for_each(|&item| scores[item as usize] -= share);
}

/// Scores of all items, `[n]`, to an estimate of the derivatives of minus the expected reward; `reward` gives the rewards of some items.
pub(super) fn reward(scores: &mut [f32], own: &[u32], rng: &mut Stream, reward: impl FnOnce(&[u32], &mut [f32])) {
    softmax(scores);
    let items = draw(scores, own, rng);
    let mut rewards = vec![0.0; items.len()];
    reward(&items, &mut rewards);
    correct(scores, own, &items, &mut rewards);
    derive(scores, &items, &rewards);
}

fn softmax(scores: &mut [f32]) {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - max).exp());
    let scale = 1.0 / scores.iter().map(|&weight| f64::from(weight)).sum::<f64>();
    scores.iter_mut().for_each(|weight| *weight = (f64::from(*weight) * scale) as f32);
}

/// Items by the mixture of the generator's distribution with the uniform one on the user's.
fn draw(distribution: &[f32], own: &[u32], rng: &mut Stream) -> Vec<u32> {
    let cumulative = Cumulative::new(distribution.iter().map(|&probability| f64::from(probability)).collect());
    let one = |_| match rng.fraction() < OWN_SHARE {
        true => own[rng.below(own.len() as u32) as usize],
        false => cumulative.draw(rng) as u32,
    };
    (0..DRAWS * own.len()).map(one).collect()
}

/// Rewards of drawn items to their terms of the mean under the generator's distribution.
fn correct(distribution: &[f32], own: &[u32], items: &[u32], rewards: &mut [f32]) {
    let (share, count) = (OWN_SHARE / own.len() as f64, items.len() as f64);
    for (reward, item) in rewards.iter_mut().zip(items) {
        let probability = f64::from(distribution[*item as usize]);
        let extra = if own.binary_search(item).is_ok() { share } else { 0.0 };
        *reward = (f64::from(*reward) * probability / ((1.0 - OWN_SHARE) * probability + extra) / count) as f32;
    }
}

/// The distribution, in place, to the derivatives of `-sum_k weights_k log G(items_k)` by the scores.
fn derive(distribution: &mut [f32], items: &[u32], weights: &[f32]) {
    let total: f32 = weights.iter().sum();
    distribution.iter_mut().for_each(|probability| *probability *= total);
    items.iter().zip(weights).for_each(|(&item, weight)| distribution[item as usize] -= weight);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use streams::Purpose;
    use testing::assert_drawn_from;

    /// Values of an independent program: the scores' softmax, its mixture, and the rewards of the items.
    const LAW: [f64; 4] = [0.1339654811160042, 0.1085903084964496, 0.5654275457682496, 0.19201666461929662];
    const MIXTURE: [f64; 4] = [0.10717238489280337, 0.1868722467971597, 0.4523420366145997, 0.2536133316954373];
    const REWARDS: [f64; 4] = [0.09966799462495568, 0.5370495669980355, -0.3452140341355209, 0.3969304320050775];
    const OWN: [u32; 2] = [1, 3];

    /// The expectation of [`reward`]'s derivatives: those of each single draw by its probability.
    pub(in super::super) fn expected_derivatives(scores: &mut [f32]) {
        softmax(scores);
        let mut sum = vec![0.0; scores.len()];
        for item in 0..4 {
            let (mut rewards, mut derivatives) = ([REWARDS[item] as f32], scores.to_vec());
            correct(scores, &OWN, &[item as u32], &mut rewards);
            derive(&mut derivatives, &[item as u32], &rewards);
            sum.iter_mut().zip(derivatives).for_each(|(sum, derivative)| *sum += derivative * MIXTURE[item] as f32);
        }
        scores.copy_from_slice(&sum);
    }

    #[test]
    fn draws_are_those_of_the_mixture() {
        let mut found = [0.0; 4];
        for row in 0..20_000 {
            let items = draw(&LAW.map(|probability| probability as f32), &OWN, &mut Stream::new(3, Purpose::Generator, 1, 1, row));
            assert_eq!(items.len(), 4);
            items.iter().for_each(|&item| found[item as usize] += 1.0);
        }
        assert_drawn_from(&found, &MIXTURE, 1.0);
    }

    /// Many users of the same scores go, together, where the expectation points.
    #[test]
    fn drawn_derivatives_have_their_expectation() {
        let scores = [0.0f32, -0.21, 1.44, 0.36].map(|score| score - 0.21); // the distribution's, but for a constant
        let mut expected = scores;
        expected_derivatives(&mut expected);
        let mut mean = [0.0f64; 4];
        for row in 0..50_000 {
            let mut derivatives = scores;
            let rewards = |items: &[u32], rewards: &mut [f32]| {
                rewards.iter_mut().zip(items).for_each(|(reward, &item)| *reward = REWARDS[item as usize] as f32);
            };
            reward(&mut derivatives, &OWN, &mut Stream::new(3, Purpose::Generator, 1, 1, row), rewards);
            mean.iter_mut().zip(derivatives).for_each(|(mean, derivative)| *mean += f64::from(derivative) / 50_000.0);
        }
        // A row's derivative has a standard deviation below 0.2, so the mean one below 0.001.
        assert!(mean.iter().zip(expected).all(|(mean, expected)| (mean - f64::from(expected)).abs() < 0.004), "{mean:?} {expected:?}");
    }
}
