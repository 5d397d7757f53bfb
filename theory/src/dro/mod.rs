//! Hard negative sampling as distributionally robust optimisation.
//!
//! ```text
//! max over Q with D(Q || P0) <= rho of E_Q[l]                   P0 is uniform over a user's n negatives, l their losses against a positive
//! D = sup log(dQ/dP0), beta = e^-rho:   mean of the n beta largest losses       min over eta of eta + E[(l - eta)+] / beta
//! D = KL:                               sum_j softmax(l / tau)_j l_j            min over tau of tau (log E[exp(l / tau)] + rho)
//! ```
//! The first is what DNS samples (Lemma 1, Theorem 1), the second what softmax-based sampling weighs (Theorem 2), with tau the temperature whose softmax
//! is at the divergence rho. The paper takes `sqrt(Var(l) / (2 rho))` for it, its second-order approximation. [`dns`] and [`softmax_v`] are
//! the probabilities by which negatives of each rank are trained on (Figure 7).
//!
//! "On the Theories Behind Hard Negative Sampling for Recommendation" (WWW 2023): Lemma 1, Theorems 1 and 2, Equations 13 to 25, Figure 7.

mod cases;
mod cvar;
mod distribution;
mod kl;

pub use cases::{Case, Temperatures, statements, temperatures};
pub use cvar::{cvar, dual_minimum, mean_of_largest};
pub use distribution::{dns, normal_losses, pool_of, softmax_v};
pub use kl::{approximate_temperature, divergence, softmax, temperature, value};
