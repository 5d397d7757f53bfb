//! SimpleX: a user is a vector of its own and the mean of its items'.
//!
//! ```text
//! P_u = (1 - w) E_u + w (mean of E_i over the items of u) V        P_i = E_i        s(u, i) = similarity(P_u, P_i)
//! ```
//! The mean goes over all train items of a user; releases cut them off at 50, and IR-Benchmark's divides by 50 even where a user has fewer. V starts
//! as `xavier-normal` does. In training a share of the users' numbers is dropped. Its paper trains it with the cosine contrastive loss
//! (`ccl`). Weight decay falls on all parameters. Mao et al., CIKM 2021.

use super::{
    BackboneKind, Facts, FoldIn, Init, Sizes, Stored, TensorSize, XavierNormal,
    autograd::{Encoded, Forward},
    encoder::TrainStep,
    kind::Learned,
    limits::{check_share, check_tables},
    noise::{Keyed, dropout},
    operations::{apart, together},
    stack::tenth,
};
use crate::{
    graph::{Adjacency, Links},
    parameters::Parameters,
};
use candle_core::{Result, Tensor};
use dataset::Dataset;
use serde::{Deserialize, Serialize};
use streams::Purpose;

/// `simplex` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simplex {
    /// Length of a vector.
    pub dim: u32,
    /// w, the weight of the items' mean, from 0 to 1; 1 scores users by their items alone.
    #[serde(default = "half")]
    pub history_weight: f64,
    /// The share of the users' numbers that is dropped in training, from 0 to below 1.
    #[serde(default = "tenth")]
    pub dropout: f64,
    /// How the tables start.
    #[serde(default)]
    pub init: Init,
}

fn half() -> f64 {
    0.5
}

impl BackboneKind for Simplex {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Mao et al. 2021",
            cost: "2 d additions for each train interaction and 3 m d² for the matrix, forward and back",
            unknown_user: "by 1 - `history_weight` times the vector that it began with, which only `weight_decay` moves",
            values: "`dim` 64, `history_weight` 0.5, loss `ccl` (IR-Benchmark)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        if !(0.0..=1.0).contains(&self.history_weight) {
            return Err(format!("history_weight is {}, expected a number from 0 to 1", self.history_weight));
        }
        check_share("dropout", self.dropout)?;
        check_tables(self.dim, &self.init)
    }

    /// 1: rows that neither a score nor a history of the batch is of have no gradient, and `lazy-adam` leaves them.
    fn revision(&self) -> u32 {
        1
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        if self.history_weight == 0.0 {
            return FoldIn::Ridge;
        }
        FoldIn::Forward("exactly where `history_weight` is 1, by ridge regression where it is 0, else without a vector of its own")
    }
}

impl Learned for Simplex {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let (users, items, dim) = (dataset.users(), dataset.items(), self.dim as usize);
        let matrix = Init::XavierNormal(XavierNormal {}).matrix([dim, dim], seed, 2);
        Parameters::new(self.init.tables(users, items, dim, seed), vec![("history".to_owned(), matrix)])
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(Histories::new(self, dataset, seed))
    }

    /// The vectors and all nodes a few times; of users the mean, its product, both parts, what is dropped, and gradients.
    fn memory(&self, Sizes { users, items, train, .. }: Sizes) -> u64 {
        Adjacency::memory(users + items, train, self.dim.into()) + (10 * (users + items) + 14 * users) * u64::from(self.dim) * 4
    }

    /// Users have their items for neighbours, and items none.
    fn propagated_edges(&self, sizes: Sizes) -> u64 {
        sizes.train
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        TensorSize::of_graph(sizes, sizes.train, [self.dim.into(); 2])
    }
}

struct Histories {
    settings: Simplex,
    /// The mean of a user's items.
    mean: Adjacency,
    /// How many there are: items' nodes follow theirs.
    users: u32,
    seed: u64,
}

impl Histories {
    fn new(settings: &Simplex, dataset: &Dataset, seed: u64) -> Self {
        Self { settings: settings.clone(), mean: Adjacency::mean_of_items(&Links::of(dataset)), users: dataset.users() as u32, seed }
    }
}

impl Forward for Histories {
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        let (tables, weight) = (&parameters[..2], self.settings.history_weight);
        let (histories, _) = apart(&self.mean.propagate(&together(tables)?)?, tables)?;
        let mut users = ((&tables[0] * (1.0 - weight))? + (histories.matmul(&parameters[2])? * weight)?)?;
        if let Some(step) = step.filter(|_| self.settings.dropout > 0.0) {
            let keyed = Keyed { seed: self.seed, purpose: Purpose::Dropout, place: 0, first: 0 };
            users = (&users * keyed.rows(step, &users, dropout(self.settings.dropout as f32))?)?;
        }
        Ok(Encoded { users, items: tables[1].clone(), auxiliary: None })
    }

    /// The items of the batch's users: no vector of a user is in that of another.
    fn reached(&self, step: &TrainStep) -> [Option<Vec<u32>>; 2] {
        let of_user = |&user: &u32| self.mean.neighbours(user as usize).iter().map(|&node| node - self.users);
        [Some(Vec::new()), Some(step.users.iter().flat_map(of_user).collect())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STEP, assert_gradients, assert_rows, dataset, tables, weights};
    use super::*;

    fn histories(history_weight: f64, dropout: f64) -> Histories {
        Histories::new(&Simplex { dim: 2, history_weight, dropout, init: Init::default() }, &dataset(), 1)
    }

    fn parameters() -> Vec<Tensor> {
        tables().into_iter().chain(weights(&[("history", [2, 2])])).collect()
    }

    /// Of NumPy, with histories as a dense matrix.
    #[test]
    fn vectors_are_those_of_numpy() {
        let expected: [(usize, &[f64]); 3] =
            [(0, &[0.587438884344, 0.471465908206]), (2, &[0.107301338678, -0.459674021667]), (7, &[-0.980936230066, -0.875452174688])];
        assert_rows(&histories(0.75, 0.1).forward(&parameters(), None).unwrap(), &expected);
    }

    #[test]
    fn without_histories_vectors_are_the_tables() {
        let encoded = histories(0.0, 0.1).forward(&parameters(), None).unwrap();
        assert_rows(&encoded, &[(0, &[0.841470984808, 0.991664810452]), (2, &[-0.611857890943, -0.977530117665])]);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        assert_gradients(&histories(0.75, 0.3), &parameters());
    }

    #[test]
    fn a_step_drops_numbers_of_users_and_no_others() {
        let encoded = histories(0.75, 0.3).forward(&parameters(), Some(&STEP)).unwrap();
        let zeros = |vectors: &Tensor| vectors.flatten_all().unwrap().to_vec1::<f64>().unwrap().contains(&0.0);
        assert!(zeros(&encoded.users) && !zeros(&encoded.items));
    }

    #[test]
    fn values_out_of_range_are_named() {
        let check = |text: &str| serde_json::from_str::<Simplex>(text).unwrap().check().unwrap_err();
        assert_eq!(check(r#"{"dim": 4, "history_weight": 1.5}"#), "history_weight is 1.5, expected a number from 0 to 1");
        assert_eq!(check(r#"{"dim": 4, "dropout": 1}"#), "dropout is 1, expected a number from 0 to below 1");
    }
}
