//! Mult-VAE: a variational autoencoder of the items of a user, with a multinomial likelihood.
//!
//! ```text
//! h = tanh(W_1 x / |x| + b_1)        [mu, log sigma^2] = W_2 h + b_2        z = mu + sigma * epsilon
//! g = tanh(W_3 z + b_3)              s(u, .) = W_4 g + b_4                  x: the binary train row of u
//! L_u = -sum over train items of log softmax(s(u, .)) + beta KL(N(mu, sigma^2) || N(0, 1))
//! ```
//! beta = min(`kl_weight`, step / `anneal_steps`). In training a share of the numbers of x is dropped; ranked is by z = mu. The loss is the mean of L_u
//! over the users of a batch. W_1 is looked up for the items of x alone, and the last layer is made some items at a time. Matrices start as
//! `xavier-normal` does, biases at 0. Liang et al., WWW 2018.

use super::{
    BackboneKind, Epochs, Facts, FoldIn, HistoryEncoder, Init, NamedMatrices, Sizes, Stored, XavierNormal,
    by_users::{ByItem, Numbered, UserBatches},
    kind::Iterative,
    limits::{check_layer, check_share},
    noise::{dropout, normal},
    operations::column_sums,
};
use crate::parameters::weights_state;
use crate::{Error, Result};
use dataset::{Dataset, Interactions};
use dense::ROWS;
use embeddings::weighted_sum;
use evaluator::{Factors, Scorer};
use items::Batch;
use middle::{Derivatives, Middle};
use optimizers::{Adam, Optimizer, Parameter, Stepper};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use streams::{Purpose, Stream};
use vectors::{Matrix, Similarity};

mod dense;
mod items;
mod middle;
#[cfg(test)]
mod tests;

/// Users of a block whose vectors are made to be ranked.
const USERS: usize = 1024;

/// `mult-vae` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultVae {
    /// Numbers of the latent vector z.
    #[serde(default = "latent")]
    pub dim: u32,
    /// Numbers of the hidden layers h and g.
    #[serde(default = "hidden")]
    pub hidden: u32,
    /// The share of a user's items that is dropped in training, from 0 to below 1.
    #[serde(default = "half")]
    pub dropout: f64,
    /// The weight of the KL divergence at the end, at least 0.
    #[serde(default = "kl_weight")]
    pub kl_weight: f64,
    /// Steps over which that weight would grow from 0 to 1; it stops at `kl_weight`, and 0 has it there from the first step on.
    #[serde(default = "anneal_steps")]
    pub anneal_steps: u32,
    /// Users of a step.
    #[serde(default = "users")]
    pub batch_size: u32,
    /// How parameters move.
    #[serde(default = "adam")]
    pub optimizer: Optimizer,
}

fn latent() -> u32 {
    200
}

fn hidden() -> u32 {
    600
}

fn half() -> f64 {
    0.5
}

fn kl_weight() -> f64 {
    0.2
}

fn anneal_steps() -> u32 {
    200_000
}

fn users() -> u32 {
    500
}

fn adam() -> Optimizer {
    Optimizer::Adam(Adam::new(0.001))
}

impl BackboneKind for MultVae {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Liang et al. 2018",
            cost: "3 `hidden` multiplications of each user of the batch for each item, and `hidden` for each of its train interactions",
            unknown_user: "as every user without items: by the decoded mean of an empty row",
            values: "`dim` 200, `hidden` 600, `dropout` 0.5, `kl_weight` 0.2, `anneal_steps` 200,000, `batch_size` 500 (Mult-VAE)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_layer("dim", self.dim)?;
        check_layer("hidden", self.hidden)?;
        if !(self.kl_weight >= 0.0 && self.kl_weight.is_finite()) {
            return Err(format!("kl_weight is {}, expected a number of at least 0", self.kl_weight));
        }
        if self.batch_size == 0 {
            return Err("batch_size is 0, expected at least 1".to_owned());
        }
        check_share("dropout", self.dropout)?;
        self.optimizer.check_without_loss()
    }

    /// 1: the divergence comes in towards a weight of 1, as in the release. 2: the noise has other numbers. 3: tanh is rounded in another way, and small
    /// catalogues have more chunks.
    fn revision(&self) -> u32 {
        3
    }

    /// The decoder's hidden layer with a 1 behind it, and W_4 with b_4.
    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.hidden as usize + 1 }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::Encoder(Box::new(Network))
    }
}

