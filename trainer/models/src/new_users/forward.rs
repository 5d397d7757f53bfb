//! Users by a model's own forward pass.
//!
//! A model of histories in order gives a new user the state after the last items of the history: what it gives its own users after the same items. A model over the train
//! graph is given a graph to which the users are attached (`graph/links.rs`), and zeros in their rows of its table. Its layers reach them from their items, whose vectors in each
//! layer are those that the train graph gives them, bit by bit:
//!
//! ```text
//! symmetric normalisation:      H_u(k+1) = sum over history of H_i(k) / sqrt(d_u d_i)        H_u(0) = 0        d_u: items of the history, d_i: train users of the item
//! with loops:                   1 / sqrt((d_u + 1) (d_i + 1)) in its place, and H_u(k) / (d_u + 1) in addition
//! ```
//! What a layer makes of these sums, and P of the layers, is the model's own. Where users come to the graph jointly, their histories are train interactions like others. An item of the history that has no train interaction is no neighbour.

use super::NewUsers;
use crate::{Encoded, Error, Result, kind::Learned, parameters::NamedMatrices};
use candle_core::{Device, Tensor};
use dataset::Dataset;
use embeddings::Tables;
use vectors::Matrix;

/// The new users' vectors, in their order.
pub(super) fn users(model: &dyn Learned, parameters: &NamedMatrices<'_>, users: &NewUsers<'_>) -> Result<Matrix> {
    // Those who read a history alone need no others.
    let alone = model.reads_order().then(|| users.alone());
    let dataset = alone.as_ref().unwrap_or_else(|| users.dataset());
    let of_users = table_of_users(parameters)?;
    let table = match alone.is_some() {
        true => of_users.clone(),
        false => with_zeros(of_users, users, dataset.users())?,
    };
    let vectors = encoded(model, parameters, &table, dataset)?.users;
    let rows = match alone.is_some() {
        true => vectors,
        false => vectors.index_select(&Tensor::from_slice(&users.new, users.new.len(), &Device::Cpu)?, 0)?,
    };
    matrix(&rows)
}

/// The vectors of all users of the dataset that the new ones come to, and of all items, where the histories of new users are part of the train graph.
pub(super) fn joint(model: &dyn Learned, parameters: &NamedMatrices<'_>, users: &NewUsers<'_>) -> Result<Tables> {
    let dataset = users.joined();
    let table = with_zeros(table_of_users(parameters)?, users, dataset.users())?;
    let Encoded { users, items, .. } = encoded(model, parameters, &table, &dataset)?;
    Ok(Tables { users: matrix(&users)?, items: matrix(&items)? })
}

fn table_of_users<'a>(parameters: &NamedMatrices<'a>) -> Result<&'a Matrix> {
    match parameters[..] {
        [(_, of_users), _, ..] => Ok(of_users),
        _ => Err(foreign("tables of users and items", parameters.len())),
    }
}

/// What the model makes of a dataset, with another table of users in place of its first parameters.
fn encoded(model: &dyn Learned, parameters: &NamedMatrices<'_>, of_users: &Matrix, dataset: &Dataset) -> Result<Encoded> {
    let of_items = parameters[1].1;
    if of_items.rows != dataset.items() {
        return Err(foreign(&format!("a row for each of {} items", dataset.items()), of_items.rows));
    }
    let matrices = [of_users].into_iter().chain(parameters[1..].iter().map(|&(_, matrix)| matrix));
    let tensor = |matrix: &Matrix| Tensor::from_slice(&matrix.values, (matrix.rows, matrix.dim), &Device::Cpu);
    let tensors: Vec<Tensor> = matrices.map(tensor).collect::<candle_core::Result<_>>()?;
    // Nothing is drawn where nothing is trained: any seed does.
    Ok(model.formula(dataset, 0).forward(&tensors, None)?)
}

fn matrix(rows: &Tensor) -> Result<Matrix> {
    Ok(Matrix { rows: rows.dim(0)?, dim: rows.dim(1)?, values: rows.flatten_all()?.to_vec1()? })
}

