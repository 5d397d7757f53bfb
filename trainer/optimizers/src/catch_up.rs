//! Adam's steps without gradient, any number at once.
//!
//! A row with moments m and v that has no gradient in the steps s + 1 to s + n moves in them, with x = sqrt(v), by
//!
//! ```text
//! -m sum_k c_k / (d_k x + epsilon)       k = 1..n
//! c_k = beta1^k learning_rate / (1 - beta1^(s+k))        d_k = beta2^(k/2) / sqrt(1 - beta2^(s+k))
//! ```
//! and is left with `beta1^n m` and `beta2^n v`. Let D be the mean of the d_k by the weights c_k, and `d_k = D (1 + e_k)`. Then
//!
//! ```text
//! sum_k c_k / (d_k x + epsilon) = (M_0 + w^2 M_2 - w^3 M_3 + ...) / (D x + epsilon)
//! w = D x / (D x + epsilon), from 0 to 1                  M_j = sum_k c_k e_k^j, so that M_1 = 0
//! ```
//! whatever x. The e_k are small where the c_k are not, and the terms up to M_6 leave out less than the rounding of an `f32`: a gap of any
//! length costs one root and one division for each value. In the first steps of a training d_k changes too fast for that; they are made
//! one by one, and so are all steps when beta1 remembers for too long. After `window` steps nothing is left of m that counts.
//!
//! D and the M_j depend on s and n alone. For a fixed last step t they are made for all n, from the newest step backwards:
//! a window that starts one step earlier has all c_k times beta1, and all d_k times sqrt(beta2), which the e_k do not see.

use super::Moments;

/// The highest power in the series.
const ORDER: usize = 6;

/// The part of a row's move that may be left out; half a unit in the last place of an `f32` is 3e-8.
const NEGLIGIBLE: f64 = 1e-8;

/// The longest window that is worth a table of leaps in every step.
const LONGEST_WINDOW: usize = 1_000;

/// Steps after which the series must hold, or is not used.
const LATEST_START: u64 = 10_000;

/// Below this the reciprocal of epsilon comes near the largest `f32`.
const LEAST_EPSILON: f64 = 1e-30;

/// What some steps without gradient do to a row.
#[derive(Clone, Copy, Debug)]
pub struct Leap {
    /// D
    pub scale: f32,
    /// M_0
    pub weight: f32,
    /// M_j / M_0 for j = 2 to 6, negative where j is odd.
    pub terms: [f32; ORDER - 1],
}

impl Leap {
    const NONE: Self = Self { scale: 1.0, weight: 0.0, terms: [0.0; ORDER - 1] };

    /// From `sums[j] = sum_k c_k (d_k / unit - 1)^j`.
    fn new(sums: &[f64; ORDER + 1], unit: f64) -> Self {
        if sums[0] == 0.0 {
            return Self::NONE;
        }
        let mut moments = sums.map(|sum| sum / sums[0]);
        let mean = moments[1];
        for factors in 1..=ORDER {
            for j in (factors..=ORDER).rev() {
                moments[j] -= mean * moments[j - 1]; // E x^(j-1) (x - mean), of which one more factor is centred
            }
        }
        let term = |at: usize| (moments[at + 2] / (-1.0 - mean).powi(at as i32 + 2)) as f32;
        Self { scale: (unit * (1.0 + mean)) as f32, weight: sums[0] as f32, terms: std::array::from_fn(term) }
    }
}

/// What n steps without gradient leave of the moments: `beta1^n` and `beta2^n`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decay {
    pub(super) first: f32,
    pub(super) second: f32,
}

impl Decay {
    fn after(n: usize, adam: &Moments) -> Self {
        let power = |decay: f64| decay.powf(n as f64) as f32;
        Self { first: power(adam.beta1), second: power(adam.beta2) }
    }
}

/// The leaps to one step. Places in time are counted from a base, at which all rows had been brought up to date.
#[derive(Debug)]
pub(super) struct CatchUp {
    adam: Moments,
    window: usize,
    /// The step from which on the series holds.
    start: u64,
    base: u64,
    /// Steps since the base.
    now: usize,
    /// Rate and root scale of each step since the base.
    steps: Vec<(f64, f64)>,
    /// `beta2^(n/2)` for n from 0 to the window.
    roots: Vec<f64>,
    /// Leaps by their length, up to the window.
    recent: Vec<Leap>,
    /// Leaps over a whole window, after which rows do not move, by the place that a row was left at.
    older: Vec<Leap>,
    /// Decays by the length of the leap.
    decays: Vec<Decay>,
}

