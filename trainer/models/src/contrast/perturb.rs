//! Noise of a given length on vectors.

use crate::noise::{normal, uniform};
use serde::{Deserialize, Serialize};
use streams::Stream;

/// `noise` of contrastive models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Uniform numbers, so that every vector stays in its orthant, as in the original.
    #[default]
    Uniform,
    /// Normal numbers, which may point either way, as in the release of paper SL@K.
    Normal,
}

/// `ε sign(E) * z / |z|` is added to vectors; it has no derivative.
#[derive(Clone, Copy)]
pub(crate) struct Perturb {
    /// ε
    pub(crate) epsilon: f64,
    pub(crate) noise: Noise,
}

impl Perturb {
    /// Random numbers of the length ε.
    pub(super) fn fill(self, stream: &mut Stream, values: &mut [f32]) {
        match self.noise {
            Noise::Uniform => uniform(stream, values),
            Noise::Normal => normal(stream, values),
        }
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        let scale = if length > 0.0 { self.epsilon as f32 / length } else { 0.0 };
        values.iter_mut().for_each(|value| *value *= scale);
    }

    /// Adds noise to a vector, by way of as many numbers of `room`.
    pub(super) fn apply(self, stream: &mut Stream, vector: &mut [f32], room: &mut [f32]) {
        self.fill(stream, room);
        for (value, noise) in vector.iter_mut().zip(room) {
            let sign = f32::from(i8::from(*value > 0.0) - i8::from(*value < 0.0));
            *value += sign * *noise;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use streams::Purpose;

    fn added(perturb: Perturb, vector: [f32; 3]) -> [f32; 3] {
        let (mut moved, mut room) = (vector, [0.0; 3]);
        perturb.apply(&mut Stream::new(1, Purpose::Noise, 1, 1, 0), &mut moved, &mut room);
        std::array::from_fn(|at| moved[at] - vector[at])
    }

    #[test]
    fn noise_has_its_length_and_keeps_the_signs() {
        let perturb = Perturb { epsilon: 0.1, noise: Noise::Uniform };
        for vector in [[3.0, -1.0, 0.5], [-1.0, -1.0, 2.0]] {
            let added = added(perturb, vector);
            assert!((added.iter().map(|value| value * value).sum::<f32>().sqrt() - 0.1).abs() < 1e-6, "{added:?}");
            assert!(added.iter().zip(vector).all(|(added, value)| added * value >= 0.0), "{added:?}");
        }
        assert_eq!(added(perturb, [0.0; 3]), [0.0; 3]);
        assert_eq!(added(Perturb { epsilon: 0.0, noise: Noise::Normal }, [3.0, -1.0, 0.5]), [0.0; 3]);
    }
}
