//! Runs one hot path a number of times on one thread, for counting instructions: `kernels draw|rank|train REPEATS`.
//!
//! `benches/instructions` takes the difference between two numbers of repeats, in which starting and ending cancel.

use anyhow::{Context, Result, bail};
use benches::{random_dataset, random_factors};
use dataset::{Dataset, Location};
use evaluator::{rank::rank_within, settings::Ties};
use samplers::{Prepared, Row, Uniform};
use std::hint::black_box;
use streams::{Purpose, Stream};
use trainer::{Resources, Sampler, Trial, train};

const MEMORY: usize = 1 << 26;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, repeats] = &arguments[..] else { bail!("expected a kernel and a number of repeats") };
    let repeats: u32 = repeats.parse().context("the number of repeats")?;
    // The pool is this thread alone, so that no instruction depends on how threads meet.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    let dataset = random_dataset(512, 2_000, 20);
    match kernel.as_str() {
        "draw" => draw(&dataset, repeats),
        "rank" => rank_users(&dataset, repeats),
        "train" => train_epochs(&dataset, repeats),
        _ => bail!("`{kernel}` is no kernel; expected draw, rank or train"),
    }
}

/// 1,000 uniform negatives for each of 512 users.
fn draw(dataset: &Dataset, repeats: u32) -> Result<()> {
    let sampler = Prepared::new(&Sampler::Uniform(Uniform { negatives: 1_000, replacement: true }), &dataset.train, dataset.items())?;
    let mut ids = vec![0; 1_000];
    for (repeat, user) in (0..repeats).flat_map(|repeat| (0..dataset.users() as u32).map(move |user| (repeat, user))) {
        sampler.draw(&mut Stream::new(1, Purpose::Negatives, repeat, 0, user), Row::alone(user), &mut ids, None);
        black_box(&ids);
    }
    Ok(())
}

/// Ranks up to 20 of the held-out items of 512 users among 2,000.
fn rank_users(dataset: &Dataset, repeats: u32) -> Result<()> {
    let scorer = random_factors(dataset.users(), dataset.items(), 64);
    for _ in 0..repeats {
        black_box(rank_within(&scorer, &dataset.train, &[&dataset.train], &dataset.test, Ties::Pessimistic, MEMORY, Some(20))?);
    }
    Ok(())
}

/// Epochs of about 10,000 pairs with 32 negatives each, in 40 steps.
fn train_epochs(dataset: &Dataset, epochs: u32) -> Result<()> {
    let trial: Trial = serde_json::from_value(serde_json::json!({
        "version": trainer::trial::TRAINER_VERSION,
        "dataset": "random",
        "backbone": {"mf": {"dim": 64}},
        "select_by": "ndcg@20",
        "learning": {
            "loss": {"softmax": {"temperature": 0.2}},
            "sampler": {"uniform": {"negatives": 32}},
            "optimizer": {"adam": {"learning_rate": 0.01}},
            "training": {"epochs": epochs, "batch_size": 256, "evaluate_every": epochs},
            "seed": 1,
        },
    }))?;
    let folder = Location::parse("memory:///kernels")?;
    train(&trial, dataset, &folder, &Resources::new(MEMORY), &mut ())?;
    Ok(())
}
