use super::super::testing::dataset;
use super::*;
use crate::testing::scores;

fn settings(text: &str) -> MultVae {
    serde_json::from_str(&format!(r#"{{"dim": 2, "hidden": 3{text}}}"#)).unwrap()
}

/// Numbers of no pattern, so that all layers bend.
fn training<'d>(settings: &MultVae, dataset: &'d Dataset) -> MultVaeTraining<'d> {
    let mut training = MultVaeTraining::new(settings, dataset, 7);
    for (salt, weights) in training.weights.iter_mut().enumerate() {
        weights.values.values.iter_mut().enumerate().for_each(|(at, value)| *value = (salt as f32 + 0.7 * at as f32).sin());
    }
    training
}

/// `[rows, columns]` of f64.
fn product(input: &[f64], weights: &[f64], bias: &[f64]) -> Vec<f64> {
    let dim = input.len();
    bias.iter().enumerate().map(|(row, bias)| bias + (0..dim).map(|at| weights[row * dim + at] * input[at]).sum::<f64>()).collect()
}

/// The mean of L_u over users, with every row and the softmax written out, in f64.
fn dense(train: &Interactions, users: &[u32], rows: &[Numbered], noise: &[f32], weights: &[Vec<f64>], beta: f64) -> f64 {
    let tanh = |values: Vec<f64>| values.into_iter().map(f64::tanh).collect::<Vec<f64>>();
    let of_user = |(place, &user): (usize, &u32)| {
        let mut input = [0.0; 5];
        rows[place].iter().for_each(|(item, value)| input[item as usize] = f64::from(value));
        let by_hidden: Vec<f64> = (0..3).flat_map(|at| (0..5).map(move |item| weights[0][item * 3 + at]).collect::<Vec<f64>>()).collect();
        let hidden = tanh(product(&input, &by_hidden, &weights[1]));
        let latent = product(&hidden, &weights[2], &weights[3]);
        let drawn: Vec<f64> = (0..2).map(|at| latent[at] + (0.5 * latent[2 + at]).exp() * f64::from(noise[place * 2 + at])).collect();
        let decoded = tanh(product(&drawn, &weights[4], &weights[5]));
        let logits = product(&decoded, &weights[6], &weights[7]);
        let log_sum = logits.iter().map(|logit| logit.exp()).sum::<f64>().ln();
        let likelihood: f64 = train.row(user as usize).iter().map(|&item| log_sum - logits[item as usize]).sum();
        let divergence: f64 = (0..2).map(|at| 0.5 * (latent[at].powi(2) + latent[2 + at].exp() - latent[2 + at] - 1.0)).sum();
        likelihood + beta * divergence
    };
    users.iter().enumerate().map(of_user).sum::<f64>() / users.len() as f64
}

