//! Candle's own threads: as many as ours.
//!
//! Candle shares large tensors out over threads that wait for each other by spinning, one for each core of the machine whatever `--threads` or a
//! container's limit says: where they have fewer cores than that, most of the time is lost.
#![allow(unsafe_code)]

use std::env;

/// What candle looks at when it first shares work out: for its own threads, and for the parts of a matrix product.
const VARIABLES: [&str; 2] = ["CANDLE_NUM_THREADS", "RAYON_NUM_THREADS"];

/// Has candle use so many threads, unless the environment says otherwise. To be called before any other thread starts.
pub(super) fn limit_threads(threads: usize) {
    for name in VARIABLES.into_iter().filter(|name| env::var_os(name).is_none()) {
        // SAFETY: no other thread runs yet that could read the environment at the same time.
        unsafe { env::set_var(name, threads.to_string()) }
    }
}
