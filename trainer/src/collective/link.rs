//! What processes tell each other beside the training: a connection from process 0 to each of the others.
//!
//! It carries messages, and rounds in which every process brings something and takes away what all brought. It also says who is there: a
//! process that ends closes its connection, and one that fails says why before.

use crate::{Error, Result};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Between two looks at whether to wait on.
const LOOK: Duration = Duration::from_millis(200);

/// No message of ours is longer.
const LONGEST: u32 = 1 << 20;

/// How a message of a failure begins.
#[cfg(any(test, feature = "nccl"))]
const FAILED: &[u8] = br#"{"Failed":"#;

/// The other end of each connection: all processes for process 0, process 0 for the others.
pub(crate) struct Link {
    rank: u32,
    peers: Mutex<Vec<(u32, TcpStream)>>,
}

/// One message.
#[derive(Deserialize, Serialize)]
enum Message<T> {
    Text(T),
    /// Parts of these lengths follow.
    Round(Round, Vec<usize>),
    /// The sender ends, and why.
    Failed(String),
}

/// What a round is for: the same of all processes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Round {
    pub(super) what: String,
    pub(super) epoch: u32,
    pub(super) step: u32,
}

impl Link {
    /// Of this process to others, by their numbers.
    pub(super) fn new(rank: u32, peers: Vec<(u32, TcpStream)>) -> Self {
        for (_, peer) in &peers {
            let _slower_without = peer.set_nodelay(true);
        }
        Self { rank, peers: Mutex::new(peers) }
    }

    /// Whether this is process 0.
    pub(crate) fn leads(&self) -> bool {
        self.rank == 0
    }

    /// Tells all others.
    ///
    /// # Errors
    /// [`Error::Ranks`] when one is gone.
    pub(crate) fn tell(&self, text: &impl Serialize) -> Result<()> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.iter_mut().try_for_each(|(rank, peer)| {
            let sent = send(peer, &Message::Text(text));
            sent.map_err(|error| Error::Ranks(gone(*rank, &error)))
        })
    }

    /// Hears what process 0 tells, however long it takes.
    ///
    /// # Errors
    /// [`Error::Ranks`] when process 0 failed, with its reason, or is gone.
    pub(crate) fn hear<T: DeserializeOwned>(&self, limit: Duration, stop: Option<&AtomicBool>) -> Result<T> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = peers.first_mut().map(|(_, peer)| {
            listen(peer, limit, stop)?;
            receive::<Message<T>>(peer, Some(limit))
        });
        match heard {
            Some(Err(error)) if error.kind() == ErrorKind::Interrupted => Err(Error::Interrupted { epoch: 0 }),
            Some(Ok(Message::Text(text))) => Ok(text),
            Some(Ok(Message::Round(round, _))) => Err(Error::Ranks(format!("process 0 is at `{}` and this one is not", round.what))),
            Some(Ok(Message::Failed(reason))) => Err(Error::Ranks(format!("process 0 failed: {reason}"))),
            Some(Err(error)) => Err(Error::Ranks(gone(0, &error))),
            None => Err(Error::Ranks("there is no other process to hear".to_owned())),
        }
    }

    /// Brings the parts of this process's ranks to a round and takes those of all, in the order of the processes. Waits for no process longer
    /// than the limit.
    ///
    /// # Errors
    /// Who did not come or came for something else.
    pub(super) fn round(&self, round: &Round, own: Vec<Vec<u8>>, limit: Duration) -> Result<Vec<Vec<u8>>, String> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.sort_unstable_by_key(|(rank, _)| *rank);
        if !self.leads() {
            let (rank, peer) = peers.first_mut().ok_or("there is no process 0")?;
            give(peer, round, &own).map_err(|error| gone(*rank, &error))?;
            return take(*rank, peer, round, limit);
        }
        let mut all = own;
        for (rank, peer) in peers.iter_mut() {
            all.extend(take(*rank, peer, round, limit)?);
        }
        for (rank, peer) in peers.iter_mut() {
            give(peer, round, &all).map_err(|error| gone(*rank, &error))?;
        }
        Ok(all)
    }

    /// Why the training cannot go on, when another process has ended. Does not wait, and takes no message but that one.
    #[cfg(any(test, feature = "nccl"))]
    pub(crate) fn lost(&self) -> Option<String> {
        let mut peers = self.peers.try_lock().ok()?; // who holds it finds out
        peers.iter_mut().find_map(|(rank, peer)| {
            peer.set_nonblocking(true).ok()?;
            let mut begins = [0; FAILED.len() + 4]; // after its length
            let found = peer.peek(&mut begins);
            peer.set_nonblocking(false).ok()?;
            match found {
                Err(error) if error.kind() == ErrorKind::WouldBlock => None,
                Err(error) => Some(gone(*rank, &error)),
                Ok(0) => Some(format!("process {rank} has ended")),
                Ok(_) if begins.ends_with(FAILED) => match receive::<Message<()>>(peer, Some(Duration::from_secs(1))) {
                    Ok(Message::Failed(reason)) => Some(format!("process {rank} failed: {reason}")),
                    _ => Some(format!("process {rank} has ended")),
                },
                Ok(_) => None, // it is ahead
            }
        })
    }

    /// Tells the others that this process fails, as far as they are still there.
    pub(crate) fn fail(&self, reason: &str) {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, peer) in peers.iter_mut() {
            let _gone = send(peer, &Message::<()>::Failed(reason.to_owned()));
        }
    }
}

