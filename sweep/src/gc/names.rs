//! The names that ranksweep gives to files. A file of another name is somebody else's, wherever it stands.

use dataset::table_of;

/// A file of ours, by its path below the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredFile<'a> {
    /// A test of the storage.
    Probe,
    /// A file of a trial, by the trial's id and what it is there.
    Trial(&'a str, OfTrial),
    /// A table of a dataset, by the dataset's folder.
    Dataset(&'a str),
    /// A file of a relation on a cluster, by the folder of the dataset that was to come of it, and the preparation's own below that.
    Scratch(&'a str, &'a str),
    /// A table of a sweep, by the sweep's name; one of a trial by its id too.
    Sweep(&'a str, Option<&'a str>),
    /// A table of an earlier plan of a sweep, by the folder in the sweep's history.
    History(&'a str),
}

/// The role of a file in its trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfTrial {
    /// The state that training goes on from.
    Resume,
    /// A claim of who trains it.
    Claim,
    /// A model or a curve, which counts where a marker says so.
    Content,
    /// A description or a marker.
    Marker,
}

/// The tables of a dataset, and what else stands beside them.
const TABLES: [&str; 6] = ["train", "fold-in", "validation", "test", "users", "items"];
const BESIDE_TABLES: [&str; 2] = ["rejected.tsv", "manifest.json"];
/// Files that `evaluate` and `report` write beside `per_user/` and the plan.
const SWEEP: [&str; 14] = [
    "sweep.yaml",
    "trials.parquet",
    "metrics.parquet",
    "groups.parquet",
    "significance.parquet",
    "curves.parquet",
    "all_trials.parquet",
    "leaderboard.parquet",
    "tuning.parquet",
    "reproduction.parquet",
    "claims.parquet",
    "variance_components.parquet",
    "report.html",
    "tables.json",
];
/// The files of a model.
const MODEL: [&str; 4] = ["scorer.safetensors", "scorer.json", "parameters.safetensors", "per_user.parquet"];

/// The file that ranksweep gives this path; `None` for paths that it gives to none.
pub(super) fn named(path: &str) -> Option<StoredFile<'_>> {
    let steps: Vec<&str> = path.split('/').collect();
    match steps[..] {
        ["claims", probe] if probe.strip_prefix("probe-").is_some_and(|nonce| is_hex(nonce, 32)) => Some(StoredFile::Probe),
        ["trials", id, ref file @ ..] if is_hex(id, 16) => of_trial(file).map(|what| StoredFile::Trial(id, what)),
        ["datasets", folder, file] if is_of_dataset(file) && ends_in_hash(folder) => Some(StoredFile::Dataset(folder)),
        ["datasets", folder, "samplers", file] if ends_in_hash(folder) => {
            let key = file.strip_prefix("ppr-")?.strip_suffix(".safetensors")?;
            is_hex(key, 16).then_some(StoredFile::Dataset(folder))
        }
        ["datasets", folder, "scratch", run, ref file @ ..] if ends_in_hash(folder) && is_hex(run, 32) => {
            let is_relation = matches!(file, [_, file] if file.ends_with(".parquet"));
            (is_relation || matches!(file, ["scratch.json"])).then_some(StoredFile::Scratch(folder, run))
        }
        ["sweeps", name, file] if SWEEP.contains(&file) => Some(StoredFile::Sweep(name, None)),
        ["sweeps", name, "per_user", file] => {
            let id = file.strip_suffix(".parquet").filter(|id| is_hex(id, 16))?;
            Some(StoredFile::Sweep(name, Some(id)))
        }
        ["sweeps", _, "history", folder, file] if SWEEP.contains(&file) && ends_in_hash(folder) => Some(StoredFile::History(folder)),
        ["sweeps", _, "history", folder, "per_user", file] if ends_in_hash(folder) => {
            file.strip_suffix(".parquet").filter(|id| is_hex(id, 16)).map(|_| StoredFile::History(folder))
        }
        _ => None,
    }
}

/// The sweep whose plan has this path, the present one or an earlier one. A plan is no leftover, and so has no name above; what was to be put in its place may be one.
pub(super) fn sweep_of_plan(path: &str) -> Option<&str> {
    let steps: Vec<&str> = path.split('/').collect();
    match steps[..] {
        ["sweeps", name, "plan.json"] | ["sweeps", name, "plans", _] | ["sweeps", name, "history", _, "plan.json"] => Some(name),
        _ => None,
    }
}

