//! What the tests of the lambda family share.

use super::super::testing::{EXAMPLE_B, assert_close, assert_gradients, differentiate};
use super::Pair;
use crate::ranks::ranks_among;
use candle_core::{Result, Tensor};

/// Positive and negative items of the worked list.
const ITEMS: ([usize; 3], [usize; 5]) = ([0, 2, 5], [1, 3, 4, 6, 7]);

/// The sum over a user's positives, each against all `negatives`; and the gradient by positives, then by negatives.
pub(super) fn of_lists(
    positives: &[f64],
    negatives: &[f64],
    of_positives: &[f64],
    of_negatives: &[f64],
    loss: impl Fn(&Tensor, &Tensor, Pair) -> Result<Tensor>,
) -> (f64, Vec<f64>) {
    let (rows, width) = (positives.len(), negatives.len());
    let inputs: [(&[f64], &[usize]); 4] =
        [(positives, &[rows]), (negatives, &[1, width]), (of_positives, &[rows]), (of_negatives, &[1, width])];
    let (value, gradients) = differentiate(&inputs, |x| {
        let spread = |x: &Tensor| x.broadcast_as((rows, width))?.contiguous();
        loss(&x[0], &spread(&x[1])?, Pair { positives: &x[2], negatives: &spread(&x[3])? })
    });
    assert!(gradients[2..].concat().iter().all(|by| *by == 0.0), "ranks are constants");
    (value, gradients[..2].concat())
}

/// The loss of the worked list and its gradient by item.
pub(super) fn worked_list(loss: impl Fn(&Tensor, &Tensor, Pair) -> Result<Tensor>) -> (f64, Vec<f64>) {
    let ranks = ranks_among(&EXAMPLE_B, None);
    let pick = |items: &[usize], values: &[f64]| items.iter().map(|&item| values[item]).collect::<Vec<f64>>();
    let [positives, of_positives] = [&EXAMPLE_B[..], &ranks].map(|values| pick(&ITEMS.0, values));
    let [negatives, of_negatives] = [&EXAMPLE_B[..], &ranks].map(|values| pick(&ITEMS.1, values));
    let (value, found) = of_lists(&positives, &negatives, &of_positives, &of_negatives, loss);
    let mut gradient = vec![0.0; 8];
    ITEMS.0.iter().chain(&ITEMS.1).zip(found).for_each(|(&item, by)| gradient[item] = by);
    (value, gradient)
}

/// The weight of the worked pair, items 2 and 4.
pub(super) fn worked_pair(loss: impl Fn(&Tensor, &Tensor, Pair) -> Result<Tensor>) -> f64 {
    of_lists(&[EXAMPLE_B[2]], &[EXAMPLE_B[4]], &[3.0], &[2.0], loss).0 / (EXAMPLE_B[4] - EXAMPLE_B[2]).exp().ln_1p()
}

/// What holds for any weight: gradients are central differences and add up to 0 (identity 18), masked negatives add nothing, shared ranks
/// and extreme scores leave everything finite.
pub(super) fn assert_family(loss: impl Fn(&Tensor, &Tensor, Pair) -> Result<Tensor> + Copy) {
    let (scores, ranks) = ([0.3, -0.8, 0.5, 0.1, -0.4, 1.2, 0.9, -2.0], [4.0, 7.0, 3.0, 4.0, 6.0, 1.0, 2.0, 8.0]);
    let tensor = |values: &[f64], shape: &[usize]| Tensor::from_slice(values, shape, &candle_core::Device::Cpu).unwrap();
    let (of_positives, of_negatives) = (tensor(&ranks[..2], &[2]), tensor(&ranks[2..], &[2, 3]));
    let inputs: [(&[f64], &[usize]); 2] = [(&scores[..2], &[2]), (&scores[2..], &[2, 3])];
    assert_gradients(&inputs, 1e-8, |x| loss(&x[0], &x[1], Pair { positives: &of_positives, negatives: &of_negatives }));

    let (value, gradient) = of_lists(&[0.3], &[0.5, 0.1], &[2.0], &[1.0, 3.0], loss);
    assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "a shift of all scores changes nothing");
    let masked = of_lists(&[0.3], &[-1e30, 0.5, 0.1, -1e30], &[2.0], &[4.0, 1.0, 3.0, 4.0], loss);
    assert_close(&[masked.0], &[value], 1e-12);
    assert_close(&masked.1, &[gradient[0], 0.0, gradient[1], gradient[2], 0.0], 1e-12);
    let nothing = of_lists(&[0.3], &[-1e30, -1e30], &[1.0], &[2.0, 2.0], loss);
    assert_eq!(nothing, (0.0, vec![0.0; 3]));

    for (positive, negatives) in [(500.0, [800.0, -300.0, 790.0]), (-1e4, [-1e4; 3]), (-500.0, [0.0; 3])] {
        let (value, gradient) = of_lists(&[positive], &negatives, &[1.0], &[1.0, 2.0, 1.0], loss);
        assert!(value.is_finite() && gradient.iter().all(|by| by.is_finite()), "{positive} {negatives:?}: {value} {gradient:?}");
    }
}
