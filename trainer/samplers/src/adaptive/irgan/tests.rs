//! The distribution of the draws, the generator's gradient, and the schedule.

use super::{
    super::tests::{sampler, vectors},
    generator::{Generator, Lesson},
    *,
};
use crate::{Pool, Prepared, Row, Sampler};
use embeddings::Tables;
use testing::assert_drawn_from;
use vectors::{Matrix, Similarity};

/// A generator whose vectors are given.
fn tables(users: &[f32], items: &[f32]) -> Tables {
    let table = |values: &[f32]| Matrix { rows: values.len() / 2, dim: 2, values: values.to_vec() };
    Tables { users: table(users), items: table(items) }
}

#[track_caller]
fn assert_near(found: &[f32], expected: &[f64]) {
    let near = found.iter().zip(expected).all(|(&found, expected)| (f64::from(found) - expected).abs() < 1e-6);
    assert!(found.len() == expected.len() && near, "{found:?} {expected:?}");
}

/// Central differences, by an independent program, of `sum_j G_j R_j` and of the mean of `log G_j` over items 1 and 3.
#[test]
fn expected_gradients_are_those_of_the_expected_reward() {
    let tables = tables(&[0.8, -0.5], &[0.3, 0.9, -0.4, 0.2, 1.1, -0.7, 0.5, 0.5]);
    let mut lesson = Lesson::new(tables.both());
    lesson.take(tables.both(), &[0], |_, scores| policy::tests::expected_derivatives(scores));
    assert_near(lesson.users.values(), &[0.16211499, -0.19097378]); // of minus the reward
    let items = [-0.01575153, 0.00984471, -0.05076427, 0.03172767, 0.13475641, -0.08422276, -0.06824061, 0.04265038];
    assert_near(lesson.items.values(), &items);
    lesson.take(tables.both(), &[0], |_, scores| policy::likelihood(scores, &[1, 3]));
    assert_near(lesson.users.values(), &[0.66473215, -0.50750395]);
    let items = [0.10717238, -0.06698274, -0.31312775, 0.19570485, 0.45234204, -0.28271377, -0.24638667, 0.15399167];
    assert_near(lesson.items.values(), &items);
}

/// Users have steps of several users in common: the mean of their gradients.
#[test]
fn a_step_is_the_mean_of_its_users() {
    let tables = tables(&[0.8, -0.5, -0.1, 0.4], &[0.3, 0.9, -0.4, 0.2, 1.1, -0.7]);
    let mut lesson = Lesson::new(tables.both());
    let mut gradients = |users: &[u32]| {
        lesson.take(tables.both(), users, |user, scores| policy::likelihood(scores, &[user]));
        (lesson.users.values().to_vec(), lesson.items.values().to_vec())
    };
    let (both, one, other) = (gradients(&[0, 1]), gradients(&[0]), gradients(&[1]));
    let mean = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(one, other)| f64::from(one + other) / 2.0).collect::<Vec<f64>>();
    assert_near(&both.0[..2], &mean(&one.0[..2], &[0.0, 0.0]));
    assert_near(&both.0[2..], &mean(&other.0[2..], &[0.0, 0.0]));
    assert_near(&both.1, &mean(&one.1, &other.1));
}

#[test]
fn likelihood_teaches_the_users_items() {
    let mut generator = Generator::new(0.05, [3, 6], 4);
    generator.start(1);
    generator.learn(&[0, 1, 2], 0..300, |_, user, scores| policy::likelihood(scores, &[user]));
    let (users, items) = generator.vectors();
    for user in 0..3 {
        let weights: Vec<f32> = (0..6).map(|item| dot(users.row(user), items.row(item)).exp()).collect();
        assert!(weights[user] > 0.9 * weights.iter().sum::<f32>(), "user {user}: {weights:?}");
    }
}

const USERS: u32 = 6_000;

/// Users with items 0 and 3 of seven.
fn train() -> Interactions {
    Interactions::from_pairs(USERS as usize, (0..USERS).flat_map(|user| [(user, 0), (user, 3)]))
}

/// The generator's vectors, the same for every user.
fn game(draws: usize, temperature: f64) -> (Game, Vec<f64>) {
    let settings = IrganPool { temperature, generator_dim: 5, ..serde_json::from_str("{}").unwrap() };
    let mut game = Game::new(&settings, draws, &train(), 7);
    let (user, items) = vectors(7, 5);
    let score = |item: usize| -> f64 { user.row(0).iter().zip(items.row(item)).map(|(&p, &q)| f64::from(p) * f64::from(q)).sum() };
    let weight = |item: usize| if [0, 3].contains(&item) { 0.0 } else { (score(item) / temperature).exp() };
    let distribution: Vec<f64> = (0..7).map(|item| weight(item) / (0..7).map(weight).sum::<f64>()).collect();
    for (name, values) in game.state(true) {
        match &name[..] {
            "generator.users" => values.chunks_exact_mut(5).for_each(|row| row.copy_from_slice(user.row(0))),
            "generator.items" => values.copy_from_slice(&items.values),
            _ => {}
        }
    }
    (game, distribution)
}