fn is_of_dataset(file: &str) -> bool {
    BESIDE_TABLES.contains(&file) || table_of(file).is_some_and(|table| TABLES.contains(&table))
}

fn of_trial(file: &[&str]) -> Option<OfTrial> {
    let numbered = |name: &str| name.strip_suffix(".json").is_some_and(|number| number.parse::<u64>().is_ok());
    match *file {
        ["resume", "state.safetensors"] => Some(OfTrial::Resume),
        ["claims", claim] if numbered(claim) => Some(OfTrial::Claim),
        ["checkpoint", key, file] if is_hex(key, 16) && MODEL.contains(&file) => Some(OfTrial::Content),
        ["curve", file] if file.strip_suffix(".parquet").is_some_and(|key| is_hex(key, 16)) => Some(OfTrial::Content),
        ["rungs", rung] if numbered(rung) => Some(OfTrial::Marker),
        ["trial.json" | "done.json"] => Some(OfTrial::Marker),
        _ => None,
    }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Whether a name ends in a dataset's fingerprint.
fn ends_in_hash(folder: &str) -> bool {
    folder.rsplit_once('-').is_some_and(|(_, hash)| hash.len() == 16 && is_hex(hash, 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef";

    #[test]
    fn what_others_store_has_no_name_of_ours() {
        for path in [
            "claims/insurance.csv",
            "claims/probe-1",
            "datasets/ml-100k/train.parquet",
            "datasets/raw.csv",
            "trials/notes.txt",
            "trials/phase-3/done.json",
            &format!("trials/{ID}/notes.txt"),
            &format!("trials/{ID}/checkpoint/best/scorer.json"),
            &format!("datasets/a-{ID}/own.parquet"),
            &format!("datasets/a-{ID}/own-2.parquet"),
            &format!("datasets/a-{ID}/train-1.parquet"),
            &format!("datasets/a-{ID}/train-b.parquet"),
            &format!("datasets/a-{ID}/scratch/own/rows-0/0.parquet"),
            &format!("datasets/a-{ID}/scratch/{ID}{ID}/notes.txt"),
            "sweeps/s/per_user/own.parquet",
            "sweeps/s/plan.json",
            "sweeps/s/history/notes/metrics.parquet",
            "ranksweep.json",
        ] {
            assert_eq!(named(path), None, "{path}");
        }
    }

    #[test]
    fn what_is_stored_has_a_name() {
        let of = |path: &str| matches!(named(&path.replace("ID", ID)), Some(StoredFile::Trial(..)));
        assert!(
            ["trial.json", "done.json", "resume/state.safetensors", "claims/000001.json", "rungs/4.json", "curve/ID.parquet"]
                .iter()
                .all(|path| of(&format!("trials/ID/{path}")))
        );
        assert_eq!(named(&format!("trials/{ID}/checkpoint/{ID}/scorer.json")), Some(StoredFile::Trial(ID, OfTrial::Content)));
        assert_eq!(named(&format!("sweeps/s/per_user/{ID}.parquet")), Some(StoredFile::Sweep("s", Some(ID))));
        let folder = format!("1-{ID}");
        assert_eq!(named(&format!("sweeps/s/history/{folder}/metrics.parquet")), Some(StoredFile::History(&folder)));
        assert_eq!(named(&format!("sweeps/s/history/{folder}/per_user/{ID}.parquet")), Some(StoredFile::History(&folder)));
        assert_eq!(named(&format!("claims/probe-{ID}{ID}")), Some(StoredFile::Probe));
        let (dataset, run) = (format!("a-{ID}"), format!("{ID}{ID}"));
        for file in ["train.parquet", "train-2.parquet", "fold-in.parquet", "fold-in-12.parquet", "rejected.tsv"] {
            assert_eq!(named(&format!("datasets/{dataset}/{file}")), Some(StoredFile::Dataset(&dataset)), "{file}");
        }
        for file in ["scratch.json", "pairs-0-7/x_0.parquet"] {
            assert_eq!(named(&format!("datasets/{dataset}/scratch/{run}/{file}")), Some(StoredFile::Scratch(&dataset, &run)));
        }
    }
}
