//! The trials that a search stopped, or skipped.

use super::Progress;
use crate::{
    plan::{Plan, Titles},
    runner::Standing,
};
use std::collections::BTreeMap;

impl Progress {
    /// How many trials of each method were stopped, and after how many epochs, and how many were skipped.
    pub(in crate::runner) fn searched(&self, plan: &Plan, standings: &[Standing]) {
        if plan.rung_epochs.is_empty() {
            return;
        }
        let (titles, mut rest) = (Titles::new(plan), standings);
        for method in &plan.methods {
            let (own, others) = rest.split_at(method.configurations.len() * method.repeats());
            rest = others;
            let (label, dataset, text) = (&method.label, &method.dataset, stops(own));
            tracing::info!(method = label, dataset, trials = text, "searched");
            self.line(&format!("{} on {dataset}: {text}", titles.of(method)));
        }
    }
}

/// `16 stopped at 4 epochs, 4 stopped at 12 epochs, 4 trained to the end, 2 skipped, 1 without a model`.
fn stops(standings: &[Standing]) -> String {
    let mut stopped: BTreeMap<u32, usize> = BTreeMap::new();
    for standing in standings {
        if let Standing::Stopped(fit) = standing {
            *stopped.entry(fit.epochs).or_default() += 1;
        }
    }
    let mut parts: Vec<String> = stopped.into_iter().map(|(epochs, count)| format!("{count} stopped at {epochs} epochs")).collect();
    let count = |is: fn(&Standing) -> bool| standings.iter().filter(|standing| is(standing)).count();
    parts.push(format!("{} trained to the end", count(|standing| standing.finished().is_some())));
    let skipped = count(|standing| *standing == Standing::Skipped);
    let without = count(|standing| standing.fit().is_none() && *standing != Standing::Skipped);
    parts.extend((skipped > 0).then(|| format!("{skipped} skipped")));
    parts.extend((without > 0).then(|| format!("{without} without a model")));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainer::Fit;

    #[test]
    fn stops_are_counted_by_epochs() {
        let fit = |epochs| Fit { epochs, best_epoch: 1, validation: None, seconds: 0.0, device: "cpu".to_owned(), remarks: vec![] };
        let stopped = |epochs| Standing::Stopped(fit(epochs));
        let standings = [stopped(4), stopped(12), Standing::Done(fit(32)), stopped(4), Standing::Failed("NaN".to_owned())];
        assert_eq!(stops(&standings), "2 stopped at 4 epochs, 1 stopped at 12 epochs, 1 trained to the end, 1 without a model");
        assert_eq!(stops(&standings[2..3]), "1 trained to the end");
        assert_eq!(stops(&[Standing::Done(fit(32)), Standing::Skipped, Standing::Skipped]), "1 trained to the end, 2 skipped");
    }
}
