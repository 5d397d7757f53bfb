//! Quadratic forms of the softmax loss over all items, and whether they bound it.
//!
//! ```text
//! SM  = |P| log sum_j exp s_j - sum_{i in P} s_i
//! RG2 = w sum_j (s_j - t_j)^2                     w = |P| / (2 n), t_j = n / |P| [j in P] - 1
//! RGx = RG2 - |P| / (2 n^2) (sum_j s_j)^2         its second-order expansion at s = 0, up to the constant c
//! ```
//! The paper's Proposition 7 takes RG2 + c for an upper bound of SM. It is one where the curvature `diag pi - pi pi^T` is at most 1 / n
//! in every direction, all the way from 0 to s; the paper looks in the direction of pi alone, which is not the steepest.
//!
//! "NDCG-Consistent Softmax Approximation with Accelerated Convergence": Proposition 7, Theorems 10 to 12.

mod cases;
mod curvature;
mod forms;
mod order;

pub use cases::statements;
pub use curvature::{Curvature, curvature, examples, led};
pub use forms::LossForm;
pub use order::{Sampled, minimiser};
