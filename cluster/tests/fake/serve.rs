//! The server over HTTP, for clients in another process.

use super::{Fake, request::Asked};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, runtime::Builder};

impl Fake {
    /// Answers on a port of this machine, in a thread of its own until the process ends; gives the URL.
    pub(crate) fn serve(&self) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fake = self.clone();
        std::thread::spawn(move || Builder::new_current_thread().enable_all().build().unwrap().block_on(fake.accept(listener)));
        url
    }

    async fn accept(self, listener: std::net::TcpListener) {
        let listener = TcpListener::from_std(listener).unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let fake = self.clone();
            let service = service_fn(move |request| fake.clone().respond(request));
            // A client that hangs up is its own matter.
            tokio::spawn(async move { drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await) });
        }
    }

    async fn respond(self, request: Request<Incoming>) -> hyper::Result<Response<Full<bytes::Bytes>>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let asked = Asked::parse(&parts.method, &parts.uri, &parts.headers, &body);
        Ok(self.answer(&asked).into_response().map(|body| Full::new(body.into())))
    }
}
