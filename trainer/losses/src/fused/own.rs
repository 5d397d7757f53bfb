//! Losses that have more to move than a model: numbers of their own, or an adversary.

use super::{
    adv_info_nce::{AdvInfoNce, adv_info_nce},
    guided_rec::{self, guided_rec},
    llpauc::{Llpauc, llpauc},
};

/// Such a loss of pairs with its values, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub enum FusedWithState {
    /// `llpauc`, whose numbers are its scalars.
    Llpauc(Llpauc),
    /// `adv-info-nce`, whose adversary scores each negative.
    AdvInfoNce(AdvInfoNce),
    /// `guided-rec`, whose numbers are the parameters of its network.
    GuidedRec,
}

/// What rows have beside their scores.
#[derive(Debug, Default)]
pub struct StateRows<'a> {
    /// The phase of the step, from 0.
    pub phase: usize,
    /// The loss's own numbers, one column after the other.
    pub numbers: &'a [f32],
    /// What the derivatives of the loss by them are added to.
    pub by_numbers: &'a mut [f64],
    /// The adversary's scores of the negatives, `[rows, N]`, which become the derivatives by them; empty without an adversary.
    pub adversary: &'a mut [f32],
}

impl FusedWithState {
    /// The losses of rows: scores of `positives [rows]` and `negatives [rows, N]`, of which masked ones stand for no item, become derivatives.
    ///
    /// # Panics
    /// When the loss has another number of numbers, or the adversary other scores.
    pub fn rows(&self, losses: &mut [f32], positives: &mut [f32], negatives: &mut [f32], own: StateRows) {
        let width = negatives.len() / losses.len();
        match self {
            FusedWithState::Llpauc(settings) => {
                let scalars = own.numbers.try_into().expect("llpauc has seven scalars");
                for ((loss, positive), negatives) in losses.iter_mut().zip(positives).zip(negatives.chunks_exact_mut(width)) {
                    (*loss, *positive) = llpauc(settings, *positive, negatives, scalars, own.by_numbers);
                }
            }
            FusedWithState::AdvInfoNce(settings) => {
                let rows = negatives.chunks_exact_mut(width).zip(own.adversary.chunks_exact_mut(width));
                for ((loss, positive), (negatives, hardness)) in losses.iter_mut().zip(positives).zip(rows) {
                    (*loss, *positive) = adv_info_nce(settings, *positive, negatives, hardness);
                }
            }
            FusedWithState::GuidedRec => {
                const ROWS: usize = guided_rec::ROWS;
                let rows = positives.chunks_mut(ROWS).zip(negatives.chunks_mut(ROWS * width));
                for (losses, (positives, negatives)) in losses.chunks_mut(ROWS).zip(rows) {
                    guided_rec(own.phase, losses, positives, negatives, (own.numbers, &mut *own.by_numbers));
                }
            }
        }
    }
}
