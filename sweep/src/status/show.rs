//! The status as text.

use super::{OnCluster, PodStatus, SweepStatus, TrialState, TrialStatus};
use comfy_table::{ContentArrangement, Table, TableComponent, presets};
use std::fmt::Write;

/// Trials without a model that are named in one line, at most.
const NAMED: usize = 3;

/// Stages, notes and trials. `width` is that of the terminal.
pub fn show(status: &SweepStatus, width: Option<u16>) -> String {
    let stored = status.storage.as_ref().map_or_else(String::new, |storage| format!(", stored in {storage}"));
    let mut text = format!("sweep {}{stored}\n", status.sweep);
    if let Some(cluster) = &status.cluster {
        text += &stages(cluster, width);
    }
    for note in &status.notes {
        let _ = writeln!(text, "note: {note}");
    }
    if status.storage.is_none() {
        return text + "\n" + &pods(&status.pods, width);
    }
    let _ = writeln!(text, "\n{}", counts(&status.trials));
    if let Some(words) = status.has_ended().then(|| without_model(&status.trials)).flatten() {
        let _ = writeln!(text, "{words}");
    }
    text + &trials(&status.trials, width)
}

/// `1 trial failed (index 2: NaN at epoch 3); everything else was done`, of a sweep that has ended; none where every trial has a model.
pub fn without_model(trials: &[TrialStatus]) -> Option<String> {
    let has_none = |trial: &&TrialStatus| !matches!(trial.state, TrialState::Done | TrialState::Stopped | TrialState::Skipped);
    let without: Vec<&TrialStatus> = trials.iter().filter(has_none).collect();
    let why = |trial: &&TrialStatus| format!("index {}: {}", trial.index, trial.why.as_deref().unwrap_or("it has no pod and no result"));
    let named: Vec<String> = without.iter().take(NAMED).map(why).collect();
    let more = match without.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let count = if without.len() == 1 { "1 trial".to_owned() } else { format!("{} trials", without.len()) };
    (!without.is_empty()).then(|| format!("{count} failed ({}{more}); everything else was done", named.join("; ")))
}

/// The pods of trials of which nothing else is known.
fn pods(pods: &[PodStatus], width: Option<u16>) -> String {
    let rows = pods.iter().map(|pod| {
        let why = pod.reason.as_ref().map(ToString::to_string).or_else(|| pod.message.clone()).unwrap_or_default();
        let index = pod.index.map(|index| index.to_string()).unwrap_or_default();
        vec![pod.stage.clone(), index, pod.pod.clone(), pod.phase.clone(), why]
    });
    if pods.is_empty() { "no pod of a trial is there\n".to_owned() } else { table(&["stage", "index", "pod", "phase", ""], rows, width) }
}

fn stages(cluster: &OnCluster, width: Option<u16>) -> String {
    let rows = cluster.stages.iter().map(|stage| {
        let time = |time: &Option<String>| time.clone().unwrap_or_default();
        let reasons: Vec<String> = stage.reasons.iter().map(ToString::to_string).collect();
        vec![stage.stage.clone(), stage.state.clone(), time(&stage.began), time(&stage.ended), reasons.join("\n")]
    });
    let of = format!("submission {} in namespace {}\n\n", cluster.submission, cluster.namespace);
    of + &table(&["stage", "state", "began", "ended", "reason"], rows, width)
}

/// `14 trials: 3 done, 2 running, 2 waiting, 1 failed, 4 stopped by the search, 2 skipped by the search`.
fn counts(trials: &[TrialStatus]) -> String {
    let count = |state: TrialState| trials.iter().filter(|trial| trial.state == state).count();
    let [done, running, waiting, failed] = [TrialState::Done, TrialState::Running, TrialState::Waiting, TrialState::Failed].map(count);
    let searched = |state: TrialState, what: &str| match count(state) {
        0 => String::new(),
        count => format!(", {count} {what} by the search"),
    };
    let left_out = searched(TrialState::Stopped, "stopped") + &searched(TrialState::Skipped, "skipped");
    format!("{} trials: {done} done, {running} running, {waiting} waiting, {failed} failed{left_out}", trials.len())
}

fn trials(trials: &[TrialStatus], width: Option<u16>) -> String {
    let rows = trials.iter().map(|trial| {
        let state = match trial.state {
            TrialState::Waiting => "waiting",
            TrialState::Running => "running",
            TrialState::Done => "done",
            TrialState::Stopped => "stopped",
            TrialState::Skipped => "skipped",
            TrialState::Failed => "failed",
        };
        let index = trial.index.to_string();
        let method = if trial.values.is_empty() { trial.title.clone() } else { format!("{}, {}", trial.title, trial.values) };
        vec![index, trial.trial.clone(), trial.dataset.clone(), method, seed(trial), state.to_owned(), detail(trial)]
    });
    table(&["index", "trial", "dataset", "method", "seed", "state", ""], rows, width)
}