impl Iterative for MultVae {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Box<dyn Epochs + 'd>> {
        Ok(Box::new(MultVaeTraining::new(self, dataset, seed)))
    }

    /// W_1 and W_4 with their moments; the gradient of W_1; of a batch a softmax over the items, and what each chunk of items gives back; what ranks
    /// or is stored, the parameters among it.
    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        let Sizes { users, items, .. } = sizes;
        let (hidden, batch) = (u64::from(self.hidden), u64::from(self.batch_size).min(users));
        let tables = 2 * 3 * items * hidden * 4;
        let chunk = items::chunk_items(items as usize) as u64;
        let chunks = items.div_ceil(chunk);
        let of_chunk = 2 * batch * chunk * 4 + chunk * hidden * 4;
        let threads = rayon::current_num_threads() as u64;
        let step = items * hidden * 4 + batch * items * 4 + threads * of_chunk + (chunks + 8) * batch * hidden * 4;
        tables + step.max(self.stored().fitted(sizes, ranking) + tables / 3).max(tables)
    }
}

struct MultVaeTraining<'d> {
    settings: MultVae,
    train: &'d Interactions,
    seed: u64,
    batches: UserBatches,
    /// W_1 `[items, hidden]`, b_1; W_2, b_2; W_3, b_3; W_4 `[items, hidden]`, b_4.
    weights: [Parameter; 8],
}

impl<'d> MultVaeTraining<'d> {
    fn new(settings: &MultVae, dataset: &'d Dataset, seed: u64) -> Self {
        let (items, hidden, dim) = (dataset.items(), settings.hidden as usize, settings.dim as usize);
        let matrix = |name: &str, shape: [usize; 2], which: u32| {
            Parameter::new(name, Init::XavierNormal(XavierNormal {}).matrix(shape, seed, which))
        };
        let bias = |name: &str, dim: usize| Parameter::new(name, Matrix { rows: 1, dim, values: vec![0.0; dim] });
        let weights = [
            matrix("encoder", [items, hidden], 0),
            bias("encoder.bias", hidden),
            matrix("latent", [2 * dim, hidden], 1),
            bias("latent.bias", 2 * dim),
            matrix("decoder", [hidden, dim], 2),
            bias("decoder.bias", hidden),
            matrix("items", [items, hidden], 3),
            bias("items.bias", items),
        ];
        let batches = UserBatches::new(&dataset.train, settings.batch_size, seed);
        Self { settings: settings.clone(), train: &dataset.train, seed, batches, weights }
    }

    /// beta in a step, counted from 1 over all epochs.
    fn beta(&self, step: u64) -> f64 {
        match self.settings.anneal_steps {
            0 => self.settings.kl_weight,
            steps => self.settings.kl_weight.min(step as f64 / f64::from(steps)),
        }
    }

    /// x / |x| of the users with some of the numbers dropped in a step.
    fn dropped(&self, users: &[u32], epoch: u32, step: u32) -> Vec<Numbered> {
        let drop = dropout(self.settings.dropout as f32);
        let mut rows = rows(self.train, users);
        rows.par_iter_mut().zip(users).for_each(|(row, &user)| {
            let mut factors = vec![1.0; row.ids.len()];
            drop(&mut Stream::new(self.seed, Purpose::Dropout, epoch, step, user), &mut factors);
            let kept = row.iter().zip(factors).filter(|&(_, factor)| factor > 0.0).map(|((id, number), factor)| (id, number * factor));
            let (ids, numbers) = kept.unzip();
            *row = Numbered { ids, numbers };
        });
        rows
    }

    /// epsilon `[B, dim]` of a step.
    fn noise(&self, users: &[u32], epoch: u32, step: u32) -> Vec<f32> {
        let dim = self.settings.dim as usize;
        let mut noise = vec![0.0; users.len() * dim];
        let fill = |(values, &user): (&mut [f32], &u32)| normal(&mut Stream::new(self.seed, Purpose::Noise, epoch, step, user), values);
        noise.par_chunks_exact_mut(dim).zip(users).for_each(fill);
        noise
    }

    fn matrices(&self) -> [&Matrix; 8] {
        self.weights.each_ref().map(|weights| &weights.values)
    }

