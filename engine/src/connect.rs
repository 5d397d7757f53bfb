//! The client: a session of DataFusion whose relations a cluster computes.

use crate::address::Address;
use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::config::BALLISTA_SHUFFLE_COMPRESSION_CODEC;
use datafusion::{
    execution::{SessionStateBuilder, runtime_env::RuntimeEnvBuilder},
    prelude::{SessionConfig, SessionContext},
};
use dataset::block_on;
use pipeline::Stores;
use std::{
    io::{self, BufRead, BufReader, Write},
    net::{TcpStream, ToSocketAddrs},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// How long a scheduler may take for an answer.
const ANSWER: Duration = Duration::from_secs(10);
/// The time between two questions.
const PAUSE: Duration = Duration::from_millis(500);

/// Opens a session on the cluster of a URL, once its scheduler answers and has an executor.
///
/// # Errors
/// A URL of another kind, a scheduler that does not answer in the time that is given, and one without executors.
pub(crate) fn connect(url: &str, patience: Duration) -> Result<SessionContext, String> {
    let address: Address = url.parse()?;
    wait_until_ready(&address, patience)?;
    let open = || {
        // Most of what is shuffled is hashes, of which a codec saves little.
        let config = SessionConfig::new_with_ballista()
            .with_target_partitions(address.partitions)
            .set_str(BALLISTA_SHUFFLE_COMPRESSION_CODEC, "none");
        let runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores)).build_arc()?;
        let state = SessionStateBuilder::new().with_default_features().with_config(config).with_runtime_env(runtime).build();
        block_on(SessionContext::remote_with_state(&format!("df://{address}"), state))
    };
    open().map_err(|error| error.to_string())
}

fn wait_until_ready(address: &Address, patience: Duration) -> Result<(), String> {
    let start = Instant::now();
    loop {
        let reason = match is_ready(address) {
            Ok(true) => return Ok(()),
            Ok(false) => {
                format!(
                    "the scheduler at {address} has no executors: start some with `ranksweep-engine executor --scheduler df://{address}`"
                )
            }
            Err(error) => format!(
                "no scheduler answers at {address} ({error}): start one with `ranksweep-engine scheduler`, or correct the engine's URL"
            ),
        };
        if start.elapsed() >= patience {
            return Err(reason);
        }
        thread::sleep(PAUSE);
    }
}

/// Waits until a scheduler answers, with executors or without, for as long as that may take.
///
/// # Errors
/// The last failure, once the time is over.
pub(crate) fn wait_until_answers(address: &Address, patience: Duration) -> io::Result<()> {
    let start = Instant::now();
    loop {
        match is_ready(address) {
            Ok(_) => return Ok(()),
            Err(error) if start.elapsed() >= patience => return Err(error),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Whether a scheduler has executors, by the page that Kubernetes asks too.
fn is_ready(address: &Address) -> io::Result<bool> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for at in address.to_string().to_socket_addrs()? {
        match TcpStream::connect_timeout(&at, ANSWER) {
            Ok(stream) => return ask(stream, address),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn ask(mut stream: TcpStream, address: &Address) -> io::Result<bool> {
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    match line.split(' ').nth(1) {
        Some("200") => Ok(true),
        Some("503") => Ok(false),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, format!("it answers `{}`, as no scheduler does", line.trim_end()))),
    }
}
