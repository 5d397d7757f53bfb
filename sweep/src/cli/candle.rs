//! Candle's own threads: one, beside as many of ours as there are.
//!
//! Candle shares operations on large tensors out over threads that wait for each other by spinning, one for each core of the machine whatever `--threads` or a
//! container's limit says, behind one lock for the whole process. Two of them took 8.7 s of processor time for what one does in 4.9 s (two epochs of ngcf on two cores), and no less
//! wall time; where cores are few or shared, most of the time is lost. Matrix products have as many threads as we do.
#![allow(unsafe_code)]

use std::env;

/// Has candle use one thread for what is no matrix product and so many for those, unless the environment says otherwise. To be called before
/// any other thread starts.
pub(super) fn limit_threads(threads: usize) {
    for (name, count) in [("CANDLE_NUM_THREADS", 1), ("RAYON_NUM_THREADS", threads)] {
        if env::var_os(name).is_none() {
            // SAFETY: no other thread runs yet that could read the environment at the same time.
            unsafe { env::set_var(name, count.to_string()) }
        }
    }
}
