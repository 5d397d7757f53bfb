#!/usr/bin/env python3
"""Adds a loss, a sampler with a pool and a rule of its own, a backbone, an optimizer, a metric, a source, a split, a significance test and a correction to a copy of
the repository, each by one file and its lines in the list beside it, and compiles all crates: a kind that another file has to know fails this.

    python3 .ci/add_kinds.py

The copy stands in target/check/kinds; what is compiled of other crates is shared with the other checks.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "target/check/kinds"

SETTINGS = """
/// `{name}` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct {kind} {{{fields}}}
"""

LOSS = """//! BPR of doubled scores.

use super::{Facts, LossKind, Scores, bpr};
use candle_core::Result;
use serde::{Deserialize, Serialize};
use vectors::Similarity;
""" + SETTINGS.format(name="doubled-bpr", kind="DoubledBpr", fields="") + """
impl LossKind for DoubledBpr {
    fn similarity(&self) -> Similarity {
        Similarity::Dot
    }

    fn facts(&self) -> Facts {
        Facts { paper: "–", values: "–", cost: "O(N)" }
    }

    fn forward(&self, scores: &Scores) -> Result<candle_core::Tensor> {
        let [positives, negatives] = [scores.positives, scores.negatives].map(|scores| scores * 2.0);
        bpr(&positives?, &negatives?, scores.given.weights)
    }
}
"""

SAMPLER = """//! The candidate of the lowest id, of items by their number.

use super::{
    Choice, Draws, Error, Facts, Pool, Row, RowScores, Rule, SamplerKind, Stream,
    pool::PoolKind,
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use serde::{Deserialize, Serialize};
""" + SETTINGS.format(name="lowest-id", kind="LowestId", fields="\n    /// Items that are drawn for each positive.\n    pub candidates: u32,\n") + """
impl SamplerKind for LowestId {
    fn facts(&self) -> Facts {
        Facts { paper: "–", values: "–", state: "none", cost: "O(log P_u) a draw" }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::ById(ByIdPool {}), count: Some(self.candidates) }
    }

    fn rule(&self, _items: usize) -> Option<Box<dyn Rule>> {
        Some(Box::new(First))
    }
}
""" + SETTINGS.format(name="by-id", kind="ByIdPool", fields="") + """
impl PoolKind for ByIdPool {
    fn prepare(&self, _draws: u32, _train: &Interactions, _items: usize, _cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(Ascending))
    }
}

#[derive(Debug)]
struct Ascending;

impl Proposal for Ascending {
    fn fill(&self, of: UserItems<'_>, _row: Row<'_>, rng: &mut Stream, ids: &mut [u32]) {
        let non_positives = of.non_positives();
        ids.fill_with(|| non_positives.nth(rng.below(non_positives.len())));
        ids.sort_unstable();
    }

    fn log_probabilities(&self, _of: UserItems<'_>, _ids: &[u32], out: &mut [f32]) {
        out.fill(0.0);
    }
}

#[derive(Debug)]
struct First;

impl Rule for First {
    fn choose(&self, _rng: &mut Stream, _row: RowScores<'_>, choice: &mut Choice) {
        choice.keep_one(0, 1.0);
    }

    fn subset(&self) -> Option<usize> {
        Some(1)
    }

    fn weighs(&self) -> bool {
        false
    }
}
"""

BACKBONE = """//! Items by their number, the first first.

use super::{BackboneKind, Facts, FoldIn, Sizes, Stored, kind::ClosedForm};
use crate::Result;
use dataset::Dataset;
use embeddings::Tables;
use evaluator::{Factors, Scorer};
use serde::{Deserialize, Serialize};
use vectors::Similarity;
""" + SETTINGS.format(name="first-items", kind="FirstItems", fields="") + """
impl BackboneKind for FirstItems {
    fn facts(&self) -> Facts {
        Facts { paper: "–", cost: "none", unknown_user: "as everyone", values: "–" }
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: 1 }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::by_items_alone()
    }
}

