//! MixGCF: negatives that are put together from the layers of several candidates, each mixed with the positive.
//!
//! ```text
//! for each layer l:  c_l = argmax_c e_u . m_c^l   of M candidates,   m_c^l = a_l e_i^l + (1 - a_l) e_c^l,   a_l uniform in [0, 1)
//! negative = mean_l m_(c_l)^l        s_uj = e_u . negative,   e_u = mean_l e_u^l
//! ```
//! `a_l` is shared by the candidates, as in the release, so that `c_l` is the candidate whose layer scores highest. For several negatives
//! of a pair this is done with as many pools. The choice has no gradient; the scores have one to the user, to the positive and to the
//! chosen, each by its layer. Matrix factorisation has one layer. The release has M 64 and one negative; its loss is `bpr`, for several
//! negatives `cce`. Vectors are mixed, so that scores must be dot products. Huang et al., KDD 2021, doi:10.1145/3447548.3467408.

use super::{Draws, Facts, Pool, SamplerKind};
use serde::{Deserialize, Serialize};

/// `mix-gcf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixGcf {
    /// M: items that are drawn for each negative.
    #[serde(default = "sixty_four")]
    pub candidates: u32,
    /// Negatives for each positive.
    #[serde(default = "one")]
    pub negatives: u32,
    /// Where candidates come from.
    #[serde(default)]
    pub pool: Pool,
}

fn sixty_four() -> u32 {
    64
}

fn one() -> u32 {
    1
}

impl MixGcf {
    /// Items that are drawn for each positive.
    pub(super) fn drawn(&self) -> u32 {
        self.candidates.saturating_mul(self.negatives)
    }
}

impl SamplerKind for MixGcf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Huang et al., KDD 2021",
            values: "`candidates` 64, `negatives` 1",
            state: "none",
            cost: "O(`candidates` d) each negative and layer",
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: self.pool.clone(), count: Some(self.drawn()) }
    }

    fn check_values(&self) -> Result<(), String> {
        for (key, value) in [("candidates", self.candidates), ("negatives", self.negatives)] {
            if value == 0 {
                return Err(format!("{key} is 0: expected at least 1"));
            }
        }
        let pool = self.pool.kind();
        if pool.takes_every_item().is_some() || pool.is_in_batch() {
            return Err("pool: expected one that draws items for each pair by itself".to_owned());
        }
        match pool.is_distinct() && self.negatives > 1 {
            true => Err(format!(
                "negatives is {}, and each has a pool of its own, which draws without replacement from one pool are not: leave out `replacement`",
                self.negatives
            )),
            false => Ok(()),
        }
    }

    fn mixed(&self) -> Option<usize> {
        Some(self.negatives as usize)
    }
}

#[cfg(test)]
mod tests {
    use crate::Sampler;

    #[test]
    fn widths_and_wrong_values() {
        let read = |text: &str| serde_json::from_str::<Sampler>(text).unwrap();
        let sampler = read(r#"{"mix-gcf": {"negatives": 3}}"#);
        assert_eq!((sampler.check(), sampler.candidates(10), sampler.negatives(10)), (Ok(()), Some(192), Some(3)));
        let message = |text: &str| read(text).check().unwrap_err();
        assert!(message(r#"{"mix-gcf": {"candidates": 0}}"#).starts_with("candidates is 0"));
        assert!(message(r#"{"mix-gcf": {"negatives": 0}}"#).starts_with("negatives is 0"));
        assert!(message(r#"{"mix-gcf": {"pool": {"all": {}}}}"#).starts_with("pool: expected"));
        // Floyd's sets are uniform and their parts are not.
        let distinct =
            |negatives: u32| format!(r#"{{"mix-gcf": {{"negatives": {negatives}, "pool": {{"uniform": {{"replacement": false}}}}}}}}"#);
        assert!(message(&distinct(2)).contains("leave out `replacement`") && read(&distinct(1)).check().is_ok());
    }
}