/// `1`, and `1, split 2` where the dataset has several splits.
fn seed(trial: &TrialStatus) -> String {
    let parts = [trial.seed.map(|seed| seed.to_string()), trial.split_seed.map(|seed| format!("split {seed}"))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `epoch 15 of 200, ndcg@20 0.1234`, and why it waits or failed.
fn detail(trial: &TrialStatus) -> String {
    let epoch = match (trial.state, trial.epoch, trial.epochs) {
        (TrialState::Done, Some(epoch), Some(_)) => Some(format!("{epoch} epochs")),
        (_, Some(epoch), Some(epochs)) => Some(format!("epoch {epoch} of {epochs}")),
        _ => None,
    };
    let value = trial.value.map(|value| format!("{} {value:.4}", trial.metric));
    [epoch, value, trial.why.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>, width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.remove_style(TableComponent::HorizontalLines).remove_style(TableComponent::MiddleIntersections);
    // Without a terminal, lines are as long as they are.
    table.set_width(width.unwrap_or(u16::MAX)).set_header(header).add_rows(rows);
    format!("{table}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::StageStatus;
    use cluster::client::Reason;
    use std::collections::BTreeMap;

    fn trial(index: usize, state: TrialState, why: Option<&str>) -> TrialStatus {
        TrialStatus {
            index,
            trial: format!("{index:016x}"),
            method: "mf / softmax / uniform".to_owned(),
            title: "softmax on mf".to_owned(),
            values: "loss.temperature=0.2".to_owned(),
            dataset: "small".to_owned(),
            split_seed: None,
            seed: Some(1),
            state,
            epoch: None,
            epochs: Some(200),
            metric: "ndcg@20".to_owned(),
            value: None,
            why: why.map(str::to_owned),
        }
    }

    #[test]
    fn a_sweep_that_ended_names_the_trials_without_a_model() {
        let nan = Some("epoch 3, step 2: the loss is not finite");
        let done = trial(0, TrialState::Done, None);
        assert_eq!(without_model(std::slice::from_ref(&done)), None);
        assert_eq!(
            without_model(&[done, trial(2, TrialState::Failed, nan)]).unwrap(),
            "1 trial failed (index 2: epoch 3, step 2: the loss is not finite); everything else was done"
        );
        let many: Vec<TrialStatus> = (0..5).map(|index| trial(index, TrialState::Waiting, None)).collect();
        let said = without_model(&many).unwrap();
        assert!(said.starts_with("5 trials failed (index 0: it has no pod and no result; index 1: "), "{said}");
        assert!(said.ends_with("; and 2 more); everything else was done"), "{said}");
    }

    #[test]
    fn tables_fit_the_terminal_and_reasons_are_whole() {
        let what = "no node for it (0/3 nodes are available: 3 Insufficient nvidia.com/gpu)".to_owned();
        let remedy = "it asks for nvidia.com/gpu 8: ask for less in `resources`, or add nodes".to_owned();
        let stage = StageStatus {
            stage: "train".to_owned(),
            state: "runs: 0 of 3 done, 2 active, 0 of them ready".to_owned(),
            failed: false,
            began: Some("2026-01-01T00:00:00Z".to_owned()),
            ended: None,
            reasons: vec![Reason { what, remedy, pods: 2 }],
        };
        let cluster = OnCluster { namespace: "team".to_owned(), submission: "1a2b3c4d".to_owned(), ended: true, stages: vec![stage] };
        let trials = vec![trial(
            0,
            TrialState::Failed,
            Some("epoch 3, step 2: the parameter `users` (row 7, value inf) is not finite; a smaller learning rate"),
        )];
        let status = SweepStatus {
            sweep: "s".to_owned(),
            storage: Some("r".to_owned()),
            cluster: Some(cluster),
            is_unanswered: false,
            counts: BTreeMap::new(),
            notes: Vec::new(),
            trials,
            pods: Vec::new(),
        };
        let text = show(&status, Some(100));
        let of_tables = text.lines().filter(|line| !line.contains("everything else was done"));
        assert!(of_tables.clone().all(|line| line.chars().count() <= 100), "{text}");
        let wide = show(&status, None);
        assert!(wide.contains(" softmax on mf, loss.temperature=0.2 "), "{wide}");
        assert!(
            wide.contains("2 pods: no node for it (0/3 nodes are available: 3 Insufficient nvidia.com/gpu): it asks for nvidia.com/gpu 8:")
        );
        assert!(
            wide.contains("\n1 trial failed (index 0: epoch 3, step 2: the parameter `users` (row 7, value inf) is not finite;"),
            "{wide}"
        );
    }
}
