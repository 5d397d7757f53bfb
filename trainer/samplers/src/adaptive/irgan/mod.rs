//! IRGAN's pool: a second model, the generator, learns to draw what the model takes for a user's items.
//!
//! ```text
//! negatives  q_j ~ exp(g_uj / t)                  g: the generator's scores; of the items that are not the user's
//! generator  goes up E_G R = sum_j G_j R_j        G = softmax_j g_uj, over all items;  R_j = 2 sigmoid(s_uj) - 1
//!            by draws from p:  mean of R_j G_j / p_j d log G_j      p_j = 0.8 G_j + 0.2 / I_u [j in P_u],  2 I_u draws
//! ```
//! The generator starts from likelihood, in `pretraining_epochs` passes over the users' items; then it stays, while the model learns, and
//! moves at the start of the model's epochs 1 + `every`, 1 + 2 `every`, ... in `generator_epochs` passes over the users. From it as it is
//! each user's draws of the next `redraw_every` epochs are made at once, N for each train item, and a row takes N different ones of its
//! user's: a scan of all items for each user and redrawing, and not for each row. The schedule is the release's, which draws one negative
//! for each train item and keeps it for five epochs.
//!
//! The paper trains the model by `bce` and recommends by the generator. Here the model is what is ranked, as under any sampler, with any
//! loss; the generator is never ranked. The release starts it from a stored model that was trained with `dns`, gives both items a bias,
//! moves by plain gradient descent, user by user, and draws the user's own items too: here there are no biases, Adam moves the generator by
//! the mean of 16 users at a time, and negatives leave the user's items out. Where scores are cosines, R stays within 0.47 of 0.
//! A pass takes time in proportion to users times items: this is for small catalogues.
//! Wang et al., "IRGAN: A Minimax Game for Unifying Generative and Discriminative Information Retrieval Models", SIGIR 2017,
//! arXiv:1705.10513.

use crate::{
    Draws, Error, Facts, Pool, Row, SamplerKind,
    cumulative::Cumulative,
    pool::{PoolKind, PoolSizes},
    proposal::{Proposal, UserItems},
    some_of,
};
use dataset::{Interactions, Location};
use embeddings::inner_product;
use embeddings::{Vectors, dot, dots};
use generator::Generator;
use losses::check_above_zero;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use streams::{Purpose, Stream};

mod generator;
mod policy;
#[cfg(test)]
mod tests;

/// `irgan` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Irgan {
    /// Negatives for each positive.
    pub negatives: u32,
    /// t: temperature of the draws, above 0.
    #[serde(default = "fifth")]
    pub temperature: f64,
    /// Length of the generator's vectors, which start as `normal` with a standard deviation of 0.05.
    #[serde(default = "dim")]
    pub generator_dim: u32,
    /// Learning rate of the generator's Adam, above 0.
    #[serde(default = "learning_rate")]
    pub generator_learning_rate: f64,
    /// Passes of the generator over the users' items before the model's first epoch.
    #[serde(default = "ten")]
    pub pretraining_epochs: u32,
    /// Epochs of the model between two moves of the generator.
    #[serde(default = "hundred")]
    pub every: u32,
    /// Passes over the users when the generator moves.
    #[serde(default = "fifty")]
    pub generator_epochs: u32,
    /// Epochs of the model for which a user's draws are kept.
    #[serde(default = "five")]
    pub redraw_every: u32,
}

/// `irgan` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IrganPool {
    /// t: temperature of the draws, above 0.
    #[serde(default = "fifth")]
    pub temperature: f64,
    /// Length of the generator's vectors, which start as `normal` with a standard deviation of 0.05.
    #[serde(default = "dim")]
    pub generator_dim: u32,
    /// Learning rate of the generator's Adam, above 0.
    #[serde(default = "learning_rate")]
    pub generator_learning_rate: f64,
    /// Passes of the generator over the users' items before the model's first epoch.
    #[serde(default = "ten")]
    pub pretraining_epochs: u32,
    /// Epochs of the model between two moves of the generator.
    #[serde(default = "hundred")]
    pub every: u32,
    /// Passes over the users when the generator moves.
    #[serde(default = "fifty")]
    pub generator_epochs: u32,
    /// Epochs of the model for which a user's draws are kept.
    #[serde(default = "five")]
    pub redraw_every: u32,
}

