//! Processes meet: process 0 listens where `MASTER_ADDR` and `MASTER_PORT` say, the others come and say who they are.
//!
//! ```text
//! challenge  <-  magic, nonce
//! hello      ->  build, trial, processes, number, ranks; a nonce; HMAC of all of it     process 0 compares it with its own
//! answer     <-  welcome, when all are there, or why not; HMAC of it and the nonces
//! ```
//! By the HMACs both sides know that the other has the secret. Nothing is said to whoever has not: its connection is closed, and waiting goes
//! on, as it does when a process of ours is refused because it does not fit. What is said after that is neither signed nor encrypted: whoever
//! can change packets on their way can change it.

mod come;
mod hello;
mod welcome;

use super::{Rendezvous, link::Link};
use crate::{Error, Result};
use hello::{Hello, build};
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    time::Duration,
};

/// Between two looks at whether someone has come, or is there by now.
const PAUSE: Duration = Duration::from_millis(20);
/// Who has not said all that it has to say after so long is no process of ours.
const SILENCE: Duration = Duration::from_secs(5);

/// Meets all processes for a trial, each with so many local ranks, unless it is asked to stop.
///
/// # Errors
/// [`Error::Ranks`] when not all come in time, or this one does not fit; [`Error::Interrupted`].
pub(crate) fn meet(nodes: &Rendezvous, trial: &str, local: u32, stop: &dyn Fn() -> bool) -> Result<Link> {
    let hello = Hello { build: build(), trial: trial.to_owned(), world: nodes.world, rank: nodes.rank, local };
    match nodes.rank {
        0 => {
            let listener = listen(&nodes.address, nodes.port).map_err(|error| {
                let reason = "is another training on this port? MASTER_PORT can be any free one";
                Error::Ranks(format!("process 0 cannot listen at port {}: {error}; {reason}", nodes.port))
            })?;
            welcome::welcome(&listener, nodes, &hello, stop)
        }
        _ => come::come(nodes, &hello, stop),
    }
}

/// At this machine's own address alone where the others are to look for process 0 there; else at all addresses, of both kinds where the machine
/// has both.
fn listen(address: &str, port: u16) -> std::io::Result<TcpListener> {
    let is_local = address == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if is_local {
        return TcpListener::bind(&(address, port).to_socket_addrs()?.collect::<Vec<SocketAddr>>()[..]);
    }
    TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
}

/// Whether a connection is still open, and nothing is to be read from it.
fn is_there(peer: &TcpStream) -> bool {
    let nothing = peer.set_nonblocking(true).and_then(|()| peer.peek(&mut [0]));
    let open = nothing.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
    open && peer.set_nonblocking(false).is_ok()
}

#[cfg(test)]
mod tests;
