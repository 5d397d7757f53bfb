//! `rungs/<epochs>.json`: how far a training had come after so many epochs, where it was asked to stop there.

use super::{
    curve::{self, Point},
    outcome::{Fit, Outcome},
};
use crate::Result;
use dataset::{Error, Location};

/// The training up to an epoch, of the points of its curve, and where it ran.
pub(super) fn up_to(points: &[Point], epochs: u32, device: String) -> Fit {
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
    }
}

fn at(folder: &Location, epochs: u32) -> Location {
    folder.join(&format!("rungs/{epochs}.json"))
}

pub(super) fn write(folder: &Location, epochs: u32, fit: &Fit) -> Result<()> {
    Ok(at(folder, epochs).write(serde_json::to_string_pretty(fit).expect("a fit is plain data"))?)
}

fn read(folder: &Location, epochs: u32) -> Result<Option<Fit>> {
    let at = at(folder, epochs);
    let refuse = |error| Error::content(&at, format!("{error}; delete the trial's folder to train it again"));
    match at.read() {
        Ok(text) => Ok(Some(serde_json::from_slice(&text).map_err(refuse)?)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// How the trial of a folder stood after so many epochs, whatever became of it later; how it ended, for `None`, or where it ended sooner.
/// Nothing where it has not come so far, or goes on and was not asked to stop there.
///
/// # Errors
/// When the store fails, or what is stored is not what a training leaves.
pub fn stored(folder: &Location, until: Option<u32>) -> Result<Option<Outcome>> {
    let Some(until) = until else { return Outcome::read(folder) };
    if let Some(fit) = read(folder, until)? {
        return Ok(Some(Outcome::Done(fit))); // whatever became of it later
    }
    match Outcome::read(folder)? {
        Some(Outcome::Done(fit)) if fit.epochs > until => {
            Ok(Some(Outcome::Done(up_to(&curve::read(&folder.join("curve.parquet"))?, until, fit.device))))
        }
        Some(Outcome::Failed(reason)) => Ok(Some(before_failing(folder, until)?.map_or(Outcome::Failed(reason), Outcome::Done))),
        ended => Ok(ended),
    }
}

/// How a trial stood that failed after so many epochs; where it ran then, its curve does not tell.
fn before_failing(folder: &Location, until: u32) -> Result<Option<Fit>> {
    match curve::read(&folder.join("curve.parquet")) {
        Ok(points) if points.iter().any(|point| point.epoch >= until) => Ok(Some(up_to(&points, until, "unknown".to_owned()))),
        Ok(_) | Err(crate::Error::Dataset(Error::NotFound { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(stored(&folder, Some(4)).unwrap(), None);
        curve::write(&folder.join("curve.parquet"), &points(), "ndcg@10".parse().unwrap()).unwrap();
        Outcome::Done(up_to(&points(), 6, "cpu".to_owned())).write(&folder).unwrap();
        assert_eq!(stored(&folder, Some(4)).unwrap(), Some(Outcome::Done(up_to(&points(), 4, "cpu".to_owned()))));
        for until in [None, Some(6), Some(50)] {
            assert_eq!(stored(&folder, until).unwrap(), Some(Outcome::Done(up_to(&points(), 6, "cpu".to_owned()))));
        }
    }

    #[test]
    fn a_trial_that_failed_stood_before_it_did() {
        let folder = Location::parse("memory:///rungs/failed").unwrap();
        let failed = Outcome::Failed("epoch 7".to_owned());
        failed.write(&folder).unwrap();
        assert_eq!(stored(&folder, Some(4)).unwrap(), Some(failed.clone()));
        curve::write(&folder.join("curve.parquet"), &points(), "ndcg@10".parse().unwrap()).unwrap();
        assert_eq!(stored(&folder, Some(4)).unwrap(), Some(Outcome::Done(up_to(&points(), 4, "unknown".to_owned()))));
        for until in [None, Some(7)] {
            assert_eq!(stored(&folder, until).unwrap(), Some(failed.clone()));
        }
    }
}
