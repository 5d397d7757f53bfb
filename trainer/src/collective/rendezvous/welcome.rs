//! Process 0: hears all who come at once, so that none keeps it from the others, and answers its own together.

use super::{
    PAUSE, SILENCE,
    hello::{self, Answer, Hello, Nonce},
    is_there,
};
use crate::{
    Error, Result,
    collective::{Rendezvous, Secret, link::Link, timed::Timed},
};
use std::{
    fmt::Display,
    io::{self, ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread::sleep,
    time::Instant,
};

/// Connections, beside one for each process, that may be heard at a time.
const STRANGERS: usize = 64;

/// Waits for all others and welcomes them.
///
/// # Errors
/// [`Error::Ranks`] when not all come in time; [`Error::Interrupted`].
pub(super) fn welcome(listener: &TcpListener, nodes: &Rendezvous, own: &Hello, stop: &dyn Fn() -> bool) -> Result<Link> {
    let failed = |error: io::Error| Error::Ranks(format!("process 0 cannot wait for the others: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    let start = Instant::now();
    let mut hall = Hall { secret: &nodes.secret, own, guests: Vec::new(), seats: Vec::new(), refused: None };
    loop {
        hall.open(listener).map_err(failed)?;
        hall.hear();
        if hall.is_complete() {
            return hall.begin();
        }
        if stop() {
            return Err(Error::Interrupted { epoch: 0 });
        }
        if start.elapsed() >= nodes.limit {
            let reason = hall.missing(nodes);
            hall.seats.iter_mut().for_each(|seat| seat.refuse(&nodes.secret, &reason));
            return Err(Error::Ranks(reason));
        }
        sleep(PAUSE);
    }
}

/// All who have come.
struct Hall<'a> {
    secret: &'a Secret,
    own: &'a Hello,
    guests: Vec<Guest>,
    seats: Vec<Seat>,
    /// Who was refused last, and why.
    refused: Option<String>,
}

/// A connection that has not said who it is.
struct Guest {
    stream: TcpStream,
    from: SocketAddr,
    since: Instant,
    challenge: Nonce,
    heard: Vec<u8>,
}

/// A process of ours that waits for the answer.
struct Seat {
    rank: u32,
    stream: TcpStream,
    /// Process 0's and its own.
    nonces: [Nonce; 2],
}

impl Hall<'_> {
    /// Lets in who is at the door. Where there are too many, who has been silent for longest has to go.
    fn open(&mut self, listener: &TcpListener) -> io::Result<()> {
        let most = STRANGERS + self.own.world as usize;
        for _ in 0..most {
            match listener.accept() {
                Ok((stream, from)) => self.guests.extend(Guest::challenged(stream, from).ok()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
        let too_many = self.guests.len().saturating_sub(most);
        self.guests.drain(..too_many);
        Ok(())
    }

    /// Hears everyone, as far as they have spoken.
    fn hear(&mut self) {
        for mut guest in std::mem::take(&mut self.guests) {
            match guest.hear(self.secret) {
                Ok(None) if guest.since.elapsed() < SILENCE => self.guests.push(guest),
                Ok(None) => self.note(&guest.from, "it did not say who it is"),
                Ok(Some((hello, nonce))) => self.seat(guest, &hello, nonce),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    self.note(&guest.from, "it has another RANKSWEEP_RENDEZVOUS_SECRET, or none");
                }
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {} // it left
                Err(_) => self.note(&guest.from, "it is no process of this version"),
            }
        }
    }

    /// Seats a process of ours, or tells it why not.
    fn seat(&mut self, guest: Guest, hello: &Hello, nonce: Nonce) {
        self.seats.retain(|seat| seat.rank != hello.rank || is_there(&seat.stream)); // one that was started again
        let mut seat = Seat { rank: hello.rank, stream: guest.stream, nonces: [guest.challenge, nonce] };
        match check(self.own, hello, guest.from, &self.seats) {
            Ok(()) => self.seats.push(seat),
            Err(reason) => {
                seat.refuse(self.secret, &reason);
                self.refuse(reason);
            }
        }
    }

    fn note(&mut self, from: &SocketAddr, reason: &str) {
        self.refuse(format!("a connection from {}: {reason}", from.ip()));
    }

    /// Says it once, however often the same comes.
    fn refuse(&mut self, reason: String) {
        if self.refused.as_ref() != Some(&reason) {
            tracing::warn!("refused {reason}");
        }
        self.refused = Some(reason);
    }

    /// Whether all have come and are still there.
    fn is_complete(&mut self) -> bool {
        let others = self.own.world as usize - 1;
        if self.seats.len() == others {
            self.seats.retain(|seat| is_there(&seat.stream)); // or one is waited for again
        }
        self.seats.len() == others
    }

    fn begin(mut self) -> Result<Link> {
        for seat in &mut self.seats {
            let rank = seat.rank;
            seat.answer(self.secret, &Answer::Welcome).map_err(|error| Error::Ranks(format!("process {rank} is gone: {error}")))?;
        }
        Ok(Link::new(0, self.seats.into_iter().map(|seat| (seat.rank, seat.stream)).collect()))
    }

    fn missing(&self, nodes: &Rendezvous) -> String {
        let missing = (1..self.own.world).filter(|&rank| self.seats.iter().all(|seat| seat.rank != rank)).map(|rank| rank.to_string());
        let (missing, refused) = (missing.collect::<Vec<_>>().join(", "), self.refused.as_ref());
        let refused = refused.map_or_else(String::new, |refused| format!("; the last that was refused: {refused}"));
        format!(
            "process 0 waited {:?} for process {missing} of {}: have all been started with this MASTER_ADDR and MASTER_PORT?{refused}",
            nodes.limit, self.own.world
        )
    }
}

impl Guest {
    /// One that has just come, and is asked who it is.
    fn challenged(mut stream: TcpStream, from: SocketAddr) -> io::Result<Self> {
        let challenge = hello::nonce()?;
        stream.set_nonblocking(true)?;
        stream.write_all(&hello::challenge(&challenge))?; // a new connection has room for it
        Ok(Self { stream, from, since: Instant::now(), challenge, heard: Vec::new() })
    }

    /// What it says; `None` while it has not said all.
    fn hear(&mut self, secret: &Secret) -> io::Result<Option<(Hello, Nonce)>> {
        let mut room = [0; 1024];
        loop {
            let missing = hello::missing(&self.heard)?;
            if missing == 0 {
                return hello::heard(secret, &self.challenge, &self.heard).map(Some);
            }
            match self.stream.read(&mut room[..missing.min(1024)]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.heard.extend(&room[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Seat {
    fn answer(&mut self, secret: &Secret, answer: &Answer) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        Timed::new(&self.stream, SILENCE).write_all(&hello::answer(secret, self.nonces.each_ref(), answer))
    }

    fn refuse(&mut self, secret: &Secret, reason: &str) {
        let _gone = self.answer(secret, &Answer::Refused(reason.to_owned()));
    }
}

/// Whether a process fits to process 0 and to those that came before it.
fn check(own: &Hello, other: &Hello, from: SocketAddr, seats: &[Seat]) -> Result<(), String> {
    let differs = |what: &str, own: &dyn Display, found: &dyn Display, advice: &str| {
        let who = format!("process {} at {}", other.rank, from.ip());
        Err(format!("{who} has {what} {found}, and process 0 has {own}: {advice}"))
    };
    if own.build != other.build {
        return differs("the build", &own.build, &other.build, "give all processes the same binary");
    }
    if own.world != other.world {
        return differs("WORLD_SIZE", &own.world, &other.world, "give all processes the same");
    }
    if own.trial != other.trial {
        return differs("the trial", &own.trial, &other.trial, "start all processes with the same sweep and the same trials");
    }
    if own.local != other.local {
        return differs("a number of local ranks:", &own.local, &other.local, "give all processes as many GPUs");
    }
    match other.rank {
        0 => Err(format!("a second process, at {}, has RANK 0: give each its own", from.ip())),
        rank if rank >= own.world => Err(format!("a process at {} has RANK {rank} of {}: expected less", from.ip(), own.world)),
        rank if seats.iter().any(|seat| seat.rank == rank) => Err(format!("two processes have RANK {rank}: give each its own")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_was_refused_last_is_said_in_the_end() {
        let secret = Secret::new("0123456789abcdef").unwrap();
        let own = Hello { build: hello::build(), trial: "0123".to_owned(), world: 3, rank: 0, local: 1 };
        let mut hall = Hall { secret: &secret, own: &own, guests: Vec::new(), seats: Vec::new(), refused: None };
        let limit = Duration::from_millis(50);
        let nodes = Rendezvous { address: "job-0".to_owned(), port: 1, rank: 0, world: 3, limit, secret: secret.clone() };
        let advice = "process 0 waited 50ms for process 1, 2 of 3: have all been started with this MASTER_ADDR and MASTER_PORT?";
        assert_eq!(hall.missing(&nodes), advice);
        hall.note(&"10.0.0.7:5000".parse().unwrap(), "it has another RANKSWEEP_RENDEZVOUS_SECRET, or none");
        let last = "a connection from 10.0.0.7: it has another RANKSWEEP_RENDEZVOUS_SECRET, or none";
        assert_eq!(hall.missing(&nodes), format!("{advice}; the last that was refused: {last}"));
    }
}
