//! Losses that have more to move than a model: numbers of their own, or an adversary.

use super::{
    adv_info_nce::{AdvInfoNce, adv_info_nce},
    llpauc::{Llpauc, llpauc},
};

/// Such a loss of pairs with its values, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub enum FusedOwn {
    /// `llpauc`, whose numbers are its scalars.
    Llpauc(Llpauc),
    /// `adv-info-nce`, whose adversary scores each negative.
    AdvInfoNce(AdvInfoNce),
}

/// What a row has beside its scores.
#[derive(Debug, Default)]
pub struct OwnRow<'a> {
    /// The loss's own numbers, one column after the other.
    pub numbers: &'a [f32],
    /// What the derivatives of the loss by them are added to.
    pub by_numbers: &'a mut [f64],
    /// The adversary's scores of the negatives, `[N]`, which become the derivatives by them.
    pub adversary: &'a mut [f32],
}

impl FusedOwn {
    /// The loss of a row: scores when called, of which masked ones stand for no item, become derivatives.
    ///
    /// # Panics
    /// When the row has not as many numbers as the loss.
    pub fn row(&self, positive: &mut f32, negatives: &mut [f32], own: OwnRow) -> f32 {
        let (loss, derivative) = match self {
            FusedOwn::Llpauc(settings) => {
                let scalars = own.numbers.try_into().expect("llpauc has seven scalars");
                llpauc(settings, *positive, negatives, scalars, own.by_numbers)
            }
            FusedOwn::AdvInfoNce(settings) => adv_info_nce(settings, *positive, negatives, own.adversary),
        };
        *positive = derivative;
        loss
    }
}