fn fifth() -> f64 {
    0.2
}

fn dim() -> u32 {
    64
}

fn learning_rate() -> f64 {
    1e-3
}

fn five() -> u32 {
    5
}

fn ten() -> u32 {
    10
}

fn fifty() -> u32 {
    50
}

fn hundred() -> u32 {
    100
}

/// Longer vectors, and more passes, are taken for a slip.
const MOST: u32 = 1 << 16;

impl Irgan {
    pub(crate) fn pool(&self) -> IrganPool {
        IrganPool {
            temperature: self.temperature,
            generator_dim: self.generator_dim,
            generator_learning_rate: self.generator_learning_rate,
            pretraining_epochs: self.pretraining_epochs,
            every: self.every,
            generator_epochs: self.generator_epochs,
            redraw_every: self.redraw_every,
        }
    }
}

impl SamplerKind for Irgan {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Wang et al., SIGIR 2017",
            values: "`temperature` 0.2, `every` 100, `generator_epochs` 50, `redraw_every` 5; `generator_dim` 5 and SGD with 0.001",
            state: "a generator's tables and their moments, (m + n) `generator_dim`; its draws, N for each train pair",
            cost: "O(1) a draw; drawing O(m n `generator_dim`), and moving the generator as much each of its epochs",
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::Irgan(self.pool()), count: Some(self.negatives) }
    }
}

impl PoolKind for IrganPool {
    fn check(&self) -> Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_above_zero("generator_learning_rate", self.generator_learning_rate)?;
        let counts = [
            ("generator_dim", self.generator_dim, 1),
            ("pretraining_epochs", self.pretraining_epochs, 0),
            ("every", self.every, 1),
            ("generator_epochs", self.generator_epochs, 1),
            ("redraw_every", self.redraw_every, 1),
        ];
        match counts.into_iter().find(|(_, count, least)| !(*least..=MOST).contains(count)) {
            Some((key, count, least)) => Err(format!("{key} is {count}: expected {least} to {MOST}")),
            None => Ok(()),
        }
    }

    fn looks_at_model(&self) -> bool {
        true
    }

    /// The generator and its draws, their part of the file of the resume state, and the factors of the model's tables while the generator moves.
    fn memory(&self, draws: u64, PoolSizes { users, items, train, dim }: PoolSizes) -> u64 {
        let kept = train.saturating_mul(draws).saturating_mul(4) + users * 4;
        let lifted = (users + items) * (dim + inner_product::MORE as u64) * 4;
        kept.saturating_mul(2).saturating_add(Generator::memory([users, items], u64::from(self.generator_dim)) + lifted)
    }

    fn prepare(&self, draws: u32, train: &Interactions, items: usize, _cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(Game::new(self, draws as usize, train, items)))
    }
}

impl IrganPool {
    /// Whether the generator moves before an epoch of the model, and how many passes it has then made.
    fn moves(&self, epoch: u32) -> Option<u32> {
        let rounds = (epoch - 1) / self.every;
        (rounds > 0 && (epoch - 1).is_multiple_of(self.every)).then(|| self.pretraining_epochs + (rounds - 1) * self.generator_epochs)
    }

    fn redraws(&self, epoch: u32) -> bool {
        ((epoch - 1) % self.every).is_multiple_of(self.redraw_every)
    }
}

/// The generator, and what it drew.
#[derive(Debug)]
struct Game {
    settings: IrganPool,
    generator: Generator,
    /// N: draws for each train item of a user.
    draws: usize,
    /// `[train, N]`, users after each other.
    ids: Vec<u32>,
    /// `[users]`: the logarithm of the weight of a user's possible negatives together.
    log_masses: Vec<f32>,
}

impl Game {
    /// Makes the game of so many draws for each train item.
    fn new(settings: &IrganPool, draws: usize, train: &Interactions, items: usize) -> Self {
        Self {
            generator: Generator::new(settings.generator_learning_rate, [train.users(), items], settings.generator_dim as usize),
            ids: vec![0; train.len() * draws],
            log_masses: vec![0.0; train.users()],
            settings: settings.clone(),
            draws,
        }
    }