impl CatchUp {
    /// `None` where the steps have to be made one by one, as the series may not converge.
    pub(super) fn new(adam: Moments) -> Option<Self> {
        let window = if adam.beta1 == 0.0 { 1.0 } else { (1e-9f64.ln() / adam.beta1.ln()).ceil().max(1.0) };
        if adam.epsilon < LEAST_EPSILON || window > LONGEST_WINDOW as f64 {
            return None;
        }
        let window = window as usize;
        let start = first(LATEST_START, |step| neglected(&adam, window, step) <= NEGLIGIBLE)?;
        let roots = (0..=window).map(|n| adam.beta2.powf(n as f64 / 2.0)).collect();
        let decays = vec![Decay::after(0, &adam), Decay::after(1, &adam)];
        let (steps, recent, older) = (Vec::new(), vec![Leap::NONE], Vec::new());
        Some(Self { adam, window, start, base: 0, now: 0, steps, roots, recent, older, decays })
    }

    /// What is added to the root of the second moment.
    pub(super) fn epsilon(&self) -> f32 {
        self.adam.epsilon as f32
    }

    /// Whether rows that are up to date at this step may be left behind.
    pub(super) fn holds(&self, step: u64) -> bool {
        step >= self.start
    }

    /// All rows are up to date at this step.
    pub(super) fn restart(&mut self, step: u64) {
        self.base = step;
        self.now = 0;
        self.steps.clear();
        self.older.clear();
        self.recent.truncate(1);
    }

    /// Steps since all rows were up to date.
    pub(super) fn now(&self) -> u32 {
        self.now as u32
    }

    /// Goes on by one step.
    pub(super) fn advance(&mut self) {
        self.now += 1;
        let step = self.base + self.now as u64;
        self.steps.push((self.adam.rate(step), self.adam.root_scale(step)));
        for n in self.decays.len()..=self.now + 1 {
            self.decays.push(Decay::after(n, &self.adam));
        }
        self.make_recent();
        if self.now >= self.window {
            self.older.push(self.recent[self.window]);
        }
    }

    fn make_recent(&mut self) {
        let Self { steps, roots, recent, adam, now, window, .. } = self;
        recent.truncate(1);
        let (_, last_scale) = steps[*now - 1];
        let mut sums = [0.0; ORDER + 1];
        for (n, &(rate, scale)) in (1..=*window).zip(steps.iter().rev()) {
            let offset = scale / (roots[n - 1] * last_scale) - 1.0;
            let mut power = rate;
            for sum in &mut sums {
                *sum = adam.beta1 * (*sum + power);
                power *= offset;
            }
            recent.push(Leap::new(&sums, last_scale * roots[n]));
        }
    }

    /// The leap and the decay from the place where a row was left to now.
    #[inline]
    pub(super) fn leap(&self, left: u32) -> (Leap, Decay) {
        let gap = self.now - left as usize;
        (if gap <= self.window { self.recent[gap] } else { self.older[left as usize] }, self.decays[gap])
    }

    /// The leaps to now by their length, up to the window.
    pub(super) fn recent(&self) -> &[Leap] {
        &self.recent
    }

    /// What is left of the moments after each number of steps, up to `most`.
    pub(super) fn decays(&self, most: usize) -> Vec<[f32; 2]> {
        (0..=most).map(|n| Decay::after(n, &self.adam)).map(|decay| [decay.first, decay.second]).collect()
    }

    /// What is left of the moments of a row after the steps to now and one more.
    #[inline]
    pub(super) fn decay_to_next(&self, left: u32) -> Decay {
        self.decays[self.now + 1 - left as usize]
    }
}

/// The first number up to `last` for which the condition holds, which then holds for all that follow.
fn first(last: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    holds(high).then_some(high)
}

/// A bound of the part of a row's move that the series leaves out, for a row that is left at `step`.
fn neglected(adam: &Moments, window: usize, step: u64) -> f64 {
    let steps = || (1..=window).map(|k| (k as f64, step + k as u64));
    let weights = || steps().map(|(k, at)| adam.beta1.powf(k) * adam.rate(at));
    let scales = || steps().map(|(k, at)| adam.beta2.powf(k / 2.0) * adam.root_scale(at));
    let total: f64 = weights().sum();
    if total == 0.0 {
        return 0.0;
    }
    let mean = weights().zip(scales()).map(|(weight, scale)| weight * scale).sum::<f64>() / total;
    let rest = |(weight, scale): (f64, f64)| weight * (scale / mean - 1.0).abs().powi(ORDER as i32 + 1) / (scale / mean).min(1.0);
    weights().zip(scales()).map(rest).sum::<f64>() / total
}
