//! `preparation` in a sweep file: of a run, not of its datasets' identity, for all engines write the same bytes.

use schemars::JsonSchema;
use serde::Deserialize;
use std::{fmt, num::NonZero, str::FromStr};

/// How URLs of Ballista's schedulers begin.
const SCHEME: &str = "df://";

/// What the datasets are prepared by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PreparedBy {
    /// The engine: memory, datafusion, or the URL of an Apache Ballista scheduler; when left out, memory where the estimate fits, else datafusion.
    pub engine: Option<AskedEngine>,
    /// Pods of an Apache Ballista cluster that a submitted sweep has for its preparation; when left out, none.
    pub executors: Option<NonZero<u32>>,
}

impl PreparedBy {
    /// Checks that the keys fit together.
    pub(super) fn check(&self) -> Result<(), String> {
        match (&self.engine, self.executors) {
            (Some(engine), Some(executors)) => Err(format!(
                "`executors: {executors}` is a cluster for this sweep, and `engine: {engine}` is another one: leave one of them out"
            )),
            _ => Ok(()),
        }
    }
}

/// An engine by its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum AskedEngine {
    /// Arrays in memory.
    Memory,
    /// Relations of DataFusion, which spill to the disk of TMPDIR.
    Datafusion,
    /// Relations of an Apache Ballista cluster, by its scheduler's URL.
    Ballista(String),
}

impl FromStr for AskedEngine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "memory" => Ok(Self::Memory),
            "datafusion" => Ok(Self::Datafusion),
            url if url.strip_prefix(SCHEME).is_some_and(|host| !host.is_empty()) => Ok(Self::Ballista(url.to_owned())),
            other => Err(format!("unknown engine `{other}`: expected memory, datafusion, or the URL of a scheduler as df://host:50050")),
        }
    }
}

impl TryFrom<String> for AskedEngine {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for AskedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Datafusion => f.write_str("datafusion"),
            Self::Ballista(url) => f.write_str(url),
        }
    }
}

impl JsonSchema for AskedEngine {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Engine".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^(memory|datafusion|df://.+)$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SweepFile;

    fn read(preparation: &str) -> crate::file::Result<PreparedBy> {
        let text = format!(
            "name: s\ndatasets: [{{name: d, source: {{format: synthetic}}}}]\ngrid: [{{backbones: [{{kind: popularity}}]}}]\npreparation: {preparation}"
        );
        Ok(SweepFile::parse(&text, "s.yaml")?.preparation.value)
    }

    #[test]
    fn an_engine_is_a_name_or_a_url() {
        let engine = |text: &str| read(&format!("{{engine: {text}}}")).map(|read| read.engine.unwrap()).map_err(|error| error.to_string());
        assert_eq!([engine("memory").unwrap(), engine("datafusion").unwrap()], [AskedEngine::Memory, AskedEngine::Datafusion]);
        assert_eq!(engine("df://host:50050").unwrap(), AskedEngine::Ballista("df://host:50050".to_owned()));
        for wrong in ["spark", "df://", "http://host:50050"] {
            let message = engine(wrong).unwrap_err();
            assert!(message.contains("s.yaml:4:") && message.contains(&format!("unknown engine `{wrong}`: expected memory")), "{message}");
        }
    }

    #[test]
    fn executors_are_a_cluster_of_their_own() {
        assert_eq!(read("{executors: 8}").unwrap(), PreparedBy { engine: None, executors: NonZero::new(8) });
        assert!(read("{executors: 0}").is_err());
        let message = read("{executors: 8, engine: memory}").unwrap_err().to_string();
        assert!(message.contains("`executors: 8` is a cluster for this sweep, and `engine: memory` is another one"), "{message}");
    }
}
