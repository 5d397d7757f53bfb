//! Any process but the first: comes again and again until process 0 is there and has answered.

use super::{
    PAUSE, SILENCE,
    hello::{self, Answer, Hello},
    is_there,
};
use crate::{
    Error, Result,
    collective::{Rendezvous, link::Link, timed::Timed},
};
use std::{
    io::{self, ErrorKind, Write},
    net::{TcpStream, ToSocketAddrs},
    thread::sleep,
    time::{Duration, Instant},
};

/// Comes to process 0.
///
/// # Errors
/// [`Error::Ranks`] when it is refused, or process 0 does not answer in time; [`Error::Interrupted`].
pub(super) fn come(nodes: &Rendezvous, hello: &Hello, stop: &dyn Fn() -> bool) -> Result<Link> {
    let start = Instant::now();
    // What whoever answered said last: the last try of all may have no time left for an answer.
    let mut answer = None;
    loop {
        let left = nodes.limit.saturating_sub(start.elapsed()).max(PAUSE);
        let reason = match ask(nodes, hello, left, stop) {
            Ok((stream, Answer::Welcome)) => return Ok(Link::new(hello.rank, vec![(0, stream)])),
            Ok((_, Answer::Refused(reason))) => return Err(Error::Ranks(reason)),
            Err(error) => {
                answer = if is_answer(&error) { Some(words(&error)) } else { answer };
                answer.clone().filter(|_| error.kind() == ErrorKind::TimedOut).unwrap_or_else(|| words(&error))
            }
        };
        if stop() {
            return Err(Error::Interrupted { epoch: 0 });
        }
        if start.elapsed() >= nodes.limit {
            let Rendezvous { address, port, limit, rank, .. } = nodes;
            return Err(Error::Ranks(format!("process {rank} waited {limit:?} for process 0 at {address}:{port}: {reason}")));
        }
        sleep(PAUSE);
    }
}

/// Whether someone was there, and hung up or did not know the secret.
fn is_answer(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionReset, PermissionDenied, UnexpectedEof};
    matches!(error.kind(), PermissionDenied | UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// Why nothing came of a try, and what to do.
fn words(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "what answers there does not know the secret: is MASTER_ADDR the host of process 0?".to_owned(),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            "the connection was closed; have all processes the same RANKSWEEP_RENDEZVOUS_SECRET?".to_owned()
        }
        _ => format!("{error}; is process 0 running, and is MASTER_ADDR its host?"),
    }
}

/// One try.
fn ask(nodes: &Rendezvous, hello: &Hello, limit: Duration, stop: &dyn Fn() -> bool) -> io::Result<(TcpStream, Answer)> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in (nodes.address.as_str(), nodes.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit.min(SILENCE)) {
            Ok(stream) => return say(&stream, nodes, hello, limit, stop).map(|answer| (stream, answer)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Says who comes, and waits for the answer.
fn say(stream: &TcpStream, nodes: &Rendezvous, hello: &Hello, limit: Duration, stop: &dyn Fn() -> bool) -> io::Result<Answer> {
    wait(stream, limit.min(SILENCE), stop)?;
    let mut timed = Timed::new(stream, SILENCE);
    let (challenge, own) = (hello::challenged(&mut timed)?, hello::nonce()?);
    timed.write_all(&hello::hello(&nodes.secret, &challenge, &own, hello))?;
    wait(stream, limit, stop)?;
    hello::answered(&nodes.secret, [&challenge, &own], &mut Timed::new(stream, SILENCE))
}

/// Waits until there is something to read, or nothing more will come.
fn wait(stream: &TcpStream, limit: Duration, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let start = Instant::now();
    while is_there(stream) {
        if stop() || start.elapsed() >= limit {
            return Err(ErrorKind::TimedOut.into());
        }
        sleep(PAUSE);
    }
    stream.set_nonblocking(false)
}
