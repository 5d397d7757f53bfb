//! The trials of a plan that GPUs, their kernels, or several ranks of them, cannot train, in words.

use crate::plan::{Plan, Titles};
use std::collections::BTreeMap;
use trainer::{Trial, fits_gpu, has_kernels};

/// Trials that no GPU can train: `2 trials of ease (why), 4 trials of ials-64 (why)`.
pub(crate) fn left_to_the_cpu(plan: &Plan) -> String {
    named(plan, |trial| fits_gpu(trial).err())
}

/// Trials that a GPU trains without kernels.
pub(super) fn left_to_candle(plan: &Plan) -> String {
    named(plan, |trial| fits_gpu(trial).ok().and_then(|()| has_kernels(trial).err()))
}

/// Trials that a GPU can train, and several cannot.
pub(crate) fn left_to_one_rank(plan: &Plan) -> String {
    named(plan, |trial| fits_gpu(trial).ok().and_then(|()| needs_one_rank(trial)))
}

/// Why several ranks cannot share the batches of a trial, if so.
pub(super) fn needs_one_rank(trial: &Trial) -> Option<String> {
    trial.learning.as_ref().and_then(|learning| learning.splits().err())
}

/// The trials that there is a reason for, by method.
fn named(plan: &Plan, reason: impl Fn(&Trial) -> Option<String>) -> String {
    let titles = Titles::new(plan);
    let mut found: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (method, _, trial) in plan.trials() {
        if let Some(reason) = reason(&trial.trial) {
            *found.entry((titles.of(method), reason)).or_default() += 1;
        }
    }
    let words = |((title, reason), count): ((&str, String), usize)| {
        let trials = if count == 1 { "trial" } else { "trials" };
        format!("{count} {trials} of {title} ({reason})")
    };
    found.into_iter().map(words).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::file::SweepFile;

    const SWEEP: &str = "\
name: s
datasets: [{name: d, source: {format: synthetic}, split: {kind: random, test: 0.2}}]
grid:
  - backbones: [{kind: popularity}]
  - backbones: [{kind: mf, dim: 4}]
    losses: [{kind: bpr}, {kind: psl, temperature: 0.1, whole_batch: true}]
    samplers: [{kind: uniform, negatives: 2}]
    optimizer: {kind: adam, learning_rate: 0.1}
";

    /// A trial that no GPU trains, one that any number of them does, and one that a single one does.
    pub(in crate::runner) fn plan() -> Plan {
        plan_of(SWEEP)
    }

    fn plan_of(sweep: &str) -> Plan {
        crate::plan::check(&SweepFile::parse(sweep, "s.yaml").unwrap()).unwrap().plan(&["f".to_owned()]).unwrap()
    }

    #[test]
    fn what_is_left_is_named_with_the_reason() {
        assert_eq!(left_to_the_cpu(&plan()), "1 trial of popularity (the backbone `popularity` fits at once, on the CPU)");
        let hard = plan_of(
            &SWEEP
                .replace("{kind: uniform, negatives: 2}", "{kind: dns, candidates: 5}")
                .replace(", {kind: psl, temperature: 0.1, whole_batch: true}", ""),
        );
        let reason = "the sampler `dns` chooses among its candidates by their scores, for which there is no kernel";
        assert_eq!(left_to_candle(&hard), format!("1 trial of bpr on mf-4 ({reason})"));
        let one = left_to_one_rank(&plan());
        assert!(one.starts_with("1 trial of psl on mf-4 (the loss `psl` looks at all rows of a batch together"), "{one}");
    }
}