impl ClosedForm for FirstItems {
    fn fit(&self, dataset: &Dataset, _memory: usize) -> Result<Scorer> {
        let Tables { mut users, mut items } = Tables::zeros(dataset.users(), dataset.items(), 1);
        users.values.fill(1.0);
        items.values.iter_mut().enumerate().for_each(|(item, value)| *value = -(item as f32));
        Ok(Factors { users, items, similarity: Similarity::Dot }.into())
    }

    fn memory(&self, Sizes { users, items, .. }: Sizes, ranking: u64) -> u64 {
        (users + items) * 4 + ranking
    }
}
"""

OPTIMIZER = """//! The sign of the gradient.

use super::{Facts, Optimizer, OptimizerKind, Shared, Step};
use serde::{Deserialize, Serialize};
""" + SETTINGS.format(name="sign", kind="Sign", fields="\n    /// Length of a step.\n    pub learning_rate: f64,\n") + """
impl OptimizerKind for Sign {
    fn facts(&self) -> Facts {
        Facts { paper: "–", idle_rows: "stay", cost: "O(B d)" }
    }

    fn shared(&self) -> Shared {
        Shared { learning_rate: self.learning_rate, learning_rate_decay: None, weight_decay: 0.0, batch_l2: None }
    }

    fn with_learning_rate(&self, learning_rate: f64) -> Optimizer {
        Optimizer::Sign(Self { learning_rate })
    }

    fn step(&self, _step: u64) -> Step {
        Step {
            weight_decay: 0.0,
            shrinkage: 1.0,
            first_decay: 0.0,
            first_gain: 1.0,
            second_decay: 0.0,
            second_gain: 1.0,
            second_scale: 1.0,
            rate: self.learning_rate as f32,
            epsilon: f32::MIN_POSITIVE,
        }
    }

    fn moves_all_rows(&self) -> bool {
        false
    }
}
"""

METRIC = """//! The last rank that counts, over the list's length.

use super::{Measure, MetricKind, hits};

/// `last-hit` in a sweep file.
pub(super) struct LastHit;

impl MetricKind for LastHit {
    fn name(&self) -> &'static str {
        "last-hit"
    }

    fn measure(&self) -> Measure {
        Measure::Ranks(|ranked, cutoff, _recall| {
            f64::from(ranked.ranks[..hits(ranked.ranks, cutoff)].last().copied().unwrap_or(0)) / f64::from(cutoff)
        })
    }
}
"""

SOURCE = """//! No rows at all.

use super::{SourceKind, row::Sinks};
use crate::Result;
use dataset::Split;
use serde::{Deserialize, Serialize};
""" + SETTINGS.format(name="empty", kind="Empty", fields="") + """
impl SourceKind for Empty {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        Vec::new()
    }

    fn read(&self, _part: Split, _sinks: &dyn Sinks) -> Result<()> {
        Ok(())
    }
}
"""

TEST = """//! Whether one method is better for more users than the other: the sign test, without its table.

use super::{
    Tested,
    compare::Compared,
    kind::{Found, TestKind},
    resample::Resampled,
};
use crate::settings::Over;

/// `no-test`
pub(super) struct NoTest;

impl TestKind for NoTest {
    fn name(&self) -> &'static str {
        "no-test"
    }

    fn words(&self, _counted: Over) -> &'static str {
        "no test"
    }

    fn found(&self, compared: &Compared, _resampled: Option<&Resampled>) -> Found {
        let tested = Tested { statistic: 0.0, p_value: 1.0, effect_size: 0.0 };
        Found::over_users(compared, vec![tested; compared.pairs.all.len()])
    }
}
"""

SPLIT = """//! Everything is train.

use super::{Borders, SplitKind};
use crate::{Result, edges::Edges};
use serde::{Deserialize, Serialize};
""" + SETTINGS.format(name="whole", kind="Whole", fields="") + """
impl SplitKind for Whole {
    fn has_validation(&self) -> bool {
        false
    }

    fn hold_out(&self, _edges: &mut Edges, _borders: &Borders) -> Result<()> {
        Ok(())
    }
}
"""

CORRECTION = """//! Sidak's: the level of independent comparisons.

use super::kind::CorrectionKind;

/// `sidak` in a sweep file.
pub(super) struct Sidak;

