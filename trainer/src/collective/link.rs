//! What processes tell each other beside the training: a connection from process 0 to each of the others.
//!
//! It carries messages, and rounds in which every process brings something and takes away what all brought. It also says who is there: a
//! process that ends closes its connection, and one that fails says why before. Every message, and every round with a process, has a deadline
//! of its own.

use super::{
    message::{Allowed, Message, Round, receive, receive_parts, send},
    timed::Timed,
};
use crate::{Error, Result};
use dataset::quote;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    io::{ErrorKind, Write},
    net::TcpStream,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Between two looks at whether to wait on.
const LOOK: Duration = Duration::from_millis(200);
/// A message that nobody has to be waited for takes no longer.
const SOON: Duration = Duration::from_secs(60);
/// A message that nobody has to be waited for takes no longer where the process ends anyway.
const PARTING: Duration = Duration::from_secs(1);

/// How a message of a failure begins.
#[cfg(any(test, feature = "nccl"))]
const FAILED: &[u8] = br#"{"Failed":"#;

/// The other end of each connection: all processes for process 0, process 0 for the others.
pub(crate) struct Link {
    rank: u32,
    peers: Mutex<Vec<(u32, TcpStream)>>,
}

/// What this process brings to a round, and how long it waits there.
pub(super) struct Bring {
    pub(super) round: Round,
    /// One part for each of its ranks; each process has as many.
    pub(super) own: Vec<Vec<u8>>,
    /// Ranks of all processes.
    pub(super) ranks: usize,
    /// Bytes of a part at most.
    pub(super) most: usize,
    /// The longest that it waits for each of the others.
    pub(super) limit: Duration,
}

