//! `claims`: what a paper says of the sweep's methods, each to be judged by a test.
//!
//! ```yaml
//! claims:
//!   - {better: softmax-at-k(20) on mf-64, worse: [bpr on mf-64, softmax on mf-64], place: Table 1}
//!   - {increasing: [dns-mn-50, dns-mn-10, dns-mn-1], metric: ndcg@5, dataset: gowalla}
//! ```
//! `worse` and `metric` may be lists: that is one claim for each.

use super::{
    error::Result,
    fields::Fields,
    node::{Node, Value},
};
use evaluator::MetricAt;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A claim as typed.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimEntry {
    /// The entry as typed.
    pub node: Node,
    /// The hypotheses, about methods by the names that the leaderboard gives them.
    pub hypotheses: Vec<Hypothesis>,
    /// The metrics that it is about; empty for that of `select_by`.
    pub metrics: Vec<MetricAt>,
    /// The dataset that it is about; each of them when left out.
    pub dataset: Option<String>,
    /// The place in the paper that claims it.
    pub place: String,
}

/// A statement about methods that a paper claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hypothesis {
    /// The first ranks better than the second.
    Better(String, String),
    /// Each ranks better than the one before it, by and large: the means rise along the list.
    Increasing(Vec<String>),
    /// The means fall along the list.
    Decreasing(Vec<String>),
}

impl Hypothesis {
    /// The hypothesis with other names for the methods.
    ///
    /// # Errors
    /// The first error that `rename` gives.
    pub fn with_names<E>(&self, mut rename: impl FnMut(&str) -> Result<String, E>) -> Result<Self, E> {
        let mut all = |names: &[String]| names.iter().map(|name| rename(name)).collect::<Result<Vec<String>, E>>();
        Ok(match self {
            Self::Better(better, worse) => {
                let [better, worse] = [better, worse].map(|name| all(std::slice::from_ref(name)));
                Self::Better(better?.remove(0), worse?.remove(0))
            }
            Self::Increasing(names) => Self::Increasing(all(names)?),
            Self::Decreasing(names) => Self::Decreasing(all(names)?),
        })
    }

    /// The methods, in the order in which they are listed.
    pub fn methods(&self) -> Vec<&str> {
        match self {
            Self::Better(better, worse) => vec![better, worse],
            Self::Increasing(names) | Self::Decreasing(names) => names.iter().map(String::as_str).collect(),
        }
    }

    /// The name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Better(..) => "better",
            Self::Increasing(_) => "increasing",
            Self::Decreasing(_) => "decreasing",
        }
    }
}

const KEYS: [&str; 7] = ["better", "worse", "increasing", "decreasing", "metric", "dataset", "place"];

impl ClaimEntry {
    pub(super) fn read(node: &Node) -> Result<Self> {
        let fields = Fields::of(node, &KEYS)?;
        Ok(Self {
            node: node.clone(),
            hypotheses: hypotheses(node, &fields)?,
            metrics: fields.get("metric").map_or(Ok(Vec::new()), one_or_more)?,
            dataset: fields.read_or("dataset", None)?,
            place: fields.read_or("place", String::new())?,
        })
    }
}

fn hypotheses(node: &Node, fields: &Fields<'_>) -> Result<Vec<Hypothesis>> {
    let given: Vec<&str> = KEYS[..4].iter().copied().filter(|key| fields.get(key).is_some()).collect();
    match given[..] {
        ["better", "worse"] => {
            let (better, worse) = (fields.required("better")?.read::<String>()?, one_or_more::<String>(fields.required("worse")?)?);
            Ok(worse.into_iter().map(|worse| Hypothesis::Better(better.clone(), worse)).collect())
        }
        ["increasing"] => Ok(vec![Hypothesis::Increasing(trend(fields.required("increasing")?)?)]),
        ["decreasing"] => Ok(vec![Hypothesis::Decreasing(trend(fields.required("decreasing")?)?)]),
        _ => {
            let found = if given.is_empty() { "none of them".to_owned() } else { given.join(", ") };
            Err(node.place.error(format!("a claim is `better` and `worse`, or `increasing`, or `decreasing`; found {found}")))
        }
    }
}

/// A value, or a list of them that is not empty.
fn one_or_more<T: DeserializeOwned>(node: &Node) -> Result<Vec<T>> {
    match &node.value {
        Value::Sequence(items) if items.is_empty() => Err(node.place.error("the list is empty; give at least one")),
        Value::Sequence(items) => items.iter().map(Node::read).collect(),
        _ => Ok(vec![node.read()?]),
    }
}

/// The methods of a trend: two have no more order than one better than the other.
fn trend(node: &Node) -> Result<Vec<String>> {
    let names: Vec<String> = node.read()?;
    if names.len() < 3 {
        let count = names.len();
        return Err(node.place.error(format!("a trend is along three methods or more, found {count}; of two claim `better` and `worse`")));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SweepFile;

    fn read(claims: &str) -> Result<Vec<ClaimEntry>> {
        let text = format!(
            "name: s\ndatasets: [{{name: d, source: {{format: synthetic}}}}]\ngrid: [{{backbones: [{{kind: popularity}}]}}]\nclaims:\n{claims}"
        );
        Ok(SweepFile::parse(&text, "s.yaml")?.claims)
    }

    fn message(claims: &str) -> String {
        read(claims).unwrap_err().to_string()
    }

    #[test]
    fn claims_are_differences_and_trends() {
        let found = read("  - {better: a, worse: b, metric: ndcg@5, place: Table 1}\n  - {decreasing: [a, b, c], dataset: d}\n").unwrap();
        assert_eq!(found[0].hypotheses, [Hypothesis::Better("a".into(), "b".into())]);
        let at: MetricAt = "ndcg@5".parse().unwrap();
        assert_eq!((found[0].metrics.as_slice(), found[0].dataset.as_deref(), found[0].place.as_str()), ([at].as_slice(), None, "Table 1"));
        assert_eq!(found[1].hypotheses[0].methods(), ["a", "b", "c"]);
        assert_eq!((found[1].hypotheses[0].name(), found[1].dataset.as_deref()), ("decreasing", Some("d")));
    }

    #[test]
    fn a_list_is_a_claim_for_each() {
        let found = read("  - {better: a, worse: [b, c], metric: [ndcg@5, recall@5]}\n").unwrap().remove(0);
        assert_eq!(found.hypotheses, ["b", "c"].map(|worse| Hypothesis::Better("a".into(), worse.into())));
        assert_eq!(found.metrics.len(), 2);
        assert!(message("  - {better: a, worse: []}\n").contains("claims[0].worse: the list is empty"));
    }

    #[test]
    fn what_is_no_claim_names_its_place() {
        assert_eq!(
            message("  - {better: a}\n"),
            "s.yaml:5:5: claims[0]: a claim is `better` and `worse`, or `increasing`, or `decreasing`; found better"
        );
        assert!(message("  - {place: x}\n").ends_with("found none of them"));
        assert!(message("  - {better: a, worse: b, increasing: [a, b, c]}\n").ends_with("found better, worse, increasing"));
        assert!(message("  - {increasing: [a, b]}\n").contains("a trend is along three methods or more, found 2"));
        assert!(message("  - {beter: a, worse: b}\n").contains("did you mean `better`?"));
        assert!(message("  - {better: a, worse: b, metric: ndcg}\n").contains("a cutoff is missing"));
    }
}
