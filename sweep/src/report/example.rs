//! A finished sweep for tests: two datasets, seven methods, three seeds, two trials that failed.

use super::{Input, RepeatedSplit};
use crate::{
    file::SweepFile,
    plan::Spaces,
    tables::{CurveRow, Status, TrialRow},
};
use dataset::{Counts, Manifest, SCHEMA_VERSION, Split};
use evaluator::{
    Evaluation, Metric, MetricAt, TrialValues,
    findings::compare,
    settings::{Significance, Test},
    significance::{Comparison, MethodComponents},
};
use serde_json::json;

/// Everything an [`Input`] borrows.
pub(super) struct Sweep {
    pub(super) evaluation: Evaluation,
    pub(super) manifests: Vec<Manifest>,
    pub(super) spaces: Spaces,
    pub(super) splits: Vec<RepeatedSplit>,
    pub(super) trials: Vec<TrialRow>,
    pub(super) values: Vec<TrialValues>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) components: Vec<MethodComponents>,
    pub(super) curves: Vec<CurveRow>,
}

impl Sweep {
    pub(super) fn input(&self) -> Input<'_> {
        Input {
            name: "which-loss",
            sweep_file: SWEEP_FILE,
            evaluation: &self.evaluation,
            manifests: &self.manifests,
            spaces: &self.spaces,
            splits: &self.splits,
            trials: &self.trials,
            values: &self.values,
            comparisons: &self.comparisons,
            components: &self.components,
            curves: &self.curves,
            printed: None,
            claims: &[],
        }
    }
}

const SWEEP_FILE: &str = "name: which-loss # <script>alert(1)</script>\nstorage: ./runs\nseeds: [1, 2, 3]\n";
/// The method of three learning rates, as its sweep file has it.
const TUNED: &str = "
name: which-loss
datasets: [{name: books, source: {format: synthetic}, split: {kind: random, test: 0.2, validation: 0.1, seed: 1}}]
grid:
  - backbones: [{kind: mf, dim: 64}]
    losses: [{kind: bpr}]
    samplers: [{kind: uniform, negatives: 1}]
    optimizer: {kind: adam, learning_rate: [1, 0.01, 0.001]}
";
const METHODS: [(&str, Option<&str>, f64); 7] = [
    ("popularity", None, 0.055),
    ("mf-64", Some("bpr"), 0.098),
    ("mf-64", Some("softmax"), 0.112),
    ("mf-64", Some("softmax-at-k(20)"), 0.124),
    ("light-gcn-64x2", Some("bpr"), 0.104),
    ("light-gcn-64x2", Some("softmax"), 0.114),
    ("light-gcn-64x2", Some("softmax-at-k(20)"), 0.121),
];

/// A trial that was trained and selected.
pub(super) fn trial(dataset: &str, backbone: &str, loss: Option<&str>) -> TrialRow {
    let sampler = loss.map(|loss| if loss == "bpr" { "uniform-1" } else { "uniform-1000" });
    let key: Vec<&str> = [Some(backbone), loss, sampler].into_iter().flatten().collect();
    TrialRow {
        trial: format!("{dataset}-{}", key.join("-")),
        method: key.join(" / "),
        dataset: dataset.into(),
        backbone: backbone.into(),
        loss: loss.map(str::to_owned),
        sampler: sampler.map(str::to_owned),
        parameters: json!({}),
        seed: None,
        split_seed: None,
        status: Status::Done,
        selected: true,
        epochs: Some(0),
        best_epoch: Some(0),
        select_by: "ndcg@20".parse().unwrap(),
        validation: Some(0.1),
        seconds: Some(12.5),
        device: Some("cpu".into()),
        error: None,
        remarks: None,
    }
}

/// A trial's values of one metric, one for each user.
pub(super) fn values(trial: &str, at: MetricAt, values: &[f64]) -> TrialValues {
    TrialValues {
        trial: trial.into(),
        method: "method".into(),
        dataset: "dataset".into(),
        seed: None,
        split_seed: None,
        split: Split::Test,
        users: (0..values.len() as u32).collect(),
        user_ids: (0..values.len()).map(|user| format!("u{user}")).collect(),
        values: vec![(at, values.to_vec())],
        tied_users: 0,
        listed: None,
        unknown_users: 0,
        sampled_candidates: None,
        groups: Vec::new(),
    }
}

pub(super) fn sweep() -> Sweep {
    let significance = Significance { tests: vec![Test::PairedT], bootstrap_resamples: 1000, ..Significance::default() };
    let metrics = vec![Metric::Ndcg, Metric::Recall, Metric::Precision, Metric::Mrr];
    let evaluation = Evaluation { metrics, cutoffs: vec![20, 50], significance, ..Evaluation::default() };
    let manifests = vec![manifest("books", 400, 8_360, 32_521), manifest("films", 300, 1_016, 80_393)];
    let (mut trials, mut measured, mut curves) = (Vec::new(), Vec::new(), Vec::new());
    for manifest in &manifests {
        for (number, &(backbone, loss, level)) in METHODS.iter().enumerate() {
            for trial in grid(&manifest.name, backbone, loss) {
                let seed = trial.seed.unwrap_or_default();
                if trial.selected {
                    measured.push(test_values(&trial, &evaluation, manifest.users, level, number as u64 * 10 + seed));
                }
                curves.extend(curve(&trial, level, seed));
                trials.push(trial);
            }
        }
    }
    let found = compare(&measured, &evaluation, &mut |_, _| ()).unwrap();
    let spaces = Spaces::of(&SweepFile::parse(TUNED, "tuned.yaml").unwrap());
    let (comparisons, components, splits) = (found.comparisons, found.methods, Vec::new());
    Sweep { evaluation, manifests, spaces, splits, trials, values: measured, comparisons, components, curves }
}

