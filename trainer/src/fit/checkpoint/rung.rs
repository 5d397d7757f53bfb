//! `rungs/<epochs>.json`: how far a training had come after so many epochs, where it was asked to stop there.

use crate::Result;
use crate::fit::checkpoint::{
    curve::{self, Point},
    outcome::{Ended, Fit, Outcome},
    stored_files::{REMEDY, StoredCurve},
};
use dataset::{Error, Location, marker};
use serde::{Deserialize, Serialize};

/// The training up to an epoch, of the points of its curve, and where it ran.
pub(crate) fn up_to(points: &[Point], epochs: u32, device: String) -> Fit {
    let points = || points.iter().take_while(|point| point.epoch <= epochs);
    let mut best: Option<(u32, f64)> = None;
    for (epoch, value) in points().filter_map(|point| Some((point.epoch, point.validation?))) {
        if best.is_none_or(|(_, best)| value > best) {
            best = Some((epoch, value));
        }
    }
    let last = points().last();
    let epochs = last.map_or(0, |point| point.epoch);
    Fit {
        epochs,
        best_epoch: best.map_or(epochs, |(epoch, _)| epoch),
        validation: best.map(|(_, value)| value),
        seconds: last.map_or(0.0, |point| point.seconds),
        device,
        remarks: Vec::new(),
    }
}

fn at(folder: &Location, epochs: u32) -> Location {
    folder.join(&format!("rungs/{epochs}.json"))
}

/// The marker of a training that was asked to stop.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rung {
    /// The trial's id.
    pub(crate) trial: String,
    /// Epochs after which the training was to stop.
    pub(crate) epochs: u32,
    pub(crate) fit: Fit,
    pub(crate) curve: StoredCurve,
}

impl Rung {
    pub(crate) fn write(&self, folder: &Location) -> Result<()> {
        Ok(at(folder, self.epochs).write(marker::text(self))?)
    }

