//! Messages of a link, as they travel: a length and JSON, and after that of a round the ranks' numbers.
//!
//! What a peer announces is compared with what it may bring before there is any room made for it.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};

/// No message of ours is longer.
const LONGEST: u32 = 1 << 20;

/// One message.
#[derive(Deserialize, Serialize)]
pub(super) enum Message<T> {
    Text(T),
    /// Parts of these lengths follow.
    Round(Round, Vec<u64>),
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

/// What a process may bring to a round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    /// One for each of its ranks.
    pub(super) parts: usize,
    /// Bytes of a part at most.
    pub(super) bytes: usize,
}

/// Writes a message with its length before it.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    to.write_all(&[&length.to_le_bytes(), &text[..]].concat())
}

/// Reads a message.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::other(format!("it announces a message of {length} bytes: expected at most {LONGEST}")));
    }
    Ok(serde_json::from_slice(&bytes(from, length as usize)?)?)
}

/// Reads the parts of a round, of these lengths.
pub(super) fn receive_parts(from: &mut impl Read, lengths: &[u64], allowed: Allowed) -> io::Result<Vec<Vec<u8>>> {
    let Allowed { parts, bytes: most } = allowed;
    if lengths.len() != parts {
        return Err(io::Error::other(format!("it announces numbers of {} ranks: expected {parts}", lengths.len())));
    }
    let length = |&length: &u64| {
        let fits = usize::try_from(length).ok().filter(|&length| length <= most);
        fits.ok_or_else(|| io::Error::other(format!("it announces {length} bytes of a rank: expected at most {most}")))
    };
    let lengths: Vec<usize> = lengths.iter().map(length).collect::<io::Result<_>>()?;
    lengths.into_iter().map(|length| bytes(from, length)).collect()
}

/// So many bytes.
fn bytes(from: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| io::Error::other(format!("there is no memory for the {length} bytes that it brings")))?;
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: Allowed = Allowed { parts: 2, bytes: 8 };

    fn parts(lengths: &[u64], mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        receive_parts(&mut bytes, lengths, ALLOWED).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_announced_is_bounded_before_it_is_read() {
        assert_eq!(parts(&[1, 2], &[7, 8, 9]).unwrap(), [vec![7], vec![8, 9]]);
        assert_eq!(parts(&[9, 0], &[0; 99]).unwrap_err(), "it announces 9 bytes of a rank: expected at most 8");
        for length in [1 << 40, u64::MAX] {
            assert_eq!(parts(&[0, length], &[]).unwrap_err(), format!("it announces {length} bytes of a rank: expected at most 8"));
        }
        assert_eq!(parts(&[0; 3], &[]).unwrap_err(), "it announces numbers of 3 ranks: expected 2");
        assert_eq!(parts(&[8, 8], &[0; 15]).unwrap_err(), "unexpected end of file");
        let long = receive::<u32>(&mut &u32::MAX.to_le_bytes()[..]).unwrap_err();
        assert_eq!(long.to_string(), "it announces a message of 4294967295 bytes: expected at most 1048576");
    }
}
