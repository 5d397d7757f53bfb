//! `claims`: what a paper says of the sweep's methods, each to be judged by a test.
//!
//! ```yaml
//! claims:
//!   - {better: softmax-at-k(20) on mf-64, worse: [bpr on mf-64, softmax on mf-64], place: Table 1}
//!   - {increasing: [dns-mn-50, dns-mn-10, dns-mn-1], metric: ndcg@5, dataset: gowalla}
//!   - {faster: ials-64, slower: [bpr on mf-64], place: Figure 1}
//!   - {equal: [rg2-64, rgx-64], metric: ndcg@5}
//! ```
//! `worse`, `slower` and `metric` may be lists: that is one claim for each, and so is each method of `equal` after the first.

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
    /// The metrics that it is about; empty for that of the verdicts, and where epochs count for that of `select_by`, the only one whose epochs are known.
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
    /// Both rank alike: their difference is within the margin of the sweep's tests.
    Equal(String, String),
    /// The first comes to the same validation value in fewer epochs than the second.
    Faster(String, String),
}

impl Hypothesis {
    /// The hypothesis with other names for the methods.
    ///
    /// # Errors
    /// The first error that `rename` gives.
    pub fn with_names<E>(&self, mut rename: impl FnMut(&str) -> Result<String, E>) -> Result<Self, E> {
        Ok(match self {
            Self::Better(better, worse) => Self::Better(rename(better)?, rename(worse)?),
            Self::Increasing(names) => Self::Increasing(names.iter().map(|name| rename(name)).collect::<Result<_, E>>()?),
            Self::Decreasing(names) => Self::Decreasing(names.iter().map(|name| rename(name)).collect::<Result<_, E>>()?),
            Self::Equal(first, second) => Self::Equal(rename(first)?, rename(second)?),
            Self::Faster(faster, slower) => Self::Faster(rename(faster)?, rename(slower)?),
        })
    }

    /// The methods, in the order in which they are listed.
    pub fn methods(&self) -> Vec<&str> {
        match self {
            Self::Better(first, second) | Self::Equal(first, second) | Self::Faster(first, second) => vec![first, second],
            Self::Increasing(names) | Self::Decreasing(names) => names.iter().map(String::as_str).collect(),
        }
    }

    /// Whether it is about the epochs of trainings, and not about what they come to.
    pub fn is_of_epochs(&self) -> bool {
        matches!(self, Self::Faster(..))
    }

    /// The name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Better(..) => "better",
            Self::Increasing(_) => "increasing",
            Self::Decreasing(_) => "decreasing",
            Self::Equal(..) => "equal",
            Self::Faster(..) => "faster",
        }
    }
}

const KEYS: [&str; 10] = ["better", "worse", "increasing", "decreasing", "equal", "faster", "slower", "metric", "dataset", "place"];

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
    let given: Vec<&str> = KEYS[..7].iter().copied().filter(|key| fields.get(key).is_some()).collect();
    match given[..] {
        ["better", "worse"] => pairs(fields, "better", "worse", Hypothesis::Better),
        ["faster", "slower"] => pairs(fields, "faster", "slower", Hypothesis::Faster),
        ["increasing"] => Ok(vec![Hypothesis::Increasing(trend(fields.required("increasing")?)?)]),
        ["decreasing"] => Ok(vec![Hypothesis::Decreasing(trend(fields.required("decreasing")?)?)]),
        ["equal"] => equals(fields.required("equal")?),
        _ => {
            let found = if given.is_empty() { "none of them".to_owned() } else { given.join(", ") };
            Err(node.place.error(format!(
                "a claim is `better` and `worse`, `faster` and `slower`, `increasing`, `decreasing`, or `equal`; found {found}"
            )))
        }
    }
}

/// A hypothesis of the first method against each of the second ones.
fn pairs(fields: &Fields<'_>, first: &str, second: &str, of: fn(String, String) -> Hypothesis) -> Result<Vec<Hypothesis>> {
    let (first, second) = (fields.required(first)?.read::<String>()?, one_or_more::<String>(fields.required(second)?)?);
    Ok(second.into_iter().map(|second| of(first.clone(), second)).collect())
}

/// A value, or a list of them that is not empty.
fn one_or_more<T: DeserializeOwned>(node: &Node) -> Result<Vec<T>> {
    match &node.value {
        Value::Sequence(items) if items.is_empty() => Err(node.place.error("the list is empty; give at least one")),
        Value::Sequence(items) => items.iter().map(Node::read).collect(),
        _ => Ok(vec![node.read()?]),
    }
}

/// The first method of a list against each of the others.
fn equals(node: &Node) -> Result<Vec<Hypothesis>> {
    let names: Vec<String> = node.read()?;
    match &names[..] {
        [first, others @ ..] if !others.is_empty() => {
            Ok(others.iter().map(|other| Hypothesis::Equal(first.clone(), other.clone())).collect())
        }
        _ => Err(node.place.error(format!("`equal` is of two methods or more, found {}", names.len()))),
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
        let faster = read("  - {faster: a, slower: [b, c]}\n").unwrap().remove(0);
        assert_eq!(faster.hypotheses, ["b", "c"].map(|slower| Hypothesis::Faster("a".into(), slower.into())));
        let equal = read("  - {equal: [a, b, c]}\n").unwrap().remove(0);
        assert_eq!(equal.hypotheses, ["b", "c"].map(|other| Hypothesis::Equal("a".into(), other.into())));
        assert!(message("  - {equal: [a]}\n").contains("claims[0].equal: `equal` is of two methods or more, found 1"));
        assert_eq!((faster.hypotheses[1].name(), faster.hypotheses[1].methods()), ("faster", vec!["a", "c"]));
        assert!(message("  - {better: a, worse: []}\n").contains("claims[0].worse: the list is empty"));
    }

    #[test]
    fn what_is_no_claim_names_its_place() {
        assert_eq!(
            message("  - {better: a}\n"),
            "s.yaml:5:5: claims[0]: a claim is `better` and `worse`, `faster` and `slower`, `increasing`, `decreasing`, or `equal`; found better"
        );
        assert!(message("  - {place: x}\n").ends_with("found none of them"));
        assert!(message("  - {better: a, worse: b, increasing: [a, b, c]}\n").ends_with("found better, worse, increasing"));
        assert!(message("  - {increasing: [a, b]}\n").contains("a trend is along three methods or more, found 2"));
        assert!(message("  - {beter: a, worse: b}\n").contains("did you mean `better`?"));
        assert!(message("  - {better: a, worse: b, metric: ndcg}\n").contains("a cutoff is missing"));
    }
}
