//! What a store's error means, in one line: what happened, and what to do.

use super::server::Server;
use crate::redact::redacted;
use object_store::client::{HttpError, HttpErrorKind};
use std::{error::Error as Cause, iter, time::Duration};

/// A store that took a request and never answered.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {} s", .0.as_secs())]
pub(super) struct Silent(pub(super) Duration);

/// Whether the same operation may succeed a little later: nobody answered, the answer broke off, or the server asks for patience.
pub(super) fn may_pass(error: &object_store::Error) -> bool {
    let object_store::Error::Generic { source, .. } = error else { return false };
    let text = source.to_string();
    match status(&text) {
        Some(status) => status >= 500 || status == 429 || status == 408,
        None if text.contains(REDIRECTED) => false,
        // An answer that broke off where no length was announced reads as one with a bad content.
        None => causes(&**source).any(|cause| cause.is::<HttpError>() || cause.is::<Silent>()) || text.starts_with("Got invalid"),
    }
}

/// Whether the bucket itself is missing, and not a file in it.
pub(super) fn is_bucket_missing(error: &object_store::Error) -> bool {
    let text = error.to_string();
    NO_BUCKET.iter().any(|code| text.contains(code))
}

/// An error of a store that is reached over the network, with what to do.
pub(super) fn in_words(error: &object_store::Error, server: &Server) -> String {
    let text = one_line(error);
    let answer = Answer::of(error, &text);
    let (name, address) = match &server.endpoint {
        Some((name, address)) => (*name, address.as_str()),
        None => ("the URL", "the storage"),
    };
    if ["/latest/api/token", "/latest/meta-data", "metadata.google", "169.254."].iter().any(|place| text.contains(place)) {
        return "no credentials were found: set the cloud's environment variables (for S3, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
            .into();
    }
    if text.contains(REDIRECTED) || matches!(answer.code, Some("PermanentRedirect" | "AuthorizationHeaderMalformed")) {
        return "the bucket is in another region; set AWS_REGION to the bucket's".to_owned();
    }
    if is_bucket_missing(error) {
        return "there is no such bucket; create it, or correct the URL".to_owned();
    }
    if SKEWED.iter().any(|words| text.contains(words)) {
        let said = answer.said();
        return format!("the clock of this machine and that of {address} differ too much ({said}); set this one, then run this again");
    }
    match answer.status {
        Some(401 | 403) => format!(
            "{address} refuses the credentials ({}); correct them in the environment, or allow them to list, read, write and delete there",
            answer.said()
        ),
        Some(_) => format!("{address} answered {}; see to the server, then run this again", answer.said()),
        None => match transport(error) {
            Some((HttpErrorKind::Connect, cause)) => {
                let proxy = proxy().map(|variable| format!(" or the proxy in {variable}")).unwrap_or_default();
                format!("no connection to {address} ({cause}); correct {name}{proxy}, or start the server, then run this again")
            }
            Some((HttpErrorKind::Timeout, _)) => format!("{address} did not answer in time; correct {name}, or see to the server"),
            _ if text.contains("no answer within") => format!("{address} gave {text}; correct {name}, or see to the server"),
            _ => text,
        },
    }
}

/// The variable by which requests go through a proxy.
fn proxy() -> Option<&'static str> {
    const VARIABLES: [&str; 6] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    VARIABLES.into_iter().find(|variable| std::env::var_os(variable).is_some_and(|value| !value.is_empty()))
}

/// What S3 and Google, and Azure, call a bucket that does not exist.
const NO_BUCKET: [&str; 2] = ["NoSuchBucket", "ContainerNotFound"];
/// What S3 and Google, Azure, and Google's tokens say of a request whose time is not theirs.
const SKEWED: [&str; 3] = ["RequestTimeTooSkewed", "date header too old", "short-lived token"];
/// What `object_store` says of an answer with neither content nor an address, which S3 gives for a bucket of another region.
const REDIRECTED: &str = "redirect without LOCATION";

/// An HTTP answer that is an error, as far as the text tells.
struct Answer<'a> {
    status: Option<u16>,
    code: Option<&'a str>,
    message: Option<&'a str>,
}

impl<'a> Answer<'a> {
    fn of(error: &object_store::Error, text: &'a str) -> Self {
        let by_kind = match error {
            object_store::Error::PermissionDenied { .. } => Some(403),
            object_store::Error::Unauthenticated { .. } => Some(401),
            _ => None,
        };
        let code = between(text, "<Code>", "</Code>");
        Self { status: status(text).or(by_kind), code, message: between(text, "<Message>", "</Message>") }
    }

    /// `403 AccessDenied: Access Denied`
    fn said(&self) -> String {
        let status = self.status.map(|status| status.to_string());
        let words: Vec<&str> = [status.as_deref(), self.code].into_iter().flatten().collect();
        let message = self.message.map(|message| format!(": {}", message.trim_end_matches('.')));
        words.join(" ") + message.as_deref().unwrap_or_default()
    }
}

/// The error's text in one line. An S3 server's answer has several.
pub(super) fn one_line(error: &object_store::Error) -> String {
    redacted(&error.to_string()).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The kind of a failure below HTTP, and its first cause's words.
fn transport(error: &object_store::Error) -> Option<(HttpErrorKind, String)> {
    let failure = causes(error).find_map(|cause| cause.downcast_ref::<HttpError>())?;
    Some((failure.kind(), redacted(&causes(failure).last()?.to_string()).into_owned()))
}

fn causes<'a>(error: &'a (dyn Cause + 'static)) -> impl Iterator<Item = &'a (dyn Cause + 'static)> {
    iter::successors(Some(error), |error| (*error).source())
}

/// The status of `Server returned non-2xx status code: 403 Forbidden`.
fn status(text: &str) -> Option<u16> {
    text.split_once("status code: ")?.1.get(..3)?.parse().ok()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}
