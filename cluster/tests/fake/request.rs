//! Requests, taken apart.

use http::{HeaderMap, Method, Uri};
use serde_json::Value;
use std::collections::BTreeMap;

/// A request, taken apart.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) verb: &'static str,
    pub(super) namespace: String,
    /// `jobs`, `pods/log`.
    pub(super) resource: String,
    pub(super) name: Option<String>,
    pub(super) query: BTreeMap<String, String>,
    pub(super) content_type: String,
    pub(super) body: Value,
}

impl Asked {
    pub(super) fn parse(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Self {
        // The question that everybody may ask, about the cluster as a whole.
        let path = if uri.path() == "/apis" { "namespaces/-/apis" } else { uri.path() };
        let groups = ["/apis/batch/v1/", "/apis/networking.k8s.io/v1/", "/apis/kueue.x-k8s.io/v1beta2/", "/api/v1/"];
        let path = groups.iter().find_map(|group| path.strip_prefix(group)).unwrap_or(path);
        let mut steps = path.split('/').map(str::to_owned);
        assert_eq!(steps.next().as_deref(), Some("namespaces"), "{uri}");
        let (namespace, mut resource, name) = (steps.next().unwrap(), steps.next().unwrap(), steps.next());
        if let Some(part) = steps.next() {
            resource = format!("{resource}/{part}");
        }
        let verb = match (method, &name) {
            (&Method::GET, None) => "list",
            (&Method::GET, Some(_)) => "get",
            (&Method::PATCH, _) => "patch",
            (&Method::POST, _) => "create",
            (&Method::DELETE, Some(_)) => "delete",
            _ => panic!("{method} {uri} is not played"),
        };
        let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let content_type = headers.get("content-type").map_or(String::new(), |value| value.to_str().unwrap().to_owned());
        let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(body).unwrap() };
        Self { verb, namespace, resource, name, query, content_type, body }
    }

    pub(super) fn is_dry(&self) -> bool {
        self.query.get("dryRun").is_some_and(|value| value == "All")
    }

    pub(super) fn is_apply(&self) -> bool {
        self.content_type == "application/apply-patch+yaml"
    }

    /// Whether an object is selected by its labels and fields.
    pub(super) fn selects(&self, object: &Value) -> bool {
        let by_label = |key: &str| object["metadata"]["labels"][key].as_str().map(str::to_owned);
        let by_field = |path: &str| object.pointer(&format!("/{}", path.replace('.', "/"))).and_then(Value::as_str).map(str::to_owned);
        self.all("labelSelector", by_label) && self.all("fieldSelector", by_field)
    }

    fn all(&self, selector: &str, of: impl Fn(&str) -> Option<String>) -> bool {
        let text = self.query.get(selector).map_or("", String::as_str);
        text.split(',').filter(|part| !part.is_empty()).all(|part| match part.split_once('=') {
            Some((key, value)) => of(key).as_deref() == Some(value),
            None => of(part).is_some(),
        })
    }
}
