//! Processes meet: process 0 listens where `MASTER_ADDR` and `MASTER_PORT` say, the others come and say who they are.
//!
//! ```text
//! hello     ->  magic, build, trial, processes, number, ranks     what must be the same is compared by process 0
//! answer    <-  welcome, when all are there, or why not
//! ```
//! Both sides of a hello that does not fit end with the same words. Whoever does not begin with the magic is no process of ours: its
//! connection is closed, and waiting goes on.

use super::{
    Rendezvous,
    link::{Link, receive, send},
};
use crate::{Error, Result, trial::TRAINER_VERSION};
use serde::{Deserialize, Serialize};
use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    thread::sleep,
    time::{Duration, Instant},
};

const MAGIC: &[u8; 8] = b"rsweep01";
/// Between two looks at whether someone has come, or is there by now.
const PAUSE: Duration = Duration::from_millis(20);
/// A connection that says nothing for so long is no process of ours.
const SILENCE: Duration = Duration::from_secs(5);

/// Who comes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Hello {
    build: String,
    trial: String,
    /// `WORLD_SIZE`
    world: u32,
    /// `RANK`
    rank: u32,
    /// Ranks of the process.
    local: u32,
}

#[derive(Deserialize, Serialize)]
enum Answer {
    Welcome,
    Refused(String),
}

/// Meets all processes for a trial, each with so many local ranks, unless it is asked to stop.
///
/// # Errors
/// [`Error::Ranks`] when not all come in time, or one does not fit; [`Error::Interrupted`].
pub(crate) fn meet(nodes: &Rendezvous, trial: &str, local: u32, stop: &dyn Fn() -> bool) -> Result<Link> {
    let hello = Hello { build: build(), trial: trial.to_owned(), world: nodes.world, rank: nodes.rank, local };
    match nodes.rank {
        0 => {
            let listener = listen(nodes.port).map_err(|error| {
                let reason = "is another training on this port? MASTER_PORT can be any free one";
                Error::Ranks(format!("process 0 cannot listen at port {}: {error}; {reason}", nodes.port))
            })?;
            welcome(&listener, &hello, nodes.limit, stop)
        }
        _ => come(nodes, &hello, stop),
    }
}

/// The version of this build, of which all processes must be.
fn build() -> String {
    format!("{} (trainer {TRAINER_VERSION})", env!("CARGO_PKG_VERSION"))
}

/// All addresses, of both kinds where the machine has both.
fn listen(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
}

/// Process 0: waits for all others, and answers them together.
fn welcome(listener: &TcpListener, own: &Hello, limit: Duration, stop: &dyn Fn() -> bool) -> Result<Link> {
    let failed = |error: std::io::Error| Error::Ranks(format!("process 0 cannot wait for the others: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    let (start, mut peers) = (Instant::now(), Vec::<(u32, TcpStream)>::new());
    while peers.len() + 1 < own.world as usize {
        match listener.accept() {
            Ok((stream, from)) => {
                let Some((stream, hello)) = hear(stream) else { continue };
                peers.retain(|(rank, peer)| *rank != hello.rank || is_there(peer)); // one that was started again
                if let Err(reason) = check(own, &hello, from, &peers) {
                    peers.push((hello.rank, stream));
                    return Err(refuse(peers, reason));
                }
                peers.push((hello.rank, stream));
                if peers.len() + 1 == own.world as usize {
                    peers.retain(|(_, peer)| is_there(peer)); // or one is waited for again
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock && stop() => return Err(Error::Interrupted { epoch: 0 }),
            Err(error) if error.kind() == ErrorKind::WouldBlock && start.elapsed() < limit => sleep(PAUSE),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let reason = missing(own, &peers, limit);
                return Err(refuse(peers, reason));
            }
            Err(error) => return Err(failed(error)),
        }
    }
    for (rank, peer) in &mut peers {
        let sent = send(peer, &Answer::Welcome);
        sent.map_err(|error| Error::Ranks(format!("process {rank} is gone: {error}")))?;
    }
    Ok(Link::new(0, peers))
}

/// What a newcomer says; nothing of one that is no process of ours.
fn hear(mut stream: TcpStream) -> Option<(TcpStream, Hello)> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(SILENCE)).ok()?;
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic).ok()?;
    let hello = (magic == *MAGIC).then(|| receive(&mut stream, Some(SILENCE)).ok())??;
    Some((stream, hello))
}

