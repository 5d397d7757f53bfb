//! What successive halving stopped.

use super::Progress;
use crate::{plan::Plan, runner::TrialEnding};
use std::collections::BTreeMap;

impl Progress {
    /// How many trials of each method were stopped, and after how many epochs.
    pub(in crate::runner) fn halved(&self, plan: &Plan, endings: &[TrialEnding]) {
        let mut rest = endings;
        for method in &plan.methods {
            let (own, others) = rest.split_at(method.configurations.len() * method.seeds());
            rest = others;
            let (label, dataset, text) = (&method.label, &method.dataset, stops(own));
            tracing::info!(method = label, dataset, stopped = text, "halved");
            self.line(&format!("{label} on {dataset}: {text}"));
        }
    }
}

/// `16 stopped at 4 epochs, 4 stopped at 12 epochs, 4 trained to the end, 1 failed`.
fn stops(endings: &[TrialEnding]) -> String {
    let mut stopped: BTreeMap<u32, usize> = BTreeMap::new();
    for ending in endings {
        if let TrialEnding::Stopped(fit) = ending {
            *stopped.entry(fit.epochs).or_default() += 1;
        }
    }
    let mut parts: Vec<String> = stopped.into_iter().map(|(epochs, count)| format!("{count} stopped at {epochs} epochs")).collect();
    let count = |is: fn(&TrialEnding) -> bool| endings.iter().filter(|ending| is(ending)).count();
    parts.push(format!("{} trained to the end", count(|ending| ending.finished().is_some())));
    match count(TrialEnding::is_failure) {
        0 => {}
        failed => parts.push(format!("{failed} failed")),
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainer::Fit;

    #[test]
    fn stops_are_counted_by_epochs() {
        let fit = |epochs| Fit { epochs, best_epoch: 1, validation: None, seconds: 0.0, device: "cpu".to_owned() };
        let stopped = |epochs| TrialEnding::Stopped(fit(epochs));
        let endings = [stopped(4), stopped(12), TrialEnding::Done(fit(32)), stopped(4), TrialEnding::Failed("NaN".to_owned())];
        assert_eq!(stops(&endings), "2 stopped at 4 epochs, 1 stopped at 12 epochs, 1 trained to the end, 1 failed");
        assert_eq!(stops(&endings[2..3]), "1 trained to the end");
    }
}
