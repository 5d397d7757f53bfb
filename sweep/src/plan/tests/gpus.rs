//! The words of `ranksweep plan` about GPUs.

use super::*;
use crate::file::AskedDevice;

const SWEEP: &str = "\
name: gpus
datasets:
  - name: d
    source: {format: synthetic}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 1}
grid:
  - backbones: [{kind: mf, dim: 64}]
    losses: [{kind: softmax, temperature: 0.2}]
    samplers: [{kind: uniform, negatives: 1000}]
    optimizer: {kind: adam, learning_rate: 0.1}
training: {epochs: 3, batch_size: 1024}
seeds: [1, 2, 3]
";

fn gowalla() -> Found {
    prepared(29_858, 40_988, 810_128)
}

/// The lines on GPUs of a plan whose trials have so many GPUs of one node, and of which so many may run at once.
fn advice(text: &str, found: Found, gpus: u32, parallelism: u32) -> String {
    let resources = Resources { gpus, nodes: 1, parallelism, ..Resources::default() };
    let shown = show(&plan_of(text).unwrap(), &[found], 1, &resources, AskedDevice::Auto);
    let from = shown.find("GPUs: ").map_or(shown.len(), |at| at);
    shown[from..].to_owned()
}

#[test]
fn a_plan_without_gpus_says_nothing_of_them() {
    let plan = plan_of(SWEEP).unwrap();
    let shown = show(&plan, &[gowalla()], 1, &Resources::default(), AskedDevice::Auto);
    assert!(!shown.contains("GPU"), "{shown}");
    assert!(shown.ends_with("scores in all\n"), "{shown}");
}

