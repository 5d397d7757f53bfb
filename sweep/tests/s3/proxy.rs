//! A proxy between the program and an S3 server: it counts the requests, and spoils some of them.
//!
//! It relays bytes, one request on each connection, and knows no more of HTTP than where a message ends.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// The request is answered as the server answers it.
    Relayed,
    /// The server does not see it; the client gets a status.
    Refused(u16),
    /// The server does it; the client gets a 500.
    DoneAndDenied,
    /// The server does it; the client hears nothing.
    DoneAndCut,
    /// Neither side sees the other.
    Reset,
    /// Half of the answer comes through.
    Truncated,
    /// The answer comes late.
    Slow,
}

/// The fates of the requests that are spoiled, with their shares.
pub(crate) const FAULTS: [Fate; 9] = [
    Fate::Refused(500),
    Fate::Refused(503),
    Fate::Refused(429),
    Fate::DoneAndDenied,
    Fate::DoneAndCut,
    Fate::Reset,
    Fate::Truncated,
    Fate::Truncated,
    Fate::Slow,
];

/// How requests are spoiled.
#[derive(Clone, Copy)]
pub(crate) struct Faults {
    /// Requests of a thousand that are spoiled.
    pub(crate) per_thousand: u64,
    pub(crate) seed: u64,
    /// From which request on, and until which, nobody is there.
    pub(crate) outage: (u64, u64),
    /// Whether the server shall not see `If-None-Match`.
    pub(crate) drops_conditions: bool,
}

/// No faults: requests are counted.
pub(crate) const NONE: Faults = Faults { per_thousand: 0, seed: 0, outage: (0, 0), drops_conditions: false };

/// A running proxy.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    address: String,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    server: String,
    faults: Faults,
    is_over: AtomicBool,
    number: AtomicU64,
    counts: Mutex<BTreeMap<String, u64>>,
    fates: Mutex<BTreeMap<Fate, u64>>,
    /// Whether requests wait, and word of a change of that.
    hangs: Mutex<bool>,
    changed: Condvar,
}

impl Proxy {
    /// A proxy in front of `http://host:port`.
    pub(crate) fn new(server: &str, faults: Faults) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            server: server.trim_start_matches("http://").trim_end_matches('/').to_owned(),
            faults,
            is_over: AtomicBool::new(false),
            number: AtomicU64::new(0),
            counts: Mutex::default(),
            hangs: Mutex::default(),
            changed: Condvar::default(),
            fates: Mutex::default(),
        });
        let listening = Some(std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || listen(&listener, &shared)
        }));
        Self { shared, address, listening }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Has all requests from now on wait, until they may go on.
    pub(crate) fn hang(&self, hangs: bool) {
        *self.shared.hangs.lock().unwrap() = hangs;
        self.shared.changed.notify_all();
    }

    /// Requests so far, by method; a list, which is a GET with a price of its own, stands as LIST, and the PUT of a part as PART.
    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        self.shared.counts.lock().unwrap().clone()
    }

    /// How often each fate befell a request.
    pub(crate) fn fates(&self) -> BTreeMap<Fate, u64> {
        self.shared.fates.lock().unwrap().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(&self.address));
        self.listening.take().unwrap().join().unwrap();
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.is_over.load(Ordering::Relaxed) {
            return;
        }
        let shared = Arc::clone(shared);
        // A connection that breaks off is what this is for.
        std::thread::spawn(move || drop(client.and_then(|client| serve(client, &shared))));
    }
}

/// One request and its answer.
fn serve(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(request) = read_request(&client, shared.faults.drops_conditions)? else { return Ok(()) };
    drop(shared.changed.wait_while(shared.hangs.lock().unwrap(), |hangs| *hangs).unwrap());
    let fate = shared.fate();
    shared.count(&request);
    *shared.fates.lock().unwrap().entry(fate).or_default() += 1;
    match fate {
        Fate::Relayed => client.write_all(&forward(&request, shared)?)?,
        Fate::Refused(status) => client.write_all(denial(status).as_bytes())?,
        Fate::DoneAndDenied => {
            forward(&request, shared)?;
            client.write_all(denial(500).as_bytes())?;
        }
        Fate::DoneAndCut => drop(forward(&request, shared)?),
        Fate::Reset => {}
        Fate::Truncated => {
            let answer = forward(&request, shared)?;
            client.write_all(&answer[..answer.len() / 2])?;
        }
        Fate::Slow => {
            let answer = forward(&request, shared)?;
            std::thread::sleep(Duration::from_millis(700));
            client.write_all(&answer)?;
        }
    }
    client.shutdown(Shutdown::Both)
}

fn denial(status: u16) -> String {
    let body = "<?xml version=\"1.0\"?>\n<Error><Code>Spoiled</Code><Message>by the test</Message></Error>";
    format!("HTTP/1.1 {status} Spoiled\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// The whole request, told to close the connection after it; `None` where nothing came.
fn read_request(client: &TcpStream, drops_conditions: bool) -> io::Result<Option<Vec<u8>>> {
    let mut reader = BufReader::new(client);
    let (mut request, mut length, mut line) = (Vec::new(), 0, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        match name.trim_end() {
            "" => break,
            "connection" => continue,
            "if-none-match" if drops_conditions => continue,
            "expect" => continue,
            "content-length" => length = line["content-length:".len()..].trim().parse().unwrap(),
            _ => {}
        }
        request.extend_from_slice(line.as_bytes());
    }
    request.extend_from_slice(b"Connection: close\r\n\r\n");
    let head = request.len();
    request.resize(head + length, 0);
    reader.read_exact(&mut request[head..])?;
    Ok(Some(request))
}

fn forward(request: &[u8], shared: &Shared) -> io::Result<Vec<u8>> {
    let mut server = TcpStream::connect(&shared.server)?;
    server.write_all(request)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    Ok(answer)
}

impl Shared {
    /// The next request's fate, by a hash of the seed and its number.
    fn fate(&self) -> Fate {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if (self.faults.outage.0..self.faults.outage.1).contains(&number) {
            return Fate::Reset;
        }
        let mut hash = (self.faults.seed << 32 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^= hash >> 29;
        if hash % 1000 < self.faults.per_thousand { FAULTS[(hash / 1000) as usize % FAULTS.len()] } else { Fate::Relayed }
    }

    fn count(&self, request: &[u8]) {
        let line = String::from_utf8_lossy(request.split(|byte| *byte == b'\r').next().unwrap_or_default()).into_owned();
        let method = line.split(' ').next().unwrap_or_default();
        let kind = match method {
            "GET" if line.contains("list-type=2") => "LIST",
            "PUT" if line.contains("partNumber=") => "PART",
            _ => method,
        };
        *self.counts.lock().unwrap().entry(kind.to_owned()).or_default() += 1;
    }
}
