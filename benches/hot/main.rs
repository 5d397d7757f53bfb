//! Times of the hot paths: `cargo bench --workspace --bench hot`, or `… --bench hot -- ranking` for some.
//!
//! `DIVAN_THREADS` is not used: every case takes all threads of rayon's pool (`RAYON_NUM_THREADS`), as the program does. Each file says what
//! its cases are compared with and what the machine needs for them at least; the rates come from `machine_floor.py` of the peers, or
//! stand in docs/performance.md.

mod parts;
mod preparing;
mod ranking;
mod sampling;
mod step;
mod training;

fn main() {
    divan::main();
}
