//! A connection with a deadline: all reads and writes together end by then, however slowly the bytes drip in.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

/// A connection that is read from and written to for so long, and no longer.
pub(super) struct Timed<'a> {
    stream: &'a TcpStream,
    start: Instant,
    limit: Duration,
}

impl<'a> Timed<'a> {
    /// Limits a connection to so long from now on.
    pub(super) fn new(stream: &'a TcpStream, limit: Duration) -> Self {
        Self { stream, start: Instant::now(), limit }
    }

    /// The time that is left.
    ///
    /// # Errors
    /// [`ErrorKind::TimedOut`] when there is none.
    pub(super) fn left(&self) -> io::Result<Duration> {
        let left = self.limit.saturating_sub(self.start.elapsed());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        net::{Shutdown, TcpListener},
        thread,
    };

    const SHORT: Duration = Duration::from_millis(100);

    fn is_over(result: &io::Result<()>) -> bool {
        result.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock))
    }

    /// No single read waits for long.
    #[test]
    fn bytes_that_drip_in_do_not_outlast_the_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut theirs = listener.accept().unwrap().0;
        thread::scope(|scope| {
            scope.spawn(|| while theirs.write_all(&[0]).is_ok() {});
            let result = Timed::new(&ours, SHORT).read_exact(&mut vec![0; 64 << 20]);
            ours.shutdown(Shutdown::Both).unwrap();
            assert!(is_over(&result), "{result:?}");
        });
    }

    #[test]
    fn a_peer_that_does_not_read_does_not_outlast_it_either() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _theirs = listener.accept().unwrap();
        let result = Timed::new(&ours, SHORT).write_all(&vec![0; 64 << 20]);
        assert!(is_over(&result), "{result:?}");
    }
}
