//! One namespace of one cluster.

use super::{Call, ClientError, error::innermost, warnings::Warnings};
use http::{Request, Response};
use k8s_openapi::{NamespaceResourceScope, apimachinery::pkg::apis::meta::v1::APIGroupList};
use kube::{
    Api, Client, Config, Resource,
    api::{ApiResource, DynamicObject},
    client::{Body, ClientBuilder},
    config::{InferConfigError, KubeconfigError},
};
use std::{error::Error as _, future::Future, io::ErrorKind, time::Duration};
use tower::{BoxError, Service, util::MapResponseLayer};

/// No single answer is waited for longer.
const ANSWER: Duration = Duration::from_secs(30);
/// No connection is waited for longer.
const CONNECTION: Duration = Duration::from_secs(10);

/// One namespace of one cluster. Cheap to clone.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    at: String,
    namespace: String,
    warnings: Warnings,
}

impl Cluster {
    /// Connects by the kubeconfig (`KUBECONFIG`, `~/.kube/config`), or inside of a pod by its service account. Without a namespace, the
    /// current context's is taken.
    ///
    /// # Errors
    /// [`ClientError::NoCluster`] when neither is there or whole. Nothing is asked of the cluster yet.
    pub async fn connect(namespace: Option<&str>) -> Result<Self, ClientError> {
        let config = Config::infer().await.map_err(|error| unconfigured(&error))?;
        Self::of(config, namespace)
    }

    fn of(mut config: Config, namespace: Option<&str>) -> Result<Self, ClientError> {
        config.connect_timeout = Some(CONNECTION);
        let namespace = namespace.unwrap_or(&config.default_namespace).to_owned();
        let (at, warnings) = (config.cluster_url.to_string(), Warnings::default());
        let builder =
            ClientBuilder::try_from(config).map_err(|error| ClientError::NoCluster { reason: innermost(&error), is_named: true })?;
        Ok(Self { client: builder.with_layer(&keeping(&warnings)).build(), at, namespace, warnings })
    }

    /// Connects over any service that answers as an API server does.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn over<S>(service: S, at: &str, namespace: &str) -> Self
    where
        S: Service<Request<Body>, Response = Response<Body>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
    {
        let warnings = Warnings::default();
        let client = ClientBuilder::new(service, namespace).with_layer(&keeping(&warnings)).build();
        Self { client, at: at.to_owned(), namespace: namespace.to_owned(), warnings }
    }

    /// The API server's address.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The server's warnings since this was last called.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Objects of a kind that is not Kubernetes's own.
    pub(super) fn dynamic(&self, kind: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, kind)
    }

    /// The groups of the API that the server has.
    pub(super) async fn groups(&self) -> kube::Result<APIGroupList> {
        self.client.list_api_groups().await
    }

    /// Asks once, within a time limit.
    pub(crate) async fn ask<T>(&self, call: Call, answer: impl Future<Output = kube::Result<T>>) -> Result<T, ClientError> {
        match tokio::time::timeout(ANSWER, answer).await {
            Ok(answer) => answer.map_err(|error| ClientError::of(error, call, &self.at, &self.namespace)),
            Err(_) => Err(ClientError::Unreachable { at: self.at.clone(), reason: format!("no answer within {} s", ANSWER.as_secs()) }),
        }
    }
}

/// Looks at the headers of every answer.
fn keeping<B>(warnings: &Warnings) -> MapResponseLayer<impl Fn(Response<B>) -> Response<B> + Clone + Send + 'static> {
    let warnings = warnings.clone();
    MapResponseLayer::new(move |response: Response<B>| {
        warnings.keep(response.headers());
        response
    })
}

/// Why there is no configuration: inside of a pod its service account is at fault, elsewhere the kubeconfig.
fn unconfigured(error: &InferConfigError) -> ClientError {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let kubeconfig = error.source().and_then(|source| source.downcast_ref::<KubeconfigError>());
    let is_missing = match kubeconfig {
        Some(KubeconfigError::ReadConfig(error, _)) => error.kind() == ErrorKind::NotFound,
        Some(KubeconfigError::FindPath) => true,
        _ => false,
    };
    let reason = match (is_set("KUBERNETES_SERVICE_HOST"), Config::incluster()) {
        (true, Err(error)) => error.to_string(),
        _ => kubeconfig.map_or_else(|| error.to_string(), ToString::to_string),
    };
    let is_named = is_set("KUBERNETES_SERVICE_HOST") || is_set("KUBECONFIG") || !is_missing;
    ClientError::NoCluster { reason: reason.replace("'\"", "`").replace("\"'", "`"), is_named }
}