fn gone(rank: u32, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => format!("process {rank} has ended"),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("process {rank} did not come within the time limit"),
        _ => format!("process {rank} is gone: {error}"),
    }
}

fn give(peer: &mut TcpStream, round: &Round, parts: &[Vec<u8>]) -> std::io::Result<()> {
    send(peer, &Message::<()>::Round(round.clone(), parts.iter().map(Vec::len).collect()))?;
    parts.iter().try_for_each(|part| peer.write_all(part))
}

fn take(rank: u32, peer: &mut TcpStream, expected: &Round, limit: Duration) -> Result<Vec<Vec<u8>>, String> {
    let ended = |error: std::io::Error| gone(rank, &error);
    match receive::<Message<()>>(peer, Some(limit)).map_err(ended)? {
        Message::Round(round, lengths) if round == *expected => lengths
            .into_iter()
            .map(|length| {
                let mut part = vec![0; length];
                peer.read_exact(&mut part).map(|()| part).map_err(ended)
            })
            .collect(),
        Message::Round(Round { what, epoch, step }, _) => {
            Err(format!("the processes are out of step: process {rank} is at `{what}`, epoch {epoch}, step {step}"))
        }
        Message::Failed(reason) => Err(format!("process {rank} failed: {reason}")),
        Message::Text(()) => Err(format!("process {rank} ended the training")),
    }
}

/// Writes a message with its length before it.
pub(super) fn send(stream: &mut TcpStream, message: &impl Serialize) -> std::io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(std::io::Error::other)?;
    stream.write_all(&[&length.to_le_bytes(), &text[..]].concat())
}

/// Waits until there is something to hear, no longer than the limit, and not when it is asked to stop.
fn listen(stream: &TcpStream, limit: Duration, stop: Option<&AtomicBool>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(LOOK))?;
    let start = Instant::now();
    loop {
        match stream.peek(&mut [0]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            other => return other.map(|_| ()),
        }
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(ErrorKind::Interrupted.into());
        }
        if start.elapsed() >= limit {
            return Err(ErrorKind::TimedOut.into());
        }
    }
}

/// Reads a message, for no longer than the limit.
pub(super) fn receive<T: DeserializeOwned>(stream: &mut TcpStream, limit: Option<Duration>) -> std::io::Result<T> {
    stream.set_read_timeout(limit)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(std::io::Error::other(format!("a message of {length} bytes")));
    }
    let mut text = vec![0; length as usize];
    stream.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::net::TcpListener;

    const LONG: Duration = Duration::from_secs(60);

    /// Process 0 and one other.
    pub(in super::super) fn pair() -> [Link; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        [Link::new(0, vec![(1, listener.accept().unwrap().0)]), Link::new(1, vec![(0, other)])]
    }

    /// What a link says when it no longer says nothing.
    fn loss(link: &Link) -> String {
        loop {
            if let Some(reason) = link.lost() {
                return reason;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn messages_come_in_order_and_nothing_is_lost_while_both_are_there() {
        let [first, other] = pair();
        first.tell(&vec![1, 2]).unwrap();
        first.tell(&"text").unwrap();
        assert_eq!(
            (other.hear::<Vec<u32>>(LONG, None).unwrap(), other.hear::<String>(LONG, None).unwrap()),
            (vec![1, 2], "text".to_owned())
        );
        assert_eq!((first.lost(), other.lost()), (None, None));
        first.tell(&3).unwrap();
        assert_eq!((other.lost(), other.hear::<u32>(LONG, None).unwrap()), (None, 3));
    }

    #[test]
    fn whoever_ends_is_missed() {
        let [first, other] = pair();
        drop(other);
        assert!(loss(&first).starts_with("process 1 "));
        let [first, other] = pair();
        first.fail("the store is full");
        drop(first);
        assert_eq!(loss(&other), "process 0 failed: the store is full");
        let [first, other] = pair();
        first.fail("the store is full");
        assert_eq!(other.hear::<()>(LONG, None).unwrap_err().to_string(), "ranks: process 0 failed: the store is full");
    }
}
