//! One entry of `datasets` in a sweep file, resolved.

use crate::{
    Error, KCore, Noise, Result, Source, Split, TrainShare,
    source::{Has, Sinks},
    split,
};
use dataset::{Location, quote};
use serde::{Deserialize, Serialize};

/// How raw interactions become a prepared dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// The dataset's name in tables and folders: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Where the interactions come from.
    pub source: Source,
    /// Interactions rated lower are dropped.
    #[serde(default)]
    pub min_rating: Option<f64>,
    /// The least number of interactions of every user and item that stay.
    #[serde(default)]
    pub k_core: Option<KCore>,
    /// How interactions are held out. Left out, `given`.
    #[serde(default)]
    pub split: Split,
    /// How much of train is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_share: Option<TrainShare>,
    /// False positives in train.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
}

impl Preparation {
    /// This preparation with other names for its source files, from their keys below the dataset's entry and the names.
    pub fn with_files(&self, name: impl Fn(&'static str, &str) -> String) -> Self {
        let mut settings = serde_json::to_value(self).expect("a preparation is plain data");
        let source = settings["source"].as_object_mut().and_then(|source| source.values_mut().next());
        let source = source.expect("a source is written as {format: settings}");
        for (key, path) in self.source.files() {
            source[key.trim_start_matches("source.")] = name(key, path).into();
        }
        serde_json::from_value(settings).expect("names of files are texts")
    }

    /// The share of train that stays, where it is not all.
    pub(crate) fn active_train_share(&self) -> Option<TrainShare> {
        self.train_share.filter(|share| !share.is_off())
    }

    /// Whether it may know in which order a user's interactions came: the source may have timestamps, and no noise is added.
    pub fn may_have_order(&self) -> bool {
        self.source.timestamps() != Has::No && self.active_noise().is_none()
    }

    /// The noise, where there is any.
    pub(crate) fn active_noise(&self) -> Option<Noise> {
        self.noise.filter(|noise| !noise.is_off())
    }

    /// Reads one part of the source; every row, or link, goes to one of `sinks`.
    pub(crate) fn read(&self, part: dataset::Split, sinks: &dyn Sinks) -> Result<()> {
        match self.split.links() {
            None => self.source.read(part, sinks),
            Some(links) => self.source.read(part, &links.sinks(sinks)),
        }
    }

    /// Checks all that can be checked without reading the source.
    ///
    /// # Errors
    /// [`Error::Setting`], which names the key, the value and what was expected.
    pub fn check(&self) -> Result<()> {
        check_name(&self.name)?;
        for (key, path) in self.source.files() {
            Location::parse(path).map_err(|error| Error::setting(key, error.to_string()))?;
        }
        self.source.check()?;
        if let Some(least) = self.min_rating.filter(|least| !least.is_finite()) {
            return Err(Error::setting("min_rating", format!("{least} is no bound (expected a finite number)")));
        }
        if let Some(bounds) = self.k_core {
            bounds.check()?;
        }
        self.split.check()?;
        if let Some(noise) = self.noise {
            noise.check()?;
        }
        self.check_train_share()?;
        self.check_links()?;
        if self.source.is_split() { self.check_given() } else { self.check_whole() }
    }

    /// A share of train leaves interactions out that are none of the parts, of which noise would take some for false.
    fn check_train_share(&self) -> Result<()> {
        let Some(share) = self.train_share else { return Ok(()) };
        share.check()?;
        match self.active_noise().is_some() && !share.is_off() {
            true => Err(Error::setting("noise", "it could draw what `train_share` leaves out of train (expected one of the two)")),
            false => Ok(()),
        }
    }

    /// Links between the nodes of one set stay whole: nothing may take one of two directions, or add one.
    fn check_links(&self) -> Result<()> {
        let Some(links) = self.split.links() else { return Ok(()) };
        let bounds = self.k_core.map(KCore::bounds);
        if let Some(bounds) = bounds.filter(|bounds| links.symmetric && bounds.users != bounds.items) {
            let reason = format!(
                "{} and {} would leave links in one direction, and each holds in both (expected one bound, or `directed: true` in `split`)",
                bounds.users, bounds.items
            );
            return Err(Error::setting("k_core", reason));
        }
        let changes = [("train_share", self.active_train_share().is_some(), "takes"), ("noise", self.active_noise().is_some(), "adds")];
        match changes.into_iter().find(|&(_, is_set, _)| is_set) {
            Some((key, _, what)) => {
                let reason = format!(
                    "it {what} interactions of users, and the split holds links between nodes out (leave it out, or take another `split`)"
                );
                Err(Error::setting(key, reason))
            }
            None => Ok(()),
        }
    }

    /// A source that comes split is used exactly as it is.
    fn check_given(&self) -> Result<()> {
        let exactly = "the source comes split and is used exactly as given";
        if !self.split.takes_given_parts() {
            return Err(Error::setting("split.kind", format!("{exactly} (expected `kind: given`, or no `split`)")));
        }
        if self.split.has_validation() && self.source.parts().contains(&dataset::Split::Validation) {
            return Err(Error::setting("split.validation", "the source brings a validation file (expected one of the two)"));
        }
        let filter = [("min_rating", self.min_rating.is_some()), ("k_core", self.k_core.is_some())];
        match filter.into_iter().find(|&(_, set)| set) {
            Some((key, _)) => Err(Error::setting(key, format!("{exactly} (filter before splitting, and leave this key out)"))),
            None => Ok(()),
        }
    }

    fn check_whole(&self) -> Result<()> {
        if self.split.takes_given_parts() {
            let kinds = quote::names(&Split::kinds_of_whole());
            return Err(Error::setting(
                "split",
                format!(
                    "the source does not come split: give it one, such as `split: {{kind: random, test: 0.2, validation: 0.1}}` (`kind` is one of {kinds})"
                ),
            ));
        }
        if self.min_rating.is_some() && self.source.ratings() == Has::No {
            return Err(Error::setting("min_rating", "the source has no ratings (expected a rating column; or leave `min_rating` out)"));
        }
        if self.split.needs_timestamps() && self.source.timestamps() == Has::No {
            return Err(split::no_timestamps());
        }
        Ok(())
    }
}

fn check_name(name: &str) -> Result<()> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || !name.chars().all(fits) {
        return Err(Error::setting(
            "name",
            format!("`{}` cannot name a folder (expected letters, digits, `-`, `_` and `.`)", quote::value(name)),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn failure(more: Value) -> String {
        let mut settings = json!({"name": "d", "source": {"movielens": {"path": "ratings.dat"}}, "split": {"random": {"test": 0.2}}});
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let preparation: Preparation = serde_json::from_value(settings).unwrap();
        preparation.check().err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn a_good_one_passes() {
        assert_eq!(failure(json!({"min_rating": 3, "k_core": {"users": 10, "items": 5}})), "");
        let given = json!({"adjacency": {"train": "a", "test": "b"}});
        assert_eq!(failure(json!({"source": given, "split": {"given": {"validation": 0.1}}, "noise": 0.1})), "");
        for noise in [json!(0), json!(0.2), json!(1), json!({"ratio": 0.1, "seed": 2024}), json!({"ratio": 1})] {
            assert_eq!(failure(json!({"noise": noise})), "");
        }
        assert_eq!(failure(json!({"train_share": {"share": 0.1, "seed": 5}, "noise": 0})), "");
        assert_eq!(failure(json!({"train_share": {"share": 1}, "noise": 0.1})), "");
    }

    #[test]
    fn bad_values_are_named() {
        let adjacency = json!({"adjacency": {"train": "a", "test": "b"}});
        let three = json!({"splits": {"train": "a", "test": "b", "validation": "c"}});
        let timeless = json!({"delimited": {"path": "a.csv", "columns": {"user": "u", "item": "i"}}});
        let given = json!({"given": {"validation": 0.1}});
        let cases = [
            (json!({"name": ""}), "`name`: `` cannot name a folder"),
            (json!({"name": "a/b"}), "`name`: `a/b` cannot name a folder"),
            (
                json!({"source": {"movielens": {"path": "ftp://host/ratings.dat"}}}),
                "`source.path`: `ftp://host/ratings.dat` is not a usable",
            ),
            (json!({"k_core": 0}), "`k_core`: 0 is no bound"),
            (json!({"split": {"random": {"test": 1.5}}}), "`split.test`: 1.5 is no share"),
            (json!({"noise": -0.1}), "`noise.ratio`: -0.1 is no share (expected a number from 0 to 1)"),
            (json!({"noise": {"ratio": 1.5, "seed": 1}}), "`noise.ratio`: 1.5 is no share"),
            (json!({"train_share": {"share": 0}}), "`train_share.share`: 0 leaves nothing to learn from"),
            (json!({"train_share": {"share": 1.5}}), "`train_share.share`: 1.5 is no share"),
            (json!({"train_share": {"share": 0.5}, "noise": 0.1}), "`noise`: it could draw what `train_share` leaves out"),
            (
                json!({"split": given}),
                "`split`: the source does not come split: give it one, such as `split: {kind: random, test: 0.2, validation: 0.1}` (`kind` is one of \
                 `random`, `temporal`, `leave-last`, `leave-n`, `link-prediction`, `cross-validation`, `users`, `cold-start`)",
            ),
            (json!({"source": adjacency}), "`split.kind`: the source comes split"),
            (json!({"source": adjacency, "split": given, "k_core": 5}), "`k_core`: the source comes split"),
            (json!({"source": adjacency, "split": given, "min_rating": 5}), "`min_rating`: the source comes split"),
            (json!({"source": three, "split": given}), "`split.validation`: the source brings a validation file"),
            (json!({"source": timeless, "min_rating": 3}), "`min_rating`: the source has no ratings"),
            (json!({"source": timeless, "split": {"leave-last": {}}}), "`split.kind`: the source has no timestamps"),
            (json!({"source": {"synthetic": {"users": 0}}}), "`source`: `users`, `items` and `dim`"),
        ];
        for (settings, expected) in cases {
            let message = failure(settings);
            assert!(message.starts_with(expected), "{message}");
        }
        let infinite =
            Preparation { min_rating: Some(f64::INFINITY), ..serde_json::from_value(json!({"name": "d", "source": three})).unwrap() };
        assert!(infinite.check().unwrap_err().to_string().starts_with("`min_rating`: inf is no bound"));
    }

    #[test]
    fn unknown_keys_are_refused_at_every_depth() {
        for text in [
            r#"{"name": "d", "source": {"synthetic": {}}, "kcore": 5}"#,
            r#"{"name": "d", "source": {"synthetic": {"user": 5}}}"#,
            r#"{"name": "d", "source": {"splits": {"train": "a", "test": "b", "columns": {"user": 0, "item": 1, "rating": 2}}}}"#,
            r#"{"name": "d", "source": {"synthetic": {}}, "split": {"leave-last": {"seed": 1}}}"#,
            r#"{"name": "d", "source": {"synthetic": {}}, "noise": {"ratio": 0.1, "sead": 1}}"#,
        ] {
            let message = serde_json::from_str::<Preparation>(text).unwrap_err().to_string();
            assert!(message.contains("unknown field"), "{message}");
        }
    }
}