/// Waits until there is something to read, or nothing more will come.
fn wait(stream: &TcpStream, limit: Duration, stop: &dyn Fn() -> bool) -> std::io::Result<()> {
    let start = Instant::now();
    while is_there(stream) {
        if stop() || start.elapsed() >= limit {
            return Err(ErrorKind::TimedOut.into());
        }
        sleep(PAUSE);
    }
    stream.set_nonblocking(false)
}

/// Whether a connection is still open, and nothing is to be read from it.
fn is_there(peer: &TcpStream) -> bool {
    let nothing = peer.set_nonblocking(true).and_then(|()| peer.peek(&mut [0]));
    let open = nothing.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    open && peer.set_nonblocking(false).is_ok()
}

/// Whether a process fits to process 0 and to those that came before it.
fn check(own: &Hello, other: &Hello, from: SocketAddr, peers: &[(u32, TcpStream)]) -> Result<(), String> {
    let differs = |what: &str, own: &dyn std::fmt::Display, found: &dyn std::fmt::Display, advice: &str| {
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
        rank if peers.iter().any(|(other, _)| *other == rank) => Err(format!("two processes have RANK {rank}: give each its own")),
        _ => Ok(()),
    }
}

/// Tells everyone who came why nothing comes of it.
fn refuse(peers: Vec<(u32, TcpStream)>, reason: String) -> Error {
    for (_, mut peer) in peers {
        let _gone = send(&mut peer, &Answer::Refused(reason.clone()));
    }
    Error::Ranks(reason)
}

fn missing(own: &Hello, peers: &[(u32, TcpStream)], limit: Duration) -> String {
    let missing = (1..own.world).filter(|rank| peers.iter().all(|(other, _)| other != rank)).map(|rank| rank.to_string());
    let missing = missing.collect::<Vec<_>>().join(", ");
    format!(
        "process 0 waited {limit:?} for process {missing} of {}: have all been started with this MASTER_ADDR and MASTER_PORT?",
        own.world
    )
}

/// Any other process: comes again and again until process 0 is there.
fn come(nodes: &Rendezvous, hello: &Hello, stop: &dyn Fn() -> bool) -> Result<Link> {
    let start = Instant::now();
    loop {
        let left = nodes.limit.saturating_sub(start.elapsed()).max(PAUSE);
        let reason = match ask(nodes, hello, left, stop) {
            Ok((stream, Answer::Welcome)) => return Ok(Link::new(hello.rank, vec![(0, stream)])),
            Ok((_, Answer::Refused(reason))) => return Err(Error::Ranks(reason)),
            Err(error) => error,
        };
        if stop() {
            return Err(Error::Interrupted { epoch: 0 });
        }
        if start.elapsed() >= nodes.limit {
            let Rendezvous { address, port, limit, rank, .. } = nodes;
            let advice = "is process 0 running, and is MASTER_ADDR its host?";
            return Err(Error::Ranks(format!("process {rank} waited {limit:?} for process 0 at {address}:{port}: {reason}; {advice}")));
        }
        sleep(PAUSE);
    }
}

