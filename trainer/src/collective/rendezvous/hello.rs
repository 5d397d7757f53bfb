//! What processes say to each other before they know each other, byte by byte.

use crate::{
    collective::secret::{Secret, TAG},
    trial::TRAINER_VERSION,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{Error, ErrorKind, Read, Result};

const MAGIC: &[u8; 8] = b"rsweep02";
/// Bytes of a nonce, of which no two are the same.
const NONCE: usize = 32;
/// Bytes of the text of a hello or an answer at most.
const LONGEST: usize = 8_192;
/// What a hello and an answer are signed as, so that none is taken for the other.
const SIGNED: [&[u8]; 2] = [b"ranksweep hello", b"ranksweep answer"];

/// Random bytes.
pub(super) type Nonce = [u8; NONCE];

/// What a process says of itself when it comes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Hello {
    pub(super) build: String,
    pub(super) trial: String,
    /// `WORLD_SIZE`
    pub(super) world: u32,
    /// `RANK`
    pub(super) rank: u32,
    /// Ranks of the process.
    pub(super) local: u32,
}

/// What process 0 says to that.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) enum Answer {
    Welcome,
    Refused(String),
}

/// The version of this build, of which all processes must be.
pub(super) fn build() -> String {
    format!("{} (trainer {TRAINER_VERSION})", env!("CARGO_PKG_VERSION"))
}

/// A nonce of this process's.
pub(super) fn nonce() -> Result<Nonce> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|error| Error::other(format!("the system gives no random bytes: {error}")))?;
    Ok(nonce)
}

/// The first words of process 0.
pub(super) fn challenge(nonce: &Nonce) -> Vec<u8> {
    [&MAGIC[..], nonce].concat()
}

/// Reads the challenge.
pub(super) fn challenged(from: &mut impl Read) -> Result<Nonce> {
    let (mut magic, mut nonce) = ([0; MAGIC.len()], [0; NONCE]);
    from.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(Error::other("what listens there is no process of this version"));
    }
    from.read_exact(&mut nonce)?;
    Ok(nonce)
}

/// A hello with a nonce of its own, signed over both nonces.
pub(super) fn hello(secret: &Secret, challenge: &Nonce, own: &Nonce, hello: &Hello) -> Vec<u8> {
    let text = text(hello);
    let tag = secret.tag(&[SIGNED[0], challenge, own, &text]);
    [&length(&text)[..], &text, own, &tag].concat()
}

/// How many bytes of a hello are missing after these.
///
/// # Errors
/// [`ErrorKind::InvalidData`] for a longer one than there is.
pub(super) fn missing(heard: &[u8]) -> Result<usize> {
    let Some(&first) = heard.first_chunk::<4>() else { return Ok(4 - heard.len()) };
    let whole = 4 + bounded(first)? + NONCE + TAG;
    Ok(whole.saturating_sub(heard.len()))
}

/// Reads a whole hello.
///
/// # Errors
/// [`ErrorKind::PermissionDenied`] for one that is not signed with the secret.
pub(super) fn heard(secret: &Secret, challenge: &Nonce, heard: &[u8]) -> Result<(Hello, Nonce)> {
    let (rest, tag) = heard.split_last_chunk::<TAG>().ok_or(ErrorKind::InvalidData)?;
    let (rest, nonce) = rest.split_last_chunk::<NONCE>().ok_or(ErrorKind::InvalidData)?;
    let text = rest.get(4..).ok_or(ErrorKind::InvalidData)?;
    if !secret.verifies(&[SIGNED[0], challenge, nonce, text], tag) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    Ok((serde_json::from_slice(text)?, *nonce))
}

/// An answer, signed over the nonces of both.
pub(super) fn answer(secret: &Secret, [challenge, theirs]: [&Nonce; 2], answer: &Answer) -> Vec<u8> {
    let text = text(answer);
    let tag = secret.tag(&[SIGNED[1], challenge, theirs, &text]);
    [&length(&text)[..], &text, &tag].concat()
}

