//! A cluster that computes relations. This crate knows it by its URL and by the session of DataFusion that stands for it.

pub use datafusion::prelude::SessionContext;

use crate::Error;
use datafusion::{error::DataFusionError, execution::object_store::ObjectStoreRegistry, object_store::ObjectStore};
use dataset::Location;
use std::{fmt, sync::Arc, time::Duration};
use url::Url;

/// Opens a session whose relations a cluster computes, from the cluster's URL and the time for which one that does not answer is tried again.
/// The error says what is wrong and what to do.
pub type Connect = fn(&str, Duration) -> Result<SessionContext, String>;

/// A cluster, and the way to it.
#[derive(Clone)]
pub struct Cluster {
    /// The scheduler's URL: `df://host:50050`.
    pub url: String,
    /// The time for which a cluster that does not answer is tried again.
    pub patience: Duration,
    /// The way to it.
    pub connect: Connect,
}

/// Seconds that a step may take where the URL says nothing.
const STEP_SECONDS: u64 = 3600;

impl Cluster {
    /// Opens a session.
    pub(crate) fn open(&self) -> Result<SessionContext, Error> {
        (self.connect)(&self.url, self.patience).map_err(|reason| Error::Cluster { url: self.url.clone(), reason })
    }

    /// The same cluster, each of whose jobs is to have one task.
    pub(crate) fn by_one_task(&self) -> Self {
        let mut url = self.url.clone();
        url.push_str(if url.contains('?') { "&partitions=1" } else { "?partitions=1" });
        Self { url, ..self.clone() }
    }

    /// The time after which a step is taken for lost, `step_seconds` in the URL. Ballista 55 can lose track of a job whose executor died while a stage of it
    /// was rolled back: such a job never ends, and no one says so.
    pub(crate) fn step_limit(&self) -> Duration {
        let asked = Url::parse(&self.url).ok().and_then(|url| {
            let found = url.query_pairs().find(|(key, _)| key == "step_seconds");
            found.and_then(|(_, seconds)| seconds.parse().ok())
        });
        Duration::from_secs(asked.unwrap_or(STEP_SECONDS))
    }
}

impl PartialEq for Cluster {
    /// Clusters of one URL are one.
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cluster({})", self.url)
    }
}

/// The object stores of all URLs that a [`Location`] can have, with the credentials of this process's environment: for sessions here, and for the
/// schedulers and executors of a cluster.
#[derive(Debug)]
pub struct Stores;

impl ObjectStoreRegistry for Stores {
    /// Keeps nothing: a URL has one store.
    fn register_store(&self, _url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        Some(store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>, DataFusionError> {
        let location = Location::parse(url.as_str()).map_err(|error| DataFusionError::External(error.into()))?;
        Ok(location.store().0)
    }
}
