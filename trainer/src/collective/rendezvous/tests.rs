use super::{come::come, hello::Answer, welcome::welcome, *};
use crate::collective::Secret;
use std::{
    io::{Read, Write},
    net::Shutdown,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

const LONG: Duration = Duration::from_secs(60);

fn secret() -> Secret {
    Secret::new("0123456789abcdef").unwrap()
}

fn hello(rank: u32, world: u32) -> Hello {
    Hello { build: build(), trial: "0123".to_owned(), world, rank, local: 2 }
}

fn nodes(listener: &TcpListener, rank: u32, limit: Duration) -> Rendezvous {
    let port = listener.local_addr().unwrap().port();
    Rendezvous { address: "127.0.0.1".to_owned(), port, rank, world: 0, limit, secret: secret() }
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// A connection to process 0 after its challenge.
fn stranger(listener: &TcpListener) -> (TcpStream, hello::Nonce) {
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let challenge = hello::challenged(&mut stream).unwrap();
    (stream, challenge)
}

fn text(found: Result<Link>) -> String {
    found.err().map_or_else(String::new, |error| error.to_string())
}

/// What becomes of process 0 of two while such others come, and then the one that it waits for.
fn meeting_after(come_first: impl FnOnce(&TcpListener)) {
    let listener = listener();
    thread::scope(|scope| {
        let first = scope.spawn(|| welcome(&listener, &nodes(&listener, 0, LONG), &hello(0, 2), &|| false).unwrap());
        come_first(&listener);
        let other = come(&nodes(&listener, 1, LONG), &hello(1, 2), &|| false).unwrap();
        first.join().unwrap().tell(&7).unwrap();
        assert_eq!(other.hear::<u32>(LONG, None).unwrap(), 7);
    });
}

#[test]
fn all_hear_what_process_0_tells() {
    let listener = listener();
    thread::scope(|scope| {
        let first = scope.spawn(|| welcome(&listener, &nodes(&listener, 0, LONG), &hello(0, 4), &|| false).unwrap());
        let others = [3, 1, 2].map(|rank| {
            let nodes = nodes(&listener, rank, LONG);
            scope.spawn(move || come(&nodes, &hello(rank, 4), &|| false).unwrap())
        });
        first.join().unwrap().tell(&"begin").unwrap();
        assert!(others.into_iter().all(|other| other.join().unwrap().hear::<String>(LONG, None).unwrap() == "begin"));
    });
}

/// Each is told why, alone: a process of another trial may have come to the wrong port.
#[test]
fn who_does_not_fit_is_told_why_and_the_others_meet() {
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
        meeting_after(|listener| {
            let refused = text(come(&nodes(listener, other.rank, LONG), &other, &|| false));
            assert!(refused.contains(&expected), "{refused}");
        });
    }
}

#[test]
fn the_second_of_one_number_is_refused() {
    let listener = listener();
    let seated = AtomicBool::new(false);
    thread::scope(|scope| {
        let first = scope.spawn(|| welcome(&listener, &nodes(&listener, 0, LONG), &hello(0, 3), &|| false).unwrap());
        let comes = |rank| {
            let nodes = nodes(&listener, rank, LONG);
            let seated = &seated;
            scope.spawn(move || {
                come(&nodes, &hello(rank, 3), &|| {
                    seated.store(true, Ordering::Relaxed); // it waits for the answer
                    false
                })
            })
        };
        let one = comes(1);
        while !seated.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        let second = comes(1);
        let other = loop {
            if second.is_finished() || one.is_finished() {
                break comes(2);
            }
            thread::yield_now();
        };
        let refused = [one, second].map(|one| text(one.join().unwrap()));
        assert_eq!(refused.iter().filter(|text| text.contains("two processes have RANK 1")).count(), 1, "{refused:?}");
        other.join().unwrap().unwrap();
        first.join().unwrap();
    });
}

/// A scanner, a process that was killed and started again, and the one that was waited for.
#[test]
fn strangers_are_sent_away_and_those_who_were_killed_may_come_again() {
    let listener = listener();
    thread::scope(|scope| {
        let first = scope.spawn(|| welcome(&listener, &nodes(&listener, 0, LONG), &hello(0, 3), &|| false).unwrap());
        let (mut scanner, _) = stranger(&listener);
        scanner.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        assert!(matches!(scanner.read(&mut [0; 16]), Ok(0) | Err(_)), "the connection is closed");
        let (mut killed, challenge) = stranger(&listener);
        killed.write_all(&hello::hello(&secret(), &challenge, &hello::nonce().unwrap(), &hello(2, 3))).unwrap();
        drop(killed);
        let others = [2, 1].map(|rank| {
            let nodes = nodes(&listener, rank, LONG);
            scope.spawn(move || come(&nodes, &hello(rank, 3), &|| false).unwrap())
        });
        first.join().unwrap().tell(&7).unwrap();
        assert!(others.into_iter().all(|other| other.join().unwrap().hear::<u32>(LONG, None).unwrap() == 7));
    });
}

/// It takes no seat, whatever it claims to be, and is told nothing.
#[test]
fn who_does_not_know_the_secret_takes_no_seat() {
    meeting_after(|listener| {
        let own = hello::nonce().unwrap();
        let (mut forger, challenge) = stranger(listener);
        let other = Secret::new("0123456789abcdeg").unwrap();
        forger.write_all(&hello::hello(&other, &challenge, &own, &hello(1, 2))).unwrap();
        assert!(matches!(forger.read(&mut [0; 16]), Ok(0) | Err(_)), "the connection is closed");
        let (_, earlier) = stranger(listener);
        let (mut replayer, _) = stranger(listener);
        replayer.write_all(&hello::hello(&secret(), &earlier, &own, &hello(1, 2))).unwrap();
        assert!(matches!(replayer.read(&mut [0; 16]), Ok(0) | Err(_)), "the connection is closed");
    });
}

/// More than there is room for, each with a part of a hello; the process that is waited for comes after them.
#[test]
fn silent_connections_keep_nobody_out() {
    let mut silent = Vec::new();
    meeting_after(|listener| {
        for _ in 0..100 {
            let (mut stream, _) = stranger(listener);
            stream.write_all(&[9, 0]).unwrap();
            silent.push(stream);
        }
    });
}

/// Who drips is heard for no longer than who is silent.
#[test]
fn the_whole_hello_has_a_deadline() {
    let mut dripping = None;
    meeting_after(|listener| {
        let (mut stream, challenge) = stranger(listener);
        let said = hello::hello(&secret(), &challenge, &hello::nonce().unwrap(), &hello(1, 2));
        stream.write_all(&said[..said.len() - 1]).unwrap();
        assert!(matches!(stream.read(&mut [0; 16]), Ok(0) | Err(_)), "the connection is closed");
        dripping = Some(stream);
    });
}

/// What answers in the place of process 0 must know the secret, too.
#[test]
fn an_answer_that_is_not_of_process_0_is_not_believed() {
    let listener = listener();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let forged = hello::answer(&Secret::new("0123456789abcdeg").unwrap(), [&[0; 32], &[1; 32]], &Answer::Welcome);
                let _gone = stream.write_all(&hello::challenge(&[0; 32])).and_then(|()| stream.write_all(&forged));
                if stream.read(&mut [0; 1]).is_ok_and(|read| read == 0) {
                    return;
                }
                open.push(stream);
            }
        });
        let refused = text(come(&nodes(&listener, 1, Duration::from_millis(500)), &hello(1, 2), &|| false));
        assert!(refused.contains("what answers there does not know the secret"), "{refused}");
        TcpStream::connect(listener.local_addr().unwrap()).unwrap().shutdown(Shutdown::Both).unwrap();
    });
}