impl CorrectionKind for Sidak {
    fn name(&self) -> &'static str {
        "sidak"
    }

    fn words(&self) -> &'static str {
        "adjusted after Sidak"
    }

    fn adjust(&self, p_values: &[f64]) -> Vec<f64> {
        p_values.iter().map(|p| 1.0 - (1.0 - p).powf(p_values.len() as f64)).collect()
    }

    fn level(&self, alpha: f64, comparisons: usize, _significant: usize) -> f64 {
        1.0 - (1.0 - alpha).powf(1.0 / comparisons as f64)
    }
}
"""

# The new file, and the lines of the list beside it: after which line, what.
KINDS = {
    "trainer/losses/src/doubled_bpr.rs": (LOSS, "trainer/losses/src/lib.rs", [
        ("mod direct_au;", "mod doubled_bpr;"), ("pub use direct_au::{DirectAu, direct_au};", "pub use doubled_bpr::DoubledBpr;"),
        ("losses! {", "    /// BPR of doubled scores.\n    DoubledBpr,")]),
    "trainer/samplers/src/lowest_id.rs": (SAMPLER, "trainer/samplers/src/lib.rs", [
        ("mod distinct;", "mod lowest_id;"), ("pub use all::All;", "pub use lowest_id::{ByIdPool, LowestId};"),
        ("samplers! {", "    /// The candidate of the lowest id.\n    LowestId,"), ("pools! {", "    /// Items by their number.\n    ById(ByIdPool),")]),
    "trainer/models/src/first_items.rs": (BACKBONE, "trainer/models/src/lib.rs", [
        ("mod facts;", "mod first_items;"), ("pub use facts::Facts;", "pub use first_items::FirstItems;"),
        ("    closed_form {", "        /// Items by their number.\n        FirstItems,")]),
    "trainer/optimizers/src/sign.rs": (OPTIMIZER, "trainer/optimizers/src/lib.rs", [
        ("mod sgd;", "mod sign;"), ("pub use sgd::Sgd;", "pub use sign::Sign;"), ("optimizers! {", "    /// The sign of the gradient.\n    Sign,")]),
    "evaluator/src/metric/last_hit.rs": (METRIC, "evaluator/src/metric/mod.rs", [
        ("mod hit_rate;", "mod last_hit;"), ("metrics! {", "    /// The last rank that counts.\n    LastHit in last_hit,")]),
    "pipeline/src/source/empty.rs": (SOURCE, "pipeline/src/source/mod.rs", [
        ("mod delimited;", "mod empty;"), ("pub use delimited::Delimited;", "pub use empty::Empty;"),
        ("sources! {", "    /// No rows at all.\n    Empty,")]),
    "pipeline/src/split/whole.rs": (SPLIT, "pipeline/src/split/mod.rs", [
        ("mod validation;", "mod whole;"), ("pub use users::Users;", "pub use whole::Whole;"), ("splits! {", "    /// Everything is train.\n    Whole,")]),
    "evaluator/src/significance/correction/sidak.rs": (CORRECTION, "evaluator/src/significance/correction/mod.rs", [
        ("pub(crate) mod romano_wolf;", "mod sidak;"), ("corrections! {", "    /// Sidak's.\n    Sidak in sidak,")]),
    "evaluator/src/significance/no_test.rs": (TEST, "evaluator/src/significance/mod.rs", [
        ("mod moderation;", "mod no_test;"), ("tests! {", "    /// None.\n    NoTest in no_test,")]),
}


def main():
    shutil.rmtree(COPY, ignore_errors=True)
    tracked = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, tracked.stdout.split("\0")):
        if (ROOT / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name)
    for file, (text, registry, lines) in KINDS.items():
        (COPY / file).write_text(text)
        listed = (COPY / registry).read_text()
        for after, line in lines:
            if f"\n{after}\n" not in listed:
                sys.exit(f"add_kinds: {registry} has no line `{after}`")
            listed = listed.replace(f"\n{after}\n", f"\n{after}\n{line}\n", 1)
        (COPY / registry).write_text(listed)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")}
    checked = subprocess.run(["cargo", "check", "--workspace", "--locked"], cwd=COPY, env=environment)
    shutil.rmtree(COPY)
    return checked.returncode


if __name__ == "__main__":
    sys.exit(main())