/// The table of so many users with the rows of the model's users, and zeros for others.
fn with_zeros(of_model: &Matrix, users: &NewUsers<'_>, rows: usize) -> Result<Matrix> {
    if of_model.rows != users.of_model.len() {
        return Err(foreign(&format!("a row for each of {} users", users.of_model.len()), of_model.rows));
    }
    let dim = of_model.dim;
    let mut values = vec![0.0; rows * dim];
    for (row, &user) in users.of_model.iter().enumerate() {
        values[user as usize * dim..][..dim].copy_from_slice(of_model.row(row));
    }
    Ok(Matrix { rows, dim, values })
}

fn foreign(expected: &str, found: usize) -> Error {
    Error::Impossible(format!("the stored parameters are not those of this model and dataset: {found} where {expected} are expected"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backbone;
    use dataset::{Dataset, Interactions};
    use evaluator::{Factors, Scorer, Similarity};
    use serde_json::{Value, json};
    use testing::dataset_of;

    use super::super::{FoldInSettings, NewNodes, Trained};

    /// Five users and six items, the last of which nobody has.
    fn train() -> Dataset {
        dataset_of([5, 6], &[(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (2, 4), (3, 3), (4, 2), (4, 4)])
    }

    /// Parameters by the shapes of a model's own: tables of `sin(1 + 0.7 n)` for number n, the users' before the items'; weights, numbered from 0, of `cos(s + 0.9 n)` for number n
    /// of the matrix s, and biases of `0.1 cos(s + n)`.
    fn parameters(model: &dyn Learned, dataset: &Dataset) -> Vec<(String, Matrix)> {
        let parameters = model.parameters(dataset, 1);
        let of_users = parameters.users.values.values.len();
        let filled = |which: usize, name: &str, matrix: &Matrix| {
            let value = |at: usize| match which {
                0 | 1 => (1.0 + 0.7 * (at + which * of_users) as f64).sin(),
                _ if name.contains("bias") => 0.1 * ((which - 2 + at) as f64).cos(),
                _ => ((which - 2) as f64 + 0.9 * at as f64).cos(),
            };
            Matrix { values: (0..matrix.values.len()).map(|at| value(at) as f32).collect(), ..*matrix }
        };
        let named = parameters.named().into_iter().enumerate();
        named.map(|(which, (name, matrix))| (name.to_owned(), filled(which, name, matrix))).collect()
    }

    fn backbone(kind: &str, more: &Value) -> Backbone {
        let mut values = json!({"dim": 2, "layers": 2});
        values.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        if kind == "simplex" {
            values.as_object_mut().unwrap().remove("layers");
        }
        serde_json::from_value(json!({ kind: values })).unwrap()
    }

    fn named(parameters: &[(String, Matrix)]) -> NamedMatrices<'_> {
        parameters.iter().map(|(name, matrix)| (&name[..], matrix)).collect()
    }

    /// The models' equations with a dense matrix whose rows of items leave the attached user out, in NumPy in f64. The user has the items 0, 3 and 5; nobody else has item 5.
    #[test]
    fn an_attached_user_has_the_vector_of_numpy() {
        let (light, later) = ([-0.012068700, 0.070625892], [-0.018103049, 0.105938838]);
        let expected: [(&str, Value, &[f64]); 12] = [
            ("light-gcn", json!({}), &light),
            ("sgl", json!({}), &light),
            // The mean leaves layer 0 out.
            ("sim-gcl", json!({}), &later),
            ("xsim-gcl", json!({}), &later),
            ("lr-gccf", json!({}), &[0.0, 0.0, 0.210376321, 0.330147890, -0.004227400, 0.091279643]),
            ("gcn", json!({"pool": "concat"}), &[0.0, 0.0, 0.976431017, -0.215829723, -0.545262588, -0.838265298]),
            ("gin", json!({"pool": "concat"}), &[0.0, 0.0, -0.493363966, -0.869822969, 0.999255883, -0.038570455]),
            ("gat", json!({"pool": "concat"}), &[0.0, 0.0, 0.965577091, -0.260117053, -0.762103029, -0.647455769]),
            ("ngcf", json!({}), &[0.0, 0.0, 0.910685445, -0.413100497, -0.893305841, 0.449449302]),
            ("nia-gcn", json!({}), &[0.0, 0.0, 0.103661822, -0.262643060, 0.385154934, 0.344155607]),
            ("dgcf", json!({"dim": 4, "factors": 2}), &[-0.088183571, -0.132658956, 0.006763468, -0.119762369]),
            ("simplex", json!({}), &[0.101524522, -0.125779119]),
        ];
        let (dataset, history) = (train(), Interactions::from_pairs(1, [(0, 0), (0, 3), (0, 5)].into_iter()));
        let new = NewUsers::beside(dataset.clone(), vec!["new".to_owned()], &history, vec![0, 1, 2]);
        for (kind, more, expected) in expected {
            let backbone = backbone(kind, &more);
            let parameters = parameters(backbone.learned().unwrap(), &dataset);
            let found = users(backbone.learned().unwrap(), &named(&parameters), &new).unwrap();
            let close = found.values.iter().zip(expected).all(|(found, expected)| (f64::from(*found) - expected).abs() < 2e-6);
            assert!(close && found.values.len() == expected.len(), "{kind}: {:?} {expected:?}", found.values);
        }
    }

    /// The same in NumPy with the user's edges in both directions: user 0, the new one, and the items 0 and 5.
    #[test]
    fn a_user_who_joins_the_graph_has_the_vectors_of_numpy_and_moves_items() {
        let light = [0.564659301, 0.413449793, 0.131446843, 0.060170804, 0.560400320, 0.360262648, 0.329503760, 0.067076184];
        let of_new = [0.0, 0.0, 0.387693712, 0.250426328, 0.157483327, 0.042246654];
        let of_first = [0.989358247, 0.662969230, 0.337286839, 0.207628751, 0.410255363, 0.277057975];
        let of_last = [0.650287840, 0.007963184, 0.325143920, 0.003981592, 0.299642386, 0.090529873];
        let (dataset, history) = (train(), Interactions::from_pairs(1, [(0, 0), (0, 3), (0, 5)].into_iter()));
        let new = NewUsers::beside(dataset.clone(), vec!["new".to_owned()], &history, vec![0, 1, 2]);
        let close = |found: &[f32], expected: &[f64]| {
            assert!(
                found.iter().zip(expected).all(|(found, expected)| (f64::from(*found) - expected).abs() < 2e-6),
                "{found:?} {expected:?}"
            );
            assert_eq!(found.len(), expected.len());
        };
        let joined = |kind: &str| {
            let backbone = backbone(kind, &json!({}));
            let parameters = parameters(backbone.learned().unwrap(), &dataset);
            let scorer =
                Scorer::Factors(Factors { users: parameters[0].1.clone(), items: parameters[1].1.clone(), similarity: Similarity::Dot });
            let trained = || Trained { scorer: scorer.clone(), parameters: named(&parameters) };
            let settings = FoldInSettings { nodes: NewNodes::Joint, ..FoldInSettings::default() };
            let (alone, all) =
                (backbone.fold_in(trained(), &new, settings).unwrap(), backbone.with_new_users(trained(), &new, settings).unwrap());
            let (Scorer::Factors(alone), Scorer::Factors(all)) = (alone, all) else { panic!("factors") };
            assert_eq!((alone.users.row(0), &alone.items, alone.users.rows, all.users.rows), (all.users.row(5), &all.items, 1, 6));
            all
        };
        let found = joined("light-gcn");
        close(&[found.users.row(0), found.users.row(5), found.items.row(0), found.items.row(5)].concat(), &light);
        let found = joined("lr-gccf");
        close(found.users.row(5), &of_new);
        close(&[found.items.row(0), found.items.row(5)].concat(), &[of_first, of_last].concat());
    }

    /// Whoever is attached, and however many: items and users of train have the bits that they have without.
    #[test]
    fn who_is_attached_reaches_nobody() {
        let dataset = train();
        let history = Interactions::from_pairs(3, [(0, 0), (0, 3), (0, 5), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 5)].into_iter());
        let new = NewUsers::beside(dataset.clone(), vec![String::new(); 3], &history, vec![0; 9]);
        for kind in ["light-gcn", "sgl", "sim-gcl", "xsim-gcl", "lr-gccf", "gcn", "gin", "gat", "ngcf", "nia-gcn", "dgcf", "simplex"] {
            let backbone = backbone(kind, &if kind == "dgcf" { json!({"dim": 4, "factors": 2}) } else { json!({}) });
            let (model, parameters) = (backbone.learned().unwrap(), parameters(backbone.learned().unwrap(), &dataset));
            let with = with_zeros(&parameters[0].1, &new, 8).unwrap();
            let tensor = |matrix: &Matrix| Tensor::from_slice(&matrix.values, (matrix.rows, matrix.dim), &Device::Cpu).unwrap();
            let vectors = |dataset: &Dataset, of_users: &Matrix| {
                let tensors: Vec<Tensor> =
                    std::iter::once(of_users).chain(parameters[1..].iter().map(|(_, matrix)| matrix)).map(tensor).collect();
                let encoded = model.formula(dataset, 1).forward(&tensors, None).unwrap();
                let list = |tensor: Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
                (list(encoded.users.narrow(0, 0, 5).unwrap()), list(encoded.items))
            };
            assert_eq!(vectors(new.dataset(), &with), vectors(&dataset, &parameters[0].1), "{kind}");
        }
    }

    /// Whom a model of sequences was trained with has the vector of the training; the order of the history counts.
    #[test]
    fn a_history_in_order_is_read_as_that_of_a_user_of_the_model() {
        let order = dataset::Order { train: vec![1, 0, 0, 1, 2, 0, 1, 0, 1, 0], ..dataset::Order::default() };
        let dataset = Dataset { order: Some(order.clone()), ..train() };
        for model in [
            json!({"sas-rec": {"dim": 4, "hidden": 8, "max_length": 2, "init": {"normal": {"std": 0.5}}}}),
            json!({"gru4rec": {"dim": 4, "hidden": 6, "max_length": 5}}),
        ] {
            let backbone: Backbone = serde_json::from_value(model).unwrap();
            let model = backbone.learned().unwrap();
            let (own, mut encoder) = (model.parameters(&dataset, 3), model.encoder(&dataset, 3));
            encoder.encode(&own).unwrap();
            let (expected, items) = (encoder.vectors(&own)[0].clone(), own.items.values.clone());
            let scorer = || Scorer::Factors(Factors { users: expected.clone(), items: items.clone(), similarity: Similarity::Dot });
            let folded = |places: Vec<u32>| {
                let new = NewUsers::beside(dataset.clone(), dataset.user_ids.clone(), &dataset.train, places);
                let Scorer::Factors(Factors { users, .. }) =
                    backbone.fold_in(Trained { scorer: scorer(), parameters: own.named() }, &new, FoldInSettings::default()).unwrap()
                else {
                    panic!("no vectors")
                };
                users
            };
            let found = folded(order.train.clone());
            assert!(
                found.values.iter().zip(&expected.values).all(|(found, expected)| (found - expected).abs() < 1e-6),
                "{found:?} {expected:?}"
            );
            let turned = folded(order.train.iter().map(|place| 5 - place).collect());
            assert!(turned.row(2).iter().zip(expected.row(2)).any(|(found, expected)| (found - expected).abs() > 1e-3));
        }
    }

    #[test]
    fn parameters_of_another_dataset_are_refused() {
        let (dataset, history) = (train(), Interactions::from_pairs(1, [(0, 0)].into_iter()));
        let backbone = backbone("light-gcn", &json!({}));
        let parameters = parameters(backbone.learned().unwrap(), &dataset);
        let message = |dataset: Dataset| {
            let new = NewUsers::beside(dataset, vec!["new".to_owned()], &history, vec![0]);
            users(backbone.learned().unwrap(), &named(&parameters), &new).unwrap_err().to_string()
        };
        assert!(message(dataset_of([4, 6], &[(0, 0)])).ends_with("5 where a row for each of 4 users are expected"));
        assert!(message(dataset_of([5, 7], &[(0, 0)])).ends_with("6 where a row for each of 7 items are expected"));
    }
}