    /// One step; the sum of L_u over the batch.
    fn step(&mut self, users: &[u32], rows: &[Numbered], noise: &[f32], beta: f64, stepper: &mut Stepper) -> f64 {
        let middle = Middle::forward(self.matrices(), rows, Some(noise));
        let (width, dim) = (self.settings.hidden as usize, self.settings.dim as usize);
        let [first, first_bias, second, second_bias, third, third_bias, last, last_bias] = &mut self.weights;
        let batch = Batch { train: self.train, users, hidden: &middle.decoded };
        let (likelihood, mut of_decoded) = batch.step([last, last_bias], stepper);
        let share = (beta / users.len() as f64) as f32;
        let Derivatives { of_latent, of_hidden, divergence } =
            middle.backward([&second.values, &third.values], noise, share, &mut of_decoded);
        let items = first.values.rows;
        let of_networks = || {
            rayon::join(
                || dense::gradients(&of_latent, &middle.hidden, [width, 2 * dim]),
                || dense::gradients(&of_decoded, &middle.drawn, [dim, width]),
            )
        };
        let of_first = || (ByItem::new(rows, items), column_sums(&of_hidden, width));
        let ((pairs, of_first_bias), (of_second, of_third)) = rayon::join(of_first, of_networks);
        stepper.move_blocks(first, ROWS, |block, _, gradients, touched| {
            for (item, (gradient, touched)) in (block * ROWS..).zip(gradients.chunks_exact_mut(width).zip(touched)) {
                let (places, numbers) = pairs.of(item);
                *touched = !places.is_empty();
                gradient.fill(0.0);
                weighted_sum(&of_hidden, places, numbers, gradient);
            }
        });
        stepper.move_by(first_bias, of_first_bias);
        for (weights, gradient) in [second, second_bias, third, third_bias].into_iter().zip(of_second.into_iter().chain(of_third)) {
            stepper.move_by(weights, gradient);
        }
        stepper.finish_step();
        likelihood + beta * divergence
    }
}

impl Epochs for MultVaeTraining<'_> {
    fn epoch(&mut self, epoch: u32) -> Result<f64> {
        let before = u64::from(epoch - 1) * self.batches.steps();
        let mut stepper = Stepper::new(&self.settings.optimizer, before);
        let mut total = 0.0;
        for (users, step) in self.batches.of_epoch(epoch).iter().zip(1..) {
            let (rows, noise) = (self.dropped(users, epoch, step), self.noise(users, epoch, step));
            let beta = self.beta(before + u64::from(step));
            let loss = self.step(users, &rows, &noise, beta, &mut stepper);
            if !loss.is_finite() {
                return Err(Error::NotFinite { epoch, step, tensor: format!("the loss (value {loss})") });
            }
            total += loss;
        }
        match self.weights.par_iter().find_map_first(Parameter::not_finite) {
            Some(tensor) => Err(Error::NotFinite { epoch, step: self.batches.steps() as u32, tensor }),
            None => Ok(total / self.batches.len().max(1) as f64),
        }
    }

    fn state(&mut self) -> Vec<(String, &mut [f32])> {
        weights_state(&mut self.weights).collect()
    }

    fn scorer(&self) -> Result<Scorer> {
        let [.., last, last_bias] = self.matrices();
        let dim = self.settings.hidden as usize;
        let rows = last.values.chunks_exact(dim).zip(&last_bias.values);
        let values: Vec<f32> = rows.flat_map(|(row, &bias)| row.iter().copied().chain([bias])).collect();
        let items = Matrix { rows: last.rows, dim: dim + 1, values };
        Ok(Factors { users: vectors(self.matrices(), self.train), items, similarity: Similarity::Dot }.into())
    }

    fn parameters(&self) -> NamedMatrices<'_> {
        self.weights.iter().map(|weights| (&weights.name[..], &weights.values)).collect()
    }
}

/// The network, which makes vectors of any histories.
struct Network;

impl HistoryEncoder for Network {
    fn encode(&self, parameters: &NamedMatrices<'_>, histories: &Interactions) -> Result<Matrix> {
        let matrices: Vec<&Matrix> = parameters.iter().map(|&(_, matrix)| matrix).collect();
        let expected = || Error::Impossible(format!("the stored parameters are {}, expected the 8 of mult-vae", parameters.len()));
        Ok(vectors(matrices.try_into().map_err(|_| expected())?, histories))
    }
}

/// x / |x| of users as it is ranked.
fn rows(of: &Interactions, users: &[u32]) -> Vec<Numbered> {
    let row = |&user: &u32| {
        let ids = of.row(user as usize).to_vec();
        Numbered { numbers: vec![1.0 / (ids.len() as f32).sqrt(); ids.len()], ids }
    };
    users.par_iter().map(row).collect()
}

/// The vectors of all histories by z = mu: the decoder's hidden layer with a 1 behind it.
fn vectors(weights: [&Matrix; 8], histories: &Interactions) -> Matrix {
    let everyone: Vec<u32> = (0..histories.users() as u32).collect();
    let hidden = weights[0].dim;
    let mut values = Vec::with_capacity(everyone.len() * (hidden + 1));
    for block in everyone.chunks(USERS) {
        let Middle { decoded, .. } = Middle::forward(weights, &rows(histories, block), None);
        decoded.chunks_exact(hidden).for_each(|row| values.extend(row.iter().copied().chain([1.0])));
    }
    Matrix { rows: everyone.len(), dim: hidden + 1, values }
}
