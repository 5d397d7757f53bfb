//! A dataset as a training sees it, and as models are judged on it.
//!
//! The two differ where the split holds users out as a whole. A training is given a dataset without them, with dense ids of its own, so that
//! nothing of them can reach a parameter, a draw or a graph. A model that comes out of it is then given these users from their histories (`models::FoldIn`),
//! and stands before validation, the checkpoint and the evaluator with all users of the dataset.

use crate::{Error, Result, Trial};
use dataset::Dataset;
use evaluator::Scorer;
use models::{FoldIn, FoldInSettings, NewUsers, RIDGE, Trained};

/// A dataset from both sides.
pub(crate) struct Views<'a> {
    whole: &'a Dataset,
    unseen: Option<Unseen<'a>>,
}

/// Where the split holds users out: what training sees, and who they are.
struct Unseen<'a> {
    seen: Dataset,
    users: NewUsers<'a>,
}

impl<'a> Views<'a> {
    /// Looks at a dataset from both sides, for a trial.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) where the split holds users out, and the model cannot score users that it has not seen.
    pub(crate) fn new(dataset: &'a Dataset, trial: &Trial) -> Result<Self> {
        // What another program trained knows what it knows.
        let held_out = if trial.backbone.is_pretrained() { None } else { NewUsers::held_out(dataset) };
        let unseen = held_out.map(|(seen, users)| Unseen { seen, users });
        match (&unseen, trial.backbone.how_to_fold_in()) {
            (Some(_), FoldIn::Unknown(reason)) => Err(Error::impossible(FoldIn::refusal(reason))),
            _ => Ok(Self { whole: dataset, unseen }),
        }
    }

    /// What training sees.
    pub(crate) fn seen(&self) -> &Dataset {
        self.unseen.as_ref().map_or(self.whole, |unseen| &unseen.seen)
    }

    /// What models are judged on.
    pub(crate) fn whole(&self) -> &'a Dataset {
        self.whole
    }

    /// Whether there are users whom no training sees.
    pub(crate) fn holds_users_out(&self) -> bool {
        self.unseen.is_some()
    }

    /// A model of the users whom training sees as one of all users.
    ///
    /// # Errors
    /// As for [`Backbone::with_new_users`](models::Backbone::with_new_users).
    pub(crate) fn scorer(&self, trial: &Trial, model: Trained<'_>) -> Result<Scorer> {
        match &self.unseen {
            None => Ok(model.scorer),
            Some(Unseen { users, .. }) => {
                let settings = FoldInSettings { ridge: trial.ridge.unwrap_or(RIDGE), nodes: trial.fold_in.unwrap_or_default() };
                Ok(trial.backbone.with_new_users(model, users, settings)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Interactions;
    use testing::dataset_of;

    /// Users 1 and 3 of four are held out.
    fn dataset() -> Dataset {
        let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(4, pairs.iter().copied());
        Dataset {
            fold_in: Some(part(&[(1, 0), (3, 1), (3, 2)])),
            validation: part(&[(1, 2)]),
            test: part(&[(3, 0)]),
            ..dataset_of([4, 3], &[(0, 0), (0, 1), (2, 2)])
        }
    }

    fn trial(backbone: &str) -> Trial {
        let text = format!(r#"{{"version": 1, "dataset": "d", "backbone": {backbone}, "learning": null, "select_by": "ndcg@10"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn training_sees_neither_the_users_nor_what_they_took() {
        let dataset = dataset();
        let views = Views::new(&dataset, &trial(r#"{"popularity": {}}"#)).unwrap();
        let seen = views.seen();
        assert_eq!((seen.users(), seen.items(), seen.user_ids[1].as_str()), (2, 3, dataset.user_ids[2].as_str()));
        assert_eq!(seen.train.pairs().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 2)]);
        assert!(seen.fold_in.is_none() && seen.validation.is_empty() && seen.test.is_empty());
        assert!(views.holds_users_out() && std::ptr::eq(views.whole(), &raw const dataset));
        let alone = dataset_of([4, 3], &[(0, 0)]);
        let views = Views::new(&alone, &trial(r#"{"neu-mf": {"dim": 2}}"#)).unwrap();
        assert!(!views.holds_users_out() && std::ptr::eq(views.seen(), &raw const alone));
    }

    #[test]
    fn a_model_that_cannot_fold_in_is_refused_before_it_trains() {
        let dataset = dataset();
        let error = Views::new(&dataset, &trial(r#"{"neu-mf": {"dim": 2}}"#)).err().unwrap();
        assert!(error.repeats() && error.to_string().starts_with("this model cannot score users that it was not trained with"), "{error}");
    }
}
