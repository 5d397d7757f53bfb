//! Scores and their places as integers: the largest is the highest score, and of equal scores the first place.

/// The integer of a score and its place.
pub(super) fn key(score: f32, place: u32) -> u64 {
    u64::from(ascending(score)) << 32 | u64::from(!place)
}

/// The place of a key.
pub(super) fn place(key: u64) -> u32 {
    !(key as u32)
}

/// Bits that are ordered as the numbers are, both zeros the same.
fn ascending(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_fall_with_the_scores_and_then_with_the_places() {
        let scores = [f32::INFINITY, 2.0, 1e-40, 0.0, -0.0, -1e-40, -2.0, -1e30, f32::NEG_INFINITY];
        let keys: Vec<u64> = scores.iter().zip(0..).map(|(&score, place)| key(score, place)).collect();
        assert!(keys.is_sorted_by(|one, other| one > other), "{keys:?}");
        assert!(keys.iter().zip(0..).all(|(&key, expected)| place(key) == expected));
    }
}