#[test]
fn trials_for_all_gpus_get_one_each() {
    let text = advice(SWEEP, gowalla(), 8, 1);
    assert!(text.starts_with("GPUs: one a trial (`gpus: 1`, `nodes: 1`) is best for this sweep on up to 3: "), "{text}");
    let seeds: Vec<String> = (1..=24).map(|seed| seed.to_string()).collect();
    let many = SWEEP.replace("[1, 2, 3]", &format!("[{}]", seeds.join(", ")));
    let text = advice(&many, gowalla(), 8, 3);
    assert!(text.contains("on up to 24: its trials exchange nothing, while each of 8 that share one sends 18.6 MB in a step"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Three trials and 24 GPUs: eight a trial would use them all.
#[test]
fn idle_gpus_are_told() {
    let text = advice(SWEEP, gowalla(), 1, 24);
    let idle = text.lines().nth(1).unwrap();
    assert_eq!(
        idle,
        "      of 24 that it may hold at once 21 have no trial then; with up to 8 a trial (`gpus: 8`, `nodes: 1`) all have work: time one trial on \
         either before"
    );
    assert_eq!(advice(SWEEP, gowalla(), 1, 5).lines().count(), 1);
}

/// `psl` with `whole_batch` is one logarithm over all rows of a batch.
#[test]
fn losses_of_whole_batches_get_one_gpu() {
    let both = SWEEP.replace("losses: [", "losses: [{kind: psl, temperature: 0.1, whole_batch: true}, ");
    let text = advice(&both, gowalla(), 1, 24);
    assert_eq!(
        text,
        "GPUs: one a trial (`gpus: 1`, `nodes: 1`): of 6 trials 3 have a loss that looks at a batch as a whole, and take no more\n"
    );
}

/// 53 bytes for each of 1,000,000 rows of 2,001 scores are 106 GB: two GPUs have half of them each.
#[test]
fn a_batch_that_fills_a_gpu_is_shared() {
    let large = SWEEP.replace("batch_size: 1024", "batch_size: 1000000").replace("negatives: 1000", "negatives: 2000");
    let text = advice(&large, prepared(1_000_000, 40_988, 2_000_000), 1, 24);
    assert!(text.starts_with("GPUs: at least 2 a trial (`gpus: 2`, `nodes: 1`): the largest takes 108 GB of a GPU alone, 55 GB"), "{text}");
}

/// Four copies of 100,001,000 rows of 256 bytes, and two of them at length one, are 154 GB on each rank, whatever their number.
#[test]
fn tables_that_fill_a_gpu_are_not_shared() {
    let text = advice(SWEEP, prepared(1_000, 100_000_000, 1_000_000), 8, 1);
    assert!(text.starts_with("GPUs: the largest trial takes 157 GB of a GPU, and 80 GB are reckoned with; more GPUs"), "{text}");
}

/// Gowalla's trial takes 171,757,466 bytes, four of it 0.69 GB; and three of 63 GB are more than there is.
#[test]
fn trials_that_share_a_gpu_are_told_what_they_take() {
    let shown = |found: Found, trials_per_gpu| {
        show(&plan_of(SWEEP).unwrap(), &[found], 1, &Resources { trials_per_gpu, ..Resources::default() }, AskedDevice::Auto)
    };
    let text = shown(gowalla(), 4);
    assert!(text.ends_with("GPUs: 4 trials share each (`trials_per_gpu: 4`), of which they take up to 0.69 GB together\n"), "{text}");
    let memory = |text: &str, before: &str| {
        let from = text.find(before).unwrap() + before.len();
        text[from..].split_once(" MiB").unwrap().0.parse::<f64>().unwrap()
    };
    let (one, four) = (memory(&text, "\nd: "), memory(&text, "train its largest trial, "));
    assert!((four - (4.0 * one - 3.0 * 24.0)).abs() < 0.5, "the program is there once: {text}");
    assert!(text.contains(" MiB to train 4 at once, "), "{text}");
    let text = shown(prepared(1_000, 40_000_000, 1_000_000), 3);
    let expected = "take up to 189 GB of it together, where 80 GB are reckoned with: leave `trials_per_gpu` out\n";
    assert!(text.ends_with(expected), "{text}");
    assert!(shown(Found::raw(1), 3).ends_with("GPUs: whether so many trials fit beside each other is known after `ranksweep prepare`\n"));
}

/// Parameters, moments and a state to go on from for each rank, and no buffers of a step.
#[test]
fn what_gpus_train_has_its_tables_on_the_host_too() {
    let Found::Prepared(manifest) = gowalla() else { panic!("it is prepared") };
    let plan = plan_of(SWEEP).unwrap();
    let (.., planned) = plan.trials().next().unwrap();
    let [one, two] = [1, 2].map(|ranks| Estimate::on_host(&planned.trial, &manifest, 1, ranks));
    let on_cpu = Estimate::of(&planned.trial, &manifest, &plan.evaluation.metric_ats(), 1).training;
    assert!(two - one >= 6 * 70_846 * 256 && one >= two - one && PROGRAM + one < on_cpu, "{one} {two} {on_cpu}");
}

/// A hard sampler has no kernels, nor has a convolution; its edges take most.
#[test]
fn what_trains_by_candle_says_its_memory() {
    let dns = SWEEP.replace("{kind: uniform, negatives: 1000}", "{kind: dns, candidates: 20}");
    let text = advice(&dns, gowalla(), 1, 1);
    assert!(text.contains("\n      by candle's operations: 3 trials, of which the largest takes up to "), "{text}");
    let taken = |text: &str| text.split_once("takes up to ").unwrap().1.split_once(" GB").unwrap().0.parse::<f64>().unwrap();
    // Fifteen tables of 18.1 MB and a block of 50 MB by hand; the edges' rows are four times 1,620,256 of 256 bytes.
    let (of_dns, of_gcn) = (taken(&text), taken(&advice(&dns.replace("mf, dim: 64", "gcn, dim: 64, layers: 2"), gowalla(), 1, 1)));
    assert!((0.25..0.6).contains(&of_dns) && of_gcn > of_dns + 1.66, "{of_dns} {of_gcn}");
    let on_one_machine = show(&plan_of(&dns).unwrap(), &[gowalla()], 1, &Resources::default(), AskedDevice::Cuda);
    assert!(on_one_machine.ends_with(&format!("takes up to {of_dns:.2} GB of one GPU\n")), "{on_one_machine}");
    assert!(!show(&plan_of(SWEEP).unwrap(), &[gowalla()], 1, &Resources::default(), AskedDevice::Cuda).contains("candle"));
}

#[test]
fn what_is_not_known_yet_is_said() {
    let text = advice(SWEEP, Found::raw(1), 1, 1);
    assert_eq!(text, "GPUs: how many a trial should have is known after `ranksweep prepare`\n");
    let popularity = "  - backbones: [{kind: popularity}]\n";
    let block = SWEEP.find("  - backbones").unwrap()..SWEEP.find("training:").unwrap();
    let closed = SWEEP.replace(&SWEEP[block], popularity);
    let text = advice(&closed, gowalla(), 1, 1);
    assert_eq!(text, "GPUs: no trial of this sweep learns in steps; leave `gpus` out\n");
}
