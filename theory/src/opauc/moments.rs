//! Sums of values and of their products, from which Pearson's correlation follows.

/// Moments of some xs against some ys, over lists. Values come less their expectation, so that no digits are lost in the difference of large sums.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moments {
    count: f64,
    x: Vec<[f64; 2]>,
    y: Vec<[f64; 2]>,
    /// `[xs, ys]`
    products: Vec<f64>,
}

impl Moments {
    pub(super) fn new(xs: usize, ys: usize) -> Self {
        Self { count: 0.0, x: vec![[0.0; 2]; xs], y: vec![[0.0; 2]; ys], products: vec![0.0; xs * ys] }
    }

    /// Adds the values of one list.
    pub(super) fn add(&mut self, x: &[f64], y: &[f64]) {
        self.count += 1.0;
        for (sums, value) in self.x.iter_mut().zip(x).chain(self.y.iter_mut().zip(y)) {
            sums[0] += value;
            sums[1] += value * value;
        }
        for (products, x) in self.products.chunks_exact_mut(y.len()).zip(x) {
            products.iter_mut().zip(y).for_each(|(product, y)| *product += x * y);
        }
    }

    /// Adds the sums of other lists.
    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        for (sums, others) in self.x.iter_mut().zip(&other.x).chain(self.y.iter_mut().zip(&other.y)) {
            sums[0] += others[0];
            sums[1] += others[1];
        }
        self.products.iter_mut().zip(&other.products).for_each(|(product, other)| *product += other);
    }

    /// The correlation of an x and a y; none where one of both does not vary.
    pub(super) fn correlation(&self, x: usize, y: usize) -> Option<f64> {
        let spread = |[sum, squares]: [f64; 2]| squares - sum * sum / self.count;
        let together = self.products[x * self.y.len() + y] - self.x[x][0] * self.y[y][0] / self.count;
        let correlation = together / (spread(self.x[x]) * spread(self.y[y])).sqrt();
        let varies = |sums: [f64; 2]| spread(sums) > 1e-12 * sums[1];
        (varies(self.x[x]) && varies(self.y[y])).then_some(correlation.clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;

    /// `numpy.corrcoef` of (1, 2, 4, 8) with (3, 1, 4, 1) and with (2, 3, 5, 9).
    #[test]
    fn correlations_are_those_of_numpy() {
        let (x, ys) = ([1.0, 2.0, 4.0, 8.0], [[3.0, 2.0], [1.0, 3.0], [4.0, 5.0], [1.0, 9.0]]);
        let mut moments = Moments::new(2, 2);
        let mut rest = Moments::new(2, 2);
        moments.add(&[x[0], 7.0], &ys[0]);
        (1..4).for_each(|list| rest.add(&[x[list], 7.0], &ys[list]));
        moments.join(&rest);
        assert_near(moments.correlation(0, 0).unwrap(), -0.340975204637, 1e-9);
        assert_near(moments.correlation(0, 1).unwrap(), 1.0, 1e-12);
        assert_eq!(moments.correlation(1, 0), None);
    }
}
