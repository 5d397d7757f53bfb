//! The server's answers.

use http::Response;
use serde_json::{Value, json};

/// An answer: a status, a body and warnings.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(super) code: u16,
    pub(super) body: Body,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Body {
    Object(Value),
    Text(String),
}

impl Answer {
    pub(super) fn object(code: u16, object: Value) -> Self {
        Self { code, body: Body::Object(object), warnings: Vec::new() }
    }

    pub(super) fn text(text: &str) -> Self {
        Self { code: 200, body: Body::Text(text.to_owned()), warnings: Vec::new() }
    }

    pub(super) fn failure(code: u16, reason: &str, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason, "code": code
        });
        Self::object(code, status)
    }

    pub(super) fn into_response(self) -> Response<Vec<u8>> {
        let mut response = Response::builder().status(self.code).header("content-type", "application/json");
        for warning in &self.warnings {
            response = response.header("warning", format!("299 - \"{}\"", warning.replace('"', "\\\"")));
        }
        let body = match self.body {
            Body::Object(object) => serde_json::to_vec(&object).unwrap(),
            Body::Text(text) => text.into_bytes(),
        };
        response.body(body).unwrap()
    }
}