impl Link {
    /// Links this process to others, by their numbers.
    pub(super) fn new(rank: u32, mut peers: Vec<(u32, TcpStream)>) -> Self {
        for (_, peer) in &peers {
            let _slower_without = peer.set_nodelay(true);
        }
        peers.sort_unstable_by_key(|(rank, _)| *rank);
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
            let sent = send(&mut Timed::new(peer, SOON), &Message::Text(text));
            sent.map_err(|error| Error::Ranks(gone(*rank, &error)))
        })
    }

    /// Hears what process 0 tells, for no longer than the limit.
    ///
    /// # Errors
    /// [`Error::Ranks`] when process 0 failed, with its reason, or is gone.
    pub(crate) fn hear<T: DeserializeOwned>(&self, limit: Duration, stop: Option<&AtomicBool>) -> Result<T> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = peers.first_mut().map(|(_, peer)| {
            let mut timed = Timed::new(peer, limit);
            listen(peer, limit, stop)?;
            receive::<Message<T>>(&mut timed)
        });
        match heard {
            Some(Err(error)) if error.kind() == ErrorKind::Interrupted => Err(Error::Interrupted { epoch: 0 }),
            Some(Ok(Message::Text(text))) => Ok(text),
            Some(Ok(Message::Round(round, _))) => {
                Err(Error::Ranks(format!("process 0 is at `{}` and this one is not", quote::value(&round.what))))
            }
            Some(Ok(Message::Failed(reason))) => Err(Error::Ranks(format!("process 0 failed: {}", quote::line(&reason)))),
            Some(Err(error)) => Err(Error::Ranks(gone(0, &error))),
            None => Err(Error::Ranks("there is no other process to hear".to_owned())),
        }
    }

    /// Brings the parts of this process's ranks to a round and takes those of all, in the order of the processes. Waits for no process longer
    /// than the limit.
    ///
    /// # Errors
    /// Who did not come, came for something else, or brought more than is allowed.
    pub(super) fn round(&self, bring: Bring) -> Result<Vec<Vec<u8>>, String> {
        let Bring { round, own, ranks, most, limit } = bring;
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let allowed = Allowed { parts: if self.leads() { own.len() } else { ranks }, bytes: most };
        if !self.leads() {
            let (rank, peer) = peers.first_mut().ok_or("there is no process 0")?;
            give(&mut Timed::new(peer, limit), &round, &own).map_err(|error| gone(*rank, &error))?;
            return take(*rank, peer, &round, allowed, limit);
        }
        let mut all = own;
        for (rank, peer) in peers.iter_mut() {
            all.extend(take(*rank, peer, &round, allowed, limit)?);
        }
        for (rank, peer) in peers.iter_mut() {
            give(&mut Timed::new(peer, limit), &round, &all).map_err(|error| gone(*rank, &error))?;
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
                Ok(_) if begins.ends_with(FAILED) => match receive::<Message<()>>(&mut Timed::new(peer, PARTING)) {
                    Ok(Message::Failed(reason)) => Some(format!("process {rank} failed: {}", quote::line(&reason))),
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
            let _gone = send(&mut Timed::new(peer, PARTING), &Message::<()>::Failed(quote::line(reason).into_owned()));
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

fn give(to: &mut impl Write, round: &Round, parts: &[Vec<u8>]) -> std::io::Result<()> {
    send(to, &Message::<()>::Round(round.clone(), parts.iter().map(|part| part.len() as u64).collect()))?;
    parts.iter().try_for_each(|part| to.write_all(part))
}

fn take(rank: u32, peer: &TcpStream, expected: &Round, allowed: Allowed, limit: Duration) -> Result<Vec<Vec<u8>>, String> {
    let ended = |error: std::io::Error| gone(rank, &error);
    let mut timed = Timed::new(peer, limit);
    match receive::<Message<()>>(&mut timed).map_err(ended)? {
        Message::Round(round, lengths) if round == *expected => receive_parts(&mut timed, &lengths, allowed).map_err(ended),
        Message::Round(Round { what, epoch, step }, _) => {
            let what = quote::value(&what);
            Err(format!("the processes are out of step: process {rank} is at `{what}`, epoch {epoch}, step {step}"))
        }
        Message::Failed(reason) => Err(format!("process {rank} failed: {}", quote::line(&reason))),
        Message::Text(()) => Err(format!("process {rank} ended the training")),
    }
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::net::TcpListener;

    const LONG: Duration = Duration::from_secs(60);

    /// A connection's two ends.
    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().unwrap().0, other)
    }

    /// Process 0 and one other.
    pub(in super::super) fn pair() -> [Link; 2] {
        let (first, other) = connected();
        [Link::new(0, vec![(1, first)]), Link::new(1, vec![(0, other)])]
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

    fn bring(limit: Duration) -> Bring {
        let round = Round { what: "losses".to_owned(), epoch: 1, step: 2 };
        Bring { round, own: vec![vec![1, 2]], ranks: 2, most: 2, limit }
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

    /// Lengths that no memory holds, parts of other ranks, and bytes that are no message.
    #[test]
    fn a_peer_brings_no_more_than_it_may() {
        for (lengths, expected) in [
            (vec![1 << 40], "process 1 is gone: it announces 1099511627776 bytes of a rank: expected at most 2"),
            (vec![u64::MAX], "process 1 is gone: it announces 18446744073709551615 bytes of a rank: expected at most 2"),
            (vec![1, 1], "process 1 is gone: it announces numbers of 2 ranks: expected 1"),
        ] {
            let (ours, mut theirs) = connected();
            send(&mut theirs, &Message::<()>::Round(bring(LONG).round, lengths)).unwrap();
            assert_eq!(Link::new(0, vec![(1, ours)]).round(bring(LONG)).unwrap_err(), expected);
        }
        let (ours, mut theirs) = connected();
        theirs.write_all(&[0xff; 64]).unwrap();
        let found = Link::new(0, vec![(1, ours)]).round(bring(LONG)).unwrap_err();
        assert!(found.contains("a message of 4294967295 bytes"), "{found}");
    }

    #[test]
    fn a_peer_that_says_half_of_it_is_waited_for_no_longer_than_the_limit() {
        let (ours, mut theirs) = connected();
        send(&mut theirs, &Message::<()>::Round(bring(LONG).round, vec![2])).unwrap();
        theirs.write_all(&[7]).unwrap();
        let found = Link::new(0, vec![(1, ours)]).round(bring(Duration::from_millis(50))).unwrap_err();
        assert_eq!(found, "process 1 did not come within the time limit");
    }
}
