//! All tests of a large sweep: time and memory.
//!
//!     cargo run --release -p benches --example many_methods -- [METHODS] [SEEDS] [USERS]
//!
//! Values are random, with differences between methods and seeds; the settings are the defaults (four metrics, t test and bootstrap over users
//! and seeds, Romano and Wolf's adjustment over all pairs).

use evaluator::{Evaluation, TrialValues, findings::compare};
use std::{sync::Arc, time::Instant};

fn main() -> anyhow::Result<()> {
    let asked: Vec<usize> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let at = |place: usize, default: usize| asked.get(place).copied().unwrap_or(default);
    let (methods, seeds, users) = (at(0, 100), at(1, 5), at(2, 30_000));
    let evaluation = Evaluation::default();
    let ids: Arc<[String]> = (0..users).map(|user| user.to_string()).collect();
    let trials: Vec<TrialValues> = (0..methods)
        .flat_map(|method| (0..seeds).map(move |seed| (method, seed)))
        .map(|(method, seed)| trial(&evaluation, method, seed, &ids))
        .collect();
    let start = Instant::now();
    let findings = compare(&trials, &evaluation, &mut |_, _| ())?;
    let (seconds, decided) = (start.elapsed().as_secs_f64(), findings.comparisons.iter().filter(|row| row.significant).count());
    let words = format!("{} comparisons, {decided} significant: {seconds:.1} s", findings.comparisons.len());
    std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{methods} methods, {seeds} seeds, {users} users: {words}\n"))?;
    Ok(())
}

/// A number in [0, 1) that depends on all of the key.
fn chance(key: [u64; 3]) -> f64 {
    let mixed = key.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |state, part| {
        let state = (state ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (state ^ (state >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb)
    });
    ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1u64 << 53) as f64
}

fn trial(evaluation: &Evaluation, method: usize, seed: usize, ids: &Arc<[String]>) -> TrialValues {
    let level = 0.1 + 0.001 * (method % 20) as f64 + 0.002 * chance([method as u64, seed as u64, 9]);
    let value = |user: u64, metric: u64| {
        let taste = chance([user, 1, metric]);
        if taste < 0.6 { 0.0 } else { level + taste * chance([user, (method * 100 + seed) as u64, metric]) }
    };
    let metrics = evaluation.metric_ats().into_iter().zip(0u64..);
    TrialValues {
        trial: format!("{method}-{seed}"),
        method: method.to_string(),
        dataset: "random".to_owned(),
        seed: Some(seed as u64),
        split_seed: None,
        split: dataset::Split::Test,
        users: (0..ids.len() as u32).collect(),
        user_ids: Arc::clone(ids),
        values: metrics.map(|(at, metric)| (at, (0..ids.len() as u64).map(|user| value(user, metric)).collect())).collect(),
        tied_users: 0,
        listed: None,
        unknown_users: 0,
        sampled_candidates: None,
        groups: Vec::new(),
    }
}