/// Reads an answer.
///
/// # Errors
/// [`ErrorKind::PermissionDenied`] for one that is not signed with the secret.
pub(super) fn answered(secret: &Secret, [challenge, own]: [&Nonce; 2], from: &mut impl Read) -> Result<Answer> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let (mut text, mut tag) = (vec![0; bounded(length)?], [0; TAG]);
    from.read_exact(&mut text)?;
    from.read_exact(&mut tag)?;
    if !secret.verifies(&[SIGNED[1], challenge, own, &text], &tag) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    parse(&text)
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    Ok(serde_json::from_slice(text)?)
}

fn text(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("a message is plain data")
}

fn length(text: &[u8]) -> [u8; 4] {
    u32::try_from(text.len()).expect("names and numbers are short").to_le_bytes()
}

fn bounded(length: [u8; 4]) -> Result<usize> {
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST { Err(ErrorKind::InvalidData.into()) } else { Ok(length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text).unwrap()
    }

    fn first() -> Hello {
        Hello { build: build(), trial: "0123".to_owned(), world: 2, rank: 1, local: 2 }
    }

    #[test]
    fn a_hello_is_of_its_secret_its_challenge_and_its_words() {
        let (ours, nonces) = (secret("0123456789abcdef"), [[1; NONCE], [2; NONCE]]);
        let said = hello(&ours, &nonces[0], &nonces[1], &first());
        assert_eq!((missing(&said).unwrap(), missing(&said[..70]).unwrap()), (0, said.len() - 70));
        assert_eq!(heard(&ours, &nonces[0], &said).unwrap(), (first(), nonces[1]));
        let refused = |secret: &Secret, challenge: &Nonce, said: &[u8]| heard(secret, challenge, said).unwrap_err().kind();
        assert_eq!(refused(&secret("0123456789abcdeg"), &nonces[0], &said), ErrorKind::PermissionDenied);
        assert_eq!(refused(&ours, &nonces[1], &said), ErrorKind::PermissionDenied, "said before, and said again");
        for at in [4, said.len() - TAG - 1, said.len() - 1] {
            let mut changed = said.clone();
            changed[at] ^= 1;
            assert_eq!(refused(&ours, &nonces[0], &changed), ErrorKind::PermissionDenied, "byte {at}");
        }
        assert_eq!(refused(&ours, &nonces[0], &said[..TAG]), ErrorKind::InvalidData);
    }

    #[test]
    fn an_answer_is_of_both_nonces_and_no_hello() {
        let (ours, nonces) = (secret("0123456789abcdef"), [[1; NONCE], [2; NONCE]]);
        let said = answer(&ours, nonces.each_ref(), &Answer::Welcome);
        assert_eq!(answered(&ours, nonces.each_ref(), &mut &said[..]).unwrap(), Answer::Welcome);
        let again = answered(&ours, [&nonces[1], &nonces[0]], &mut &said[..]).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::PermissionDenied);
        let text = text(&Answer::Welcome);
        let as_hello = ours.tag(&[SIGNED[0], &nonces[0], &nonces[1], &text]);
        let forged = [&length(&text)[..], &text, &as_hello].concat();
        assert_eq!(answered(&ours, nonces.each_ref(), &mut &forged[..]).unwrap_err().kind(), ErrorKind::PermissionDenied);
    }

    #[test]
    fn lengths_are_bounded() {
        for said in [b"GET / HTTP/1.1\r\n\r\n".as_slice(), &[0xff; 99]] {
            assert_eq!(missing(said).unwrap_err().kind(), ErrorKind::InvalidData);
            let [nonce, other] = [[0; NONCE]; 2];
            let refused = answered(&secret("0123456789abcdef"), [&nonce, &other], &mut &said[..]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidData);
        }
    }
}
