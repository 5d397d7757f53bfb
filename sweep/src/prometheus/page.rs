//! The page: families of samples in Prometheus's text format, version 0.0.4.

use super::{Stage, State, Training};
use std::{fmt::Write, time::Duration};

/// The content type of the page.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How trials end, as they are counted.
const ENDS: [&str; 3] = ["done", "stopped", "failed"];

/// Labels of a sample, and its value.
type Sample<'a> = (Vec<(&'static str, &'a str)>, f64);

/// One number of a trial that trains: its name, what it is, and how it is read.
type Figure = (&'static str, &'static str, fn(&Training) -> Option<f64>);

const FIGURES: [Figure; 6] = [
    ("ranksweep_trial_epoch", "Epochs that a trial in training has done.", |trial| Some(trial.epoch.into())),
    ("ranksweep_trial_epochs", "Epochs that a trial in training does at most.", |trial| Some(trial.epochs.into())),
    ("ranksweep_trial_loss", "Mean loss of the last epoch.", |trial| trial.loss),
    ("ranksweep_trial_pairs_per_second", "Train pairs of the last epoch by its seconds.", |trial| trial.pairs_per_second),
    ("ranksweep_trial_left_seconds", "Seconds that the epochs that are left take at the pace of those before them.", |trial| {
        trial.left_seconds
    }),
    ("ranksweep_trial_validation", "Last value of the validation metric.", |trial| trial.validation),
];

pub(super) fn write(state: &State, longest_operation: Option<Duration>) -> String {
    let mut text = String::new();
    let help = "The sweep that this process works on, and the program's version.";
    let of_sweep = |name| (vec![("sweep", name), ("version", env!("CARGO_PKG_VERSION"))], 1.0);
    family(&mut text, "ranksweep_info", help, state.sweep.iter().map(|name| of_sweep(name.as_str())));
    let help = "Seconds for which the oldest operation on the storage that is under way has lasted.";
    let waits = longest_operation.map(|wait| (Vec::new(), wait.as_secs_f64()));
    family(&mut text, "ranksweep_storage_operation_seconds", help, waits.into_iter());
    if let Some(all) = state.trials {
        let (running, ended) = (state.running.len(), state.ended.values().sum::<usize>());
        let waiting = all.saturating_sub(running + ended);
        let of_ends = ENDS.map(|how| (how, state.ended.get(how).copied().unwrap_or_default()));
        let samples = [("waiting", waiting), ("running", running)].into_iter().chain(of_ends);
        let help = "Trials of this process by state; in successive halving each counts once in every rung.";
        family(&mut text, "ranksweep_trials", help, samples.map(|(how, count)| (vec![("state", how)], count as f64)));
    }
    for (name, help, of) in FIGURES {
        let samples = state.running.iter().filter_map(|(id, (trial, _))| Some((labels(name, id, trial), of(trial)?)));
        family(&mut text, name, help, samples);
    }
    let (name, help) =
        ("ranksweep_trial_told_timestamp_seconds", "When a trial in training last told how far it is, in seconds since 1970.");
    family(&mut text, name, help, state.running.iter().map(|(id, (trial, told))| (labels(name, id, trial), *told)));
    let help = "Whether a stage of the sweep is in a state.";
    family(&mut text, "ranksweep_stage_state", help, state.stages.iter().map(|stage| (of_stage(stage, stage.state), 1.0)));
    let help = "Indexes of a stage by state: each is a trial, or the trials of a pod where it trains several.";
    let indexes =
        state.stages.iter().flat_map(|stage| stage.indexes.iter().map(move |&(state, count)| (of_stage(stage, state), f64::from(count))));
    family(&mut text, "ranksweep_stage_indexes", help, indexes);
    text
}

fn labels<'a>(name: &str, id: &'a str, trial: &'a Training) -> Vec<(&'static str, &'a str)> {
    let metric = (name == "ranksweep_trial_validation").then_some(("metric", trial.metric.as_str()));
    [("trial", id), ("method", &trial.method), ("dataset", &trial.dataset)].into_iter().chain(metric).collect()
}

