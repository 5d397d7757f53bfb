//! Losses: values and derivatives of the fused forms, and of the formulas where a loss has none.

use super::{Comparison, Sizes, loss_examples::LOSSES, wave};
use crate::{
    Result,
    device::loss::{DeviceLoss, Scored},
};
use gpu::Gpu;
use losses::{FusedLoss, Loss};

pub(super) fn check(gpu: &Gpu, sizes: Sizes) -> Result<Vec<Comparison>> {
    LOSSES.iter().map(|(what, loss)| of_loss(gpu, sizes, what, &serde_json::from_str(loss).expect("a loss"))).collect()
}

fn of_loss(gpu: &Gpu, sizes: Sizes, what: &str, loss: &Loss) -> Result<Comparison> {
    // By the mean of a batch most derivatives of a thousand negatives would be below what rounding is allowed. A factor that is left out shows, as 2 is not 1.
    let (rows, width, scale) = (sizes.rows, 1 + sizes.negatives, 2.0);
    let mut expected = wave(rows * width, 1.0, 1);
    // Scores far out, of a row's positive and of a negative.
    (expected[0], expected[width + 3]) = (-60.0, 80.0);
    let (quantiles, users): (Vec<f32>, Vec<u32>) = (wave(rows, 0.5, 2), (0..rows as u32).rev().collect());
    let (mut scores, mut losses) = (gpu.upload(&expected)?, gpu.zeros(rows)?);
    let (on_quantiles, on_users) = (gpu.upload(&quantiles)?, gpu.upload(&users)?);
    let scored = Scored { scores: &mut scores, rows, width, quantiles: Some(&on_quantiles), users: &on_users };
    DeviceLoss::new(loss, sizes.items).score_gradients(gpu, scored, scale, &mut losses)?;
    let mut found = gpu.read(&losses)?;
    found.extend(gpu.read(&scores)?);

    let mut values = match loss.fused() {
        Some(fused) => fused_rows(fused, &mut expected, width, |row| quantiles[users[row] as usize]),
        None => formula_rows(loss, &mut expected, width, sizes.items)?,
    };
    expected.iter_mut().for_each(|derivative| *derivative *= scale);
    values.extend(expected);
    Ok(Comparison::new(format!("the loss {what}"), &found, &values, 2e-5))
}

fn fused_rows(fused: &dyn FusedLoss, scores: &mut [f32], width: usize, quantile: impl Fn(usize) -> f32) -> Vec<f32> {
    let rows = scores.chunks_exact_mut(width).enumerate();
    rows.map(|(at, row)| {
        let (positives, negatives) = row.split_at_mut(1);
        fused.row(positives, negatives, quantile(at))
    })
    .collect()
}

fn formula_rows(loss: &Loss, scores: &mut [f32], width: usize, items: usize) -> Result<Vec<f32>> {
    let cpu = candle_core::Device::Cpu;
    let mut losses = Vec::new();
    for row in scores.chunks_exact_mut(width) {
        let positives = candle_core::Var::from_slice(&row[..1], 1, &cpu)?;
        let negatives = candle_core::Var::from_slice(&row[1..], (1, width - 1), &cpu)?;
        let given = losses::Scores { positives: &positives, negatives: &negatives, items, given: losses::Given::default() };
        let value = loss.forward(&given)?;
        let gradients = value.sum_all()?.backward()?;
        losses.extend(value.to_vec1::<f32>()?);
        for (part, of) in [(0..1, &positives), (1..width, &negatives)] {
            let derivative = gradients.get(of).map_or_else(|| of.zeros_like(), |gradient| Ok(gradient.clone()))?;
            row[part].copy_from_slice(&derivative.flatten_all()?.to_vec1::<f32>()?);
        }
    }
    Ok(losses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use losses::{Kernel, KernelArgument};
    use std::collections::{BTreeMap, BTreeSet};

    /// Numbers that are not 0, which turns off what it stands for.
    fn numbers(arguments: &[KernelArgument]) -> BTreeSet<u32> {
        let number = |argument: &KernelArgument| match argument {
            KernelArgument::Number(value) if *value != 0.0 => Some(value.to_bits()),
            _ => None,
        };
        arguments.iter().filter_map(number).collect()
    }

    /// Else a kernel could leave an argument out, or have a number of its own in its place, and agree.
    #[test]
    fn every_argument_of_every_kernel_takes_several_values() {
        let kernels = LOSSES.iter().filter_map(|(_, loss)| serde_json::from_str::<Loss>(loss).unwrap().kernel());
        let mut arguments: BTreeMap<(&str, usize), Vec<KernelArgument>> = BTreeMap::new();
        for Kernel { name, arguments: given } in kernels {
            for (place, argument) in given.into_iter().enumerate() {
                arguments.entry((name, place)).or_default().push(argument);
            }
        }
        assert!(!arguments.is_empty());
        for ((kernel, place), given) in &arguments {
            let has_all = |expected: [KernelArgument; 2]| expected.iter().all(|argument| given.contains(argument));
            let varies = match given[0] {
                KernelArgument::Number(_) => numbers(given).len() > 1,
                KernelArgument::Flag(_) => has_all([KernelArgument::Flag(false), KernelArgument::Flag(true)]),
                KernelArgument::Quantiles | KernelArgument::NoNumbers => has_all([KernelArgument::Quantiles, KernelArgument::NoNumbers]),
                KernelArgument::Users => true,
            };
            assert!(varies, "argument {place} of {kernel} is {given:?} in all checks");
        }
    }
}
