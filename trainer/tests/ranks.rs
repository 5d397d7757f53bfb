//! Several ranks train as one does: the same steps, but for the order in which floats are added up.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)] // this file uses parts of it
mod support;

use dataset::{Dataset, Interactions, Location};
use evaluator::{Factors, Histories, Matrix, Network, Scorer};
use std::{net::TcpListener, panic::AssertUnwindSafe, sync::atomic::AtomicBool, time::Duration};
use support::{RESOURCES, Stops, ended, folder, result, tastes};
use trainer::{EpochReport, Error, Fit, Observer, Ranks, Rendezvous, Resources, Secret, Trial, train};

const MF: &str = r#"{"mf": {"dim": 16}}"#;
const LIGHT_GCN: &str = r#"{"light-gcn": {"dim": 16, "layers": 2}}"#;
const XSIM_GCL: &str = r#"{"xsim-gcl": {"dim": 16, "layers": 2}}"#;
const TWO_TOWER: &str = r#"{"two-tower": {"dim": 16}}"#;
const NGCF: &str = r#"{"ngcf": {"dim": 16, "layers": 2}}"#;
const NEU_MF: &str = r#"{"neu-mf": {"dim": 8, "hidden": [16, 8], "init": {"xavier-normal": {}}}}"#;
const BPR: &str = r#"{"bpr": {}}"#;
const SOFTMAX_AT_K: &str = r#"{"softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 2}}"#;
const SAS_REC: &str = r#"{"sas-rec": {"dim": 16, "layers": 1, "hidden": 32, "dropout": 0.1, "init": {"normal": {"std": 0.3}}}}"#;
const UNIFORM: &str = r#"{"uniform": {"negatives": 20}}"#;
const ONE_NEGATIVE: &str = r#"{"uniform": {"negatives": 1}}"#;
const IN_BATCH: &str = r#"{"in-batch": {}}"#;
const MIXED: &str = r#"{"mix-gcf": {"candidates": 8}}"#;
const EVERY_ITEM: &str = r#"{"all": {}}"#;
/// Adam divides a gradient by its size, which makes much of the rounding of one that is nearly zero: not so with a large epsilon.
const ADAM: &str = r#"{"adam": {"learning_rate": 0.05, "weight_decay": 1e-6, "epsilon": 1e-3}}"#;
/// Rows are left behind from early steps on.
const LEFT_BEHIND: &str = r#"{"adam": {"learning_rate": 0.05, "beta1": 0.5, "epsilon": 1e-3}}"#;
const ADAM_W: &str = r#"{"adam-w": {"learning_rate": 0.05, "epsilon": 1e-3}}"#;
const SGD: &str = r#"{"sgd": {"learning_rate": 1.0}}"#;
const ADAGRAD: &str = r#"{"adagrad": {"learning_rate": 0.1, "epsilon": 1e-3}}"#;
const LAZY: &str = r#"{"lazy-adam": {"learning_rate": 0.05, "epsilon": 1e-3}}"#;