    /// Makes all users' draws.
    fn redraw(&mut self, train: &Interactions, seed: u64, epoch: u32) {
        let (temperature, draws) = (self.settings.temperature, self.draws);
        let (of_users, items) = self.generator.vectors();
        let all: Vec<u32> = (0..items.rows as u32).collect();
        let mut rest = &mut self.ids[..];
        let mut rows = Vec::with_capacity(train.users());
        for (user, log_mass) in self.log_masses.iter_mut().enumerate() {
            let (own, others) = rest.split_at_mut(train.row(user).len() * draws);
            rows.push((user, own, log_mass));
            rest = others;
        }
        let rows = rows.into_par_iter().filter(|(_, ids, _)| !ids.is_empty());
        rows.for_each_init(Vec::new, |scores, (user, ids, log_mass)| {
            scores.resize(items.rows, 0.0);
            dots(of_users.row(user), &items.values, &all, scores);
            train.row(user).iter().for_each(|&item| scores[item as usize] = f32::NEG_INFINITY);
            let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let weight = |&score: &f32| (f64::from(score - max) / temperature).exp();
            let distribution = Cumulative::new(scores.iter().map(weight).collect());
            *log_mass = (f64::from(max) / temperature + distribution.total().ln()) as f32;
            let mut stream = Stream::new(seed, Purpose::Generator, epoch, 0, user as u32);
            ids.fill_with(|| distribution.draw(&mut stream) as u32);
        });
    }
}

impl Proposal for Game {
    /// Takes `ids [N]` of a user's draws.
    fn fill(&self, of: UserItems<'_>, _row: Row<'_>, rng: &mut Stream, ids: &mut [u32]) {
        let (offsets, user) = (of.train.offsets(), of.user as usize);
        some_of(rng, &self.ids[offsets[user] * self.draws..offsets[user + 1] * self.draws], ids);
    }

    fn log_probabilities(&self, of: UserItems<'_>, ids: &[u32], out: &mut [f32]) {
        let user = of.user as usize;
        let (users, items) = self.generator.vectors();
        let score = |id: u32| f64::from(dot(users.row(user), items.row(id as usize)));
        let log_mass = f64::from(self.log_masses[user]);
        out.iter_mut().zip(ids).for_each(|(out, &id)| *out = (score(id) / self.settings.temperature - log_mass) as f32);
    }

    fn is_due(&self, step: u32, _items: usize, _draws: usize) -> bool {
        step == 1
    }

    /// The generator moves, and draws, as is to be done before the epoch.
    fn refresh(&mut self, vectors: Vectors<'_>, train: &Interactions, seed: u64, epoch: u32) {
        let Self { settings, generator, .. } = self;
        let users: Vec<u32> = (0..train.users() as u32).filter(|&user| !train.row(user as usize).is_empty()).collect();
        if epoch == 1 {
            generator.start(seed);
            generator.learn(&users, 0..settings.pretraining_epochs, |_, user, scores| {
                policy::likelihood(scores, train.row(user as usize));
            });
        }
        if let Some(passes) = settings.moves(epoch) {
            let (of_users, items) =
                (inner_product::users(vectors.users, vectors.similarity), inner_product::items(vectors.items, vectors.similarity));
            generator.learn(&users, passes..passes + settings.generator_epochs, |pass, user, scores| {
                let mut stream = Stream::new(seed, Purpose::Generator, epoch, 1 + pass, user);
                policy::reward(scores, train.row(user as usize), &mut stream, |drawn, rewards| {
                    dots(of_users.row(user as usize), &items.values, drawn, rewards);
                    rewards.iter_mut().for_each(|score| *score = (*score / 2.0).tanh()); // 2 sigmoid(s) - 1
                });
            });
        }
        if settings.redraws(epoch) {
            self.redraw(train, seed, epoch);
        }
    }

    /// Everything that the next epoch needs, by name; ids as the numbers of the same bits.
    fn state(&mut self, _within: bool) -> Vec<(String, &mut [f32])> {
        let drawn = [("generator.draws", bytemuck::cast_slice_mut(&mut self.ids)), ("generator.masses", &mut self.log_masses[..])];
        self.generator.state().chain(drawn.map(|(name, values)| (name.to_owned(), values))).collect()
    }
}
