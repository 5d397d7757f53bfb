//! Taints of nodes on which pods may run all the same.

use crate::names::{not_a_key, not_a_value};
use serde::{Deserialize, Serialize};

/// One entry of `tolerations`, by the words of Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toleration {
    /// The taint's key; every taint when left out.
    #[serde(default)]
    pub key: Option<String>,
    /// How key and value are compared.
    #[serde(default)]
    pub operator: Operator,
    /// The taint's value, for `Equal`.
    #[serde(default)]
    pub value: Option<String>,
    /// The taint's effect; every effect when left out.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// For `NoExecute`: how long a running pod stays; for ever when left out.
    #[serde(default)]
    pub toleration_seconds: Option<u32>,
}

/// How a toleration is compared with a taint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Operator {
    /// Key and value are the taint's.
    #[default]
    Equal,
    /// The key is the taint's.
    Exists,
}

/// The effect of a taint on pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Effect {
    /// Pods are not put on the node.
    NoSchedule,
    /// Pods are put on the node last.
    PreferNoSchedule,
    /// Pods are sent away from the node.
    NoExecute,
}

impl Toleration {
    /// The rules between the fields, as the API server has them.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(reason) = self.key.as_deref().and_then(not_a_key) {
            return Err(format!("key is `{}`: {reason}", self.key.as_deref().unwrap_or_default()));
        }
        if let Some(reason) = self.value.as_deref().and_then(not_a_value) {
            return Err(format!("value is `{}`: {reason}", self.value.as_deref().unwrap_or_default()));
        }
        match self.operator {
            Operator::Exists if self.value.is_some() => Err("value stands beside `operator: Exists`, which compares none".to_owned()),
            Operator::Equal if self.key.is_none() => Err("operator is Equal, which needs a `key` (expected one, or Exists)".to_owned()),
            _ if self.toleration_seconds.is_some() && self.effect != Some(Effect::NoExecute) => {
                Err("toleration_seconds is given, which counts for `effect: NoExecute` only".to_owned())
            }
            _ => Ok(()),
        }
    }
}