/// Each way that a step goes: what the loss sees, what it keeps of its own, and what the sampler looks at.
const KINDS: &[(&str, &str)] = &[
    (BPR, UNIFORM),
    (BPR, EVERY_ITEM),
    (r#"{"bce": {}}"#, UNIFORM),
    (SOFTMAX_AT_K, UNIFORM),
    (r#"{"sog-clr": {"temperature": 0.2, "update_rate": 0.9}}"#, UNIFORM),
    (r#"{"adap-tau": {"warm_up": 1}}"#, UNIFORM),
    (r#"{"uib": {}}"#, UNIFORM),
    (r#"{"llpauc": {"true_positive_rate": 0.7, "false_positive_rate": 0.1}}"#, UNIFORM),
    (r#"{"guided-rec": {}}"#, r#"{"uniform": {"negatives": 9}}"#),
    (
        r#"{"adv-info-nce": {"temperature": 0.2, "adversary_dim": 4, "adversary_learning_rate": 0.01, "schedule": {"beside": {"every": 1}}}}"#,
        UNIFORM,
    ),
    (r#"{"smooth-ndcg": {"temperature": 1.0}}"#, UNIFORM),
    (r#"{"lambda-rank": {}}"#, UNIFORM),
    (r#"{"cml": {"margin": 0.5}}"#, UNIFORM),
    (r#"{"cce": {}}"#, IN_BATCH),
    (BPR, r#"{"dns": {"candidates": 8}}"#),
    (BPR, r#"{"dns": {"candidates": 8, "pool": {"in-batch": {}}}}"#),
    (BPR, r#"{"softmax": {"candidates": 20, "temperature": 1.0}}"#),
    (r#"{"cce": {}}"#, r#"{"softmax": {"candidates": 20, "temperature": 1.0, "negatives": 3}}"#),
    (r#"{"cml": {"margin": 0.5}}"#, r#"{"softmax": {"candidates": 20, "temperature": 1.0, "negatives": 3}}"#),
    (r#"{"cml": {"margin": 0.5}}"#, r#"{"softmax": {"negatives": 3, "temperature": 1.0, "pool": {"all": {}}}}"#),
    (r#"{"sampled-softmax": {}}"#, r#"{"kernel": {"negatives": 20}}"#),
    (BPR, r#"{"ada-sir": {"negatives": 5, "pool_size": 10, "proposals": 30}}"#),
    (BPR, MIXED),
];

fn trial(backbone: &str, (loss, sampler): (&str, &str), optimizer: &str, batch_size: u32) -> Trial {
    let mut trial = support::trial(backbone, loss, sampler, optimizer);
    let training = &mut trial.learning.as_mut().unwrap().training;
    (training.epochs, training.batch_size, training.evaluate_every) = (3, batch_size, 1);
    trial
}

/// The last model is kept where nothing says which is best.
fn without_validation() -> Dataset {
    Dataset { validation: Interactions::empty(90), ..tastes() }
}

fn ranks(ranks: u32) -> Resources<'static> {
    Resources { ranks: Ranks::threads(ranks), ..RESOURCES }
}

#[derive(Default)]
struct Losses(Vec<f64>);

impl Observer for Losses {
    fn epoch(&mut self, report: &EpochReport) {
        self.0.push(report.loss);
    }
}

/// The losses of the epochs, and the tables at the end.
fn trained(trial: &Trial, folder: &Location, resources: &Resources) -> (Vec<f64>, [Matrix; 2]) {
    let mut losses = Losses::default();
    train(trial, &without_validation(), folder, resources, &mut losses).unwrap();
    let scorer = ended(folder).unwrap().scorer(folder).unwrap();
    let (Scorer::Factors(Factors { users, items, .. })
    | Scorer::Histories(Histories { test: users, items, .. })
    | Scorer::Network(Network { users, items, .. })) = scorer
    else {
        panic!("no tables")
    };
    (losses.0, [users, items])
}

/// Within what the rounding of sums grows to in a few epochs.
#[track_caller]
fn assert_agree(name: &str, one: &(Vec<f64>, [Matrix; 2]), other: &(Vec<f64>, [Matrix; 2])) {
    let mut losses = one.0.iter().rev().zip(other.0.iter().rev());
    // `all` fails for NaN, which `f64::max` passes over.
    let close = losses.all(|(one, other)| (one - other).abs() / one.abs().max(0.1) < 1e-4);
    assert!(close, "{name}: losses {:?} and {:?}", one.0, other.0);
    for (one, other) in one.1.iter().zip(&other.1) {
        let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        let size = norm(&mut one.values.iter().copied());
        let apart = norm(&mut one.values.iter().zip(&other.values).map(|(one, other)| one - other)) / size;
        assert!(apart < 1e-4, "{name}: the tables are {apart} of their size apart");
    }
}

fn assert_ranks_agree(trial: &Trial, counts: &[u32]) {
    let run = |count: u32| trained(trial, &folder(&format!("ranks-{count}-{}", trial.id())), &ranks(count));
    let one = run(1);
    for &count in counts {
        let kind = trial.learning.as_ref().unwrap();
        assert_agree(&format!("{count} ranks, {:?}, {:?}", kind.loss, kind.sampler), &one, &run(count));
    }
}

#[test]
fn any_number_of_ranks_trains_the_same_model() {
    for backbone in [MF, LIGHT_GCN] {
        for &kind in KINDS {
            assert_ranks_agree(&trial(backbone, kind, ADAM, 64), &[2, 4]);
        }
    }
}

/// Each rank makes all vectors, and their noise, by itself.
#[test]
fn models_with_weights_and_losses_of_their_own_train_the_same() {
    for kind in [(BPR, UNIFORM), (r#"{"bce": {}}"#, IN_BATCH)] {
        assert_ranks_agree(&trial(NEU_MF, kind, ADAM, 64), &[3]);
        assert_ranks_agree(&trial(NEU_MF, kind, ADAM, 2), &[3]);
    }
    for kind in [(BPR, UNIFORM), (SOFTMAX_AT_K, UNIFORM), (r#"{"cce": {}}"#, IN_BATCH)] {
        assert_ranks_agree(&trial(SAS_REC, kind, ADAM, 50), &[3]);
    }
    assert_ranks_agree(&trial(TWO_TOWER, (BPR, ONE_NEGATIVE), ADAM, 16), &[3]);
    // One rank makes the drawn rows alone, several make all; of neither moves what no gradient reaches.
    assert_ranks_agree(&trial(TWO_TOWER, (BPR, r#"{"dns": {"candidates": 8}}"#), LAZY, 16), &[3]);
    for backbone in [NGCF, XSIM_GCL] {
        for kind in [(BPR, UNIFORM), (SOFTMAX_AT_K, UNIFORM), (r#"{"smooth-ndcg": {"temperature": 1.0}}"#, UNIFORM)] {
            assert_ranks_agree(&trial(backbone, kind, ADAM, 64), &[3]);
        }
    }
}

/// 720 pairs in batches of 101: 7 of them, and one of 13.
#[test]
fn rows_need_not_divide_evenly() {
    for kind in [(SOFTMAX_AT_K, UNIFORM), (r#"{"cce": {}}"#, IN_BATCH), (BPR, r#"{"mix-gcf": {"candidates": 8}}"#)] {
        assert_ranks_agree(&trial(MF, kind, ADAM, 101), &[3]);
    }
}

/// Ranks without a row in a batch, in every way that a step goes.
#[test]
fn ranks_may_have_no_rows() {
    // A batch of three has two rows to draw from.
    for &kind in KINDS.iter().filter(|(_, sampler)| !sampler.contains("in-batch") || *sampler == IN_BATCH) {
        assert_ranks_agree(&trial(MF, kind, ADAM, 3), &[4]);
    }
}

/// One rank leaves rows behind where a step touches few; several move all of them, or none but those touched.
#[test]
fn steps_of_few_rows_agree() {
    for optimizer in [LEFT_BEHIND, ADAM, LAZY, ADAM_W, SGD, ADAGRAD] {
        assert_ranks_agree(&trial(MF, (BPR, ONE_NEGATIVE), optimizer, 6), &[2, 3]);
    }
}

/// Each rank counts the items of its rows; steps of few rows and of most have the same sums as those of whole tables.
#[test]
fn the_rows_of_all_ranks_are_drawn_to_zero() {
    let l2 = r#"{"adam": {"learning_rate": 0.05, "batch_l2": 0.1, "epsilon": 1e-3}}"#;
    for (backbone, sampler) in [(MF, UNIFORM), (MF, IN_BATCH), (LIGHT_GCN, UNIFORM), (MF, MIXED), (LIGHT_GCN, MIXED)] {
        assert_ranks_agree(&trial(backbone, (r#"{"cce": {}}"#, sampler), l2, 64), &[2, 4]);
    }
    assert_ranks_agree(&trial(LIGHT_GCN, (r#"{"smooth-ndcg": {"temperature": 1.0}}"#, UNIFORM), l2, 20), &[3]);
    assert_ranks_agree(&trial(MF, (BPR, ONE_NEGATIVE), l2, 3), &[2, 4]);
    assert_ranks_agree(&trial(MF, (r#"{"cce": {}}"#, IN_BATCH), l2, 3), &[2]);
}

/// Rates fall between epochs, and rows left behind are up to date then.
#[test]
fn rates_fall_for_all_ranks() {
    let optimizer =
        r#"{"adam": {"learning_rate": 0.05, "beta1": 0.5, "epsilon": 1e-3, "learning_rate_decay": {"every": 1, "factor": 0.3}}}"#;
    assert_ranks_agree(&trial(MF, (BPR, ONE_NEGATIVE), optimizer, 6), &[2, 3]);
}

#[test]
fn each_number_of_ranks_has_its_bits() {
    for (backbone, kind) in [(MF, KINDS[3]), (LIGHT_GCN, KINDS[4]), (MF, KINDS[9]), (MF, KINDS[16])] {
        let trial = trial(backbone, kind, ADAM, 64);
        for count in [1, 2, 4] {
            let results = [1, 3].map(|threads| {
                let folder = folder(&format!("bits-{count}-{threads}-{}", trial.id()));
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| train(&trial, &tastes(), &folder, &ranks(count), &mut ()).unwrap());
                result(&folder)
            });
            assert!(results[0] == results[1], "{count} ranks, {:?}", trial.learning);
        }
    }
}

/// Trains so far with some ranks and from there with others.
fn train_in_turns(trial: &Trial, folder: &Location, turns: &[((u32, u32), u32)], last: u32) {
    for &(at, count) in turns {
        let flag = AtomicBool::new(false);
        let resources = Resources { interrupt: Some(&flag), ..ranks(count) };
        let error = train(trial, &without_validation(), folder, &resources, &mut Stops { at: &[at], flag: &flag }).unwrap_err();
        assert!(matches!(error, Error::Interrupted { epoch } if epoch == at.0), "{error}");
        assert_eq!(ended(folder), None);
    }
    train(trial, &without_validation(), folder, &ranks(last), &mut ()).unwrap();
}

/// At any step: with the same bits by as many ranks, and with the same model by others.
#[test]
fn a_training_goes_on_with_any_number_of_ranks() {
    let kinds = [(MF, KINDS[3], ADAM, 64), (MF, KINDS[9], ADAM, 64), (MF, KINDS[20], ADAM, 64), (MF, KINDS[21], ADAM, 64)];
    let few = [LEFT_BEHIND, LAZY].map(|optimizer| (MF, (BPR, ONE_NEGATIVE), optimizer, 6));
    for (backbone, kind, optimizer, batch) in kinds.into_iter().chain(few) {
        let trial = trial(backbone, kind, optimizer, batch);
        let [one, two, turns] = ["one", "two", "turns"].map(|name| folder(&format!("turns-{name}-{}", trial.id())));
        let whole = trained(&trial, &one, &ranks(1));
        train(&trial, &without_validation(), &two, &ranks(2), &mut ()).unwrap();
        train_in_turns(&trial, &turns, &[((1, 5), 2), ((2, 3), 2)], 2);
        let files = |folder: &Location| ended(folder).unwrap().scorer(folder).unwrap();
        assert!(files(&two) == files(&turns), "{:?}", trial.learning);
        for (at, (first, second, last)) in [(2, 1, 4), (1, 2, 1), (4, 3, 2)].into_iter().enumerate() {
            let folder = folder(&format!("turns-{at}-{}", trial.id()));
            train_in_turns(&trial, &folder, &[((1, 7), first), ((2, 5), second)], last);
            let Scorer::Factors(Factors { users, items, .. }) = ended(&folder).unwrap().scorer(&folder).unwrap() else {
                panic!("no tables")
            };
            assert_agree(&format!("turns {at} of {}", trial.id()), &(Vec::new(), whole.1.clone()), &(Vec::new(), [users, items]));
        }
    }
}

/// Rank 0 ranks the validation part; all follow what it found.
#[test]
fn patience_ends_the_training_of_all_ranks() {
    let mut trial = trial(MF, (SOFTMAX_AT_K, UNIFORM), r#"{"adam": {"learning_rate": 0.5}}"#, 64);
    let training = &mut trial.learning.as_mut().unwrap().training;
    (training.epochs, training.patience) = (400, Some(3));
    let fit = train(&trial, &tastes(), &folder("ranks-patience"), &ranks(3), &mut ()).unwrap();
    assert_eq!(fit.epochs, fit.best_epoch + 3);
}

#[test]
fn losses_of_whole_batches_are_refused_and_may_be_trained_by_one_rank() {
    for (loss, sampler) in [(r#"{"psl": {"temperature": 0.1, "whole_batch": true}}"#, UNIFORM), (r#"{"sml": {}}"#, UNIFORM)] {
        let (trial, folder) = (trial(MF, (loss, sampler), ADAM, 64), folder(&format!("ranks-refused {loss}")));
        let error = train(&trial, &tastes(), &folder, &ranks(2), &mut ()).unwrap_err();
        assert!(error.to_string().contains("train it with one rank") && !error.repeats(), "{error}");
        train(&trial, &tastes(), &folder, &ranks(1), &mut ()).unwrap();
    }
}

/// Two processes of so many ranks, here two threads, that find each other by address and port. The second one's folder stays empty. It alone
/// is asked to stop, after these steps of the first.
fn train_by_processes(trial: &Trial, folder: &Location, local: u32, stops: &[(u32, u32)]) -> [Result<Fit, Error>; 2] {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let empty = support::folder(&format!("nothing {}", trial.id()));
    let flag = AtomicBool::new(false);
    let process = |rank: u32, folder: &Location| {
        let (limit, secret) = (Duration::from_secs(60), Secret::new("0123456789abcdef").unwrap());
        let nodes = Rendezvous { address: "127.0.0.1".to_owned(), port, rank, world: 2, limit, secret };
        let interrupt = (rank == 1).then_some(&flag);
        let resources = Resources { ranks: Ranks { nodes: Some(nodes), ..Ranks::threads(local) }, interrupt, ..RESOURCES };
        train(trial, &tastes(), folder, &resources, &mut Stops { at: stops, flag: &flag })
    };
    let fits = std::thread::scope(|scope| {
        let processes = [scope.spawn(|| process(0, folder)), scope.spawn(|| process(1, &empty))];
        processes.map(|process| process.join().unwrap())
    });
    assert!(empty.list().unwrap().is_empty());
    fits
}

/// With the bits of as many threads of one process; a second time both find it done.
#[test]
fn processes_train_as_threads_do() {
    let learned = trial(MF, (SOFTMAX_AT_K, UNIFORM), ADAM, 64);
    let popularity = r#"{"version": 1, "dataset": "tastes", "backbone": {"popularity": {}}, "learning": null, "select_by": "ndcg@10"}"#;
    for (trial, local) in [(&learned, 1), (&learned, 2), (&serde_json::from_str(popularity).unwrap(), 2)] {
        let [threads, processes] = ["threads", "processes"].map(|name| folder(&format!("{name}-{local}-{}", trial.id())));
        train(trial, &tastes(), &threads, &ranks(2 * local), &mut ()).unwrap();
        for _ in 0..2 {
            let fits = train_by_processes(trial, &processes, local, &[]).map(|fit| Fit { seconds: 0.0, ..fit.unwrap() });
            assert_eq!(fits[0], fits[1]);
        }
        assert!(result(&threads) == result(&processes));
    }
}

/// As a node is drained: the first process writes the state, and all of them stop at the same step.
#[test]
fn a_process_that_is_asked_to_stop_stops_all() {
    let trial = trial(MF, (SOFTMAX_AT_K, UNIFORM), ADAM, 64);
    let [threads, processes] = ["threads", "processes"].map(|name| folder(&format!("drained-{name}")));
    train(&trial, &tastes(), &threads, &ranks(2), &mut ()).unwrap();
    let errors = train_by_processes(&trial, &processes, 1, &[(2, 3)]).map(|fit| fit.unwrap_err());
    assert!(errors.iter().all(|error| matches!(error, Error::Interrupted { epoch: 2 })), "{errors:?}");
    train(&trial, &tastes(), &processes, &ranks(2), &mut ()).unwrap();
    assert!(result(&threads) == result(&processes));
}

#[test]
fn what_ends_a_training_is_said_by_every_process() {
    let mut trial = trial(MF, (r#"{"bpr": {}}"#, UNIFORM), r#"{"adam": {"learning_rate": 1e30}}"#, 64);
    trial.learning.as_mut().unwrap().training.evaluate_every = 3;
    let folder = folder("ranks-not-finite");
    for expected in ["is not finite", "is not finite"] {
        let errors = train_by_processes(&trial, &folder, 2, &[]).map(|fit| fit.unwrap_err().to_string());
        assert!(errors.iter().all(|error| error.contains(expected)), "{errors:?}");
    }
    assert!(ended(&folder).unwrap().outcome.is_failure());
}

struct Panics;

impl Observer for Panics {
    fn step(&mut self, epoch: u32, step: u32) {
        assert!((epoch, step) < (2, 3), "on purpose");
    }
}

/// The others wait for it, and leave.
#[test]
fn a_rank_that_panics_ends_the_training_which_then_goes_on() {
    let trial = trial(MF, (BPR, UNIFORM), ADAM, 64);
    let [whole, broken] = ["whole", "broken"].map(|name| folder(&format!("ranks-panics-{name}")));
    train(&trial, &tastes(), &whole, &ranks(3), &mut ()).unwrap();
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| train(&trial, &tastes(), &broken, &ranks(3), &mut Panics)));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
    train(&trial, &tastes(), &broken, &ranks(3), &mut ()).unwrap();
    assert!(result(&whole) == result(&broken));
}
