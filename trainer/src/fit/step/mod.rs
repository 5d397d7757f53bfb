//! A step of training: from the rows of a batch to parameters that have moved, by the paths that a step can take.

pub(crate) mod auxiliary_inputs;
pub(crate) mod batch_l2;
pub(crate) mod batches;
pub(crate) mod callback;
pub(crate) mod candle;
pub(crate) mod dense_items;
pub(crate) mod epoch;
pub(crate) mod formula;
pub(crate) mod full_tables;
pub(crate) mod fused;
pub(crate) mod loss_step;
pub(crate) mod mixed;
pub(crate) mod narrowed;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod on_device;
pub(crate) mod pairs;
pub(crate) mod parts;
pub(crate) mod path;
pub(crate) mod sparse;