fn of_stage<'a>(stage: &'a Stage, state: &'a str) -> Vec<(&'static str, &'a str)> {
    vec![("sweep", &stage.sweep), ("submission", &stage.submission), ("stage", &stage.stage), ("state", state)]
}

/// A family of gauges; nothing where it has no sample.
fn family<'a>(text: &mut String, name: &str, help: &str, samples: impl Iterator<Item = Sample<'a>>) {
    let mut samples = samples.peekable();
    if samples.peek().is_some() {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge"); // a string takes all text
    }
    for (labels, value) in samples {
        let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}

/// A label's value as the format wants it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::Meter;
    use super::*;

    #[test]
    fn a_process_that_trains_tells_its_trials() {
        let meter = Meter::default();
        assert_eq!(meter.page(), "");
        meter.begin(5);
        meter.end("done");
        meter.end("failed");
        let training = Training {
            method: "mf, \"bpr\"".to_owned(),
            dataset: "a\\b".to_owned(),
            metric: "ndcg@20".to_owned(),
            epoch: 3,
            epochs: 32,
            loss: Some(0.25),
            pairs_per_second: Some(1e6),
            left_seconds: Some(14.5),
            validation: None,
        };
        meter.tell("00ff", training.clone());
        let page = meter.page();
        let expected = "\
# HELP ranksweep_trials Trials of this process by state; in successive halving each counts once in every rung.
# TYPE ranksweep_trials gauge
ranksweep_trials{state=\"waiting\"} 2
ranksweep_trials{state=\"running\"} 1
ranksweep_trials{state=\"done\"} 1
ranksweep_trials{state=\"stopped\"} 0
ranksweep_trials{state=\"failed\"} 1
# HELP ranksweep_trial_epoch Epochs that a trial in training has done.
# TYPE ranksweep_trial_epoch gauge
ranksweep_trial_epoch{trial=\"00ff\",method=\"mf, \\\"bpr\\\"\",dataset=\"a\\\\b\"} 3
";
        assert!(page.starts_with(expected), "{page}");
        assert!(
            page.contains("\nranksweep_trial_pairs_per_second{trial=\"00ff\",method=\"mf, \\\"bpr\\\"\",dataset=\"a\\\\b\"} 1000000\n")
        );
        assert!(!page.contains("validation"), "nothing was evaluated yet");
        meter.tell("00ff", Training { validation: Some(0.125), ..training });
        assert!(meter.page().contains("dataset=\"a\\\\b\",metric=\"ndcg@20\"} 0.125\n"));
        assert!(meter.page().contains("\nranksweep_trial_told_timestamp_seconds{trial=\"00ff\","));
        meter.rest("00ff");
        assert!(meter.page().contains("{state=\"waiting\"} 3\n") && !meter.page().contains("00ff"), "what has ended is not named");
    }

    #[test]
    fn a_process_tells_its_sweep_and_how_long_the_storage_takes() {
        let state = State { sweep: Some("s".to_owned()), ..State::default() };
        let page = write(&state, Some(Duration::from_millis(2500)));
        let version = env!("CARGO_PKG_VERSION");
        assert!(page.contains(&format!("\nranksweep_info{{sweep=\"s\",version=\"{version}\"}} 1\n")), "{page}");
        assert!(page.ends_with("\nranksweep_storage_operation_seconds 2.5\n"), "{page}");
    }

    #[test]
    fn a_driver_tells_its_stages() {
        let meter = Meter::default();
        let indexes = [("waiting", 1), ("active", 2), ("done", 3), ("failed", 4)];
        let [sweep, submission, stage] = ["s", "1a2b3c4d", "train"].map(str::to_owned);
        meter.stages(vec![Stage { sweep, submission, stage, state: "running", indexes }]);
        let page = meter.page();
        let of = "sweep=\"s\",submission=\"1a2b3c4d\",stage=\"train\"";
        assert!(page.contains(&format!("\nranksweep_stage_state{{{of},state=\"running\"}} 1\n")), "{page}");
        assert!(page.ends_with(&format!("ranksweep_stage_indexes{{{of},state=\"failed\"}} 4\n")), "{page}");
    }
}