fn manifest(name: &str, users: usize, items: usize, interactions: usize) -> Manifest {
    let step = |step: &str, times: usize| Counts {
        step: step.into(),
        users: users * times,
        items: items * times,
        interactions: interactions * times,
    };
    Manifest {
        schema_version: SCHEMA_VERSION,
        name: name.into(),
        fingerprint: "0123456789abcdef".into(),
        users,
        items,
        train: interactions * 7 / 10,
        fold_in: None,
        validation: interactions / 10,
        one_node_set: false,
        test: interactions / 5,
        ordered: false,
        steps: vec![step("read", 3), step("min_rating 3", 2), step("k_core 10", 1)],
        settings: json!({"name": name, "k_core": 10}),
        files: Default::default(),
    }
}

fn grid(dataset: &str, backbone: &str, loss: Option<&str>) -> Vec<TrialRow> {
    let first = trial(dataset, backbone, loss);
    let Some(loss) = loss else { return vec![first] };
    let rates = if loss == "bpr" && backbone == "mf-64" { vec![1.0, 0.01, 0.001] } else { vec![0.1, 0.01] };
    let best = if loss == "bpr" { *rates.last().unwrap() } else { rates[0] };
    let seeded = |rate: f64, seed: u64| {
        let failed = rate == 1.0 && seed < 3 && dataset == "books";
        let selected = rate == best;
        TrialRow {
            trial: format!("{}-{rate}-{seed}", first.trial),
            parameters: json!({"backbone.dim": 64, "optimizer.learning_rate": rate}),
            seed: Some(seed),
            status: if failed { Status::Failed } else { Status::Done },
            selected,
            epochs: (!failed).then_some(60),
            best_epoch: (!failed).then_some(if seed == 2 { 60 } else { 45 }),
            validation: (!failed).then_some(if selected { 0.11 } else { 0.07 } + seed as f64 / 1000.0),
            seconds: (!failed).then_some(31.5 + seed as f64),
            error: failed.then(|| "step 7: the gradient of the item vectors is NaN <&>".into()),
            ..first.clone()
        }
    };
    rates.iter().flat_map(|&rate| [1, 2, 3].map(|seed| seeded(rate, seed))).collect()
}

/// A number in [0, 1) that depends on all of the key.
fn chance(key: [u64; 3]) -> f64 {
    let mixed = key.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |state, part| {
        let state = (state ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (state ^ (state >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb)
    });
    ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1u64 << 53) as f64
}

fn test_values(trial: &TrialRow, evaluation: &Evaluation, users: usize, level: f64, method: u64) -> TrialValues {
    let value = |at: MetricAt, user: u64| {
        let taste = -2.0 * level * (1.0 - chance([user, 1, 1])).ln() * 0.5;
        let noise = 0.05 * (chance([user, method, u64::from(at.cutoff.unwrap_or(0)) + at.metric as u64]) - 0.5);
        (taste + noise).clamp(0.0, 1.0) * if at.cutoff == Some(50) { 1.3 } else { 1.0 }
    };
    let metrics = evaluation.metric_ats().into_iter();
    TrialValues {
        trial: trial.trial.clone(),
        method: trial.method.clone(),
        dataset: trial.dataset.clone(),
        seed: trial.seed,
        values: metrics.map(|at| (at, (0..users as u64).map(|user| value(at, user)).collect())).collect(),
        tied_users: if trial.loss.is_none() { 210 } else { 0 },
        listed: None,
        ..values("", "auc".parse().unwrap(), &vec![0.0; users])
    }
}

fn curve(trial: &TrialRow, level: f64, seed: u64) -> Vec<CurveRow> {
    let pace = if trial.loss.as_deref() == Some("bpr") { 18.0 } else { 9.0 };
    let row = |epoch: u32| {
        let progress = 1.0 - (-f64::from(epoch) / pace).exp();
        let wobble = 0.004 * (chance([u64::from(epoch), seed, 7]) - 0.5);
        let evaluated = epoch.is_multiple_of(5);
        CurveRow {
            trial: trial.trial.clone(),
            epoch,
            seconds: f64::from(epoch) / 2.0,
            loss: Some(2.5 - 1.6 * progress + wobble),
            at: evaluated.then_some(trial.select_by),
            value: evaluated.then_some(level * progress * (1.0 - f64::from(epoch) / 900.0) + wobble),
        }
    };
    (1..=trial.epochs.unwrap_or(0)).map(row).collect()
}
