//! The page over HTTP, in a thread of its own.

use super::{Meter, page::CONTENT_TYPE};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CONTENT_TYPE as TYPE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{
    convert::Infallible,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};
use tokio::{runtime::Builder, sync::Semaphore, time};

/// The page's path.
const PATH: &str = "/metrics";
/// Connections that are answered at a time; others wait.
const CONNECTIONS: usize = 8;
/// Time for a request and its answer.
const WITHIN: Duration = Duration::from_secs(10);
/// Time before the next connection is taken, where the system has refused one.
const PAUSE: Duration = Duration::from_secs(1);

/// Serves a meter's page at an address until the process ends; gives the address, whose port the system has picked where it is 0.
///
/// # Errors
/// An address that cannot be listened at, and a system that gives no thread.
pub fn serve(address: SocketAddr, meter: &'static Meter) -> io::Result<SocketAddr> {
    let listener = listen(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let accept = move || runtime.block_on(accept(listener, meter));
    std::thread::Builder::new().name("metrics".to_owned()).spawn(accept)?;
    // Not among the events that are shown: the first of a pod that goes on says from where.
    tracing::debug!(%address, "metrics for Prometheus");
    Ok(address)
}

/// Where a system has no IPv6, all addresses are those of IPv4.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).or_else(|error| match address.ip() {
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) if error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port()))
        }
        _ => Err(error),
    })
}

async fn accept(listener: TcpListener, meter: &'static Meter) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(async move {
                answer(stream, meter).await;
                drop(permit);
            })),
            Err(_) => time::sleep(PAUSE).await,
        }
    }
}

/// One question of a connection; how it fares is the other side's matter.
async fn answer(stream: tokio::net::TcpStream, meter: &'static Meter) {
    let service = service_fn(async |request: Request<Incoming>| Ok::<_, Infallible>(respond(&request, meter)));
    let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    let _ = time::timeout(WITHIN, connection).await;
}

fn respond<B>(request: &Request<B>, meter: &Meter) -> Response<Full<Bytes>> {
    let (code, kind, text) = match (request.uri().path(), request.method()) {
        (PATH, &Method::GET | &Method::HEAD) => (StatusCode::OK, CONTENT_TYPE, meter.page()),
        (PATH, _) => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "expected GET\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, "text/plain", format!("expected {PATH}\n")),
    };
    let response = Response::builder().status(code).header(TYPE, kind).header(ALLOW, "GET, HEAD");
    response.body(Full::new(text.into())).expect("the parts are literals of this file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpStream,
    };

    /// The answer to a request, as it comes over the wire.
    fn asked(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn the_page_is_read_and_nothing_else() {
        static METER: Meter = Meter(std::sync::Mutex::new(super::super::State::new()));
        METER.begin(2);
        let address = serve("127.0.0.1:0".parse().unwrap(), &METER).unwrap();
        let page = asked(address, "GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n");
        assert!(
            page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            "{page}"
        );
        assert!(page.contains("\r\n\r\n# HELP ranksweep_trials ") && page.contains("\nranksweep_trials{state=\"waiting\"} 2\n"), "{page}");
        assert!(asked(address, "HEAD /metrics HTTP/1.1\r\nhost: a\r\n\r\n").ends_with("\r\n\r\n"));
        assert!(asked(address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(asked(address, "POST /metrics HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(asked(address, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
        // A line without an end is not read on and on, and others are answered meanwhile.
        let mut endless = TcpStream::connect(address).unwrap();
        endless.write_all(&[b'a'; 4096]).unwrap();
        assert!(asked(address, "GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n").contains("waiting"));
        let taken = serve(address, &METER).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    }
}