/// One try.
fn ask(nodes: &Rendezvous, hello: &Hello, limit: Duration, stop: &dyn Fn() -> bool) -> std::io::Result<(TcpStream, Answer)> {
    let mut last = std::io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in (nodes.address.as_str(), nodes.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit.min(SILENCE)) {
            Ok(mut stream) => {
                stream.write_all(MAGIC)?;
                send(&mut stream, hello)?;
                wait(&stream, limit, stop)?;
                let answer = receive(&mut stream, Some(SILENCE))?;
                return Ok((stream, answer));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const LONG: Duration = Duration::from_secs(60);

    fn hello(rank: u32, world: u32) -> Hello {
        Hello { build: build(), trial: "0123".to_owned(), world, rank, local: 2 }
    }

    fn nodes(listener: &TcpListener, rank: u32, limit: Duration) -> Rendezvous {
        Rendezvous { address: "127.0.0.1".to_owned(), port: listener.local_addr().unwrap().port(), rank, world: 0, limit }
    }

    fn listener() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").unwrap()
    }

    /// What becomes of process 0 and of others that come with these hellos.
    fn meeting(world: u32, others: &[Hello]) -> (Result<Link>, Vec<Result<Link>>) {
        let listener = listener();
        thread::scope(|scope| {
            let first = scope.spawn(|| welcome(&listener, &hello(0, world), LONG, &|| false));
            let others: Vec<_> = others
                .iter()
                .map(|hello| {
                    let nodes = nodes(&listener, hello.rank, LONG);
                    scope.spawn(move || come(&nodes, hello, &|| false))
                })
                .collect();
            (first.join().unwrap(), others.into_iter().map(|other| other.join().unwrap()).collect())
        })
    }

    #[test]
    fn all_hear_what_process_0_tells() {
        let (first, others) = meeting(4, &[hello(3, 4), hello(1, 4), hello(2, 4)]);
        let first = first.unwrap();
        first.tell(&"begin").unwrap();
        assert!(others.into_iter().all(|other| other.unwrap().hear::<String>(LONG, None).unwrap() == "begin"));
    }

    #[test]
    fn both_sides_say_the_same_of_what_does_not_fit() {
        for (other, expected) in [
            (
                Hello { build: "0.0.9 (trainer 2)".to_owned(), ..hello(1, 2) },
                format!("has the build 0.0.9 (trainer 2), and process 0 has {}", build()),
            ),
            (Hello { trial: "4567".to_owned(), ..hello(1, 2) }, "has the trial 4567, and process 0 has 0123".to_owned()),
            (Hello { world: 3, ..hello(1, 2) }, "has WORLD_SIZE 3, and process 0 has 2".to_owned()),
            (Hello { local: 8, ..hello(1, 2) }, "has a number of local ranks: 8, and process 0 has 2".to_owned()),
            (hello(0, 2), "has RANK 0: give each its own".to_owned()),
            (hello(5, 2), "has RANK 5 of 2".to_owned()),
        ] {
            let (first, others) = meeting(2, &[other]);
            let errors: Vec<String> = [first].into_iter().chain(others).map(|found| found.err().unwrap().to_string()).collect();
            assert!(errors[0].contains(&expected) && errors[0] == errors[1], "{errors:?}");
        }
    }

    #[test]
    fn two_of_one_number_are_refused() {
        let (first, others) = meeting(3, &[hello(1, 3), hello(1, 3)]);
        assert!([first].into_iter().chain(others).all(|found| found.err().unwrap().to_string().contains("two processes have RANK 1")));
    }

    /// A scanner, a process that was killed and started again, and the one that was waited for.
    #[test]
    fn strangers_are_sent_away_and_those_who_were_killed_may_come_again() {
        let listener = listener();
        let at = listener.local_addr().unwrap();
        thread::scope(|scope| {
            let first = scope.spawn(|| welcome(&listener, &hello(0, 3), LONG, &|| false).unwrap());
            let mut stranger = TcpStream::connect(at).unwrap();
            stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            assert!(matches!(stranger.read(&mut [0; 16]), Ok(0) | Err(_)), "the connection is closed");
            let mut killed = TcpStream::connect(at).unwrap();
            killed.write_all(MAGIC).unwrap();
            send(&mut killed, &hello(2, 3)).unwrap();
            drop(killed);
            let others = [2, 1].map(|rank| {
                let nodes = nodes(&listener, rank, LONG);
                scope.spawn(move || come(&nodes, &hello(rank, 3), &|| false).unwrap())
            });
            first.join().unwrap().tell(&7).unwrap();
            assert!(others.into_iter().all(|other| other.join().unwrap().hear::<u32>(LONG, None).unwrap() == 7));
        });
    }

    #[test]
    fn no_one_waits_for_ever() {
        let short = Duration::from_millis(50);
        let listener = listener();
        let error = welcome(&listener, &hello(0, 3), short, &|| false).err().unwrap().to_string();
        assert!(error.contains("process 0 waited 50ms for process 1, 2 of 3"), "{error}");
        let nodes = nodes(&listener, 1, short);
        drop(listener);
        let error = come(&nodes, &hello(1, 3), &|| false).err().unwrap().to_string();
        assert!(error.contains("process 1 waited 50ms for process 0 at 127.0.0.1"), "{error}");
    }

    /// Whether it waits for others to come, for process 0 to be there, or for its answer.
    #[test]
    fn whoever_is_asked_to_stop_waits_no_longer() {
        let listener = listener();
        let nodes = nodes(&listener, 1, LONG);
        let stopped = |found: Result<Link>| matches!(found, Err(Error::Interrupted { epoch: 0 }));
        assert!(stopped(come(&nodes, &hello(1, 3), &|| true)));
        assert!(stopped(welcome(&listener, &hello(0, 3), LONG, &|| true)));
        drop(listener);
        assert!(stopped(come(&nodes, &hello(1, 3), &|| true)));
    }
}
