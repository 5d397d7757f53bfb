//! What libraries read from the environment as they start: candle its own threads, NCCL how it adds.
//!
//! Candle shares operations on large tensors out over threads that wait for each other by spinning, one for each core of the machine whatever `--threads` or a
//! container's limit says, behind one lock for the whole process. Two of them took 8.7 s of processor time for what one does in 4.9 s (two epochs of ngcf on two cores), and no less
//! wall time; where cores are few or shared, most of the time is lost. Matrix products have as many threads as we do.
//!
//! Where switches add (NVLS), NCCL's sums have another order in every call (NVIDIA/nccl#1497), and a training that is resumed would have other bits.
#![allow(unsafe_code)]

use std::env;

/// Has candle use one thread for what is no matrix product and so many for those, and has no switch add for NCCL, unless the environment says otherwise. To be
/// called before any other thread starts.
pub(super) fn set(threads: usize) {
    let threads = threads.to_string();
    let of_nccl = (cfg!(feature = "nccl") && env::var_os("NCCL_ALGO").is_none()).then_some(("NCCL_NVLS_ENABLE", "0"));
    for (name, value) in [("CANDLE_NUM_THREADS", "1"), ("RAYON_NUM_THREADS", &threads)].into_iter().chain(of_nccl) {
        if env::var_os(name).is_none() {
            // SAFETY: no other thread runs yet that could read the environment at the same time.
            unsafe { env::set_var(name, value) }
        }
    }
}