/// The loss of a step, and the gradients: Adam's first moment after one step is a tenth of them.
#[test]
fn a_step_follows_the_formula() {
    let dataset = dataset();
    let mut training = training(&settings(r#", "dropout": 0.3"#), &dataset);
    let users = [0, 2, 3, 4];
    let (rows, noise) = (training.dropped(&users, 1, 2), training.noise(&users, 1, 2));
    assert!(rows.iter().map(|row| row.ids.len()).sum::<usize>() < 8, "nothing is dropped");
    let start: Vec<Vec<f64>> =
        training.weights.iter().map(|weights| weights.values.values.iter().copied().map(f64::from).collect()).collect();
    let value = |weights: &[Vec<f64>]| dense(&dataset.train, &users, &rows, &noise, weights, 0.4);
    let total = training.step(&users, &rows, &noise, 0.4, &mut Stepper::new(&adam(), 0));
    assert!((total / 4.0 - value(&start)).abs() < 1e-5, "{total} {}", value(&start));
    for (which, weights) in training.weights.iter().enumerate() {
        for (at, found) in weights.first.iter().enumerate() {
            let moved = |by: f64| {
                let mut parameters = start.clone();
                parameters[which][at] += by;
                value(&parameters)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((f64::from(found * 10.0) - difference).abs() < 1e-4, "{}, {at}: {} {difference}", weights.name, found * 10.0);
        }
    }
}

/// More users than one task takes.
#[test]
fn a_batch_of_copies_moves_as_the_batch() {
    let dataset = dataset();
    let moved = |copies: usize| {
        let mut training = training(&settings(r#", "dropout": 0.3"#), &dataset);
        let users = [0, 2, 3, 4];
        let (rows, noise) = (training.dropped(&users, 1, 2), training.noise(&users, 1, 2));
        let (users, rows, noise) = (users.repeat(copies), vec![rows; copies].concat(), noise.repeat(copies));
        let total = training.step(&users, &rows, &noise, 0.4, &mut Stepper::new(&adam(), 0));
        (total / copies as f64, training.weights.map(|weights| weights.first))
    };
    let ((loss, gradients), (loss_of_copies, gradients_of_copies)) = (moved(1), moved(40));
    assert!((loss - loss_of_copies).abs() < 1e-5 * loss, "{loss} {loss_of_copies}");
    for (expected, found) in gradients.concat().iter().zip(gradients_of_copies.concat()) {
        assert!((expected - found).abs() < 1e-6, "{found} {expected}");
    }
}

/// Seven chunks and a half of items.
#[test]
fn a_softmax_in_chunks_is_that_of_all_items() {
    let (users, items, dim) = (3, 15_360, 2);
    assert_eq!(items::chunk_items(items), 2048);
    let pairs = [(0, 0), (0, 2048), (1, 7), (2, items as u32 - 1), (2, 2047)];
    let train = Interactions::from_pairs(users, pairs.into_iter());
    let number = |at: usize| (0.37 * at as f32).sin() * 3.0;
    let hidden: Vec<f32> = (0..users * dim).map(number).collect();
    let matrix = |rows: usize, dim: usize, salt: usize| Matrix { rows, dim, values: (0..rows * dim).map(|at| number(at + salt)).collect() };
    let mut weights = [Parameter::new("w", matrix(items, dim, 3)), Parameter::new("b", matrix(1, items, 11))];
    let logit = |user: usize, item: usize| {
        let sum: f64 = (0..dim).map(|at| f64::from(hidden[user * dim + at]) * f64::from(number(item * dim + at + 3))).sum();
        sum + f64::from(number(item + 11))
    };
    let log_sum = |user: usize| (0..items).map(|item| logit(user, item).exp()).sum::<f64>().ln();
    let expected: f64 = pairs.iter().map(|&(user, item)| log_sum(user as usize) - logit(user as usize, item as usize)).sum();
    let [w, b] = &mut weights;
    let (loss, of_hidden) = Batch { train: &train, users: &[0, 1, 2], hidden: &hidden }.step([w, b], &Stepper::new(&adam(), 0));
    assert!((loss - expected).abs() < 1e-4 * expected, "{loss} {expected}");
    for user in 0..users {
        let (count, log_sum) = (train.row(user).len() as f64, log_sum(user));
        for at in 0..dim {
            let weight = |item: usize| f64::from(number(item * dim + at + 3));
            let mean: f64 = (0..items).map(|item| (logit(user, item) - log_sum).exp() * weight(item)).sum();
            let own: f64 = train.row(user).iter().map(|&item| weight(item as usize)).sum();
            let expected = (count * mean - own) / 3.0;
            assert!(
                (f64::from(of_hidden[user * dim + at]) - expected).abs() < 1e-4,
                "{user} {at}: {} {expected}",
                of_hidden[user * dim + at]
            );
        }
    }
}

fn trained(threads: usize, from: Option<(Vec<Vec<f32>>, u32)>, to: u32) -> (Vec<Vec<f32>>, f64) {
    let (dataset, pool) = (dataset(), rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    let settings = settings(r#", "batch_size": 2, "anneal_steps": 10, "optimizer": {"adam": {"learning_rate": 0.01}}"#);
    let mut training = settings.start(&dataset, 3).unwrap();
    let first = from.as_ref().map_or(1, |(_, epoch)| epoch + 1);
    if let Some((state, _)) = from {
        training.state().into_iter().zip(state).for_each(|((_, target), values)| target.copy_from_slice(&values));
    }
    let loss = pool.install(|| (first..=to).map(|epoch| training.epoch(epoch).unwrap()).last().unwrap());
    (training.state().into_iter().map(|(_, values)| values.to_vec()).collect(), loss)
}

#[test]
fn any_number_of_threads_and_any_stop_give_the_same_bits() {
    let whole = trained(1, None, 5);
    assert_eq!(trained(3, None, 5), whole);
    let (half, _) = trained(1, None, 2);
    assert_eq!(trained(1, Some((half, 2)), 5), whole);
}

#[test]
fn the_loss_falls() {
    let (first, last) = (trained(1, None, 1).1, trained(1, None, 200).1);
    assert!(last < 0.9 * first, "{first} {last}");
}

#[test]
fn the_weight_of_the_divergence_grows_to_its_end() {
    let dataset = dataset();
    let beta = |steps: u32, step: u64| training(&settings(&format!(r#", "kl_weight": 0.5, "anneal_steps": {steps}"#)), &dataset).beta(step);
    assert_eq!([beta(4, 1), beta(4, 2), beta(4, 9), beta(0, 1)], [0.25, 0.5, 0.5, 0.5]);
}

/// Without noise and dropout: the decoded mean of the user's row. A user without items has that of an empty one.
#[test]
fn what_is_ranked_are_the_decoded_means() {
    let mut dataset = dataset();
    dataset.train = Interactions::from_pairs(5, dataset.train.pairs().filter(|&(user, _)| user != 3).collect::<Vec<_>>().into_iter());
    let training = training(&settings(""), &dataset);
    let weights: Vec<Vec<f64>> =
        training.weights.iter().map(|weights| weights.values.values.iter().copied().map(f64::from).collect()).collect();
    let tanh = |values: Vec<f64>| values.into_iter().map(f64::tanh).collect::<Vec<f64>>();
    let expected = |items: &[usize]| {
        let value = |at: usize| items.iter().map(|item| weights[0][item * 3 + at]).sum::<f64>() / (items.len() as f64).sqrt().max(1.0);
        let hidden = tanh((0..3).map(|at| weights[1][at] + value(at)).collect());
        let decoded = tanh(product(&product(&hidden, &weights[2], &weights[3])[..2], &weights[4], &weights[5]));
        product(&decoded, &weights[6], &weights[7])
    };
    let scorer = training.scorer().unwrap();
    let empty = Dataset { train: Interactions::empty(5), ..dataset.clone() };
    for (user, items) in [(2, &[0, 3, 4][..]), (3, &[])] {
        let found = scores(&scorer, &empty, user);
        let close = found.iter().zip(expected(items)).all(|(found, expected)| (f64::from(*found) - expected).abs() < 1e-5);
        assert!(close, "{user}: {found:?} {:?}", expected(items));
    }
}

/// Scores are W_4 W_3 W_2 W_1 x / |x|, with the rows of W_2 for mu alone, and the loss is that of their softmax: with `kl_weight` 0,
/// without dropout, noise and biases, and in the limit of small weights, where tanh does not bend. W_1 is small here, and W_4 as much
/// larger: all losses would be alike otherwise.
#[test]
fn of_small_hidden_layers_it_is_a_linear_autoencoder() {
    let dataset = dataset();
    let mut training = training(&settings(r#", "dropout": 0, "kl_weight": 0"#), &dataset);
    let scales = [1e-3f32, 0.0, 1.0, 0.0, 1.0, 0.0, 1e3, 0.0]; // biases are every second
    for (weights, scale) in training.weights.iter_mut().zip(scales) {
        weights.values.values.iter_mut().for_each(|value| *value *= scale);
    }
    let weights: Vec<Vec<f64>> =
        training.weights.iter().map(|weights| weights.values.values.iter().copied().map(f64::from).collect()).collect();
    let linear = |user: u32| {
        let items = dataset.train.row(user as usize);
        let sum = |at: usize| items.iter().map(|&item| weights[0][item as usize * 3 + at]).sum::<f64>();
        let hidden: Vec<f64> = (0..3).map(|at| sum(at) / (items.len() as f64).sqrt()).collect();
        let mean = product(&hidden, &weights[2], &[0.0; 2]);
        product(&product(&mean, &weights[4], &[0.0; 3]), &weights[6], &[0.0; 5])
    };
    let users = [0, 1, 2, 3, 4];
    let scorer = training.scorer().unwrap();
    let empty = Dataset { train: Interactions::empty(5), ..dataset.clone() };
    for user in users {
        let (found, expected) = (scores(&scorer, &empty, user), linear(user));
        let largest = expected.iter().fold(0.0f64, |largest, score| largest.max(score.abs()));
        let close = found.iter().zip(&expected).all(|(found, expected)| (f64::from(*found) - expected).abs() < 1e-4 * largest);
        assert!(largest > 1.0 && close, "{user}: {found:?} {expected:?}");
    }
    let of_user = |user: u32| {
        let scores = linear(user);
        let log_sum = scores.iter().map(|score| score.exp()).sum::<f64>().ln();
        dataset.train.row(user as usize).iter().map(|&item| log_sum - scores[item as usize]).sum::<f64>()
    };
    let expected: f64 = users.into_iter().map(of_user).sum();
    let (rows, beta) = (training.dropped(&users, 1, 1), training.beta(1));
    let loss = training.step(&users, &rows, &[0.0; 10], beta, &mut Stepper::new(&adam(), 0));
    assert!((loss - expected).abs() < 1e-4 * expected, "{loss} {expected}");
}

#[test]
fn values_out_of_range_are_named() {
    let check = |text: &str| serde_json::from_str::<MultVae>(text).unwrap().check().unwrap_err();
    assert_eq!(check(r#"{"dim": 0}"#), "dim is 0, expected 1 to 16384");
    assert_eq!(check(r#"{"hidden": 20000}"#), "hidden is 20000, expected 1 to 16384");
    assert_eq!(check(r#"{"kl_weight": -1}"#), "kl_weight is -1, expected a number of at least 0");
    assert_eq!(check(r#"{"batch_size": 0}"#), "batch_size is 0, expected at least 1");
}

/// A history that is a train row has the vector of its user; the network is that of the parameters.
#[test]
fn a_new_user_has_the_vector_of_a_user_with_the_same_items() {
    let dataset = dataset();
    let training = training(&settings(""), &dataset);
    let Scorer::Factors(Factors { users, .. }) = training.scorer().unwrap() else { panic!("no vectors") };
    let folded = Network.encode(&training.parameters(), &Interactions::from_pairs(2, [(0, 0), (0, 3), (0, 4)].into_iter())).unwrap();
    assert_eq!((folded.rows, folded.row(0)), (2, users.row(2)));
    assert_ne!(folded.row(1), folded.row(0), "a history without items");
    let message = Network.encode(&training.parameters()[1..].to_vec(), &Interactions::empty(1)).unwrap_err().to_string();
    assert_eq!(message, "the stored parameters are 7, expected the 8 of mult-vae");
}