#[test]
fn no_one_waits_for_ever() {
    let short = Duration::from_millis(50);
    let listener = listener();
    let error = text(welcome(&listener, &nodes(&listener, 0, short), &hello(0, 3), &|| false));
    assert!(error.contains("process 0 waited 50ms for process 1, 2 of 3"), "{error}");
    let nodes = nodes(&listener, 1, short);
    drop(listener);
    let error = text(come(&nodes, &hello(1, 3), &|| false));
    assert!(error.contains("process 1 waited 50ms for process 0 at 127.0.0.1"), "{error}");
}

#[test]
fn who_has_another_secret_is_told_what_may_be_wrong() {
    let (listener, done) = (listener(), AtomicBool::new(false));
    thread::scope(|scope| {
        let first = scope.spawn(|| welcome(&listener, &nodes(&listener, 0, LONG), &hello(0, 2), &|| done.load(Ordering::Relaxed)));
        let nodes = Rendezvous { secret: Secret::new("0123456789abcdeg").unwrap(), ..nodes(&listener, 1, Duration::from_millis(500)) };
        let refused = text(come(&nodes, &hello(1, 2), &|| false));
        done.store(true, Ordering::Relaxed);
        assert!(refused.contains("have all processes the same RANKSWEEP_RENDEZVOUS_SECRET?"), "{refused}");
        assert!(matches!(first.join().unwrap(), Err(Error::Interrupted { .. })));
    });
}

/// Whether it waits for others to come, for process 0 to be there, or for its answer.
#[test]
fn whoever_is_asked_to_stop_waits_no_longer() {
    let listener = listener();
    let nodes = nodes(&listener, 1, LONG);
    let stopped = |found: Result<Link>| matches!(found, Err(Error::Interrupted { epoch: 0 }));
    assert!(stopped(come(&nodes, &hello(1, 3), &|| true)));
    assert!(stopped(welcome(&listener, &nodes, &hello(0, 3), &|| true)));
    drop(listener);
    assert!(stopped(come(&nodes, &hello(1, 3), &|| true)));
}

#[test]
fn processes_of_one_machine_meet_where_no_other_comes() {
    for (address, is_local) in [("localhost", true), ("127.0.0.1", true), ("job-0.job", false), ("10.0.0.1", false)] {
        assert_eq!(listen(address, 0).unwrap().local_addr().unwrap().ip().is_loopback(), is_local, "{address}");
    }
}
