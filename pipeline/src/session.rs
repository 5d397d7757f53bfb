//! A session of DataFusion without its library of SQL functions. What relations compute names its functions itself, and a program that never
//! registers the others does not hold them.

use datafusion::execution::{SessionStateBuilder, runtime_env::RuntimeEnv};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// A session that computes here.
pub(crate) fn local(config: SessionConfig, runtime: Arc<RuntimeEnv>) -> SessionContext {
    SessionContext::new_with_state(SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).build())
}