    fn read(folder: &Location, trial: &str, epochs: u32) -> dataset::Result<Option<Self>> {
        let at = at(folder, epochs);
        match marker::read::<Self>(&at, REMEDY) {
            Ok(rung) if rung.trial == trial && rung.epochs == epochs => Ok(Some(rung)),
            Ok(rung) => {
                let reason = format!("it is that of trial {} after {} epochs; {REMEDY}", rung.trial, rung.epochs);
                Err(Error::damaged(at, reason))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The curve of the trial of this id, as far as a marker tells of it: to its end, or to the last rung at which it was asked to stop.
///
/// # Errors
/// When the store fails, or a marker is damaged.
pub fn curve(folder: &Location, trial: &str) -> dataset::Result<Option<Location>> {
    if let Some(ended) = Ended::read(folder, trial)? {
        return Ok(ended.curve(folder));
    }
    let rungs = folder.join("rungs").list()?;
    let last = rungs.iter().filter_map(|at| at.name().strip_suffix(".json")?.parse().ok()).max();
    let rung = last.map(|epochs| Rung::read(folder, trial, epochs)).transpose()?.flatten();
    Ok(rung.map(|rung| folder.join(&rung.curve.at).holding(&rung.curve.entry, REMEDY)))
}

/// The curves that the markers of rungs count, by their paths below the trial's folder.
///
/// # Errors
/// When the store fails, or a marker is damaged.
pub fn rung_curves(folder: &Location, trial: &str) -> dataset::Result<Vec<String>> {
    let rungs = folder.join("rungs").list()?;
    let epochs = rungs.iter().filter_map(|at| at.name().strip_suffix(".json")?.parse().ok());
    epochs.filter_map(|epochs| Rung::read(folder, trial, epochs).transpose()).map(|rung| Ok(rung?.curve.at)).collect()
}

/// How the trial of this id, whose folder this is, stood after so many epochs, whatever became of it later; how it ended, for `None`, or
/// where it ended sooner. Nothing where it has not come so far, or goes on and was not asked to stop there.
///
/// # Errors
/// When the store fails, or what is stored is not what a training leaves.
pub fn stored(folder: &Location, trial: &str, until: Option<u32>) -> Result<Option<Outcome>> {
    if let Some(until) = until
        && let Some(rung) = Rung::read(folder, trial, until)?
    {
        return Ok(Some(Outcome::Done(rung.fit))); // whatever became of it later
    }
    let Some(ended) = Ended::read(folder, trial)? else { return Ok(None) };
    Ok(Some(match until.map(|until| before(&ended, folder, until)).transpose()?.flatten() {
        Some(fit) => Outcome::Done(fit),
        None => ended.outcome,
    }))
}

/// How a trial stood that ended after more epochs than these; of one that failed its curve does not tell where it ran.
fn before(ended: &Ended, folder: &Location, until: u32) -> Result<Option<Fit>> {
    let (device, goes_on) = match &ended.outcome {
        Outcome::Done(fit) => (fit.device.as_str(), fit.epochs > until),
        Outcome::Failed(_) => ("unknown", true),
    };
    let Some(curve) = ended.curve(folder).filter(|_| goes_on) else { return Ok(None) };
    let points = curve::read(&curve)?;
    Ok(points.iter().any(|point| point.epoch >= until).then(|| up_to(&points, until, device.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::{super::outcome::tests::popularity, *};

    fn points() -> Vec<Point> {
        let point = |epoch: u32, validation| Point { epoch, seconds: f64::from(epoch) * 1.5, loss: 1.0, validation };
        vec![point(1, None), point(2, Some(0.25)), point(3, None), point(4, Some(0.25)), point(5, None), point(6, Some(0.5))]
    }

    #[test]
    fn the_first_of_the_best_counts() {
        let found = |epochs| {
            let fit = up_to(&points(), epochs, "cpu".to_owned());
            (fit.epochs, fit.best_epoch, fit.validation, fit.seconds)
        };
        assert_eq!(found(1), (1, 1, None, 1.5));
        assert_eq!(found(5), (5, 2, Some(0.25), 7.5));
        assert_eq!(found(9), (6, 6, Some(0.5), 9.0));
    }

    #[test]
    fn a_trial_that_ended_answers_from_its_curve() {
        let folder = Location::parse("memory:///rungs/ended").unwrap();
        assert_eq!(stored(&folder, &popularity().id(), Some(4)).unwrap(), None);
        let curve = curve::write(&folder, &points(), "ndcg@10".parse().unwrap()).unwrap();
        Ended::new(&popularity(), Outcome::Done(up_to(&points(), 6, "cpu".to_owned())), None, Some(curve)).write(&folder).unwrap();
        assert_eq!(stored(&folder, &popularity().id(), Some(4)).unwrap(), Some(Outcome::Done(up_to(&points(), 4, "cpu".to_owned()))));
        for until in [None, Some(6), Some(50)] {
            assert_eq!(stored(&folder, &popularity().id(), until).unwrap(), Some(Outcome::Done(up_to(&points(), 6, "cpu".to_owned()))));
        }
    }

    #[test]
    fn a_trial_that_failed_stood_before_it_did() {
        let folder = Location::parse("memory:///rungs/failed").unwrap();
        let failed = Outcome::Failed("epoch 7".to_owned());
        let write = |curve| Ended::new(&popularity(), failed.clone(), None, curve).write(&folder).unwrap();
        write(None);
        assert_eq!(stored(&folder, &popularity().id(), Some(4)).unwrap(), Some(failed.clone()));
        write(Some(curve::write(&folder, &points(), "ndcg@10".parse().unwrap()).unwrap()));
        assert_eq!(stored(&folder, &popularity().id(), Some(4)).unwrap(), Some(Outcome::Done(up_to(&points(), 4, "unknown".to_owned()))));
        for until in [None, Some(7)] {
            assert_eq!(stored(&folder, &popularity().id(), until).unwrap(), Some(failed.clone()));
        }
    }

    #[test]
    fn the_rung_of_another_trial_or_of_other_epochs_is_refused() {
        let folder = Location::parse("memory:///rungs/swapped").unwrap();
        let curve = curve::write(&folder, &points(), "ndcg@10".parse().unwrap()).unwrap();
        let fit = up_to(&points(), 4, "cpu".to_owned());
        Rung { trial: popularity().id(), epochs: 4, fit: fit.clone(), curve }.write(&folder).unwrap();
        assert_eq!(stored(&folder, &popularity().id(), Some(4)).unwrap(), Some(Outcome::Done(fit)));
        assert_eq!(super::curve(&folder, &popularity().id()).unwrap().map(|at| curve::read(&at).unwrap()), Some(points()));
        let id = popularity().id();
        let reason = |trial: &str, until| stored(&folder, trial, Some(until)).unwrap_err().to_string();
        assert!(reason("u", 4).contains(&format!("rungs/4.json: it is that of trial {id} after 4 epochs")), "{}", reason("u", 4));
        at(&folder, 6).write(at(&folder, 4).read().unwrap()).unwrap();
        assert!(reason(&id, 6).contains(&format!("rungs/6.json: it is that of trial {id} after 4 epochs")), "{}", reason(&id, 6));
    }
}
