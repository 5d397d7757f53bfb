//! Ranking metrics. Each is a function of one user's ranked held-out items.

mod auc;
pub mod denominator;
mod hit_rate;
mod map;
mod mrr;
mod ndcg;
mod precision;
mod recall;

#[cfg(test)]
mod tests;

use crate::{Error, Rankings, Result, rank::Ranked};
use denominator::Recall;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, str::FromStr};

/// What a metric says of itself.
trait MetricKind: Sync {
    /// The name in sweep files and tables.
    fn name(&self) -> &'static str;

    /// Whether it looks at the first ranks alone.
    fn has_cutoff(&self) -> bool {
        true
    }

    /// The metric's value for one user, whose list is cut after so many ranks.
    fn value(&self, ranked: &Ranked<'_>, cutoff: u32, recall: Recall) -> f64;
}

/// Makes the enum of all metrics. A line is a metric: its words, its name in kebab-case, which is that of sweep files, and its file.
macro_rules! metrics {
    ($($(#[$words:meta])* $metric:ident in $file:ident,)+) => {
        /// A ranking metric.
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
}

/// The last rank that any of the metrics looks at; `None` when one looks at the whole list of candidates.
pub fn depth(metrics: &[MetricAt]) -> Option<u32> {
    metrics.iter().try_fold(0, |deepest: u32, at| at.cutoff.map(|cutoff| deepest.max(cutoff)))
}

/// One value for each ranked user, in the order of [`Rankings::users`]. Without a cutoff the whole list of candidates counts.
///
/// # Panics
/// When the metric looks beyond the [limit](Rankings::limit) of the rankings.
pub fn values(rankings: &Rankings, at: MetricAt, recall: Recall) -> Vec<f64> {
    let known = rankings.limit().is_none_or(|limit| at.cutoff.is_some_and(|cutoff| cutoff <= limit));
    assert!(known, "{at} looks beyond rank {}, where the ranking ends", rankings.limit().unwrap_or_default());
    rankings.iter().map(|ranked| value(&ranked, at, recall)).collect()
}

fn value(ranked: &Ranked<'_>, at: MetricAt, recall: Recall) -> f64 {
    at.metric.kind().value(ranked, at.cutoff.unwrap_or(ranked.candidates), recall)
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

    /// Whether the metric looks at the first ranks alone: it is written with a cutoff then, `ndcg@20`.
    pub fn has_cutoff(self) -> bool {
        self.kind().has_cutoff()
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
        let known = || Metric::ALL.map(Metric::name).join(", ");
        let metric =
            Metric::ALL.into_iter().find(|metric| metric.name() == name).ok_or_else(|| refuse(format!("expected one of {}", known())))?;
        match (metric.has_cutoff(), cutoff) {
            (false, None) => Ok(Self { metric, cutoff: None }),
            (false, Some(_)) => Err(refuse(format!("{name} has no cutoff; write `{name}`"))),
            (true, None) => Err(refuse(format!("a cutoff is missing; write for example `{name}@20`"))),
            (true, Some(cutoff)) => match cutoff.parse() {
                Ok(cutoff) if cutoff > 0 => Ok(Self { metric, cutoff: Some(cutoff) }),
                _ => Err(refuse(format!("the cutoff `{cutoff}` is no positive whole number"))),
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
