//! An API server in memory, with a Job controller that behaves as a real control plane (Kubernetes 1.36) was seen to.
//!
//! Requests come through `kube`, in the process ([`Fake::cluster`]) or over HTTP ([`Fake::serve`]). Time is counted in ticks: each list
//! of Jobs or pods is one, and in each the controllers do what follows from what is stored. What pods do is the test's to say
//! ([`World::pods`]), as is what else happens ([`World::at`]).
//!
//! Pods that are replaced wait as they do there, 10 s after the first failure or interruption and twice as long after each further one, at 10 s
//! for a tick: those of an index where retries are counted by index, otherwise those of the whole Job. Not played: watches, and conflicts between field managers.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]
#![allow(dead_code, unused_imports, reason = "each test binary uses a part")]

mod answer;
mod controller;
mod kueue;
mod patch;
mod pods;
mod request;
mod serve;
mod sweep;
mod world;

pub(crate) use answer::Answer;
pub(crate) use pods::{Act, PodRun, Start};
pub(crate) use sweep::{submission, submitted};
pub(crate) use world::World;

use cluster::client::{Call, Cluster};
use http::{Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use request::Asked;
use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, sleep_until};
use tower::Service;

/// The namespace that exists.
pub(crate) const NAMESPACE: &str = "team";

/// A handle to the server. Clones share it.
#[derive(Clone)]
pub(crate) struct Fake {
    world: Arc<Mutex<World>>,
    /// The calls that are allowed; all of them where `None`.
    allowed: Option<&'static [Call]>,
}

impl Fake {
    pub(crate) fn new() -> Self {
        Self { world: Arc::default(), allowed: None }
    }

    /// A client that may ask only this.
    pub(crate) fn cluster(&self, allowed: &'static [Call]) -> Cluster {
        Cluster::over(Self { allowed: Some(allowed), ..self.clone() }, "http://fake", NAMESPACE)
    }

    /// A client of another namespace.
    pub(crate) fn cluster_in(&self, namespace: &str) -> Cluster {
        Cluster::over(self.clone(), "http://fake", namespace)
    }

    /// Looks at the world, or changes it.
    pub(crate) fn with<T>(&self, action: impl FnOnce(&mut World) -> T) -> T {
        action(&mut self.world.lock().unwrap())
    }

    fn answer(&self, asked: &Asked) -> Answer {
        self.with(|world| world.answer(asked, self.allowed))
    }

    /// Until when the server does not answer, and whether it hangs rather than refusing the connection.
    fn absence(&self) -> Option<(Instant, bool)> {
        self.with(|world| world.absence.filter(|(until, _)| *until > Instant::now()))
    }
}

impl World {
    /// Refuses connections, or lets them hang, for so long.
    pub(crate) fn go_away(&mut self, length: Duration, hangs: bool) {
        self.absence = Some((Instant::now() + length, hangs));
    }
}

impl Service<Request<Body>> for Fake {
    type Response = Response<Body>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Response<Body>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let fake = self.clone();
        Box::pin(async move {
            if let Some((until, hangs)) = fake.absence() {
                fake.with(|world| world.unanswered += 1);
                match hangs {
                    true => sleep_until(until).await,
                    false => return Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
                }
            }
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
            let asked = Asked::parse(&parts.method, &parts.uri, &parts.headers, &body);
            let answer = fake.answer(&asked);
            if fake.with(|world| world.last_answer == Some(world.asked)) {
                return std::future::pending().await;
            }
            Ok(answer.into_response().map(Body::from))
        })
    }
}