/// Three candidates a row, of the six draws of its user: independent ones, so that all of them together have the distribution.
#[test]
fn draws_have_the_exact_distribution() {
    for temperature in [0.2, 1.0] {
        let (mut game, distribution) = game(3, temperature);
        game.redraw(&train(), 7, 1);
        let mut found = vec![0.0; 7];
        for user in 0..USERS {
            let (mut ids, mut log_probabilities) = ([0; 3], [0.0; 3]);
            let of = UserItems { user, train: &train(), items: 7 };
            game.fill(of, Row::alone(user), &mut Stream::new(7, Purpose::Negatives, 1, 1, user), &mut ids);
            game.log_probabilities(of, &ids, &mut log_probabilities);
            for (&id, &log_probability) in ids.iter().zip(&log_probabilities) {
                found[id as usize] += 1.0;
                assert!((f64::from(log_probability) - distribution[id as usize].ln()).abs() < 1e-5, "item {id}: {log_probability}");
            }
        }
        assert_drawn_from(&found, &distribution, 1.0);
    }
}

/// Far beyond what an exponential holds.
#[test]
fn the_users_own_items_may_have_all_the_weight() {
    let (mut game, _) = game(1, 0.2);
    let values = game.state(true).into_iter().find_map(|(name, values)| (name == "generator.items").then_some(values)).unwrap();
    let (user, _) = vectors(7, 5);
    values[..5].iter_mut().zip(user.row(0)).for_each(|(value, user)| *value = 1e4 * user);
    game.redraw(&train(), 7, 1);
    assert!(game.ids.iter().all(|id| ![0, 3].contains(id)));
    let mut own = [0.0];
    game.log_probabilities(UserItems { user: 0, train: &train(), items: 7 }, &[0], &mut own);
    assert!(own[0].is_finite() && own[0] > 1e3, "{own:?}");
}

/// The model likes item 2 alone: so does the generator, when it has moved, and not before.
#[test]
fn the_generator_follows_the_model_when_it_is_time() {
    let train = Interactions::from_pairs(40, (0..40u32).map(|user| (user, user % 2)));
    let text = r#"{"irgan": {"generator_dim": 4, "generator_learning_rate": 0.02, "pretraining_epochs": 0, "every": 3, "redraw_every": 2,
        "generator_epochs": 60}}"#;
    let pool: Pool = serde_json::from_str(text).unwrap();
    let mut prepared = Prepared::new(&sampler(&pool, 5), &train, 6).unwrap();
    let users = Matrix { rows: 40, dim: 1, values: vec![1.0; 40] };
    let items = Matrix { rows: 6, dim: 1, values: vec![-4.0, -4.0, 4.0, -4.0, -4.0, -4.0] };
    let mut drawn = |epoch: u32| {
        prepared.refresh(Vectors { users: &users, items: &items, similarity: Similarity::Dot }, 7, epoch);
        let mut ids = [0; 200];
        for (user, ids) in ids.chunks_exact_mut(5).enumerate() {
            prepared.draw(&mut Stream::new(7, Purpose::Negatives, 1, 1, user as u32), Row::alone(user as u32), ids, None);
        }
        ids
    };
    let [first, second, third, fourth] = [1, 2, 3, 4].map(&mut drawn);
    let share = |ids: &[u32]| ids.iter().filter(|&&id| id == 2).count();
    assert!(first == second && second != third, "draws are kept for two epochs");
    assert!(share(&first) < 80 && share(&third) < 80 && share(&fourth) > 180, "{first:?} {third:?} {fourth:?}");
}

#[test]
fn wrong_values_are_named() {
    let message = |text: &str| serde_json::from_str::<Sampler>(text).unwrap().check().unwrap_err();
    assert!(message(r#"{"irgan": {"negatives": 0}}"#).starts_with("negatives is 0"));
    assert!(message(r#"{"irgan": {"negatives": 1, "temperature": 0}}"#).starts_with("temperature is 0"));
    assert!(message(r#"{"irgan": {"negatives": 1, "generator_dim": 0}}"#).starts_with("generator_dim is 0"));
    assert!(message(r#"{"irgan": {"negatives": 1, "every": 0}}"#).starts_with("every is 0: expected 1 to 65536"));
    assert!(message(r#"{"irgan": {"negatives": 1, "generator_epochs": 0}}"#).starts_with("generator_epochs is 0"));
    assert!(message(r#"{"irgan": {"negatives": 1, "redraw_every": 0}}"#).starts_with("redraw_every is 0"));
    assert!(message(r#"{"dns": {"candidates": 9, "pool": {"irgan": {"generator_learning_rate": 0}}}}"#).starts_with("generator_learning"));
    assert!(message(r#"{"dns": {"pool": {"irgan": {}}}}"#).contains("give `candidates`"));
}

/// Tables, moments and draws in memory, and once more in the file of the resume state.
#[test]
fn memory_holds_what_is_kept() {
    let (mut game, _) = game(3, 0.2);
    let kept: usize = game.state(true).iter().map(|(_, values)| values.len() * 4).sum();
    let sizes = PoolSizes { users: train().users() as u64, items: 7, train: train().len() as u64, dim: 5 };
    let counted = game.settings.memory(3, sizes);
    assert!((2 * kept as u64..4 * kept as u64).contains(&counted), "{counted} for {kept}");
}
