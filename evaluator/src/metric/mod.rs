//! Metrics of rankings. Each is a function of one user's ranked held-out items, of one user's list, or of the lists of all users, and says which.

mod auc;
mod average_popularity;
mod coverage;
pub mod denominator;
mod direction;
mod diversity;
mod gini;
mod given;
mod hit_rate;
mod item_vectors;
mod list;
mod map;
mod memory;
mod mrr;
mod ndcg;
mod novelty;
mod popularity;
mod popularity_deviation;
mod popularity_lift;
mod precision;
mod recall;

#[cfg(test)]
mod tests;

use crate::{
    Error, Rankings, Result,
    rank::{Depth, Ranked},
};
use denominator::RecallDenominator;
pub use direction::Direction;
pub use given::Given;
use item_vectors::ItemVectors;
use list::{List, cut};
pub use memory::memory;

use rayon::prelude::*;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, str::FromStr};

/// What a metric says of itself.
trait MetricKind: Sync {
    /// The name in sweep files and tables.
    fn name(&self) -> &'static str;

    /// The names that other libraries have for it, in lower case.
    fn also_called(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether it looks at the first ranks alone.
    fn has_cutoff(&self) -> bool {
        true
    }

    /// Whether it is the share of the held-out items that are in the list: 1 where it has them all.
    fn is_share_found(&self) -> bool {
        false
    }

    /// Whether more of it is better.
    fn direction(&self) -> Direction {
        Direction::HigherIsBetter
    }

    /// What it is a function of, and the function.
    fn measure(&self) -> Measure;
}

/// What a metric needs and makes of it.
enum Measure {
    /// Of one user: the ranks of the held-out items, and after how many the list is cut.
    Ranks(fn(&Ranked<'_>, u32, RecallDenominator) -> f64),
    /// Of one user: the list, and how popular items are.
    List(fn(&List<'_>) -> f64),
    /// Of one user: the list, and vectors of items, with working space.
    Vectors(fn(&[u32], &ItemVectors, &mut Vec<f64>) -> f64),
    /// Of all users: how many of their lists each item of the catalogue is in.
    Counts(fn(&[u32]) -> f64),
}

/// Makes the enum of all metrics. A line is a metric: its words, its name in kebab-case, which is that of sweep files, and its file.
macro_rules! metrics {
    ($($(#[$words:meta])* $metric:ident in $file:ident,)+) => {
        /// A metric of rankings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Metric {
            $($(#[$words])* $metric,)+
        }

        impl Metric {
            /// All metrics.
            pub const ALL: [Self; [$(Self::$metric),+].len()] = [$(Self::$metric),+];

            fn kind(self) -> &'static dyn MetricKind {
                match self {
                    $(Self::$metric => &$file::$metric,)+
                }
            }
        }
    };
}

metrics! {
    /// Normalised discounted cumulative gain.
    Ndcg in ndcg,
    /// Share of the held-out items that are in the list.
    Recall in recall,
    /// Share of the list that is held out.
    Precision in precision,
    /// Whether the list has a held-out item.
    HitRate in hit_rate,
    /// Reciprocal rank of the first held-out item.
    Mrr in mrr,
    /// Average precision.
    Map in map,
    /// Area under the ROC curve; has no cutoff. It is the share of (held-out, other) pairs in the right order, ties counting half,
    /// and comes with the ranking.
    Auc in auc,
    /// Share of the catalogue that is in any user's list.
    Coverage in coverage,
    /// How unevenly items share the places of all lists.
    Gini in gini,
    /// Mean number of train users of the items in the list.
    AveragePopularity in average_popularity,
    /// Mean self-information of the items in the list.
    Novelty in novelty,
    /// How unlike the items in the list are.
    Diversity in diversity,
    /// How much more popular the list is than what the user has.
    PopularityLift in popularity_lift,
    /// How far the list's shares of popular and unpopular items are from the user's own.
    PopularityDeviation in popularity_deviation,
}

/// How deep a ranking must go for all of the metrics: to the last rank that one looks at, or to the end; and the longest list.
pub fn depth(metrics: &[MetricAt]) -> Depth {
    let (ranks, lists): (Vec<MetricAt>, Vec<MetricAt>) = metrics.iter().copied().partition(|at| at.metric.is_of_ranks());
    Depth {
        ranks: ranks.iter().try_fold(0, |deepest: u32, at| at.cutoff.map(|cutoff| deepest.max(cutoff))),
        list: lists.iter().filter_map(|at| at.cutoff).max().unwrap_or(0),
    }
}

/// One value for each ranked user, in the order of [`Rankings::users`]; of a metric of all users' lists a single one. Without a cutoff the whole list
/// of candidates counts.
///
/// # Panics
/// When the metric looks beyond the [depth](Rankings::depth) of the rankings.
pub fn values(rankings: &Rankings, at: MetricAt, given: &Given<'_>) -> Vec<f64> {
    let (measure, known) = (at.metric.kind().measure(), rankings.depth());
    let cutoff = at.cutoff.unwrap_or(u32::MAX);
    let is_known = if at.metric.is_of_ranks() { known.ranks.is_none_or(|limit| cutoff <= limit) } else { cutoff <= known.list };
    assert!(is_known, "{at} looks beyond the ranks or lists of {known:?}, where the ranking ends");
    match measure {
        Measure::Ranks(value) => {
            rankings.iter().map(|ranked| value(&ranked, at.cutoff.unwrap_or(ranked.candidates), given.recall)).collect()
        }
        Measure::List(value) => rankings.iter().map(|ranked| value(&List::new(&ranked, cutoff, given))).collect(),
        Measure::Vectors(value) => {
            let (lists, vectors): (Vec<&[u32]>, _) = (rankings.iter().map(|ranked| cut(ranked.list, cutoff)).collect(), given.vectors());
            lists.into_par_iter().map_init(Vec::new, |sums, list| value(list, vectors, sums)).collect()
        }
        Measure::Counts(value) => {
            let mut counts = vec![0; given.items];
            rankings.iter().for_each(|ranked| cut(ranked.list, cutoff).iter().for_each(|&item| counts[item as usize] += 1));
            vec![value(&counts)]
        }
    }
}

/// Whether lists can be cut after so many: the last number is the rank of what stands in no list.
pub(crate) fn is_cutoff(cutoff: u32) -> bool {
    (1..u32::MAX).contains(&cutoff)
}

/// How many of the ascending ranks are in a list of length `cutoff`.
fn hits(ranks: &[u32], cutoff: u32) -> usize {
    ranks.partition_point(|&rank| rank <= cutoff)
}

impl Metric {
    /// The name in sweep files and tables.
    pub fn name(self) -> &'static str {
        self.kind().name()
    }

    /// The names that other libraries have for it, in lower case.
    pub fn also_called(self) -> &'static [&'static str] {
        self.kind().also_called()
    }

    /// The metric of a name without a cutoff.
    ///
    /// # Errors
    /// What was expected, and which metric was meant if it has another case or the name that another library has for it.
    pub fn named(name: &str) -> std::result::Result<Self, String> {
        let called = |name: &str| Self::ALL.into_iter().find(|metric| metric.name() == name || metric.also_called().contains(&name));
        if let Some(metric) = called(name).filter(|metric| metric.name() == name) {
            return Ok(metric);
        }
        let known = format!("expected one of {}", Self::ALL.map(Self::name).join(", "));
        let meant = called(&name.to_lowercase().replace('_', "-"));
        Err(meant.map_or_else(|| known.clone(), |metric| format!("did you mean `{}`? ({known})", metric.name())))
    }

    /// Whether the metric looks at the first ranks alone: it is written with a cutoff then, `ndcg@20`.
    pub fn has_cutoff(self) -> bool {
        self.kind().has_cutoff()
    }

    /// Whether it is the share of the held-out items that are in the list: 1 where it has them all.
    pub fn is_share_found(self) -> bool {
        self.kind().is_share_found()
    }

    /// Whether more of it is better.
    pub fn direction(self) -> Direction {
        self.kind().direction()
    }

    /// Whether each user has a value; otherwise it is one value of all users' lists, which only other trainings change.
    pub fn is_per_user(self) -> bool {
        !matches!(self.kind().measure(), Measure::Counts(_))
    }

    /// Whether it is made of the ranks of held-out items alone, and not of what stands in lists.
    pub fn is_of_ranks(self) -> bool {
        matches!(self.kind().measure(), Measure::Ranks(_))
    }

    /// Whether it asks what users are known to have: how popular items are, or which users have them.
    pub fn needs_history(self) -> bool {
        matches!(self.kind().measure(), Measure::List(_) | Measure::Vectors(_))
    }

    /// Whether it says which model ranks better, so that `select_by`, `primary` and claims may name it: the more of it the better, by held-out items.
    /// What lists are like, whoever they are for, is best of models that know nothing of users.
    pub fn decides(self) -> bool {
        self.is_of_ranks() && self.direction() == Direction::HigherIsBetter
    }

    /// The names of the metrics that [decide](Self::decides), for messages.
    pub fn deciding() -> String {
        Self::ALL.into_iter().filter(|metric| metric.decides()).map(Self::name).collect::<Vec<_>>().join(", ")
    }
}

/// A metric and where the list is cut: `ndcg@20`, `auc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MetricAt {
    /// The metric.
    pub metric: Metric,
    /// The list's length; `None` for metrics that look at the whole list.
    pub cutoff: Option<u32>,
}

impl fmt::Display for MetricAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cutoff {
            Some(cutoff) => write!(f, "{}@{cutoff}", self.metric.name()),
            None => f.write_str(self.metric.name()),
        }
    }
}

impl FromStr for MetricAt {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |reason: String| Error::Metric { text: text.to_owned(), reason };
        let (name, cutoff) = match text.split_once('@') {
            Some((name, cutoff)) => (name, Some(cutoff)),
            None => (text, None),
        };
        let metric = Metric::named(name).map_err(refuse)?;
        match (metric.has_cutoff(), cutoff) {
            (false, None) => Ok(Self { metric, cutoff: None }),
            (false, Some(_)) => Err(refuse(format!("{name} has no cutoff; write `{name}`"))),
            (true, None) => Err(refuse(format!("a cutoff is missing; write for example `{name}@20`"))),
            (true, Some(cutoff)) => match cutoff.parse() {
                Ok(cutoff) if is_cutoff(cutoff) => Ok(Self { metric, cutoff: Some(cutoff) }),
                _ => Err(refuse(format!("the cutoff `{cutoff}` is no whole number from 1 to {}", u32::MAX - 1))),
            },
        }
    }
}

impl JsonSchema for MetricAt {
    fn schema_name() -> Cow<'static, str> {
        "MetricAt".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = |has_cutoff: bool| {
            let metrics = Metric::ALL.into_iter().filter(move |metric| metric.has_cutoff() == has_cutoff);
            metrics.map(Metric::name).collect::<Vec<_>>()
        };
        let pattern = format!("^(({})@[1-9][0-9]*|{})$", names(true).join("|"), names(false).join("|"));
        json_schema!({"description": "A metric and where the list is cut: `ndcg@20`, `auc`.", "type": "string", "pattern": pattern})
    }
}

impl TryFrom<String> for MetricAt {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<MetricAt> for String {
    fn from(metric: MetricAt) -> Self {
        metric.to_string()
    }
}
